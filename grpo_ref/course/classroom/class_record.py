"""The result of one student as data: the points from the tests, and the marks computed from them."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from grpo_ref.course.classroom import Graded, Marks
from grpo_ref.course.contents import EXERCISES
from grpo_ref.course.grading.grade import WRONG_SHARE
from grpo_ref.course.rendering.report_json import exercise_json

VERSION = 2
"""Format version. It increases when a field changes its meaning or is removed."""
Row = dict[str, Any]


def record_of(graded: Graded, key: str) -> Row:
    """Return the results of the tests, without marks.

    Args:
      graded: the result.
      key: a text that changes with anything that the result depends on.
    """
    return {
        "version": VERSION,
        "student": graded.student,
        "key": key,
        "seed": graded.seed,
        "official": graded.is_official,
        "missing": list(graded.missing),
        "notes": list(graded.notes),
        "exercises": [exercise_json(report) for report in graded.reports],
    }


def tests_gave(record: Row, names: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """Return, for each exercise, the points from the tests and the points possible. They are 0 if the grader
    failed.

    The points are not rounded, so that a course may scale them and round the result.
    """
    found = {each["id"]: (_unrounded(each), float(each["of"])) for each in record.get("exercises", ())}
    return {name: found.get(name, (0.0, float(EXERCISES[name].points))) for name in names}


def _unrounded(exercise: Row) -> float:
    """Return the points of an exercise before they were rounded to hundredths."""
    points, passed = float(exercise["points"]), [test["passed"] for test in exercise.get("tests", ())]
    exact = exercise["of"] * WRONG_SHARE * sum(passed) / len(passed) if passed else points
    return float(exact) if round(exact, 2) == points else points


def with_marks(record: Row, marks: Marks, submitted: datetime | None) -> Row:
    """Return the record with these marks. Earlier marks are replaced."""
    return {
        **record,
        "submitted": None if submitted is None else submitted.isoformat(),
        "points": marks.points,
        "of": marks.of,
        "percent": marks.percent,
        "marking": list(marks.notes),
        "assignments": [asdict(part) for part in marks.parts],
        "marks": {
            name: {"points": mark.points, "of": mark.of, "marking": mark.why}
            for name, mark in marks.exercises.items()
        },
    }


def marked(record: Row) -> Row:
    """Return the record as it is shown: every exercise with its mark instead of the points from the tests."""
    marks: Mapping[str, Row] = record.get("marks", {})
    shown = [{**each, "marking": "", **marks.get(each["id"], {})} for each in record.get("exercises", ())]
    return {**record, "exercises": shown, "notes": [*record.get("notes", ()), *record.get("marking", ())]}


def all_notes(record: Row) -> list[str]:
    """List the answers that could not be used, and all changes by the course's rules or the instructor."""
    marks: Mapping[str, Row] = record.get("marks", {})
    changed = [f"{name}: {mark['marking']}" for name, mark in marks.items() if mark["marking"]]
    return [*record.get("notes", ()), *record.get("marking", ()), *changed]
