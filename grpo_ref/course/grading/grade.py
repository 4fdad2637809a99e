"""`grade`: a problem and an answer in, a report out. All that students and instructors see renders a
report.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from grpo_ref.course.grading.judge import agree
from grpo_ref.course.grading.problem import (
    AS_IT_CAME,
    Case,
    Check,
    Failure,
    Function,
    Mutant,
    Problem,
    Raised,
    copied,
    format_call,
)
from grpo_ref.course.grading.sandbox import Limits, Reply, Sandbox

Call = tuple[tuple[Any, ...], dict[str, Any], Any]
"""Arguments, keywords, and the value that came back."""
PASSED, FAILED, NOT_STARTED = "passed", "failed", "not started"
DEFAULT_SEED = 20250120


@dataclass(frozen=True)
class Result:
    """The outcome of one check.

    Attributes:
      name: of the check.
      passed: whether it passed.
      called, came, wrong: the call, what came back and what is wrong with it; empty if passed.
      why: the author's sentence about what the check is for.
      warnings: what NumPy or Python warned of in its calls.
    """

    name: str
    passed: bool
    called: str = ""
    came: str = ""
    wrong: str = ""
    why: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """What the grader says of one answer.

    Attributes:
      problem: its id.
      title: its title.
      status: "passed", "failed" or "not started".
      results: one a check, in order.
      points, of: reached and possible; none for what a student was given to mend, as it came.
      diagnosis: the sentence of the misconception that reproduces the answer, or "".
      printed: what the answer printed.
      warnings: what NumPy or Python warned of.
      seed: of the random inputs.
      official: whether the answer ran in a process of its own.
    """

    problem: str
    title: str
    status: str
    results: tuple[Result, ...]
    points: float
    of: int
    diagnosis: str = ""
    printed: str = ""
    warnings: tuple[str, ...] = ()
    seed: int = DEFAULT_SEED
    official: bool = True


def grade(
    problem: Problem,
    answer: Path | Function,
    *,
    seed: int = DEFAULT_SEED,
    on_error: Callable[[str, BaseException], object] | None = None,
) -> Report:
    """Run every check of a problem against an answer.

    Args:
      problem: the exercise.
      answer: a file, which runs in a process of its own, or a function, which runs in this one.
      seed: of the random inputs.
      on_error: for debuggers; is given the check's name and the exception when a function of this process
        fails a check by raising.

    Returns:
      Report; its status is "not started" if the function still raises NotImplementedError.
    """
    if callable(answer):
        return _examine(problem, _Direct(answer), seed, on_error)
    with Sandbox(answer, Limits(seconds=problem.seconds)) as sandbox:
        sandboxed = _Sandboxed(sandbox, problem.function)
        loaded = sandbox.load()
        if not loaded.ok:
            return _unloadable(problem, loaded, sandbox.printed(), seed)
        return _examine(problem, sandboxed, seed)


class _Direct:
    """A function of this process as a submission."""

    official = False

    def __init__(self, function: Function) -> None:
        self.function = function
        self.warnings: list[str] = []
        self.last: Any = None

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        self.last = (arguments, keywords)
        try:
            with np.errstate(all="ignore"):
                return self.function(*arguments, **keywords)
        except Exception as error:
            raise Raised([kind.__name__ for kind in type(error).__mro__], str(error)) from error

    def inputs_after(self) -> Any:
        return self.last

    def printed(self) -> str:
        return ""


class _Sandboxed:
    """A file in a sandbox as a submission."""

    official = True

    def __init__(self, sandbox: Sandbox, function: str) -> None:
        self.sandbox, self.function = sandbox, function
        self.reply: Reply | None = None
        self.warnings: list[str] = []

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        self.reply = self.sandbox.call(self.function, arguments, keywords)
        self.warnings += self.reply.warnings
        if self.reply.ok:
            return self.reply.value
        raise Raised(self.reply.kinds, self.reply.message, self.reply.lines)

    def inputs_after(self) -> Any:
        return None if self.reply is None else self.reply.inputs

    def printed(self) -> str:
        return self.sandbox.printed()


class _Witness:
    """Passes calls on and keeps what came back, to compare it with known wrong answers."""

    def __init__(self, submission: Any, function: str) -> None:
        self.submission, self.function = submission, function
        self.calls: list[Call] = []
        self.called = ""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        self.called = format_call(self.function, arguments, keywords)
        value = self.submission(*arguments, **keywords)
        self.calls.append((arguments, keywords, value))
        return value

    def inputs_after(self) -> Any:
        return self.submission.inputs_after()


def _examine(
    problem: Problem,
    submission: Any,
    seed: int,
    on_error: Callable[[str, BaseException], object] | None = None,
) -> Report:
    witness = _Witness(submission, problem.function)
    results = []
    for check in problem.checks:
        before = len(submission.warnings)
        result = _run(check, witness, problem, seed, on_error)
        if result is None:
            return Report(problem.id, problem.title, NOT_STARTED, (), 0.0, problem.points, seed=seed)
        results.append(replace(result, warnings=tuple(dict.fromkeys(submission.warnings[before:]))))
    passed = all(result.passed for result in results)
    known = [] if passed else _coinciding(problem, witness.calls)
    unmended = any(mutant.name == AS_IT_CAME for mutant in known)
    reached = 0.0 if unmended else sum(result.passed for result in results) / len(results)
    return Report(
        problem=problem.id,
        title=problem.title,
        status=PASSED if passed else FAILED,
        results=tuple(results),
        points=round(problem.points * reached, 2),
        of=problem.points,
        diagnosis=known[0].tell if known else "",
        printed=submission.printed(),
        warnings=tuple(dict.fromkeys(submission.warnings)),
        seed=seed,
        official=submission.official,
    )


def _run(
    check: Check,
    submission: "_Witness",
    problem: Problem,
    seed: int,
    on_error: Callable[[str, BaseException], object] | None,
) -> Result | None:
    """The result of one check, or None if the function was not written yet."""
    try:
        check.run(submission, problem, seed)
    except Failure as failure:
        return Result(check.name, False, failure.called, failure.came, failure.wrong, _about(check))
    except Raised as raised:
        if "NotImplementedError" in raised.kinds:
            return None
        if on_error is not None and raised.__cause__ is not None:
            on_error(check.name, raised.__cause__)
        called = submission.called
        return Result(check.name, False, called, str(raised), "it raised an error", _about(check))
    return Result(check.name, True)


def _about(check: Check) -> str:
    """What the check is for; of a hidden case nothing, since its reason derives the expected value."""
    return "" if isinstance(check, Case) and not check.shown else check.why


def _coinciding(problem: Problem, calls: list[Call]) -> list[Mutant]:
    """The known wrong answers that give the same values as a wrong answer on every call."""
    if all(_right(problem.reference, problem.rtol, call) for call in calls):
        return []
    return [
        mutant
        for mutant in problem.mutants
        if all(_right(mutant.function, problem.rtol, call) for call in calls)
    ]


def _right(function: Callable[..., Any], rtol: float, call: Call) -> bool:
    arguments, keywords, value = call
    try:
        with np.errstate(all="ignore"):
            return agree(value, function(*copied(arguments), **copied(keywords)), rtol)
    except Exception:
        return False


def _unloadable(problem: Problem, reply: Reply, printed: str, seed: int) -> Report:
    raised = Raised(reply.kinds, reply.message, reply.lines)
    result = Result("The file can be loaded", False, came=str(raised), wrong="it could not be loaded")
    return Report(
        problem.id,
        problem.title,
        FAILED,
        (result,),
        0.0,
        problem.points,
        printed=printed,
        warnings=reply.warnings,
        seed=seed,
    )
