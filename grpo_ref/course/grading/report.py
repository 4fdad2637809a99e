"""What the grader says of an answer; all that students and instructors see renders a report."""

from dataclasses import dataclass

PASSED, FAILED, NOT_STARTED = "passed", "failed", "not started"
DEFAULT_SEED = 20250120


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check.

    Attributes:
      name: of the check.
      passed: whether it passed.
      called, got, wrong: the call, what it returned or raised, and what is wrong with it; empty if passed.
      why: the author's sentence about what the check is for.
      likely: the sentence of a known mistake that explains this check, where none explains them all, or "".
      warnings: what NumPy or Python warned of in its calls.
      raised: whether `got` was raised, not returned.
      printed: what the answer printed in its calls.
    """

    name: str
    passed: bool
    called: str = ""
    got: str = ""
    wrong: str = ""
    why: str = ""
    likely: str = ""
    warnings: tuple[str, ...] = ()
    raised: bool = False
    printed: str = ""


@dataclass(frozen=True)
class Report:
    """What the grader says of one answer.

    Attributes:
      problem: its id.
      title: its title.
      status: "passed", "failed" or "not started".
      results: one per check, in order.
      points, of: reached and possible; a program that was given to be mended brings none as it was given.
      diagnosis: the sentence of the misconception that reproduces the answer, or "".
      symptom: where there is no diagnosis, what is true of all inputs on which the answer is wrong, or "".
      printed: what the answer printed, when it was loaded and in all calls.
      warnings: what NumPy or Python warned of.
      seed: of the random inputs.
      official: whether the answer ran in a process of its own.
      protection: what that process was kept from, in words; empty if there was none.
    """

    problem: str
    title: str
    status: str
    results: tuple[CheckResult, ...]
    points: float
    of: int
    diagnosis: str = ""
    symptom: str = ""
    printed: str = ""
    warnings: tuple[str, ...] = ()
    seed: int = DEFAULT_SEED
    official: bool = True
    protection: str = ""
