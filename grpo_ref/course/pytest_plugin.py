"""`pytest exercises`: run every hidden test of an exercise as a pytest test with its own name.

The folder of the exercises has a conftest.py that imports these hooks. pytest does not import the files: they
are graded in a process of their own, once, when the first test of a file runs.
"""

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grpo_ref.course.contents import CHAPTERS, exercises_in
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.grading.report import NOT_STARTED, CheckResult, Report
from grpo_ref.course.in_process import grade_in_process
from grpo_ref.course.layout import exercise_at
from grpo_ref.course.marking import mark
from grpo_ref.course.rendering.course_text import next_text, overview
from grpo_ref.course.rendering.report_text import UNOFFICIAL, failure_text
from grpo_ref.course.source import BrokenPackage
from grpo_ref.course.starters import is_untouched
from grpo_ref.course.workbook import Workbook
from grpo_ref.render.sentences import shortened

REASON = "not started"
REACHED = "reached"
"""Property of a test: id of its exercise, and the points of the whole file."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option --in-process; --pdb implies it."""
    parser.addoption(
        "--in-process",
        action="store_true",
        help="grade inside pytest, for print and breakpoint(); the verdict is not official",
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say that the verdict will not count, if that is so."""
    return UNOFFICIAL if _is_in_process(config) else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the files that belong to an exercise."""
    try:
        name = exercise_at(file_path) if file_path.suffix == ".py" else None
        if name is None:
            return None
        return ExerciseFile.from_parent(parent, path=file_path, problem=PROBLEMS[name])
    except BrokenPackage as error:
        raise pytest.Collector.CollectError(str(error)) from error


class ExerciseFile(pytest.File):
    """The file of one exercise."""

    def __init__(self, *, problem: Problem, **others: Any) -> None:
        super().__init__(**others)
        self.problem = problem
        self.report: Report | None = None
        self.errors: dict[str, BaseException] = {}

    def collect(self) -> Iterator["HiddenTest"]:
        """Yield one item per check."""
        for check in self.problem.checks:
            yield HiddenTest.from_parent(self, name=check.name)

    def graded(self) -> Report:
        """Return the report. The file is graded at the first call."""
        if self.report is None:
            workbook = _workbook(self.path.parents[1])
            if _is_in_process(self.config) and not is_untouched(workbook, self.problem.id):
                self.report = grade_in_process(self.problem, self.path, on_error=self.errors.__setitem__)
            else:
                self.report = mark(workbook, self.problem.id)
        return self.report


class Failed(Exception):
    """A hidden test failed. The message is for the student."""


class HiddenTest(pytest.Item):
    """One check of an exercise."""

    def runtest(self) -> None:
        """Fail with the text for the student, or skip if nothing has been written yet."""
        exercise = self._exercise()
        report = exercise.graded()
        if report.status == NOT_STARTED:
            pytest.skip(REASON)
        result = self._result(report)
        passed = sum(each.passed for each in report.results)
        possible = report.of / len(exercise.problem.checks)
        self.user_properties.append(("points", round(result.passed * report.points / max(1, passed), 4)))
        self.user_properties.append(("points_possible", round(possible, 4)))
        self.user_properties.append((REACHED, f"{report.problem} {report.points}"))
        if result.passed and result.printed:
            self.add_report_section("call", "printed", shortened(result.printed))
        if not result.passed:
            error = exercise.errors.get(self.name)
            failed = Failed(failure_text(result, report))
            raise failed if error is None else failed.with_traceback(error.__traceback__)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the text for the student alone, without the judge's traceback."""
        return str(excinfo.value) if isinstance(excinfo.value, Failed) else super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the location of the student's file."""
        return self.path, 0, f"{self._exercise().problem.id}: {self.name}"

    def _exercise(self) -> ExerciseFile:
        assert isinstance(self.parent, ExerciseFile)
        return self.parent

    def _result(self, report: Report) -> CheckResult:
        """Return this check's result. If the file cannot be loaded, all checks share the failed result."""
        return next((result for result in report.results if result.name == self.name), report.results[0])


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Report an unchanged exercise as neither passed nor failed."""
    if report.skipped and isinstance(report.longrepr, tuple) and report.longrepr[2].endswith(REASON):
        return REASON, "-", "NOT STARTED"
    return None


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Store the points reached, then show progress by chapter and the next exercise."""
    reports = [
        report for kind in ("passed", "failed", REASON) for report in terminalreporter.stats.get(kind, [])
    ]
    files = {config.rootpath / report.nodeid.split("::")[0] for report in reports}
    folders = {path.parents[1] for path in files if exercise_at(path) is not None}
    for folder in sorted(folders):
        workbook = _workbook(folder)
        terminalreporter.section("course")
        if not _is_in_process(config):
            properties = [each for report in reports for each in report.user_properties]
            reached = dict(value.split() for name, value in properties if name == REACHED)
            _note(workbook, reached, terminalreporter.write_line)
        for line in _summary(workbook):
            terminalreporter.write_line(line)


def _note(workbook: Workbook, reached: dict[str, str], tell: Callable[[str], object]) -> None:
    """Store the points reached. If the folder is not writable, only a message is printed."""
    try:
        workbook.record({name: float(points) for name, points in reached.items()})
    except OSError as error:
        tell(f"your progress could not be saved: {error}")


def _summary(workbook: Workbook) -> Iterator[str]:
    solved = workbook.solved()
    for chapter, title in CHAPTERS.items():
        names = [exercise.id for exercise in exercises_in(chapter)]
        yield f"{title:40} {len(solved.intersection(names))} of {len(names)} solved"
    yield overview(workbook)
    if following := next_text(workbook):
        yield following


def _is_in_process(config: pytest.Config) -> bool:
    return bool(config.getoption("--in-process") or config.getoption("usepdb"))


def _workbook(folder: Path) -> Workbook:
    return Workbook(folder, lambda text: warnings.warn(text, stacklevel=2))
