"""Reports as JSON, following the schema in report.schema.json."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grpo_ref.course.grading.report import PASSED, CheckResult, Report

VERSION = 2
SCHEMA = Path(__file__).with_name("report.schema.json")


def as_json(reports: Sequence[Report]) -> str:
    """Return the reports as one JSON document. Its numbers are always finite.

    Args:
      reports: reports of one student, in order.
    """
    data = {
        "version": VERSION,
        "points": round(sum(report.points for report in reports), 2),
        "of": sum(report.of for report in reports),
        "solved": sum(report.status == PASSED for report in reports),
        "official": all(report.official for report in reports),
        "exercises": [exercise_json(report) for report in reports],
    }
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def exercise_json(report: Report) -> dict[str, Any]:
    """Return one exercise of the document."""
    return {
        "id": report.problem,
        "title": report.title,
        "status": report.status,
        "points": report.points,
        "of": report.of,
        "seed": report.seed,
        "official": report.official,
        "protection": report.protection,
        "diagnosis": report.diagnosis,
        "symptom": report.symptom,
        "printed": report.printed,
        "warnings": list(report.warnings),
        "tests": [test_json(result) for result in report.results],
    }


def test_json(result: CheckResult) -> dict[str, Any]:
    """Return one test of an exercise."""
    return {
        "name": result.name,
        "passed": result.passed,
        "called": result.called,
        "returned": result.got,
        "raised": result.raised,
        "wrong": result.wrong,
        "why": result.why,
        "likely": result.likely,
        "warnings": list(result.warnings),
        "printed": result.printed,
    }
