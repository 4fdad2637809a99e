"""The check that samples its inputs from everything that the statement allows."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from grpo_ref.course.grading.found_cases import FoundCases, Input, try_input
from grpo_ref.course.grading.input_checks import Candidate, Rights, domain_of, rights_of
from grpo_ref.course.grading.problem import Calls, Check, Failure, Problem, Raised, Submission

NOISE = 1e-12
"""If all numbers of a right value are smaller than this and not all are 0, they may be rounding errors of
larger numbers.
"""


@dataclass(frozen=True)
class FromDomain:
    """Compare the answer with the reference on inputs sampled from the domain, small inputs first.

    An input is skipped if the right answers differ on it, or if rounding decides the right value.

    Attributes:
      why: one sentence that a student reads after failing.
      count: number of sampled inputs.
    """

    why: str = "random inputs of every kind that the statement allows"
    name: str = "Random inputs agree"
    count: int = 24
    shown: bool = False

    def foreseen(self) -> Calls:
        """Return no calls: they are not known before they are sampled."""
        return ()

    def run(self, submission: Submission, problem: Problem, seed: int) -> None:
        """Try each input. Test whether an input is fit to judge by only if the answer is wrong on it.

        The reference is tested first and alone, because loading the other right answers takes time.
        """
        reference, rights = Rights(problem, {}), cache(lambda: rights_of(problem))
        draws = [(draw, reference.expected(draw)) for draw in domain_of(problem).draws(seed, self.count)]
        tried = [
            (draw, Input(draw.arguments, draw.keywords, expected, draw.refused))
            for draw, expected in draws
            if draw.refused or not isinstance(expected, Exception)
        ]
        submission.announce([(given.arguments, given.keywords) for _, given in tried])
        for draw, given in tried:
            try:
                try_input(submission, problem, given)
            except (Failure, Raised):
                is_fit = isinstance(reference.candidate(draw), Candidate) and not is_noise(given.expected)
                is_beyond_doubt = is_fit and (draw.refused or reference.is_steady(draw))
                if is_beyond_doubt and isinstance(rights().candidate(draw), Candidate):
                    raise
                submission.forget()


def is_noise(value: Any) -> bool:
    """Return whether a right value, or a part of it, may be nothing but rounding error: tiny, but not 0.

    Hidden cases test the accuracy of tiny values; they were compared in extended precision.

    >>> is_noise(np.array([2e-16, -1e-17])), is_noise(0.0), is_noise((1.0, 1e-15))
    (True, False, True)
    """
    if isinstance(value, Mapping):
        return any(map(is_noise, value.values()))
    if isinstance(value, tuple):
        return any(map(is_noise, value))
    array = np.asarray(value)
    return array.dtype.kind == "f" and bool(0.0 < np.abs(array).max(initial=0.0) < NOISE)


def own_checks(problem: Problem) -> list[Check]:
    """Return the checks that an author wrote, without those made from found cases or from the domain."""
    return [check for check in problem.checks if not isinstance(check, FoundCases | FromDomain)]
