"""The check that draws its inputs from all that the statement allows."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from grpo_ref.course.grading.found import Found, Input, try_input
from grpo_ref.course.grading.problem import Calls, Check, Failure, Problem, Raised, Submission
from grpo_ref.course.grading.rights import Candidate, Rights, domain_of, rights_of

NOISE = 1e-12
"""Where all of a right value is below this and not 0, it may be the rounding of larger numbers."""


@dataclass(frozen=True)
class FromDomain:
    """Inputs drawn from the domain, compared with the reference; small ones first.

    An input on which the right answers differ, or rounding decides what is right, is left out.

    Attributes:
      why: one sentence that a student reads after failing.
      count: how many inputs are drawn.
    """

    why: str = "random inputs of every kind that the statement allows"
    name: str = "Random inputs agree"
    count: int = 24
    shown: bool = False

    def foreseen(self) -> Calls:
        """None before they are drawn."""
        return ()

    def run(self, submission: Submission, problem: Problem, seed: int) -> None:
        """Try each input; whether it is fit to judge by is only asked where the answer is not right.

        The reference is asked alone first, since the right answers have to be loaded.
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
    """Whether a right value, or a part of it, may be nothing but rounding: all of it is tiny, and not 0.

    Exactness of tiny values is tried by hidden cases, which were compared in extended precision.

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
    """The checks that an author wrote, without those made of found cases or of the domain."""
    return [check for check in problem.checks if not isinstance(check, Found | FromDomain)]
