"""`Judged`: a call with its verdict, and the further calls that the search for a pattern makes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from grpo_ref.course.grading.found_cases import changed
from grpo_ref.course.grading.input_checks import Candidate, Rights, domain_of, rights_of
from grpo_ref.course.grading.judge import difference
from grpo_ref.course.grading.problem import Problem, Raised, copied
from grpo_ref.course.grading.submission import ENDED, Call, Witness
from grpo_ref.course.grading.symptoms.features import Given

VALUE = "value"
RIGHT, RAISED, LENIENT = "right", "raised", "lenient"


@dataclass(frozen=True)
class Judged:
    """A call with its verdict.

    Attributes:
      given: the arguments.
      call: the call with its result.
      expected: the right value, or the exception that the function must raise.
      verdict: RIGHT, RAISED, LENIENT, or the kind of the difference.
      changed: names of the arguments that the call changed.
    """

    given: Given
    call: Call
    expected: Any
    verdict: str
    changed: tuple[str, ...] = ()

    @property
    def is_wrong(self) -> bool:
        """True if the value is wrong, or the call raised, or accepted invalid input."""
        return self.verdict != RIGHT

    @property
    def values(self) -> tuple[Given, Any, Any]:
        """The arguments, the returned value and the right value, for `relation`."""
        return self.given, self.call.value, self.expected


def further(problem: Problem, witness: Witness, seed: int, count: int) -> Iterator[Judged]:
    """Yield this many further calls with inputs of the domain. If an answer is wrong, all right answers must
    agree on the input.
    """
    rights: Rights | None = None
    draws = [(draw, Call(draw.arguments, draw.keywords)) for draw in domain_of(problem).draws(seed, count)]
    witness.announce([(call.arguments, call.keywords) for _, call in draws])
    for draw, given in draws:
        call = tried(witness, given)
        if call is None:
            return
        each = judged(problem, call, witness.inputs_after())
        if each is not None and each.is_wrong:
            rights = rights or rights_of(problem)
            each = each if isinstance(rights.candidate(draw), Candidate) else None
        if each is not None:
            yield each


def tried(witness: Witness, call: Call) -> Call | None:
    """Make the call again and return its result; None if it ended the process."""
    try:
        witness(*call.arguments, **call.keywords)
    except Raised as raised:
        if ENDED & set(raised.kinds):
            return None
    return witness.calls[-1]


def judged(problem: Problem, call: Call, after: Any = None) -> Judged | None:
    """Return the call with its verdict; None if the reference cannot handle the input either.

    Args:
      problem: an exercise with a domain.
      call: a call with its result.
      after: the positional arguments and the keywords after the call; None if they are unchanged or unknown.
    """
    expected: Any
    try:
        with np.errstate(all="ignore"):
            expected = problem.reference(*copied(call.arguments), **copied(call.keywords))
    except ValueError as error:
        expected = error
    except Exception:
        return None
    given = Given(domain_of(problem), call.arguments, call.keywords)
    names = () if call.raised or after is None else _changed(list(domain_of(problem).arguments), call, after)
    return Judged(given, call, expected, _verdict(problem, call, expected), names)


def _changed(names: list[str], call: Call, after: Any) -> tuple[str, ...]:
    """Return the names of the arguments that differ from the given ones."""
    before = dict(zip(names, call.arguments, strict=False)) | dict(call.keywords)
    later = dict(zip(names, after[0], strict=False)) | dict(after[1])
    return tuple(name for name in before if name in later and changed(([later[name]],), [before[name]]))


def _verdict(problem: Problem, call: Call, expected: Any) -> str:
    if isinstance(expected, Exception):
        return LENIENT if not call.raised else RIGHT if "ValueError" in call.kinds else RAISED
    if call.raised:
        return RAISED
    wrong = difference(call.value, expected, problem.rtol)
    return RIGHT if wrong is None else wrong.kind
