"""Follow the guides of CONTRIBUTING.md in a copy of the project, and run the commands of README.md."""

import re
import shutil
from pathlib import Path
from textwrap import dedent

import pytest
from sessions import COMMAND, compare
from walks import STEP, edit, follow, run, shell

ROOT = Path(__file__).parents[1]
_, *SECTIONS = re.split(r"^## ", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
GUIDES = {
    title: text
    for title, _, text in (section.partition("\n") for section in SECTIONS)
    if title.startswith("I want to add ")
}
MOST_FILES = {"recipe": 4, "dialect": 4, "task": 3, "experiment": 3, "exercise": 5}
README = (ROOT / "README.md").read_text(encoding="utf-8")
SESSIONS = re.findall(r"^```console\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
SHOWN = {match["command"]: match for match in COMMAND.finditer("".join(SESSIONS))}


def kind_of(title):
    return title.split()[-1]


@pytest.fixture
def copy(tmp_path):
    """Copy the files that a guide needs."""
    for name in ("grpo_ref", "tests", "docs", "exercises", "solutions", "notebooks"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run_in_copy(command, copy):
    """Run a command with the package of the copy."""
    run(command, copy, path=[copy])


@pytest.mark.parametrize("title", GUIDES)
def test_a_guide_works_and_touches_few_files(title, copy):
    touched = {follow(step, copy, run_in_copy) for step in STEP.finditer(GUIDES[title])} - {None}
    by_hand = touched
    assert 2 <= len(by_hand) <= MOST_FILES[kind_of(title)]
    for path in touched:
        if path.suffix == ".py":
            compile(dedent(path.read_text(encoding="utf-8")), str(path), "exec")


def test_every_kind_has_its_guide():
    assert {kind_of(title) for title in GUIDES} == set(MOST_FILES)


def test_a_step_that_does_not_fit_is_noticed(tmp_path):
    (tmp_path / "there.py").write_text("one = 1\n")
    step = STEP.search("In `there.py`, replace `two` by `three`.")
    with pytest.raises(AssertionError, match="has no 'two'"):
        follow(step, tmp_path, run_in_copy)


@pytest.fixture
def first_attempt(tmp_path):
    """Write the exercises, with a wrong answer to the one that the README grades."""
    run("grpo-ref init", tmp_path, path=[ROOT])
    edit(
        tmp_path / "my-exercises/02_advantages/01_group_normalized.py",
        'raise NotImplementedError("advantages/group_normalized")',
        "return (np.asarray(rewards) - np.mean(rewards)) / (np.std(rewards) + eps)",
    )
    return tmp_path


@pytest.mark.parametrize("command", SHOWN)
def test_a_command_of_the_readme_prints_what_is_shown(command, first_attempt):
    done = shell(command, first_attempt, path=[ROOT])
    compare(SHOWN[command], done, status=1 if "grade" in command else 0)


def test_the_readme_explains_a_configuration_and_grades_an_answer():
    assert len([command for command in SHOWN if " explain " in command]) == 1
    assert len([command for command in SHOWN if " grade " in command]) == 1


def test_the_readme_is_at_most_120_lines_long():
    assert len(README.splitlines()) <= 120


def test_the_address_is_filled_in_at_one_place():
    assert README.count("git clone ") == 1
