"""Find the known mistake that a wrong answer looks like, by comparing both test by test.

There are two kinds of known mistakes. Mistakes that an author wrote are functions; they are called here with
the inputs of the student's function. Mistakes that the search for hidden cases found are data of the
exercise: a sentence, and for each call with a known value a symbol of the value that the mistake returns.
These calls are the examples, the author's other cases and the hidden cases.
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

from grpo_ref.course.grading.found_cases import FoundCases, Input
from grpo_ref.course.grading.judge import agree
from grpo_ref.course.grading.problem import Function, Problem, copied
from grpo_ref.course.grading.submission import Call

MISTAKES = "mistakes.json"
"""Name of the data file in the folder of an exercise."""
RIGHT, RAISED, CHANGED, UNKNOWN = "..", "!!", "~~", "??"
"""Symbols of a right value, an error, a changed input, and a case that was not tried."""
DIGITS = 6
"""Significant digits, of the largest magnitude, in which two wrong values must differ to count as different.
"""
FEWEST = 2
"""Smallest number of wrong values that a known mistake must reproduce if it explains some failed tests but
not all.
"""


@dataclass(frozen=True)
class Mistake:
    """A known wrong answer as data.

    Attributes:
      sentence: explanation for the student.
      symbols: one symbol for each call with a known value, in the order of the checks: the value that the
        mistake returned.
    """

    sentence: str
    symbols: tuple[str, ...]


def symbol(value: Any, given: Input, rtol: float) -> str:
    """Return two characters that encode the value returned on a hidden case. Equal wrong values have equal
    symbols.
    """
    if given.raises:
        return symbol_of(value)
    return RIGHT if agree(value, given.expected, rtol) else symbol_of(value)


def symbol_of(value: Any) -> str:
    """Return two characters that encode a rounded value.

    >>> symbol_of([1.0, 2.0]) == symbol_of(np.array([1.0, 2.0 + 1e-12])) != symbol_of([1.0, 2.1])
    True
    """
    return base64.b64encode(sha256(repr(_rounded(value)).encode()).digest())[:2].decode()


def _rounded(value: Any) -> Any:
    """Round the numbers of a value to a fraction of the largest magnitude."""
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
    """Return the known mistakes of a data file, the most specific first; none if the file is missing."""
    if not path.is_file():
        return ()
    data = json.loads(path.read_text(encoding="utf-8"))
    return tuple(Mistake(data["sentences"][number], _pairs(symbols)) for number, symbols in data["mistakes"])


def _pairs(symbols: str) -> tuple[str, ...]:
    return tuple(symbols[i : i + 2] for i in range(0, len(symbols), 2))


@dataclass(frozen=True)
class Tested:
    """One check and its outcome.

    Attributes:
      name: name of the check.
      passed: whether the check passed.
      calls: the calls that the check made.
      inputs: these calls with their right values; empty for checks without known values.
    """

    name: str
    passed: bool
    calls: Sequence[Call]
    inputs: Sequence[Input] = ()


@dataclass(frozen=True)
class Suspect:
    """A known wrong answer, to be compared with the student's.

    Attributes:
      sentence: explanation for the student.
      fits: name of a check -> whether both answers gave the same in all calls of the check, or None if that
        is unknown. The comparison takes time.
    """

    sentence: str
    fits: Callable[[str], bool | None]


def diagnosed(problem: Problem, tested: Sequence[Tested]) -> tuple[str, tuple[str, ...]]:
    """Return the sentence for the whole answer and one sentence for each failed check.

    The first sentence is "" if no single mistake explains the whole answer. A mistake explains a check if it
    gives the same values there and on every check that the student passes. Several mistakes are named only if
    together they explain every failed check; only the author's sentences are used for this.

    Args:
      problem: the exercise.
      tested: every check, in order.
    """
    wrong = {each.name: _wrong_calls(problem, each) for each in tested if not each.passed}
    nothing = "", tuple("" for _ in tested)
    if not any(wrong.values()):
        return nothing
    suspects = [*_authored_suspects(problem, tested), *_stored_suspects(problem, tested)]
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
    """Return whether no known difference separates the answer from a known mistake on these checks."""
    return all(suspect.fits(each.name) is not False for each in tested)


def _wrong_calls(problem: Problem, tested: Tested) -> list[Call]:
    """Return the calls of a check that returned a wrong value."""
    returned = [call for call in tested.calls if not call.raised]
    return [call for call in returned if not _gives(problem.reference, problem.rtol, call)]


def _is_finite(value: Any) -> bool:
    try:
        return bool(np.isfinite(np.asarray(value, dtype=float)).all())
    except (TypeError, ValueError, OverflowError):
        return True


def _explanations(suspects: Sequence[Suspect], tested: Sequence[Tested]) -> dict[str, list[str]]:
    """Return the failed checks that each sentence explains."""
    passed, failed = ([each for each in tested if each.passed is due] for due in (True, False))
    explained: dict[str, list[str]] = {}
    for suspect in suspects:
        if _is_like(suspect, passed):
            names = [each.name for each in failed if suspect.fits(each.name)]
            if len(names) > len(explained.get(suspect.sentence, ())):
                explained[suspect.sentence] = names
    return explained


def _named(explained: Mapping[str, Sequence[str]], evidence: Mapping[str, int]) -> dict[str, str]:
    """Return a sentence for each failed check.

    The sentence that explains the most calls is used first, then the one that explains most of the rest, and
    so on.
    """
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


def _authored_suspects(problem: Problem, tested: Sequence[Tested]) -> list[Suspect]:
    """Return the author's wrong answers, to be called with all inputs of the student's function."""
    returned = {each.name: [call for call in each.calls if not call.raised] for each in tested}

    def fits(function: Function, name: str) -> bool:
        return all(_gives(function, problem.rtol, call) for call in returned[name])

    return [Suspect(mutant.tell, cache(partial(fits, mutant.function))) for mutant in problem.mutants]


def _gives(function: Function, rtol: float, call: Call) -> bool:
    """Return whether one of the course's own functions returns the value that the submission returned."""
    try:
        with np.errstate(all="ignore"):
            theirs = function(*copied(call.arguments), **copied(call.keywords))
        return agree(call.value, theirs, rtol)
    except Exception:
        return False


def _stored_suspects(problem: Problem, tested: Sequence[Tested]) -> list[Suspect]:
    """Return the wrong answers that are stored as data, compared on the calls with known values."""
    ours = {each.name: _signature(each, problem.rtol) for each in tested if each.inputs}
    path = next((check.path for check in problem.checks if isinstance(check, FoundCases)), None)
    if path is None:
        return []
    suspects = []
    for known in mistakes(path.with_name(MISTAKES)):
        rest = iter(known.symbols)
        fits = {name: _same(signs, [next(rest) for _ in signs]) for name, signs in ours.items()}
        suspects.append(Suspect(known.sentence, fits.get))
    return suspects


def _signature(tested: Tested, rtol: float) -> list[str]:
    """Return a symbol for each call of a check. Calls that were not made have an unknown symbol."""
    signs = [_sign(given, call, rtol) for given, call in zip(tested.inputs, tested.calls, strict=False)]
    return signs + [UNKNOWN] * (len(tested.inputs) - len(signs))


def _sign(given: Input, call: Call, rtol: float) -> str:
    if call.raised:
        return RIGHT if given.raises in call.kinds else RAISED
    return symbol(call.value, given, rtol)


def _same(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    return all(a == b or UNKNOWN in (a, b) for a, b in zip(ours, theirs, strict=True))
