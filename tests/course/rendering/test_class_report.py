"""The page about a class: its numbers, its words, and that it is one file."""

import re

import pytest
from made_up_class import HOSTILE, exercise, failure, made_up_class, outcome, result

from grpo_ref.course.classroom import Alike
from grpo_ref.course.classroom.alike import Match
from grpo_ref.course.classroom.figures import outcomes_figure
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.rendering.class_report import MOST, class_report

NAME, OTHER = "kl/k3", "kl/exact_kl"
CHECKS = [check.name for check in PROBLEMS[NAME].checks]
RIGHT = exercise(NAME, [outcome(name, True) for name in CHECKS], 2.0, "passed")
WRONG = exercise(NAME, [failure(name) for name in CHECKS], diagnosis="The sign is lost.")
LATE = exercise(NAME, [failure(CHECKS[0], wrong="no answer after 5 s")])
NOTHING = exercise(NAME, [], status="not started")
CLASS = [
    result("anna", [RIGHT, exercise(OTHER, [], 1.0, "passed")]),
    result("ben", [WRONG, exercise(OTHER, [], 0.5)]),
    result("carol", [LATE, exercise(OTHER, [])]),
    result("dora", [NOTHING, exercise(OTHER, [], status="not started")], ["nothing was handed in"]),
]


def row(page, name):
    """The cells of the first row of this name."""
    cells, *_ = re.findall(rf'<tr><th scope="row">{re.escape(name)}</th>(.*)</tr>', page)
    return re.findall(r"<td[^>]*>(.*?)</td>", cells)


def test_the_numbers_are_those_of_the_analysis():
    """Points 2, 0, 0, 0 and 1, 1/2, 0, 0: r = 1.25 / √(3 · 0.6875) = 0.87."""
    page = class_report(CLASS)
    assert "<title>Class report: 4 students</title>" in page
    assert "Points of 4 students, of 3: mean 0.9, median 0.2, lower quartile 0.0, upper quartile 1.1" in page
    assert row(page, NAME) == ["3", "3", "1", "0.33", "0.25", "0.87"]
    assert row(page, "The sign is lost.") == [NAME, "1"]
    assert f'<tr><th scope="row">{NAME}</th><td class="number">1</td><td>carol</td></tr>' in page
    assert row(page, "dora") == ["nothing was handed in"]
    assert "Answers that are alike" not in page


def test_every_student_has_one_outcome(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "grpo_ref.course.classroom.figures.outcomes_figure",
        lambda outcomes: drawn.append(outcomes) or outcomes_figure(outcomes),
    )
    class_report(CLASS)
    assert [list(numbers.values()) for numbers in drawn[0].values()] == [[1, 0, 2, 1], [1, 1, 1, 1]]


def test_all_tests_of_the_exercises_are_there():
    page = class_report(CLASS)
    assert f"<summary>{len(CHECKS) + len(PROBLEMS[OTHER].checks)} tests, by exercise</summary>" in page
    assert page.count('<td class="number">0.50</td><td class="number">–</td>') == len(CHECKS) - 1


def test_pairs_are_evidence():
    match = Match(NAME, 0.98, 41.0)
    page = class_report(CLASS, [Alike(("anna", "ben"), (match, Match(OTHER, 0.8, 20.0)))])
    assert "evidence, not a verdict" in page
    assert row(page, "anna") == ["ben", "2", f"{NAME} (0.98, 41), {OTHER} (0.80, 20)"]
    many = class_report(CLASS, [Alike((f"a{number}", "b"), (match,)) for number in range(MOST + 3)])
    assert "3 pairs with less evidence are not listed" in many
    assert many.count("<td>b</td>") == MOST
    assert "Answers that are alike" in class_report(CLASS, [])


@pytest.mark.parametrize("records", [[], [result("anna", [], ["the grading stopped"])], CLASS[:1]])
def test_hardly_anybody_is_a_class_too(records):
    assert f"Class report: {len(records)} student" in class_report(records)


def test_strangers_text_is_text_and_nothing_is_loaded():
    bad = [
        result(text, [exercise(NAME, [failure(text, likely=text)], diagnosis=text)], [text])
        for text in HOSTILE
    ]
    page = class_report(bad, [Alike((text, text), ()) for text in HOSTILE])
    page.encode()
    assert not re.search(r"<(script|textarea|b|a)\b|<[^>]*\son\w+=", page)
    assert set(re.findall(r'(?:src|href)="(.{5})', page)) == {"data:"}


def test_a_page_of_a_large_class_is_small():
    page = class_report(made_up_class(120))
    assert len(page) < 1_000_000
    assert page == class_report(made_up_class(120))
