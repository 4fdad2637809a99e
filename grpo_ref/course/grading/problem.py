"""The parts of an exercise: a statement, a right answer, checks, and wrong answers that the checks must
catch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

import numpy as np

from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.judge import difference

Function = Callable[..., Any]
LONGEST, LONGEST_TEXT = 200, 2000
"""Largest number of entries of an array or list, and of characters of a value, that a message writes out."""
DIGITS, MOST_DIGITS = 6, 17
"""Digits of a number in a message, and the digits that distinguish any two numbers."""


class Failure(Exception):
    """A check failed. The exception carries what the student needs to know.

    Attributes:
      called: the call, as it could be typed.
      got: the value that the call returned, or the exception that it raised.
      wrong: the difference from the right value.
    """

    def __init__(self, called: str, got: str, wrong: str) -> None:
        super().__init__(wrong)
        self.called, self.got, self.wrong = called, got, wrong


class Raised(Exception):
    """The student's function raised an exception.

    Attributes:
      kinds: names of the exception's type and its bases.
      message: the exception's message.
      lines: the student's lines that led to the exception.
    """

    def __init__(self, kinds: Sequence[str], message: str, lines: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.kinds, self.message, self.lines = tuple(kinds), message, tuple(lines)

    def __str__(self) -> str:
        name = self.kinds[0] if self.kinds else "an error"
        return "\n".join([f"{name}: {self.message}" if self.message else name, *self.lines])


Calls = Sequence[tuple[Sequence[Any], Mapping[str, Any]]]
"""Arguments and keywords of several calls."""


class Submission(Protocol):
    """An answer that can be called: a sandboxed file, or a function of this process."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Return the function's value, or raise Raised. The function works on copies of the arguments."""

    def announce(self, calls: Calls) -> None:
        """Announce the next calls, so that they can be made together. Calls that were announced before are
        cancelled.
        """

    def inputs_after(self) -> Any:
        """Return (arguments, keywords) of the last call after it returned; None if nothing changed them."""

    def forget(self) -> None:
        """Discard the last call, because its input is not fit to judge by."""


class Check(Protocol):
    """One named test.

    Attributes:
      name: a short sentence that states what the test requires.
      why: one sentence that a student reads after failing.
      shown: whether inputs and expected values may be shown.
    """

    @property
    def name(self) -> str:
        """See the class."""

    @property
    def why(self) -> str:
        """See the class."""

    @property
    def shown(self) -> bool:
        """See the class."""

    def foreseen(self) -> Calls:
        """Return the calls that the check is known to make, in order, whatever values they return."""

    def run(self, submission: Submission, problem: "Problem", seed: int) -> None:
        """Raise Failure or Raised if the check fails. Any other exception means that the check cannot use the
        value.
        """


AS_GIVEN = "as it was given"
"""Name of the faulty program that a student is asked to repair. It gets no points, whatever tests it passes.
"""


@dataclass(frozen=True)
class Mutant:
    """A plausible wrong answer.

    Attributes:
      name: the mistake, in a few words.
      function: the wrong answer itself.
      tell: the sentence shown to a student whose answer returns the same values.
    """

    name: str
    function: Function
    tell: str


def as_given(faulty: Function, tell: str) -> Mutant:
    """Return the faulty program that a student is asked to repair, as a mutant.

    Args:
      faulty: the faulty program's function.
      tell: the sentence shown to a student who has not repaired it.
    """
    return Mutant(AS_GIVEN, faulty, tell)


@dataclass(frozen=True)
class Problem:
    """An exercise.

    Attributes:
      id: "chapter/name", also the path of its folder.
      title: title of the exercise, as in a table of contents.
      function: name of the function to write.
      reference: the right answer.
      checks: named tests, in the order in which a student should meet them.
      mutants: wrong answers that the checks must catch.
      hints: several hints, from a question to nearly the solution.
      text: the statement in Markdown, as `statement_file` describes it.
      source: the paper or trainer that the formula is from.
      signature: the function to write with its arguments, as "k3(log_probs, ref_log_probs)".
      right_answers: returns the texts of further right answers by name, the model answer first; called only
        if an answer is wrong.
      kernel: where the package has the same function, as "grpo_ref.clipped", or "".
      picture: description of the picture `picture.svg` in the exercise's folder, or "" if there is none.
      derivation: the step of the derivation that explains the formula, as "04_clip", or "".
      recipe: name of the recipe that the formula belongs to, or "".
      claim: name of the experiment that tests the formula's benefit, or "".
      notebook: name of the notebook that shows the idea at work, or "".
      difficulty: "easy", "medium" or "hard".
      points: the exercise's number of points.
      rtol: tolerance relative to the largest expected magnitude.
      seconds: time limit of one call, in seconds.
      domain: the inputs that the statement allows, as data.
      language: language of title, text, hints and picture: a key of `rendering.phrases.PHRASES`.
    """

    id: str
    title: str
    function: str
    reference: Function
    checks: tuple[Check, ...]
    mutants: tuple[Mutant, ...]
    hints: tuple[str, ...] = ()
    text: str = ""
    source: str = ""
    signature: str = ""
    right_answers: Callable[[], Mapping[str, str]] = dict
    kernel: str = ""
    picture: str = ""
    derivation: str = ""
    recipe: str = ""
    claim: str = ""
    notebook: str = ""
    difficulty: str = "easy"
    points: int = 1
    rtol: float = 1e-9
    seconds: float = 5.0
    domain: Domain | None = None
    language: str = "en"


@dataclass(frozen=True)
class Case:
    """One call with its expected value.

    Attributes:
      arguments: positional arguments.
      expected: the right value, worked out by hand, so that it does not depend on the reference.
      keywords: keyword arguments.
    """

    name: str
    arguments: tuple[Any, ...]
    expected: Any
    why: str
    keywords: Mapping[str, Any] = field(default_factory=dict)
    shown: bool = False

    def foreseen(self) -> Calls:
        """Return the one call."""
        return [(self.arguments, self.keywords)]

    def run(self, submission: Submission, problem: Problem, seed: int) -> None:
        """Compare the value of the one call."""
        _compare(submission, problem, self.arguments, self.keywords, self.expected, self.shown)


@dataclass(frozen=True)
class Drawn:
    """Compare the answer with the reference on random inputs. Small inputs come first, so that a small one
    shows the failure.

    Attributes:
      draw: function of a generator and a size (from 1 up) that returns positional arguments, or (arguments,
        keywords).
      count: number of random inputs.
    """

    name: str
    draw: Callable[[np.random.Generator, int], tuple[Any, ...]]
    why: str
    count: int = 24
    shown: bool = False

    def foreseen(self) -> Calls:
        """Return no calls: they are not known before they are sampled."""
        return ()

    def run(self, submission: Submission, problem: Problem, seed: int) -> None:
        """Compare values on inputs of growing size."""
        drawn = [self.inputs(seed, trial) for trial in range(self.count)]
        submission.announce(drawn)
        for arguments, keywords in drawn:
            expected = problem.reference(*copied(arguments), **copied(keywords))
            _compare(submission, problem, arguments, keywords, expected, self.shown)

    def inputs(self, seed: int, trial: int) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """Return the arguments of one trial. Equal seeds give equal inputs."""
        generator = np.random.default_rng([seed, trial, *self.name.encode()])
        drawn = self.draw(generator, 1 + trial // 4)
        if len(drawn) == 2 and isinstance(drawn[0], tuple) and isinstance(drawn[1], dict):
            return drawn[0], drawn[1]
        return drawn, {}


@dataclass(frozen=True)
class Raises:
    """Require that bad input raises an error of a certain type.

    Attributes:
      calls: the positional arguments of each call that must raise.
      error: name of the exception's type; its subclasses are accepted too.
    """

    name: str
    calls: tuple[tuple[Any, ...], ...]
    why: str
    error: str = "ValueError"
    shown: bool = False

    def foreseen(self) -> Calls:
        """Return the calls."""
        return [(arguments, {}) for arguments in self.calls]

    def run(self, submission: Submission, problem: Problem, seed: int) -> None:
        """Make each call and require that it raises the error."""
        for arguments in self.calls:
            called = format_call(problem.function, arguments, {})
            try:
                value = submission(*arguments)
            except Raised as raised:
                if self.error in raised.kinds:
                    continue
                raise Failure(called, str(raised), f"expected a {self.error}, got another error") from raised
            raise Failure(called, format_value(value), f"expected a {self.error}, but a value was returned")


@dataclass(frozen=True)
class Holds:
    """A property of the function, written as a predicate over calls.

    Attributes:
      property: receives the function; returns None if the property is true, else a sentence about the
        violation.
    """

    name: str
    property: Callable[[Function], str | None]
    why: str
    shown: bool = False

    def foreseen(self) -> Calls:
        """Return no calls: each call may depend on the values of the previous ones."""
        return ()

    def run(self, submission: Submission, problem: Problem, seed: int) -> None:
        """Test the property, and remember the last call for the message."""
        last = _Recorder(submission, problem.function)
        wrong = self.property(last)
        if wrong is not None:
            raise Failure(last.called, last.got, wrong)


@dataclass(frozen=True)
class Unchanged:
    """Require that the function leaves the caller's arrays and lists unchanged."""

    arguments: tuple[Any, ...]
    name: str = "Does not modify its inputs"
    why: str = "A function that changes the caller's arrays breaks the next computation; work on a copy."
    shown: bool = True

    def foreseen(self) -> Calls:
        """Return the one call."""
        return [(self.arguments, {})]

    def run(self, submission: Submission, problem: Problem, seed: int) -> None:
        """Make one call and compare the inputs afterwards."""
        value = submission(*self.arguments)
        after = submission.inputs_after()
        left = tuple(after[0]) if after is not None else self.arguments
        for before, now in zip(self.arguments, left, strict=True):
            if not np.array_equal(np.asarray(before), np.asarray(now)):
                called = format_call(problem.function, self.arguments, {})
                raise Failure(
                    called,
                    format_value(value),
                    f"an input was {format_value(before)} and is now {format_value(now)}",
                )


def changing_inputs(reference: Function) -> Mutant:
    """Return a mutant that returns the right value, but overwrites its input arrays."""

    def answer(*arguments: Any, **keywords: Any) -> Any:
        value = reference(*copied(arguments), **keywords)
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                argument[...] = 0
        return value

    return Mutant("changes its inputs", answer, "Changes the arrays of the caller; work on copies.")


class _Recorder:
    """Pass calls on and remember the last one as text."""

    def __init__(self, submission: Submission, function: str) -> None:
        self.submission, self.function = submission, function
        self.called, self.got = f"{function}(...)", "nothing yet"

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        self.called, self.got = format_call(self.function, arguments, keywords), "an error"
        value = self.submission(*arguments, **keywords)
        self.got = format_value(value)
        return value


def format_call(function: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    """Format a call as it could be typed, with long arrays shortened."""
    parts = [format_value(value) for value in arguments]
    parts += [f"{name}={format_value(value)}" for name, value in keywords.items()]
    return f"{function}({', '.join(parts)})"


def format_value(value: Any, digits: int = DIGITS) -> str:
    """Format a value, with long arrays and lists shortened. Very long arrays are described by their shape."""
    text = _text(value, digits)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}... ({len(text)} characters)"


def _text(value: Any, digits: int) -> str:
    if isinstance(value, np.ndarray):
        return _array_text(value, digits)
    if isinstance(value, tuple | list):
        items = _joined([_text(item, digits) for item in value[:LONGEST]], len(value))
        return f"[{items}]" if isinstance(value, list) else f"({items}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        pairs = [f"{key!r}: {_text(item, digits)}" for key, item in islice(value.items(), LONGEST)]
        return f"{{{_joined(pairs, len(value))}}}"
    return repr(value.item() if isinstance(value, np.generic) else value)


def _array_text(array: Any, digits: int) -> str:
    if array.size == 0 and array.ndim > 1:
        return f"np.zeros({array.shape})"
    if array.size > LONGEST:
        return f"<array of shape {array.shape}>"
    kinds: Any = {"float_kind": lambda number: f"{number:.{digits}g}"}
    text = np.array2string(array, separator=", ", threshold=24, formatter=kinds)
    return " ".join(text.split())


def _joined(texts: list[str], length: int) -> str:
    return ", ".join(texts + [f"... ({length} items)"] * (length > len(texts)))


def distinct_texts(left: Any, right: Any) -> tuple[str, str]:
    """Format two values with as many digits as are needed to see the difference.

    >>> distinct_texts(np.array([0.6931471]), np.array([0.6931473]))
    ('[0.6931471]', '[0.6931473]')
    """
    for digits in range(DIGITS, MOST_DIGITS):
        texts = format_value(left, digits), format_value(right, digits)
        if texts[0] != texts[1]:
            return texts
    return format_value(left, MOST_DIGITS), format_value(right, MOST_DIGITS)


def _compare(
    submission: Submission,
    problem: Problem,
    arguments: tuple[Any, ...],
    keywords: Mapping[str, Any],
    expected: Any,
    shown: bool,
) -> None:
    value = submission(*arguments, **keywords)
    found = difference(value, expected, problem.rtol)
    if found is None:
        return
    called = format_call(problem.function, arguments, keywords)
    if not shown:
        raise Failure(called, format_value(value), found.text)
    returned, due = distinct_texts(value, expected)
    raise Failure(called, returned, f"{found.text}; expected {due}")


def copied(value: Any) -> Any:
    """Return a copy so deep that changes of it do not reach the original. Arrays keep their memory order."""
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, tuple | list):
        return type(value)(copied(item) for item in value)
    if isinstance(value, Mapping):
        return {name: copied(item) for name, item in value.items()}
    return value
