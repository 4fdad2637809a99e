"""CONTRIBUTING.md: each walk is followed word by word in a copy of the project, and is as short as told."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[1]
_, *SECTIONS = re.split(r"^## ", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
WALKS = {title: text for title, _, text in (section.partition("\n") for section in SECTIONS)}
MOST_FILES = {"recipe": 4, "dialect": 4, "task": 3, "experiment": 3, "exercise": 4}


def block(name):
    """The pattern of a block of code."""
    return rf"\s*```python\n(?P<{name}>.*?)\n +```"


STEP = re.compile(
    rf"[Cc]reate\s+`(?P<new>[^`]+)`:{block('text')}"
    rf"|at the end of `(?P<longer>[^`]+)`,\s+add:{block('more')}"
    rf"|[Ii]n\s+`(?P<file>[^`]+)`,\s+(?P<side>above|below)\s+`(?P<line>[^`]+)`,\s+add:{block('lines')}"
    r"|[Ii]n\s+`(?P<changed>[^`]+)`,\s+replace\s+`(?P<old>[^`]+)`\s+by\s+`(?P<by>[^`]+)`"
    r"|^    \$ (?P<command>[^\n]+)$",
    re.DOTALL | re.MULTILINE,
)


def kind_of(title):
    return title.split()[-1]


def unindented(code):
    """A block of a list, whose own indentation is three spaces."""
    return "\n".join(line.removeprefix("   ") for line in code.split("\n")) + "\n"


def edit(path, old, new):
    """Replace one place of a file."""
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{path} has no {old!r}"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def follow(step, root):
    """Do what one step of a walk says; the path of the file that it touches, or None for a command."""
    if step["command"]:
        run(step["command"], root)
        return None
    path = root / (step["new"] or step["longer"] or step["file"] or step["changed"])
    if step["new"]:
        path.parent.mkdir(parents=True, exist_ok=True)
        assert not path.exists(), path
        path.write_text(unindented(step["text"]), encoding="utf-8")
    elif step["longer"]:
        path.write_text(path.read_text(encoding="utf-8") + "\n" + unindented(step["more"]), encoding="utf-8")
    elif step["file"]:
        line, added = step["line"] + "\n", unindented(step["lines"])
        edit(path, line, added + line if step["side"] == "above" else line + added)
    else:
        edit(path, step["old"], step["by"])
    return path


def run(command, root):
    """Run a command of a walk in the copy, with the copy's package."""
    program, *arguments = shlex.split(command)
    programs = {
        "python": [sys.executable],
        "pytest": [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        "grpo-ref": [sys.executable, str(Path(sys.executable).with_name("grpo-ref"))],
    }
    environment = os.environ | {"PYTHONPATH": str(root), "NO_COLOR": "1"}
    whole = [*programs[program], *arguments]
    done = subprocess.run(whole, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-2000:]}"


@pytest.fixture
def copy(tmp_path):
    """What a walk needs of the project."""
    for name in ("grpo_ref", "tests", "docs", "exercises", "solutions", "notebooks"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("title", WALKS)
def test_a_walk_leads_where_it_says(title, copy):
    touched = {follow(step, copy) for step in STEP.finditer(WALKS[title])} - {None}
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
        follow(step, tmp_path)
