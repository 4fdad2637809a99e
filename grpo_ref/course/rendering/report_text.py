"""The grader's reports as plain text, for the terminal and for pytest."""

import textwrap
from collections.abc import Mapping, Sequence

import click

from grpo_ref.course.grading.report import FAILED, NOT_STARTED, PASSED, CheckResult, Report
from grpo_ref.course.rendering.report_json import exercise_json, test_json
from grpo_ref.render.output import UNLIMITED, columns
from grpo_ref.render.sentences import on_loading, points_text, rows_of, shortened

COLORS = {PASSED: "green", FAILED: "red", NOT_STARTED: "yellow"}
UNOFFICIAL = "not official: the answer ran inside the grader, without a process of its own"


def failure_text(result: CheckResult, report: Report) -> str:
    """Describe one failed test: the call, its result, the difference from the right value, and the test's
    purpose.
    """
    return "\n".join(_row(name, text) for name, text in _rows(result, report).items())


def _rows(result: CheckResult, report: Report) -> dict[str, str]:
    return rows_of(test_json(result), diagnosis=report.diagnosis, symptom=report.symptom)


def report_text(report: Report, *, plain: bool = False, every: bool = False) -> str:
    """Return a whole report: every test by name with its verdict, and the first failure in full. Failed tests
    come first.

    Args:
      report: the grader's report.
      plain: whether to write whole sentences without color and columns, for screen readers.
      every: whether to show all failures in full.
    """
    lines = [_headline(report, plain)]
    failures = [result for result in report.results if not result.passed]
    # A known mistake does not explain an error, so it is named below a test that returned a value.
    named = next((each for each in failures if not each.raised), failures[0] if failures else None)
    lines += _indented({"printed": shortened(on_loading(exercise_json(report)))}, plain)
    for result in sorted(report.results, key=lambda result: result.passed):
        lines.append(_verdict(result, plain))
        if result in (failures if every else failures[:1]):
            rows = _rows(result, report)
            if report.diagnosis and result is not named:
                rows.pop("likely", None)
            lines += _indented(rows, plain)
            continue
        likely = result.likely if failures and result.likely != failures[0].likely else ""
        likely = report.diagnosis if result is named else likely
        lines += _indented({"likely": likely, "printed": shortened(result.printed)}, plain)
    if report.status != NOT_STARTED and not report.official:
        lines.append(f"{'' if plain else '  '}{UNOFFICIAL}")
    return "\n".join(lines)


def protection_text(reports: Sequence[Report]) -> str:
    """Describe in a sentence what the answers' processes were kept from; "" if there were none."""
    protection = next((report.protection for report in reports if report.protection), "")
    text = f"each answer ran in a process of its own, {protection}" if protection else ""
    return text if columns() >= UNLIMITED else textwrap.fill(text, columns())


def _headline(report: Report, plain: bool) -> str:
    status = report.status if plain else click.style(report.status, fg=COLORS[report.status], bold=True)
    points = "" if report.status == NOT_STARTED else f", {points_text(report.points, report.of)}"
    return f"{report.problem}: {status}{points}"


def _verdict(result: CheckResult, plain: bool) -> str:
    if plain:
        return f"Test {'passed' if result.passed else 'failed'}: {result.name}."
    word = click.style("PASS", fg="green") if result.passed else click.style("FAIL", fg="red", bold=True)
    return f"  {word}  {result.name}"


def _indented(rows: Mapping[str, str], plain: bool) -> list[str]:
    """Return the rows under a verdict, without empty ones."""
    shown = {name: text for name, text in rows.items() if text}
    if plain:
        return [f"{name.capitalize()}: {text}" for name, text in shown.items()]
    return [textwrap.indent(_row(name, _narrowed(text)), " " * 8) for name, text in shown.items()]


def _narrowed(text: str) -> str:
    """Wrap the text to fit beside the names of the rows in a narrow terminal."""
    width = max(20, columns() - len("        printed  "))
    if columns() >= UNLIMITED:
        return text
    return "\n".join(textwrap.fill(line, width, subsequent_indent="  ") for line in text.splitlines())


def _row(name: str, text: str) -> str:
    first, *others = text.splitlines() or [""]
    return "\n".join([f"{name:8} {first}", *(" " * 9 + line for line in others)])
