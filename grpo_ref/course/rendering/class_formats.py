"""The results of a class in the formats of other programs: JUnit, Gradescope, a Canvas gradebook."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from grpo_ref.course.classroom.class_record import Row
from grpo_ref.course.contents import CHAPTERS, EXERCISES, exercises_in
from grpo_ref.course.rendering.feedback import exercise_markdown, feedback_html, feedback_markdown
from grpo_ref.render.sentences import in_markdown

LONGEST = 20_000
"""Largest number of characters of a text for Gradescope."""
CANVAS_IDS = ("ID", "SIS User ID", "SIS Login ID", "Student")
"""Columns of a Canvas gradebook that identify a student, the most reliable first."""
POINTS_ROW, READ_ONLY = "Points Possible", "(read only)"
FORBIDDEN = re.compile("[^\t\n\\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot represent."""


def junit(result: Row) -> str:
    """Return one student's result as JUnit XML: a suite per exercise, with its points as properties, and a
    case per test.

    Args:
      result: a record with its marks, as `class_record.marked` returns it.
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
    """Return one student's result as the text of Gradescope's results.json."""
    return json.dumps(gradescope_data(result), indent=1, allow_nan=False) + "\n"


def gradescope_data(result: Row) -> Row:
    """Return one student's result in Gradescope's format: an entry for each exercise, with a text in
    Markdown.

    Args:
      result: a record with its marks, as `class_record.marked` returns it.
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
    """Return the position of an exercise in the course: chapter.exercise.

    >>> _number("kl/k3")
    '4.3'
    """
    chapter = EXERCISES[name].chapter
    place = [exercise.id for exercise in exercises_in(chapter)].index(name)
    return f"{list(CHAPTERS).index(chapter) + 1}.{place + 1}"


def canvas(
    gradebook: str,
    column: str,
    points: Mapping[str, float],
    names: Mapping[str, Sequence[str]] | None = None,
) -> tuple[str, list[str]]:
    """Fill in one column of an exported Canvas gradebook. Every other cell stays as it was.

    Args:
      gradebook: text of the export.
      column: heading of the column, or its part before the number in parentheses.
      points: student -> points.
      names: student -> names, logins and numbers of the student, the most reliable first; if omitted, the
        student's name.

    Returns:
      The text, and the students who have points but no row, or share a row with another student.

    Raises:
      ValueError: if the text is not a gradebook, the number of such columns is not 1, or two rows have the
        name of a student.
    """
    heading, *rows = _rows(gradebook)
    columns = [at for at, name in enumerate(heading) if column in (name, name.rpartition(" (")[0])]
    if len(columns) != 1:
        raise ValueError(f"expected one column {column!r}, found {len(columns)} in: {', '.join(heading)}")
    if not _is_for_points(heading, rows, columns[0]):
        raise ValueError(
            f"expected an assignment's column, but {column!r} is read-only or describes the student"
        )
    lines: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        row += [""] * (len(heading) - len(row)) if row else []
        for name in set(_names(heading, row)):
            lines.setdefault(name, []).append(at)
    row_of = {student: _row_of(student, (names or {}).get(student, (student,)), lines) for student in points}
    shared = Counter(row_of.values())
    left = [student for student, place in row_of.items() if place is None or shared[place] > 1]
    for student, place in row_of.items():
        if place is not None and student not in left:
            rows[place][columns[0]] = f"{points[student]:g}"
    text = io.StringIO()
    ending = "\r\n" if "\r" in gradebook else "\n"
    csv.writer(text, lineterminator=ending).writerows([heading, *rows])
    return text.getvalue(), sorted(left)


def _row_of(student: str, names: Sequence[str], lines: Mapping[str, Sequence[int]]) -> int | None:
    """Return the row of a student, or None."""
    name = next((name for name in names if name in lines), None)
    if name is None:
        return None
    if len(lines[name]) > 1:
        raise ValueError(
            f"{len(lines[name])} rows have the name {name!r} of {student}; add a column with their IDs to the"
            " roster"
        )
    return lines[name][0]


def _is_for_points(heading: Sequence[str], rows: Sequence[Sequence[str]], at: int) -> bool:
    """Return whether a column belongs to an assignment: it follows those about the student, and is not
    read-only.
    """
    last = max((heading.index(name) for name in ("Section", *CANVAS_IDS) if name in heading), default=0)
    return at > last and not any(len(row) > at and READ_ONLY in row[at] for row in rows[:2])


def read_gradebook(path: Path) -> str:
    """Return the text of an export, with its line ends unchanged."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        return file.read()


def _rows(gradebook: str) -> list[list[str]]:
    rows = list(csv.reader(io.StringIO(gradebook, newline="")))
    heading = rows[0] if rows else []
    if len(heading) < len(CANVAS_IDS) or "Student" not in heading[0] or "ID" not in heading[1]:
        raise ValueError("expected a gradebook exported from Canvas, whose first columns are Student and ID")
    return rows


def _names(heading: Sequence[str], row: Sequence[str]) -> list[str]:
    """Return the names of a row's student; none for the row of possible points."""
    if not row or POINTS_ROW in row[0]:
        return []
    places = [heading.index(name) for name in CANVAS_IDS if name in heading]
    return [row[at] for at in places if at < len(row) and row[at]]


def _clean(text: str) -> str:
    """Remove the characters that XML cannot represent."""
    return FORBIDDEN.sub("", text)


FORMATS: Mapping[str, Mapping[str, Callable[[Row], str]]] = {
    "junit": {".xml": junit},
    "gradescope": {".json": gradescope},
    "feedback": {".html": feedback_html, ".md": feedback_markdown},
}
"""Format -> suffix of each file -> function that makes the file's text from a student's result."""
