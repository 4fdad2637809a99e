"""The grader's reports as plain text, for the terminal and for pytest alike."""

import textwrap
from collections.abc import Sequence

import click

from grpo_ref.course.grading.report import FAILED, NOT_STARTED, PASSED, CheckResult, Report

COLORS = {PASSED: "green", FAILED: "red", NOT_STARTED: "yellow"}
UNOFFICIAL = "not official: the answer ran inside the grader, without a process of its own"


def failure_text(result: CheckResult, report: Report) -> str:
    """What a student reads about one failed test: the call, its result, what is wrong, what it is about."""
    return "\n".join(_row(name, text) for name, text in _rows(result, report).items())


def report_text(report: Report, *, plain: bool = False, every: bool = False) -> str:
    """A whole report: every test by name with its verdict, the first failure in full.

    Args:
      report: what the grader said.
      plain: whole sentences without color and columns, for screen readers.
      every: all failures in full.
    """
    lines = [_headline(report, plain)]
    failures = [result for result in report.results if not result.passed]
    for result in report.results:
        lines.append(_verdict(result, plain))
        if result in (failures if every else failures[:1]):
            lines += _details(result, report, plain)
        elif result.likely and result.likely != failures[0].likely:
            lines += _indented({"likely": result.likely}, plain)
    if report.status != NOT_STARTED and not report.official:
        lines.append(f"{'' if plain else '  '}{UNOFFICIAL}")
    return "\n".join(lines)


def protection_text(reports: Sequence[Report]) -> str:
    """What the processes of the answers were kept from, in a sentence; nothing if there were none."""
    kinds = dict.fromkeys(report.protection for report in reports if report.protection)
    return "".join(f"each answer ran in a process of its own, {kind}" for kind in list(kinds)[:1])


def _rows(result: CheckResult, report: Report) -> dict[str, str]:
    rows = {
        "called": result.called,
        "raised" if result.raised else "returned": result.got,
        "wrong": result.wrong,
        "about": result.why,
        "likely": report.diagnosis or result.likely,
        "printed": report.printed.strip(),
        "warned": "\n".join(result.warnings),
    }
    return {name: text for name, text in rows.items() if text}


def _headline(report: Report, plain: bool) -> str:
    status = report.status if plain else click.style(report.status, fg=COLORS[report.status], bold=True)
    points = "" if report.status == NOT_STARTED else f", {report.points:g} of {report.of} points"
    return f"{report.problem}: {status}{points}"


def _verdict(result: CheckResult, plain: bool) -> str:
    if plain:
        return f"Test {'passed' if result.passed else 'failed'}: {result.name}."
    word = click.style("PASS", fg="green") if result.passed else click.style("FAIL", fg="red", bold=True)
    return f"  {word}  {result.name}"


def _details(result: CheckResult, report: Report, plain: bool) -> list[str]:
    return _indented(_rows(result, report), plain)


def _indented(rows: dict[str, str], plain: bool) -> list[str]:
    if plain:
        return [f"{name.capitalize()}: {text}" for name, text in rows.items()]
    return [textwrap.indent(_row(name, text), " " * 8) for name, text in rows.items()]


def _row(name: str, text: str) -> str:
    first, *others = text.splitlines() or [""]
    return "\n".join([f"{name:8} {first}", *(" " * 9 + line for line in others)])
