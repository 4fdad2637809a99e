"""The grader's report on an answer. Everything that students and instructors see is made from a report."""

from dataclasses import dataclass

PASSED, FAILED, NOT_STARTED = "passed", "failed", "not started"
DEFAULT_SEED = 20250120


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check.

    Attributes:
      name: name of the check.
      passed: whether the check passed.
      called, got, wrong: the call, the value that it returned or the exception that it raised, and the
        difference from the right value; empty if the check passed.
      why: the author's sentence on the purpose of the check.
      likely: sentence of a known mistake that explains this check, if no mistake explains all of them, else
        "".
      warnings: warnings of NumPy or Python during the calls of the check.
      raised: whether `got` is an exception and not a value.
      printed: output that the answer printed during the calls of the check.
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
    """The grader's report on one answer.

    Attributes:
      problem: id of the exercise.
      title: title of the exercise.
      status: "passed", "failed" or "not started".
      results: one result per check, in order.
      points, of: points reached and points possible. A faulty program that was not changed gets no points.
      diagnosis: sentence of the known mistake that returns the same values as the answer, or "".
      symptom: if there is no diagnosis, a sentence that is true of all inputs on which the answer is wrong,
        or "".
      printed: output that the answer printed when it was loaded and in all calls.
      warnings: warnings of NumPy or Python.
      seed: seed of the random inputs.
      official: whether the answer ran in a process of its own.
      protection: description of what that process was kept from; "" if there was no such process.
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
