"""The check that draws its inputs from all that the statement allows."""

from dataclasses import dataclass

from grpo_ref.course.grading.found import Found, Input, try_input
from grpo_ref.course.grading.problem import Check, Failure, Problem, Raised, Submission
from grpo_ref.course.grading.rights import Candidate, Rights, domain_of


@dataclass(frozen=True)
class FromDomain:
    """Inputs drawn from the domain, compared with the reference; small ones first.

    An input on which rounding decides what is right is left out.

    Attributes:
      why: one sentence that a student reads after failing.
      count: how many inputs are drawn.
    """

    why: str = "random inputs of every kind that the statement allows"
    name: str = "Random inputs agree"
    count: int = 24
    shown: bool = False

    def run(self, submission: Submission, problem: Problem, seed: int) -> None:
        """Try each input; whether it is fit to judge by is only asked where the answer is not right."""
        rights = Rights(problem, {})
        for draw in domain_of(problem).draws(seed, self.count):
            expected = rights.expected(draw)
            if isinstance(expected, Exception) and not draw.refused:
                continue
            try:
                try_input(submission, problem, Input(draw.arguments, draw.keywords, expected, draw.refused))
            except (Failure, Raised):
                if isinstance(rights.candidate(draw), Candidate):
                    raise
                submission.forget()


def own_checks(problem: Problem) -> list[Check]:
    """The checks that an author wrote, without those made of found cases or of the domain."""
    return [check for check in problem.checks if not isinstance(check, Found | FromDomain)]
