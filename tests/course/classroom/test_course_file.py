"""The course file and the overrides: what they say, and that a mistake is told with its line."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from grpo_ref.course.classroom.course_file import ALL_OR_NOTHING, PARTIAL, read_course
from grpo_ref.course.classroom.overrides import read_overrides
from grpo_ref.course.contents import EXERCISES, exercises_in

WHOLE = """
title = "Policy gradients"
seed = 7
marks = "all-or-nothing"

[late]
per_day = 0.1
days = 3
grace_minutes = 15

[points]
"kl/k3" = 4

[[assignment]]
name = "first"
exercises = ["kl/k3", "kl/exact_kl"]
deadline = 2027-03-01T23:59:00+01:00
weight = 2

[[assignment]]
name = "second"
exercises = ["clinic"]
marks = "partial"
"""


def written(tmp_path, text):
    path = tmp_path / "course.toml"
    path.write_text(text)
    return path


def test_a_whole_course_file(tmp_path):
    course = read_course(written(tmp_path, WHOLE))
    first, second = course.assignments
    assert (course.title, course.seed, course.points) == ("Policy gradients", 7, {"kl/k3": 4.0})
    assert (first.name, first.weight, first.marks) == ("first", 2.0, ALL_OR_NOTHING)
    assert first.exercises == ("kl/exact_kl", "kl/k3"), "in the order of the course"
    assert first.deadline == datetime(2027, 3, 1, 22, 59, tzinfo=UTC)
    assert (second.weight, second.marks, second.deadline) == (None, PARTIAL, None)
    assert second.exercises == tuple(each.id for each in exercises_in("clinic"))
    assert (course.late.per_day, course.late.days, course.late.grace) == (0.1, 3, timedelta(minutes=15))
    assert course.exercises == first.exercises + second.exercises
    assert course.only(["second"]).exercises == second.exercises


def test_an_empty_course_file_is_the_whole_course(tmp_path):
    course = read_course(written(tmp_path, ""))
    assert course.exercises == tuple(EXERCISES)
    assert (course.title, course.seed) == ("course", None)
    with pytest.raises(ValueError, match="no assignment 'first'"):
        course.only(["first"])


# what is changed in the file above, what stands there then -> the line, and what is said of it
MISTAKES = {
    "a key misspelled": ("per_day", "perday", 7, "no key 'perday'; did you mean 'per_day'?"),
    "a chapter that is none": ('"clinic"', '"clinics"', 22, "did you mean 'clinic'?"),
    "an exercise twice": ('"clinic"', '"kl"', 22, "kl/exact_kl is already in 'first'"),
    "a deadline without offset": ("+01:00", "", 17, "expected a date and time with its offset"),
    "a share above one": ("0.1", "10", 7, "per_day: expected a number from 0 to 1, got 10"),
    "points that are negative": ("= 4", "= -4", 12, "expected a number from 0 to 1000000, got -4"),
    "points for no exercise": ('"kl/k3" = 4', '"kl/k4" = 4', 12, "no exercise 'kl/k4'"),
    "a seed that is text": ("= 7", '= "7"', 3, "seed: expected a number"),
    "a seed with a fraction": ("= 7", "= 7.5", 3, "seed: expected a whole number, got 7.5"),
    "another kind of marks": (
        '"partial"',
        '"some"',
        23,
        "expected 'partial' or 'all-or-nothing', got 'some'",
    ),
    "one name for two": ('"second"', '"first"', 21, "there are two assignments 'first'"),
    "no name": ('name = "second"\n', "", 20, "name is missing"),
    "no exercises": ('exercises = ["clinic"]', "exercises = []", 22, "expected the names of exercises"),
    "weight that is true": (
        "weight = 2",
        "weight = true",
        18,
        "weight: expected a number from 0 to 1000000, got True",
    ),
    "a name that is a column of the marks": ('"second"', '"points"', 21, "'points' is a column of the marks"),
    "a key within a table in one line": (
        "[late]\nper_day = 0.1\ndays = 3\ngrace_minutes = 15\n",
        "late = {per_day = 0.1, dayz = 3}\n",
        6,
        "no key 'dayz'",
    ),
    "a dotted key": (
        "[late]\nper_day = 0.1\ndays = 3\ngrace_minutes = 15\n",
        "late.days = 3\nlate.per_day = 3\n",
        7,
        "per_day: expected a number from 0 to 1, got 3",
    ),
    "a number of thousands of digits": ("seed = 7", f"seed = {'7' * 5000}", None, "course.toml"),
    "no TOML": ("[late]", "[late", 6, "(at line 6, column 6)"),
}


@pytest.mark.parametrize(("before", "after", "line", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_its_line(tmp_path, before, after, line, said):
    assert WHOLE.count(before) == 1
    path = written(tmp_path, WHOLE.replace(before, after))
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        read_course(path)
    assert line is None or f"line {line}" in str(error.value)


def test_the_last_part_of_a_name_will_do(tmp_path):
    course = read_course(written(tmp_path, 'exercises = ["k3", "clipped"]\n[points]\nk3 = 4\n'))
    assert course.exercises == ("ratios/clipped", "kl/k3")
    assert course.points == {"kl/k3": 4.0}


OVERRIDES = """[[override]]
student = "anna"
exercise = "kl/k3"
points = 2
reason = "shown by hand"

[[override]]
student = "ben"
assignment = "first"
deadline = 2027-03-08T23:59:00+01:00
reason = "ill"
"""


def test_overrides(tmp_path):
    course = read_course(written(tmp_path, WHOLE))
    path = tmp_path / "overrides.toml"
    path.write_text(OVERRIDES)
    points, deadline = read_overrides(path, course)
    assert (points.student, points.exercise, points.points, points.reason) == (
        "anna",
        "kl/k3",
        2,
        "shown by hand",
    )
    assert (deadline.assignment, deadline.deadline) == ("first", datetime(2027, 3, 8, 22, 59, tzinfo=UTC))


@pytest.mark.parametrize(
    ("before", "after", "line", "said"),
    [
        ('reason = "ill"', "", 7, "reason is missing"),
        ('reason = "ill"', 'reason = " "', 11, "reason: expected a text"),
        ('"kl/k3"', '"kl/k4"', 3, "no exercise of this course 'kl/k4'"),
        ('"first"', '"third"', 9, "no assignment 'third'; there are: first, second"),
        ("deadline = 2027-03-08T23:59:00+01:00", "", 7, "deadline is missing"),
        ("points = 2", "grade = 2", 4, "no key 'grade'"),
        ('[[override]]\nstudent = "anna"', '[[overide]]\nstudent = "anna"', 1, "no key 'overide'"),
    ],
)
def test_a_mistake_in_the_overrides_is_told_with_its_line(tmp_path, before, after, line, said):
    path = tmp_path / "overrides.toml"
    path.write_text(OVERRIDES.replace(before, after, 1))
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        read_overrides(path, read_course(written(tmp_path, WHOLE)))
    assert f"line {line}:" in str(error.value)
