"""The results of a class in the formats of other programs: JUnit, Gradescope, a gradebook of Canvas."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from grpo_ref.course.classroom.class_record import Row
from grpo_ref.course.contents import CHAPTERS, EXERCISES, exercises_in
from grpo_ref.course.rendering.feedback import exercise_markdown, feedback_html, feedback_markdown
from grpo_ref.render.sentences import in_markdown

LONGEST = 20_000
"""Characters of a text that Gradescope is given."""
CANVAS_IDS = ("ID", "SIS User ID", "SIS Login ID", "Student")
"""Columns of a Canvas gradebook that name a student, the surest first."""
POINTS_ROW, READ_ONLY = "Points Possible", "(read only)"
FORBIDDEN = re.compile("[^\t\n\\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML has no form for."""


def junit(result: Row) -> str:
    """One student's result as JUnit XML: a suite an exercise, with its points as properties, a case a test.

    Args:
      result: a record with its marks, as `class_record.marked` gives it.
    """
    suites = ET.Element("testsuites", name=_clean(result["student"]))
    for exercise in result["exercises"]:
        tests = exercise["tests"]
        failed = sum(not test["passed"] for test in tests)
        skipped = int(exercise["status"] == "not started")
        suite = ET.SubElement(
            suites,
            "testsuite",
            name=exercise["id"],
            tests=str(len(tests) + skipped),
            failures=str(failed),
            errors="0",
            skipped=str(skipped),
            time="0",
        )
        properties = ET.SubElement(suite, "properties")
        for name in ("points", "of", "seed"):
            ET.SubElement(properties, "property", name=name, value=str(exercise[name]))
        classname = exercise["id"].replace("/", ".")
        for test in tests:
            case = ET.SubElement(suite, "testcase", classname=classname, name=_clean(test["name"]), time="0")
            if not test["passed"]:
                failure = ET.SubElement(case, "failure", message=_clean(test["wrong"]))
                failure.text = _clean(f"{test['called']}\n-> {test['returned']}")
        if skipped:
            begun = ET.SubElement(suite, "testcase", classname=classname, name="It is begun", time="0")
            ET.SubElement(begun, "skipped")
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def gradescope(result: Row) -> str:
    """One student's result as the text of Gradescope's results.json."""
    return json.dumps(gradescope_data(result), indent=1, allow_nan=False) + "\n"


def gradescope_data(result: Row) -> Row:
    """One student's result as Gradescope wants it: an entry for each exercise, told in Markdown.

    Args:
      result: a record with its marks, as `class_record.marked` gives it.
    """
    return {
        "score": result["points"],
        "output": "\n".join(f"* {in_markdown(note)}" for note in result["notes"])[:LONGEST],
        "output_format": "md",
        "test_output_format": "md",
        "test_name_format": "text",
        "tests": [_gradescope_test(exercise) for exercise in result["exercises"]],
        "extra_data": {"seed": result["seed"], "official": result["official"]},
    }


def _gradescope_test(exercise: Row) -> Row:
    is_right = exercise["status"] == "passed"
    return {
        "number": _number(exercise["id"]),
        "name": exercise["title"],
        "score": exercise["points"],
        "max_score": exercise["of"],
        "status": "passed" if is_right else "failed",
        "output": exercise_markdown(exercise)[:LONGEST],
        "extra_data": {"exercise": exercise["id"], "misconception": exercise["diagnosis"]},
    }


def _number(name: str) -> str:
    """The place of an exercise in the course: chapter.exercise.

    >>> _number("kl/k3")
    '4.3'
    """
    chapter = EXERCISES[name].chapter
    place = [exercise.id for exercise in exercises_in(chapter)].index(name)
    return f"{list(CHAPTERS).index(chapter) + 1}.{place + 1}"


def canvas(gradebook: str, column: str, points: Mapping[str, float]) -> tuple[str, list[str]]:
    """An exported gradebook of Canvas with one column filled in; every other cell stays as it was.

    Args:
      gradebook: text of the export.
      column: heading of the column, or its part before the number in parentheses.
      points: name, login or number of a student -> points.

    Returns:
      The text, and the students that have points and no row.

    Raises:
      ValueError: if it is no gradebook, or has no such column, or several.
    """
    heading, *rows = _rows(gradebook)
    columns = [at for at, name in enumerate(heading) if column in (name, name.rpartition(" (")[0])]
    if len(columns) != 1:
        raise ValueError(f"expected one column {column!r}, found {len(columns)} in: {', '.join(heading)}")
    if not _is_for_points(heading, rows, columns[0]):
        raise ValueError(f"the column {column!r} is not one that points may be written to")
    left = dict(points)
    for row in rows:
        row += [""] * (len(heading) - len(row)) if row else []
        name = next((name for name in _names(heading, row) if name in left), None)
        if name is not None:
            row[columns[0]] = f"{left.pop(name):g}"
    text = io.StringIO()
    ending = "\r\n" if "\r" in gradebook else "\n"
    csv.writer(text, lineterminator=ending).writerows([heading, *rows])
    return text.getvalue(), sorted(left)


def _is_for_points(heading: Sequence[str], rows: Sequence[Sequence[str]], at: int) -> bool:
    """Whether a column is of an assignment: behind those about the student, and not read-only."""
    last = max((heading.index(name) for name in ("Section", *CANVAS_IDS) if name in heading), default=0)
    return at > last and not any(len(row) > at and READ_ONLY in row[at] for row in rows[:2])


def read_gradebook(path: Path) -> str:
    """The text of an export, with its line ends as they are."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        return file.read()


def in_gradebook(gradebook: str, name: str) -> bool:
    """Whether a gradebook names a student so."""
    heading, *rows = _rows(gradebook)
    return any(name in _names(heading, row) for row in rows)


def _rows(gradebook: str) -> list[list[str]]:
    rows = list(csv.reader(io.StringIO(gradebook, newline="")))
    heading = rows[0] if rows else []
    if len(heading) < len(CANVAS_IDS) or "Student" not in heading[0] or "ID" not in heading[1]:
        raise ValueError("expected a gradebook that Canvas exported, with the columns Student and ID first")
    return rows


def _names(heading: Sequence[str], row: Sequence[str]) -> list[str]:
    """What names the student of a row; nothing in the row of the points that are possible."""
    if not row or POINTS_ROW in row[0]:
        return []
    places = [heading.index(name) for name in CANVAS_IDS if name in heading]
    return [row[at] for at in places if at < len(row) and row[at]]


def _clean(text: str) -> str:
    """Text without the characters that XML has no form for."""
    return FORBIDDEN.sub("", text)


FORMATS: Mapping[str, Mapping[str, Callable[[Row], str]]] = {
    "junit": {".xml": junit},
    "gradescope": {".json": gradescope},
    "feedback": {".html": feedback_html, ".md": feedback_markdown},
}
"""Name -> suffix of each file, and what makes it of a student's result."""
