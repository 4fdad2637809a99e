"""`grade`: a problem and an answer in, a report out."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from grpo_ref.course.grading.judge import agree
from grpo_ref.course.grading.problem import (
    AS_GIVEN,
    Case,
    Check,
    Failure,
    Function,
    Mutant,
    Problem,
    Raised,
    copied,
)
from grpo_ref.course.grading.report import DEFAULT_SEED, FAILED, NOT_STARTED, PASSED, CheckResult, Report
from grpo_ref.course.grading.sandbox import Reply, Sandbox
from grpo_ref.course.grading.submission import Direct, Sandboxed, Witness

WRONG_SHARE = 0.5
"""The most of an exercise's points that a wrong answer can have."""
OnError = Callable[[str, BaseException], object]
"""Is given a check's name, and the exception by which a function of this process fails it."""


def grade(
    problem: Problem,
    answer: Path | Function | Sandbox,
    *,
    seed: int = DEFAULT_SEED,
    on_error: OnError | None = None,
) -> Report:
    """Run every check of a problem against an answer.

    Args:
      problem: the exercise.
      answer: a file, which runs in a process of its own, or a function, which runs in this one; or a sandbox
        with the file, whose process may have been started.
      seed: of the random inputs.
      on_error: for debuggers; called when a function of this process fails a check by raising.

    Returns:
      Report; its status is "not started" if the function still raises NotImplementedError.
    """
    if callable(answer):
        return _examine(problem, Direct(answer), seed, on_error)
    if isinstance(answer, Sandbox):
        return _grade_in(answer, problem, seed)
    with Sandbox(answer) as sandbox:
        return _grade_in(sandbox, problem, seed)


def _grade_in(sandbox: Sandbox, problem: Problem, seed: int) -> Report:
    sandbox.allow(problem.seconds)
    loaded = sandbox.load()
    if not loaded.ok:
        return _unloadable(problem, loaded, sandbox.printed(), seed)
    return _examine(problem, Sandboxed(sandbox, problem.function), seed)


def not_started(problem: Problem, seed: int) -> Report:
    """The report on a file in which nothing was written yet."""
    return Report(problem.id, problem.title, NOT_STARTED, (), 0.0, problem.points, seed=seed)


def _examine(
    problem: Problem, submission: Direct | Sandboxed, seed: int, on_error: OnError | None = None
) -> Report:
    witness = Witness(submission, problem.function)
    results = []
    for check in problem.checks:
        before, told = len(submission.warnings), len(submission.printed())
        result = _run(check, witness, problem, seed, on_error)
        if result is None:
            return not_started(problem, seed)
        warnings, printed = _distinct(submission.warnings[before:]), submission.printed()[told:]
        results.append(replace(result, warnings=warnings, printed=printed))
    known = [] if all(result.passed for result in results) else _coinciding(problem, witness)
    report = Report(
        problem=problem.id,
        title=problem.title,
        status=PASSED if all(result.passed for result in results) else FAILED,
        results=tuple(results),
        points=_points(problem, results, known),
        of=problem.points,
        diagnosis=known[0].tell if known else "",
        seed=seed,
        official=submission.official,
    )
    return replace(report, printed=submission.printed(), warnings=_distinct(submission.warnings))


def _distinct(warnings: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(warnings))


def _points(problem: Problem, results: list[CheckResult], known: list[Mutant]) -> float:
    """All points for an answer that is right, at most half of them for one that is wrong somewhere.

    A wrong answer has its share of that half by the tests that it passes. It has none before the examples of
    the statement are right, since many a test is passed by zeros; nor for a program that was not mended.
    """
    passed = [result.passed for result in results]
    if all(passed):
        return float(problem.points)
    unmended = any(mutant.name == AS_GIVEN for mutant in known)
    examples = [isinstance(check, Case) and check.shown for check in problem.checks]
    begun = all(right for right, example in zip(passed, examples, strict=True) if example)
    if unmended or not begun:
        return 0.0
    return round(problem.points * WRONG_SHARE * sum(passed) / len(passed), 2)


def _run(
    check: Check, witness: Witness, problem: Problem, seed: int, on_error: OnError | None
) -> CheckResult | None:
    """The result of one check, or None if the function was not written yet."""
    try:
        check.run(witness, problem, seed)
    except Failure as failure:
        return CheckResult(check.name, False, failure.called, failure.got, failure.wrong, _about(check))
    except Raised as raised:
        if "NotImplementedError" in raised.kinds:
            return None
        if on_error is not None and raised.__cause__ is not None:
            on_error(check.name, raised.__cause__)
        return CheckResult(
            check.name, False, witness.called, str(raised), "it raised an error", _about(check)
        )
    return CheckResult(check.name, True)


def _about(check: Check) -> str:
    """What the check is for; of a hidden case nothing, since its reason derives the expected value."""
    return "" if isinstance(check, Case) and not check.shown else check.why


def _coinciding(problem: Problem, witness: Witness) -> list[Mutant]:
    """The known wrong answers that give the same values as a wrong answer on every call."""
    if _same_values(problem.reference, problem.rtol, witness):
        return []
    return [mutant for mutant in problem.mutants if _same_values(mutant.function, problem.rtol, witness)]


def _same_values(function: Function, rtol: float, witness: Witness) -> bool:
    """Whether a function gives on every call what the submission gave."""
    for arguments, keywords, value in witness.calls:
        try:
            with np.errstate(all="ignore"):
                theirs: Any = function(*copied(arguments), **copied(keywords))
            if not agree(value, theirs, rtol):
                return False
        except Exception:
            return False
    return True


def _unloadable(problem: Problem, reply: Reply, printed: str, seed: int) -> Report:
    raised = Raised(reply.kinds, reply.message, reply.lines)
    result = CheckResult(
        "The file can be loaded",
        False,
        got=str(raised),
        wrong="it could not be loaded",
        printed=printed,
    )
    report = Report(problem.id, problem.title, FAILED, (result,), 0.0, problem.points, seed=seed)
    return replace(report, printed=printed, warnings=reply.warnings)
