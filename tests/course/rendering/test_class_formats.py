"""The results of a class for other programs: Gradescope's fields, JUnit's elements, Canvas's gradebook."""

import csv
import io
import json
import xml.etree.ElementTree as ET

import pytest

from grpo_ref.course.rendering.class_formats import canvas, gradescope, junit

NAMES = ("4711", "s1", "asmith", "Smith, Anna", "Anna")
SILENT = {"printed": "", "warnings": []}
TEST = {
    "called": "k3(1, 2)",
    "returned": "0\x00",
    "wrong": "0 is <too small>",
    "why": "",
    "likely": "",
    **SILENT,
}
RESULT = {
    "student": "Anna <A>",
    "seed": 5,
    "official": True,
    "points": 2.5,
    "of": 5,
    "notes": ["essay.py is the answer to no exercise"],
    "exercises": [
        {
            "id": "kl/k3",
            "title": "One token",
            "status": "failed",
            "points": 0.5,
            "of": 3,
            "seed": 5,
            "marking": "",
            "diagnosis": "The sign is lost.",
            "symptom": "",
            **SILENT,
            "tests": [
                {**TEST, "name": "By hand", "passed": False},
                {**TEST, "name": "Random", "passed": True},
            ],
        },
        {
            "id": "advantages/centered",
            "title": "Centered",
            "status": "passed",
            "points": 2,
            "of": 2,
            "seed": 5,
            "marking": "",
            "diagnosis": "",
            "symptom": "",
            **SILENT,
            "tests": [{**TEST, "name": "By hand", "passed": True}],
        },
        {
            "id": "kl/k3_slope",
            "title": "Its slope",
            "status": "not started",
            "points": 0,
            "of": 3,
            "seed": 5,
            "marking": "",
            "diagnosis": "",
            "symptom": "",
            **SILENT,
            "tests": [],
        },
    ],
}
TOP_LEVEL = {
    "score": (int, float),
    "execution_time": (int, float),
    "output": str,
    "output_format": str,
    "test_output_format": str,
    "test_name_format": str,
    "visibility": str,
    "stdout_visibility": str,
    "extra_data": dict,
    "tests": list,
    "leaderboard": list,
}
OF_A_TEST = {
    "score": (int, float),
    "max_score": (int, float),
    "status": str,
    "name": str,
    "name_format": str,
    "number": str,
    "output": str,
    "output_format": str,
    "tags": list,
    "visibility": str,
    "extra_data": dict,
}
"""The fields of results.json and their types, as Gradescope's specification lists them."""


def test_gradescope_gets_its_own_fields_only():
    data = json.loads(gradescope(RESULT))
    assert all(isinstance(value, TOP_LEVEL[name]) for name, value in data.items())
    for test in data["tests"]:
        assert all(isinstance(value, OF_A_TEST[name]) for name, value in test.items())
        assert test["status"] in ("passed", "failed")
    assert {data[name] for name in ("output_format", "test_output_format")} <= {"text", "html", "md", "ansi"}
    assert data["score"] == sum(test["score"] for test in data["tests"]) == 2.5
    assert [test["number"] for test in data["tests"]] == ["4.3", "2.2", "4.4"]
    assert "The sign is lost." in data["tests"][0]["output"]
    assert data["tests"][2]["output"] == "Not started."


def test_junit_counts_what_it_holds():
    suites = ET.fromstring(junit(RESULT))
    assert suites.tag == "testsuites"
    assert suites.get("name") == "Anna <A>"
    for suite in suites:
        cases = suite.findall("testcase")
        assert int(suite.get("tests")) == len(cases)
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
        assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped"))
        assert {each.get("name") for each in suite.find("properties")} == {"points", "of", "seed"}
    failure = suites.find("testsuite/testcase/failure")
    assert failure.get("message") == "0 is <too small>"
    assert failure.text == "k3(1, 2)\n-> 0"


GRADEBOOK = """Student,ID,SIS User ID,SIS Login ID,Section,Essay (11),GRPO (12),Final Score
    Points Possible,,,,,10,86,(read only)
"Smith, Anna",4711,s1,asmith,A,"9,5",,=1+1
"Jones, Ben",4712,s2,bjones,A,7,3,
"Student, Test",4713,,,A,,,
"""


@pytest.mark.parametrize("column", ["GRPO (12)", "GRPO"])
def test_a_gradebook_is_filled_in_and_left_as_it_is_elsewhere(column):
    text, left = canvas(GRADEBOOK, column, {"4711": 42.5, "bjones": 0.0, "nobody": 1.0})
    before, after = (list(csv.reader(io.StringIO(each))) for each in (GRADEBOOK, text))
    assert [row[6] for row in after] == ["GRPO (12)", "86", "42.5", "0", ""]
    assert [row[:6] + row[7:] for row in after] == [row[:6] + row[7:] for row in before]
    assert left == ["nobody"]


@pytest.mark.parametrize("name", ["4711", "s1", "asmith", "Smith, Anna"])
def test_a_student_is_found_by_any_of_the_names_that_canvas_knows(name):
    text, left = canvas(GRADEBOOK, "GRPO", {"anna": 2.0}, {"anna": ("Anna", name)})
    assert list(csv.reader(io.StringIO(text)))[2][6] == "2"
    assert left == []


def test_two_students_do_not_share_a_row():
    """No points are written there: a name that was chosen does not decide whose row it is."""
    names = {"ben": ("4712",), "evil": ("bjones",), "anna": ("4711",)}
    text, left = canvas(GRADEBOOK, "GRPO", {"ben": 1.0, "evil": 2.0, "anna": 3.0}, names)
    assert [row[6] for row in csv.reader(io.StringIO(text))][2:4] == ["3", "3"]  # ben's 3 stood there before
    assert left == ["ben", "evil"]


def test_two_rows_of_one_name_are_refused_where_the_name_decides():
    twins = GRADEBOOK.replace('"Jones, Ben"', '"Smith, Anna"')
    with pytest.raises(ValueError, match="2 rows have the name 'Smith, Anna' of anna"):
        canvas(twins, "GRPO", {"anna": 1.0}, {"anna": ("Smith, Anna",)})
    assert canvas(twins, "GRPO", {"anna": 1.0}, {"anna": ("4711", "Smith, Anna")})[1] == []


@pytest.mark.parametrize(
    ("gradebook", "column", "message"),
    [
        (GRADEBOOK, "DAPO", "expected one column 'DAPO', found 0 in"),
        (GRADEBOOK.replace("Essay (11)", "GRPO (11)"), "GRPO", "found 2 in"),
        ("name,points\nanna,1\n", "points", "expected a gradebook exported from Canvas"),
        ("", "points", "expected a gradebook exported from Canvas"),
    ],
)
def test_what_is_no_gradebook_is_refused(gradebook, column, message):
    with pytest.raises(ValueError, match=message):
        canvas(gradebook, column, {})


ODD_GRADEBOOK = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Week 1 (7),Current Score\r\n"
    "    Points Possible,,,,,3,(read only)\r\n"
    '"Arp, Anna",1,,anna,"a\rb",,\r\n'
    "Ben,2,,ben\r\n"
    "\r\n"
)


def test_blank_and_short_rows_of_a_gradebook_stay():
    text, left = canvas(ODD_GRADEBOOK, "Week 1", {"anna": 2.0, "ben": 1.0})
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert (rows[2][5], rows[2][4], rows[3][5], rows[4]) == ("2", "a\rb", "1", [])
    assert left == []


@pytest.mark.parametrize("column", ["Student", "ID", "Section", "Current Score"])
def test_points_are_not_written_to_other_columns(column):
    with pytest.raises(ValueError, match="expected an assignment's column"):
        canvas(ODD_GRADEBOOK, column, {"anna": 2.0})
