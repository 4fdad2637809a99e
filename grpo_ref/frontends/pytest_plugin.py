"""`pytest exercises`: every hidden test of an exercise as a test of its own, under its human name.

The folder of the exercises has a conftest.py that imports these hooks. Files are graded in a process of their
own, not imported by pytest; a file is graded once, when its first test runs.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grpo_ref.frontends.text import failure_text
from grpo_ref.grading.grade import NOT_STARTED, Report, Result, grade
from grpo_ref.grading.problem import Problem
from grpo_ref.problems import CHAPTERS, PROBLEMS
from grpo_ref.problems.course import file_of, problem_of

REASON = "not started"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take the files that belong to an exercise."""
    problem = problem_of(file_path) if file_path.suffix == ".py" else None
    return None if problem is None else Exercise.from_parent(parent, path=file_path, problem=problem)


class Exercise(pytest.File):
    """One exercise's file."""

    def __init__(self, *, problem: Problem, **others: Any) -> None:
        super().__init__(**others)
        self.problem = problem
        self.report: Report | None = None

    def collect(self) -> Iterator["HiddenTest"]:
        """One item a check."""
        for check in self.problem.checks:
            yield HiddenTest.from_parent(self, name=check.name)

    def graded(self) -> Report:
        """The report, made when it is first asked for."""
        if self.report is None:
            self.report = grade(self.problem, self.path)
        return self.report


class Failed(Exception):
    """A hidden test failed; its text is for the student."""


class HiddenTest(pytest.Item):
    """One check of an exercise."""

    def runtest(self) -> None:
        """Fail with the student's text, or skip if nothing was written yet."""
        report = self._exercise().graded()
        if report.status == NOT_STARTED:
            pytest.skip(REASON)
        result = self._result(report)
        self.user_properties.append(("points", report.of / len(report.results)))
        if not result.passed:
            raise Failed(failure_text(result, report))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The text alone, without the judge's traceback."""
        return str(excinfo.value) if isinstance(excinfo.value, Failed) else super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Point at the student's file."""
        return self.path, 0, f"{self._exercise().problem.id}: {self.name}"

    def _exercise(self) -> Exercise:
        assert isinstance(self.parent, Exercise)
        return self.parent

    def _result(self, report: Report) -> Result:
        """This check's result; a file that cannot be loaded fails every check alike."""
        return next((result for result in report.results if result.name == self.name), report.results[0])


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """An untouched exercise is neither passed nor failed."""
    if report.skipped and isinstance(report.longrepr, tuple) and report.longrepr[2].endswith(REASON):
        return REASON, "-", "NOT STARTED"
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Progress by chapter, and what to do next."""
    passed = {report.nodeid for report in terminalreporter.stats.get("passed", [])}
    failed = {report.nodeid for report in terminalreporter.stats.get("failed", [])}
    waiting = {report.nodeid for report in terminalreporter.stats.get(REASON, [])}
    seen, reached, following = passed | failed | waiting, 0.0, ""
    terminalreporter.section("course")
    for chapter, title in CHAPTERS.items():
        problems = [problem for problem in PROBLEMS.values() if problem.id.startswith(f"{chapter}/")]
        shares = {problem.id: _share(problem, passed, seen) for problem in problems}
        done = sum(share == 1.0 for share in shares.values())
        reached += sum(problem.points * shares[problem.id] for problem in problems)
        open_ones = [problem.id for problem in problems if 0.0 <= shares[problem.id] < 1.0]
        following = following or (open_ones[0] if open_ones else "")
        terminalreporter.write_line(f"{title:40} {done} of {len(problems)} solved")
    total = sum(problem.points for problem in PROBLEMS.values())
    terminalreporter.write_line(f"{max(reached, 0.0):g} of {total} points")
    if following:
        terminalreporter.write_line(f"next: {following}   (grpo-ref hint {following})")


def _share(problem: Problem, passed: set[str], seen: set[str]) -> float:
    """Share of an exercise's tests that passed; 0 if it was not run."""
    prefix = file_of(problem).as_posix() + "::"
    ours = [node for node in seen if prefix in node]
    return sum(node in passed for node in ours) / len(ours) if ours else 0.0
