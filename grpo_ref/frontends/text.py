"""Reports as plain text, for the terminal and for pytest alike."""

import textwrap

from grpo_ref.grading.grade import Report, Result


def failure_text(result: Result, report: Report) -> str:
    """What a student reads about one failed test: the call, what came, what is wrong, what it is about."""
    rows = {
        "called": result.called,
        "came": result.came,
        "wrong": result.wrong,
        "about": result.why,
        "likely": report.diagnosis,
        "printed": report.printed.strip(),
        "warned": "\n".join(report.warnings),
    }
    return "\n".join(_row(name, text) for name, text in rows.items() if text)


def report_text(report: Report) -> str:
    """A whole report: every test by name with PASS or FAIL, the first failure in full."""
    if report.status == "not started":
        return f"{report.problem}: not started"
    lines = [f"{report.problem}: {report.status}, {report.points:g} of {report.of} points"]
    first_failure = True
    for result in report.results:
        lines.append(f"  {'PASS' if result.passed else 'FAIL'}  {result.name}")
        if not result.passed and first_failure:
            lines.append(textwrap.indent(failure_text(result, report), " " * 8))
            first_failure = False
    return "\n".join(lines)


def _row(name: str, text: str) -> str:
    first, *others = text.splitlines() or [""]
    return "\n".join([f"{name:8} {first}", *(" " * 9 + line for line in others)])
