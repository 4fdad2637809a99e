"""What an exercise is: a statement, a right answer, checks, and wrong answers that the checks must catch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

import numpy as np

from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.judge import difference

Function = Callable[..., Any]
LONGEST, LONGEST_TEXT = 200, 2000
"""Numbers of an array or list, and characters of a value, that are still written out in a message."""
DIGITS, MOST_DIGITS = 6, 17
"""Digits of a number in a message, and how many tell any two apart."""


class Failure(Exception):
    """A check failed; tells the four things that a student needs to know.

    Attributes:
      called: the call, as it could be typed.
      got: what it returned or raised.
      wrong: what is wrong about it.
    """

    def __init__(self, called: str, got: str, wrong: str) -> None:
        super().__init__(wrong)
        self.called, self.got, self.wrong = called, got, wrong


class Raised(Exception):
    """The student's function raised.

    Attributes:
      kinds: names of the exception's type and its bases.
      message: what it said.
      lines: the student's lines that led to it.
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
    """Whatever can be asked for values: a sandboxed file, or a function at hand."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """The function's value, or Raised; it works on copies of what it is given."""

    def announce(self, calls: Calls) -> None:
        """Say which calls come next: they may be made together. What was announced before does not come."""

    def inputs_after(self) -> Any:
        """The (arguments, keywords) of the last call as they were left; None if nothing changed them."""

    def forget(self) -> None:
        """The last call was on an input that is not fit to judge by: it counts for nothing."""


class Check(Protocol):
    """One named test.

    Attributes:
      name: a short sentence that says what holds.
      why: one sentence that a student reads after failing.
      shown: whether inputs and expected values may be shown.
    """

    @property
    def name(self) -> str:
        """See above."""

    @property
    def why(self) -> str:
        """See above."""

    @property
    def shown(self) -> bool:
        """See above."""

    def foreseen(self) -> Calls:
        """The calls that it is known to make, in order, whatever they give."""

    def run(self, submission: Submission, problem: "Problem", seed: int) -> None:
        """Raise Failure or Raised if the check fails; anything else if it has no use for a value."""


AS_GIVEN = "as it was given"
"""Name of the wrong answer that a student is given to mend; it brings no points, whatever it passes."""


@dataclass(frozen=True)
class Mutant:
    """A plausible wrong answer.

    Attributes:
      name: what is wrong with it, in a few words.
      function: the wrong answer itself.
      tell: the sentence for a student whose answers coincide with it.
    """

    name: str
    function: Function
    tell: str


def as_given(patient: Function, tell: str) -> Mutant:
    """The wrong answer that a student is given to mend, with the sentence for one who has not."""
    return Mutant(AS_GIVEN, patient, tell)


@dataclass(frozen=True)
class Problem:
    """An exercise.

    Attributes:
      id: "chapter/name", also the path of its files.
      title: as in a table of contents.
      function: name of the function to write.
      reference: the right answer.
      checks: named tests, in the order in which a student should meet them.
      mutants: wrong answers that the checks must catch.
      others: right answers in other styles, by name; all checks must pass them.
      right_answers: gives the texts of further ones by name, the model answer first; it is only called where
        an answer is wrong.
      hints: a ladder, from a question to nearly the line.
      background, task, inputs, output, constraints, notes: the parts of the statement, in Markdown.
      example: an example in words of its own, beside the shown cases.
      difficulty: "easy", "medium" or "hard".
      source: the paper or trainer that the formula is from.
      notebook: name of the notebook that shows the idea at work, or "".
      kernel: where the package has the same function, as "grpo_ref.kernels.ratios.clipped", or "".
      points: what the exercise counts.
      rtol: tolerance relative to the largest expected magnitude.
      seconds: how long one call may take.
      domain: which inputs the statement allows, as data.
    """

    id: str
    title: str
    function: str
    reference: Function
    checks: tuple[Check, ...]
    mutants: tuple[Mutant, ...]
    hints: tuple[str, ...]
    background: str
    task: str
    inputs: str
    output: str
    source: str
    others: Mapping[str, Function] = field(default_factory=dict)
    right_answers: Callable[[], Mapping[str, str]] = dict
    constraints: str = ""
    notes: str = ""
    example: str = ""
    kernel: str = ""
    notebook: str = ""
    difficulty: str = "easy"
    points: int = 1
    rtol: float = 1e-9
    seconds: float = 5.0
    domain: Domain | None = None


@dataclass(frozen=True)
class Case:
    """One call with its expected value.

    Attributes:
      arguments: positional arguments.
      expected: the value; worked by hand, so that it does not rest on the reference.
      keywords: keyword arguments.
    """

    name: str
    arguments: tuple[Any, ...]
    expected: Any
    why: str
    keywords: Mapping[str, Any] = field(default_factory=dict)
    shown: bool = False

    def foreseen(self) -> Calls:
        """Its call."""
        return [(self.arguments, self.keywords)]

    def run(self, submission: Submission, problem: Problem, seed: int) -> None:
        """Compare one value."""
        _compare(submission, problem, self.arguments, self.keywords, self.expected, self.shown)


@dataclass(frozen=True)
class Drawn:
    """Random inputs, compared with the reference; small ones first, so that a small one shows a failure.

    Attributes:
      draw: (generator, size from 1 up) -> positional arguments, or (arguments, keywords).
      count: how many inputs are drawn.
    """

    name: str
    draw: Callable[[np.random.Generator, int], tuple[Any, ...]]
    why: str
    count: int = 24
    shown: bool = False

    def foreseen(self) -> Calls:
        """None before they are drawn."""
        return ()

    def run(self, submission: Submission, problem: Problem, seed: int) -> None:
        """Compare values on inputs of growing size."""
        drawn = [self.inputs(seed, trial) for trial in range(self.count)]
        submission.announce(drawn)
        for arguments, keywords in drawn:
            expected = problem.reference(*copied(arguments), **copied(keywords))
            _compare(submission, problem, arguments, keywords, expected, self.shown)

    def inputs(self, seed: int, trial: int) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """The arguments of one trial; equal seeds give equal inputs."""
        generator = np.random.default_rng([seed, trial, *self.name.encode()])
        drawn = self.draw(generator, 1 + trial // 4)
        if len(drawn) == 2 and isinstance(drawn[0], tuple) and isinstance(drawn[1], dict):
            return drawn[0], drawn[1]
        return drawn, {}


@dataclass(frozen=True)
class Raises:
    """Bad input must be refused with an error of a certain kind.

    Attributes:
      calls: each the positional arguments of a call that must raise.
      error: name of the exception's type; subclasses are fine.
    """

    name: str
    calls: tuple[tuple[Any, ...], ...]
    why: str
    error: str = "ValueError"
    shown: bool = False

    def foreseen(self) -> Calls:
        """Its calls."""
        return [(arguments, {}) for arguments in self.calls]

    def run(self, submission: Submission, problem: Problem, seed: int) -> None:
        """Call and see it refuse."""
        for arguments in self.calls:
            called = format_call(problem.function, arguments, {})
            try:
                value = submission(*arguments)
            except Raised as raised:
                if self.error in raised.kinds:
                    continue
                raise Failure(called, str(raised), f"expected a {self.error}, not this error") from raised
            raise Failure(called, format_value(value), f"expected a {self.error}, but a value was returned")


@dataclass(frozen=True)
class Holds:
    """A property of the function, told as a predicate over calls.

    Attributes:
      property: is given the function; returns None if it holds, else a sentence about what was wrong.
    """

    name: str
    property: Callable[[Function], str | None]
    why: str
    shown: bool = False

    def foreseen(self) -> Calls:
        """None: what is called next may depend on the values."""
        return ()

    def run(self, submission: Submission, problem: Problem, seed: int) -> None:
        """Try the property, remembering the last call for the message."""
        last = _Recorder(submission, problem.function)
        wrong = self.property(last)
        if wrong is not None:
            raise Failure(last.called, last.got, wrong)


@dataclass(frozen=True)
class Unchanged:
    """The caller's arrays and lists are left as they were."""

    arguments: tuple[Any, ...]
    name: str = "Does not modify its inputs"
    why: str = "A function that changes the caller's arrays breaks the next computation; work on a copy."
    shown: bool = True

    def foreseen(self) -> Calls:
        """Its call."""
        return [(self.arguments, {})]

    def run(self, submission: Submission, problem: Problem, seed: int) -> None:
        """Call once and compare the inputs afterwards."""
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
    """The right answer, which then changes the arrays that it was given."""

    def answer(*arguments: Any, **keywords: Any) -> Any:
        value = reference(*copied(arguments), **keywords)
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                argument[...] = 0
        return value

    return Mutant("changes its inputs", answer, "The caller's arrays are changed; work on copies.")


class _Recorder:
    """Passes calls on and remembers the last one as text."""

    def __init__(self, submission: Submission, function: str) -> None:
        self.submission, self.function = submission, function
        self.called, self.got = f"{function}(...)", "nothing yet"

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        self.called, self.got = format_call(self.function, arguments, keywords), "an error"
        value = self.submission(*arguments, **keywords)
        self.got = format_value(value)
        return value


def format_call(function: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    """A call as it could be typed, long arrays shortened."""
    parts = [format_value(value) for value in arguments]
    parts += [f"{name}={format_value(value)}" for name, value in keywords.items()]
    return f"{function}({', '.join(parts)})"


def format_value(value: Any, digits: int = DIGITS) -> str:
    """A value as text, long arrays and lists shortened, very long ones named by their shape."""
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


def told_apart(left: Any, right: Any) -> tuple[str, str]:
    """Two values as text, with as many digits as it takes to see that they differ.

    >>> told_apart(np.array([0.6931471]), np.array([0.6931473]))
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
    returned, due = told_apart(value, expected)
    raise Failure(called, returned, f"{found.text}; expected {due}")


def copied(value: Any) -> Any:
    """A copy deep enough that nobody downstream can change ours, its memory in the same order."""
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, tuple | list):
        return type(value)(copied(item) for item in value)
    if isinstance(value, Mapping):
        return {name: copied(item) for name, item in value.items()}
    return value
