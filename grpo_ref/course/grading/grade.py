"""`grade` runs an answer against a problem and returns a report."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from warnings import catch_warnings, simplefilter

import numpy as np

from grpo_ref.course.grading.diagnosis import Tested, diagnosed
from grpo_ref.course.grading.found_cases import compared_inputs
from grpo_ref.course.grading.problem import (
    AS_GIVEN,
    Case,
    Check,
    Failure,
    Function,
    Problem,
    Raised,
)
from grpo_ref.course.grading.report import DEFAULT_SEED, FAILED, NOT_STARTED, PASSED, CheckResult, Report
from grpo_ref.course.grading.sandbox import Reply, Sandbox
from grpo_ref.course.grading.submission import Direct, Sandboxed, Witness, missing
from grpo_ref.course.grading.symptoms.symptom import REMEMBERED, remembers, symptom

WRONG_SHARE = 0.5
"""Largest share of an exercise's points that a wrong answer can get."""
BROKEN = "this test is broken"
OnError = Callable[[str, BaseException], object]
"""Called with a check's name and the exception with which a function of this process failed the check."""


def grade(
    problem: Problem,
    answer: Path | Function | Sandbox,
    *,
    seed: int = DEFAULT_SEED,
    on_error: OnError | None = None,
    explain: bool = True,
) -> Report:
    """Run every check of a problem against an answer.

    Args:
      problem: the exercise.
      answer: a file, which runs in a process of its own; a function, which runs in this process; or a sandbox
        with the file, whose process may already have been started.
      seed: seed of the random inputs.
      on_error: called when a function of this process fails a check by raising; useful for debuggers.
      explain: whether to look for the mistake if a check fails.

    Returns:
      Report; its status is "not started" if the function still raises NotImplementedError.
    """
    if callable(answer):
        return _examine(problem, Direct(answer), seed, explain, on_error)
    if isinstance(answer, Sandbox):
        return _grade_in(answer, problem, seed, explain)
    with Sandbox(answer) as sandbox:
        return _grade_in(sandbox, problem, seed, explain)


def _grade_in(sandbox: Sandbox, problem: Problem, seed: int, explain: bool) -> Report:
    sandbox.allow(problem.seconds)
    loaded = sandbox.load()
    names = [name for name in loaded.value if isinstance(name, str)] if isinstance(loaded.value, list) else []
    if not loaded.ok:
        report = _unloadable(problem, loaded, sandbox.printed(), seed)
    elif problem.function not in names:
        report = _missing(problem, loaded, names, sandbox.printed(), seed)
    else:
        submission = Sandboxed(sandbox, problem.function)
        report = _examine(problem, submission, seed, explain, afresh=sandbox.start)
    return replace(report, printed=sandbox.printed(), protection=sandbox.protection)


def not_started(problem: Problem, seed: int) -> Report:
    """Return the report on a file in which nothing has been written yet."""
    return Report(problem.id, problem.title, NOT_STARTED, (), 0.0, problem.points, seed=seed)


def grader_failed(problem: Problem, error: Exception, seed: int) -> Report:
    """Return the report on a file for which the grader itself failed."""
    wrong = f"the grader failed ({type(error).__name__}: {error}); please report it to the course"
    result = CheckResult("The file can be graded", False, wrong=wrong, raised=True)
    return Report(problem.id, problem.title, FAILED, (result,), 0.0, problem.points, seed=seed)


def unreadable(problem: Problem, error: OSError, seed: int) -> Report:
    """Return the report on a file that could not be read."""
    reply = Reply(False, kinds=(type(error).__name__,), message=error.strerror or str(error))
    return _unloadable(problem, reply, "", seed)


def _examine(
    problem: Problem,
    submission: Direct | Sandboxed,
    seed: int,
    explain: bool,
    on_error: OnError | None = None,
    afresh: Callable[[], None] | None = None,
) -> Report:
    witness = Witness(submission, problem.function)
    results, tested = [], []
    for at, check in enumerate(problem.checks):
        _announce(witness, problem.checks, at)
        before, called, printed_before = (
            len(submission.warnings),
            len(witness.calls),
            len(submission.printed()),
        )
        result = _run(check, witness, problem, seed, on_error)
        if result is None:
            return not_started(problem, seed)
        warnings, printed = _distinct(submission.warnings[before:]), submission.printed()[printed_before:]
        results.append(replace(result, warnings=warnings, printed=printed))
        tested.append(Tested(check.name, result.passed, witness.calls[called:], compared_inputs(check)))
    witness.announce(())
    diagnosis, likely, found = "", ("",) * len(tested), ""
    if explain and not all(result.passed for result in results):
        diagnosis, likely, found = _explained(problem, tested, witness, seed, afresh)
    results = [replace(result, likely=text) for result, text in zip(results, likely, strict=True)]
    report = Report(
        problem=problem.id,
        title=problem.title,
        status=PASSED if all(result.passed for result in results) else FAILED,
        results=tuple(results),
        points=_points(problem, results, diagnosis),
        of=problem.points,
        diagnosis=diagnosis,
        symptom=found,
        seed=seed,
        official=submission.official,
    )
    return replace(report, warnings=_distinct(submission.warnings))


def _announce(witness: Witness, checks: Sequence[Check], at: int) -> None:
    """Announce all calls that are known from this check on, unless the previous check has announced them
    already.

    Only the calls up to the first check without known calls are announced, so that all calls are made in the
    order of the checks.
    """
    if checks[at].foreseen() and not (at and checks[at - 1].foreseen()):
        known = takewhile(bool, (check.foreseen() for check in checks[at:]))
        witness.announce([call for calls in known for call in calls])


def _explained(
    problem: Problem,
    tested: Sequence[Tested],
    witness: Witness,
    seed: int,
    afresh: Callable[[], None] | None,
) -> tuple[str, tuple[str, ...], str]:
    """Return the diagnosis, a likely mistake for each check, and the symptom. At most one of the three is not
    empty.

    Remembered state is tested first, since it can cause any other symptom. An exception raised here does not
    change the verdict.
    """
    nothing = ("",) * len(tested)
    try:
        with np.errstate(all="ignore"), catch_warnings():
            simplefilter("ignore")  # mistakes do what one is warned of
            if afresh is not None and remembers(problem, witness, afresh):
                return "", nothing, REMEMBERED
            diagnosis, likely = diagnosed(problem, tested)
            return diagnosis, likely, "" if diagnosis else symptom(problem, witness, seed)
    except Exception:
        return "", nothing, ""


def _distinct(warnings: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(warnings))


def _points(problem: Problem, results: list[CheckResult], diagnosis: str) -> float:
    """Return all points for a right answer, and at most half of them for a wrong one.

    A wrong answer gets a part of that half in proportion to the tests that it passes. It gets no points
    before the statement's examples are right, because returning zeros passes many tests. A faulty program
    that was left as it was given gets no points.
    """
    passed = [result.passed for result in results]
    if all(passed):
        return float(problem.points)
    unmended = any(mutant.name == AS_GIVEN and mutant.tell == diagnosis for mutant in problem.mutants)
    examples = [isinstance(check, Case) and check.shown for check in problem.checks]
    begun = all(right for right, example in zip(passed, examples, strict=True) if example)
    if unmended or not begun:
        return 0.0
    return round(problem.points * WRONG_SHARE * sum(passed) / len(passed), 2)


def _run(
    check: Check, witness: Witness, problem: Problem, seed: int, on_error: OnError | None
) -> CheckResult | None:
    """Return the result of one check, or None if the function is not written yet."""
    try:
        check.run(witness, problem, seed)
    except Failure as failure:
        cause = failure.__cause__
        texts = failure.got, failure.wrong
        got, wrong = _got_and_wrong(cause) if isinstance(cause, Raised) and _is_ended(cause) else texts
        result = CheckResult(check.name, False, failure.called, got, wrong, _purpose(check))
        return replace(result, raised=isinstance(cause, Raised))
    except Raised as raised:
        if "NotImplementedError" in raised.kinds:
            return None
        if on_error is not None and raised.__cause__ is not None:
            on_error(check.name, raised.__cause__)
        got, wrong = _got_and_wrong(raised)
        return CheckResult(check.name, False, witness.called, got, wrong, _purpose(check), raised=True)
    except Exception as error:
        return _stumbled(check, witness, problem, seed, error)
    return CheckResult(check.name, True)


def _stumbled(check: Check, witness: Witness, problem: Problem, seed: int, error: Exception) -> CheckResult:
    """Return the result of a check that itself raised an exception.

    If the check runs with the right answer, a strange value of the submission caused the exception. Otherwise
    the check is broken.
    """
    what = f"{type(error).__name__}: {error}"
    try:
        check.run(Direct(problem.reference), problem, seed)
    except Exception:
        return CheckResult(
            check.name, False, witness.called, wrong=f"{BROKEN}: {what}; please report it to the course"
        )
    wrong = f"expected a value as described in the statement, but using this value failed ({what})"
    return CheckResult(check.name, False, witness.called, witness.returned, wrong, _purpose(check))


LISTS = re.compile(r"'list'|list indices|sequence by non-int|can only concatenate list")
"""Messages of Python about an operation that arrays have and lists have not."""
NESTED = "; an input may be a nested list: begin with np.asarray(x, dtype=float)"


def _purpose(check: Check) -> str:
    """Return the purpose of the check; "" for a hidden case, because its text derives the expected value."""
    return "" if isinstance(check, Case) and not check.shown else check.why


def _got_and_wrong(raised: Raised) -> tuple[str, str]:
    """Return what was raised and what is wrong. The first is empty if the process was ended, since nothing
    was raised then.
    """
    if _is_ended(raised):
        return "", str(raised.args[0])
    is_of_a_list = raised.kinds[:1] in (("AttributeError",), ("TypeError",)) and LISTS.search(raised.message)
    return str(raised), f"it raised an error{NESTED if is_of_a_list else ''}"


def _is_ended(raised: Raised) -> bool:
    return raised.kinds[:1] in (("TimedOut",), ("Died",))


def _unloadable(problem: Problem, reply: Reply, printed: str, seed: int) -> Report:
    got, wrong = _got_and_wrong(Raised(reply.kinds, reply.message, reply.lines))
    wrong = f"it could not be loaded{f': {wrong}' if not got else ''}"
    name = "The file can be loaded"
    result = CheckResult(name, False, got=got, wrong=wrong, raised=True, printed=printed)
    return _without_tests(problem, result, reply, seed)


def _missing(problem: Problem, reply: Reply, names: list[str], printed: str, seed: int) -> Report:
    wrong = missing(problem.function, names)
    result = CheckResult("The function is there", False, wrong=wrong, raised=True, printed=printed)
    return _without_tests(problem, result, reply, seed)


def _without_tests(problem: Problem, result: CheckResult, reply: Reply, seed: int) -> Report:
    """Return the report on a file on which no test can be run."""
    report = Report(problem.id, problem.title, FAILED, (result,), 0.0, problem.points, seed=seed)
    return replace(report, warnings=reply.warnings)
