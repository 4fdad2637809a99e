"""A student's page: everything is told, and nothing that a stranger wrote is more than text."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_class import HOSTILE, exercise, failure, outcome, result

from grpo_ref.course.rendering.feedback import exercise_markdown, feedback_html, feedback_markdown

NAME = "kl/k3"
TESTS = [
    failure("By hand", likely="The sign is lost."),
    outcome("Random", True),
    failure("Zeros", returned="ValueError: no", raised=True, wrong="it raised an error", printed="rows 3\n"),
    failure("Large", warnings=["overflow in exp"]),
    failure("Small", wrong="it is 3"),
]
WRONG = exercise(NAME, TESTS, 0.5, printed="loaded\nrows 3\n", warnings=["overflow in exp", "slow"])
RESULT = result(
    "Anna <A>",
    [
        WRONG,
        exercise("kl/exact_kl", [outcome("By hand", True)], 2, "passed"),
        exercise("kl/k3_slope", [], status="not started"),
    ],
    ["essay_1.py is the answer to no exercise"],
)


class Elements(HTMLParser):
    """The elements of a page, their attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def hostile(text):
    """A result with this text wherever a stranger's may be."""
    test = failure(
        text, called=text, returned=text, wrong=text, why=text, likely=text, printed=text, warnings=[text]
    )
    told = {
        "diagnosis": text,
        "symptom": text,
        "marking": text,
        "printed": text + text,
        "warnings": [text, text + "2"],
    }
    return result(text, [exercise(NAME, [test] * 5, **told)], [text])


def test_all_is_told():
    page = feedback_markdown(RESULT)
    assert "# Feedback for Anna \\<A\\>" in page
    assert "**2.5 of 5 points**, 1 of 3 exercises solved." in page
    assert "| kl/exact\\_kl |" in page
    assert "| –\xa0not\xa0started | 0\xa0of\xa0" in page
    assert "* essay\\_1.py is the answer to no exercise" in page
    assert "from the seed 5." in page
    assert "verdicts are official" in page
    assert "not official" in feedback_markdown({**RESULT, "official": False})


def test_what_changed_the_points_is_told():
    parts = [{"name": name, "points": 1.5, "of": 3.0, "weight": 2.0} for name in ("week-1", "week|2")]
    changed = exercise("kl/exact_kl", [outcome("By hand", True)], 0.5, "passed", marking="1 day late: 50 %.")
    page = feedback_markdown({**result("anna", [changed]), "assignments": parts})
    assert "| week\\|2 | 1.5\xa0of\xa03 | 2 |" in page
    assert "Marking: 1 day late: 50 %." in page
    assert "## Assignments" not in feedback_markdown(RESULT)


def test_an_exercise_is_told_like_this():
    assert exercise_markdown(exercise(NAME, TESTS[:2], diagnosis="The sign is lost.")) == (
        "1 of 2 tests pass.\n\nIt looks like this mistake: The sign is lost.\n\n"
        "**Failed test: By hand.** 0.5 is too small: expected 1\n\n"
        "```text\ncalled   f([1, 2])\nreturned 0.5\n```\n\nAbout: the mean of two\n\n"
        "Likely: The sign is lost."
    )
    told = exercise_markdown(WRONG)
    assert "Printed when it was loaded:\n\n```text\nloaded\n```" in told
    assert "Warnings:\n\n```text\nslow\n```" in told
    assert "raised   ValueError: no\nprinted  rows 3\n```" in told
    assert told.endswith("These tests fail too:\n\n* Small: it is 3")
    assert exercise_markdown(RESULT["exercises"][2]) == "Not started."


def test_the_page_is_complete_in_itself():
    page = Elements(feedback_html(RESULT))
    assert page.tags.count("h1") == page.tags.count("main") == page.tags.count("table") == 1
    assert ("lang", "en") in page.attributes
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert not {"src", "href"} & {name for name, _ in page.attributes}
    assert "Feedback for Anna <A>" in page.text


@pytest.mark.parametrize("text", HOSTILE)
def test_what_strangers_wrote_is_text(text):
    """The page has the elements of one about an honest answer, and no attribute of a stranger's."""
    honest, page = Elements(feedback_html(hostile("honest"))), Elements(feedback_html(hostile(text)))
    assert set(page.tags) <= set(honest.tags)
    assert {name for name, _ in page.attributes} == {name for name, _ in honest.attributes}
    assert page.tags.count("td") == honest.tags.count("td")
    assert page.tags.count("h3") == honest.tags.count("h3") == 1
    assert len(feedback_html(hostile(text))) < 200_000
    feedback_markdown(hostile(text)).encode()


@given(st.text(max_size=40) | st.text(alphabet="<>[]()!`*_#|~&;:/\\\n 1.-+=xw@h", max_size=40))
@settings(max_examples=150, deadline=None)
def test_any_text_is_text(text):
    page = Elements(feedback_html(hostile(text)))
    assert not {"a", "img", "script", "h4", "hr", "blockquote", "ol"} & set(page.tags)
    assert page.tags.count("td") == 4
    shown = " ".join(text.split())
    if re.fullmatch(r"[ -~]+", shown):
        assert " ".join(f"Feedback for {shown}".split()) in " ".join(page.text.split())
