"""CONTRIBUTING.md: each walk is followed word by word in a copy of the project, and is as short as told."""

import re
import shutil
from pathlib import Path
from textwrap import dedent

import pytest
from walks import STEP, follow, run

ROOT = Path(__file__).parents[1]
_, *SECTIONS = re.split(r"^## ", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
WALKS = {title: text for title, _, text in (section.partition("\n") for section in SECTIONS)}
MOST_FILES = {"recipe": 4, "dialect": 4, "task": 3, "experiment": 3, "exercise": 4}


def kind_of(title):
    return title.split()[-1]


@pytest.fixture
def copy(tmp_path):
    """What a walk needs of the project."""
    for name in ("grpo_ref", "tests", "docs", "exercises", "solutions", "notebooks"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run_in_copy(command, copy):
    """With the copy's package."""
    run(command, copy, path=[copy])


@pytest.mark.parametrize("title", WALKS)
def test_a_walk_leads_where_it_says(title, copy):
    touched = {follow(step, copy, run_in_copy) for step in STEP.finditer(WALKS[title])} - {None}
    by_hand = touched | ({copy / "grpo_ref/course/contents.py"} if kind_of(title) == "exercise" else set())
    assert 2 <= len(by_hand) <= MOST_FILES[kind_of(title)]
    for path in touched:
        text = path.read_text(encoding="utf-8")
        compile(dedent(text), str(path), "exec")


def test_every_kind_has_its_walk():
    assert {kind_of(title) for title in WALKS} == set(MOST_FILES)


def test_a_step_that_does_not_fit_is_noticed(tmp_path):
    (tmp_path / "there.py").write_text("one = 1\n")
    step = STEP.search("In `there.py`, replace `two` by `three`.")
    with pytest.raises(AssertionError, match="has no 'two'"):
        follow(step, tmp_path, run_in_copy)
