"""A source of exercises: its table of contents is checked when it is read, and says where its files are."""

from pathlib import Path

import pytest

from grpo_ref.course.contents import OURS
from grpo_ref.course.source import Exercise, Source
from grpo_ref.course.statement_file import Translation, read_translation

STATEMENT = """---
title: Twice
function: doubled(values)
difficulty: easy
points: 2
source: none
---

Why.

## Your task

{inputs}

## Examples

## Hints

1. A question.
2. The tool,
   on two lines.
3. The line.
"""
GROWTH = '[growth]\ntitle = "Growth"\nexercises = ["doubled"]\n'


def source(folder, contents=GROWTH, statement=STATEMENT):
    """A package with one exercise."""
    place = folder / "course/exercises/growth/doubled"
    place.mkdir(parents=True)
    (place / "statement.md").write_text(statement)
    (place.parents[1] / "contents.toml").write_text(contents)
    return Source("course", folder / "course")


def test_the_table_of_contents_is_read_with_the_statements(tmp_path):
    read = source(tmp_path)
    assert (read.chapters, read.notebooks) == ({"growth": "Growth"}, {})
    assert read.exercises == (Exercise("growth/doubled", "easy", 2),)
    statement = read.statement("growth/doubled")
    assert (statement.function, statement.title) == ("doubled", "Twice")
    assert statement.hints == ("A question.", "The tool, on two lines.", "The line.")
    assert statement.text.startswith("Why.")


WRONG_CONTENTS = {
    "no title": ('[growth]\nexercises = ["doubled"]\n', "a title and a list of exercises in .growth."),
    "no list": ('[growth]\ntitle = "Growth"\n', "a title and a list of exercises in .growth."),
    "no name of a function": (GROWTH.replace("doubled", "2nd"), "got '2nd'"),
}


@pytest.mark.parametrize(("contents", "message"), WRONG_CONTENTS.values(), ids=WRONG_CONTENTS)
def test_a_table_of_contents_that_says_something_else_is_refused(tmp_path, contents, message):
    with pytest.raises(ValueError, match=message):
        _ = source(tmp_path, contents).exercises


WRONG = {
    "no head": ("---\n", "", "expected key: value lines"),
    "no hints": ("## Hints", "## Help", "expected key: value lines"),
    "two hints": ("3. The line.\n", "", "expected 3 hints, got 2"),
    "an unknown difficulty": ("easy", "simple", "got 'simple' and '2'"),
    "half points": ("points: 2", "points: 0.5", "got 'easy' and '0.5'"),
    "no points": ("points: 2", "points: 0", "got 'easy' and '0'"),
    "no title": ("title: Twice\n", "", "title is missing"),
    "an unknown key": ("title:", "titel: x\ntitle:", "unknown key 'titel'"),
    "a picture without a description": ("Why.", "{picture}", "belong together"),
}


@pytest.mark.parametrize(("old", "new", "message"), WRONG.values(), ids=WRONG)
def test_a_statement_of_another_form_is_refused(tmp_path, old, new, message):
    with pytest.raises(ValueError, match=message):
        _ = source(tmp_path, statement=STATEMENT.replace(old, new, 1)).exercises


@pytest.mark.parametrize("package", ["course", "of.a.course"])
def test_the_checkout_is_around_the_package(package):
    read = Source(package, Path("/checkout") / package.replace(".", "/"))
    assert read.checkout == Path("/checkout")
    assert read.checkout / read.path == read.folder


def test_a_package_without_a_table_of_contents_has_no_exercises(tmp_path):
    assert Source("course", tmp_path).exercises == ()


def test_ours_is_a_source_like_any_other():
    assert (OURS.checkout / OURS.path / "contents.py").is_file()
    assert OURS.ids[0] == "probabilities/log_softmax"


TRANSLATION = """---
title: 两倍
english: statement.md 0
---

原因。

## 任务

## 示例

## 提示

1. 问题。
2. 工具。
3. 代码。
"""


def test_a_translation_is_read_if_there_is_one(tmp_path):
    read = source(tmp_path)
    path = tmp_path / "course/exercises/growth/doubled/statement.zh.md"
    assert read.translation("growth/doubled", "zh") is None
    path.write_text(TRANSLATION)
    translation = read.translation("growth/doubled", "zh")
    assert translation == read_translation(path)
    assert translation == Translation("两倍", "原因。\n\n## 任务\n\n## 示例", ("问题。", "工具。", "代码。"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("english: statement.md 0\n", "", "english is missing"),
        ("title:", "points: 2\ntitle:", "unknown key 'points'"),
        ("3. 代码。\n", "", "expected 3 hints, got 2"),
    ],
)
def test_a_translation_of_another_form_is_refused(tmp_path, old, new, message):
    path = tmp_path / "statement.zh.md"
    path.write_text(TRANSLATION.replace(old, new))
    with pytest.raises(ValueError, match=message):
        read_translation(path)
