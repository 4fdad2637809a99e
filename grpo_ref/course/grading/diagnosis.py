"""Which mistake does a wrong answer look like? Known wrong answers are compared with it, test by test.

Two kinds of wrong answers are known. Those that an author wrote are functions, which are called here with
what the student's function was called with. Those that the search for hidden cases made are kept as data
beside the problem: a sentence, and a symbol for each hidden case that says what was returned there.
"""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from grpo_ref.course.grading.found import SUFFIX as CASES
from grpo_ref.course.grading.found import Found, Input
from grpo_ref.course.grading.judge import agree
from grpo_ref.course.grading.problem import Function, Problem, copied
from grpo_ref.course.grading.submission import Call

SUFFIX = ".mistakes.json"
RIGHT, RAISED, CHANGED, UNKNOWN = "..", "!!", "~~", "??"
"""Symbols for a right value, for an error, for a changed input, and for a case that was not tried."""
DIGITS = 6
"""Significant digits of the largest magnitude by which wrong values are told apart."""
FEWEST = 2
"""Wrong values on which a known mistake must agree if it explains some tests and not all."""


@dataclass(frozen=True)
class Mistake:
    """A known wrong answer as data.

    Attributes:
      sentence: for the student.
      symbols: what it returned on each hidden case, in their order.
    """

    sentence: str
    symbols: tuple[str, ...]


def symbol(value: Any, given: Input, rtol: float) -> str:
    """Two characters for what was returned on a hidden case; equal wrong values have equal ones."""
    if given.raises:
        return symbol_of(value)
    return RIGHT if agree(value, given.expected, rtol) else symbol_of(value)


def symbol_of(value: Any) -> str:
    """Two characters for a value, rounded.

    >>> symbol_of([1.0, 2.0]) == symbol_of(np.array([1.0, 2.0 + 1e-12])) != symbol_of([1.0, 2.1])
    True
    """
    return base64.b64encode(sha256(repr(_rounded(value)).encode()).digest())[:2].decode()


def _rounded(value: Any) -> Any:
    """The value with its numbers in whole parts of the largest magnitude."""
    if isinstance(value, tuple):
        return tuple(map(_rounded, value))
    if isinstance(value, Mapping):
        return sorted((str(name), _rounded(item)) for name, item in value.items())
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return str(value)
    finite = np.isfinite(array)
    scale = np.abs(array[finite]).max(initial=0.0)
    whole = np.rint(np.where(finite, array, 0.0) / (scale or 1.0) * 10.0**DIGITS).astype(np.int64)
    return f"{scale:.{DIGITS - 1}e}", array.shape, whole.tolist(), array[~finite].tolist()


@cache
def mistakes(path: Path) -> tuple[Mistake, ...]:
    """The known wrong answers of a data file, the more telling ones first; none if there is no file."""
    if not path.is_file():
        return ()
    data = json.loads(path.read_text(encoding="utf-8"))
    return tuple(Mistake(data["sentences"][number], _pairs(symbols)) for number, symbols in data["mistakes"])


def _pairs(symbols: str) -> tuple[str, ...]:
    return tuple(symbols[i : i + 2] for i in range(0, len(symbols), 2))


@dataclass(frozen=True)
class Tested:
    """One check with what came of it.

    Attributes:
      name: of the check.
      passed: whether it passed.
      calls: that were made for it.
      inputs: the hidden cases that the calls were made with, none for other kinds of checks.
    """

    name: str
    passed: bool
    calls: Sequence[Call]
    inputs: Sequence[Input] = ()


@dataclass(frozen=True)
class Suspect:
    """A known wrong answer beside the student's.

    Attributes:
      sentence: for the student.
      fits: name of a check -> whether both gave the same in all its calls, which takes time to find out; None
        if that is not known.
    """

    sentence: str
    fits: Callable[[str], bool | None]


def diagnosed(problem: Problem, tested: Sequence[Tested]) -> tuple[str, tuple[str, ...]]:
    """The sentence for the whole answer, "" if no one mistake explains it; then one for each failed check.

    A mistake explains a check if it gives the same there, and on every check that the student passes. Several
    mistakes at once are only named if they explain every failed check, and by the author's sentences alone.

    Args:
      problem: the exercise.
      tested: every check, in order.
    """
    wrong = {each.name: _wrong_calls(problem, each) for each in tested if not each.passed}
    nothing = "", tuple("" for _ in tested)
    if not any(wrong.values()):
        return nothing
    suspects = [*_written(problem, tested), *_kept(problem, tested)]
    whole = next((each.sentence for each in suspects if _is_like(each, tested)), "")
    if whole:
        return whole, nothing[1]
    evidence = {name: sum(_is_finite(call.value) for call in calls) for name, calls in wrong.items()}
    authors = {mutant.tell for mutant in problem.mutants}
    explained = _explanations([each for each in suspects if each.sentence in authors], tested)
    named = _named(explained, evidence)
    return "", tuple(
        named.get(each.name, "") for each in tested
    ) if wrong.keys() <= named.keys() else nothing[1]


def _is_like(suspect: Suspect, tested: Sequence[Tested]) -> bool:
    """Whether nothing is known by which the answer differs from a known one on these checks."""
    return all(suspect.fits(each.name) is not False for each in tested)


def _wrong_calls(problem: Problem, tested: Tested) -> list[Call]:
    """The calls of a check that returned something wrong."""
    returned = [call for call in tested.calls if not call.raised]
    return [call for call in returned if not _gives(problem.reference, problem.rtol, call)]


def _is_finite(value: Any) -> bool:
    try:
        return bool(np.isfinite(np.asarray(value, dtype=float)).all())
    except (TypeError, ValueError, OverflowError):
        return True


def _explanations(suspects: Sequence[Suspect], tested: Sequence[Tested]) -> dict[str, list[str]]:
    """Sentence -> the failed checks that it explains."""
    passed, failed = ([each for each in tested if each.passed is due] for due in (True, False))
    explained: dict[str, list[str]] = {}
    for suspect in suspects:
        if _is_like(suspect, passed):
            names = [each.name for each in failed if suspect.fits(each.name)]
            if len(names) > len(explained.get(suspect.sentence, ())):
                explained[suspect.sentence] = names
    return explained


def _named(explained: Mapping[str, Sequence[str]], evidence: Mapping[str, int]) -> dict[str, str]:
    """Failed check -> its sentence: the one that explains most comes first, and what it leaves is next."""
    named: dict[str, str] = {}
    while True:
        gains = {
            sentence: sum(evidence[name] for name in names if name not in named)
            for sentence, names in explained.items()
        }
        best = max(gains, key=lambda sentence: gains[sentence], default="")
        if not best or gains[best] < FEWEST:
            return named
        named |= {name: best for name in explained[best] if name not in named}


def _written(problem: Problem, tested: Sequence[Tested]) -> list[Suspect]:
    """The author's wrong answers, called with all that the student's was called with."""
    returned = {each.name: [call for call in each.calls if not call.raised] for each in tested}

    def fits(function: Function, name: str) -> bool:
        return all(_gives(function, problem.rtol, call) for call in returned[name])

    return [Suspect(mutant.tell, cache(partial(fits, mutant.function))) for mutant in problem.mutants]


def _gives(function: Function, rtol: float, call: Call) -> bool:
    """Whether a function of ours gives for a call what the submission gave."""
    try:
        with np.errstate(all="ignore"):
            theirs = function(*copied(call.arguments), **copied(call.keywords))
        return agree(call.value, theirs, rtol)
    except Exception:
        return False


def _kept(problem: Problem, tested: Sequence[Tested]) -> list[Suspect]:
    """The wrong answers that are kept as data, compared on the hidden cases."""
    ours = {each.name: _signature(each, problem.rtol) for each in tested if each.inputs}
    path = next((check.path for check in problem.checks if isinstance(check, Found)), None)
    if path is None:
        return []
    suspects = []
    for known in mistakes(path.with_name(path.name.removesuffix(CASES) + SUFFIX)):
        rest = iter(known.symbols)
        fits = {name: _same(signs, [next(rest) for _ in signs]) for name, signs in ours.items()}
        suspects.append(Suspect(known.sentence, fits.get))
    return suspects


def _signature(tested: Tested, rtol: float) -> list[str]:
    """A symbol for each hidden case of a check; cases that were not called are unknown."""
    signs = [_sign(given, call, rtol) for given, call in zip(tested.inputs, tested.calls, strict=False)]
    return signs + [UNKNOWN] * (len(tested.inputs) - len(signs))


def _sign(given: Input, call: Call, rtol: float) -> str:
    if call.raised:
        return RIGHT if given.raises in call.kinds else RAISED
    return symbol(call.value, given, rtol)


def _same(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    return all(a == b or UNKNOWN in (a, b) for a, b in zip(ours, theirs, strict=True))
