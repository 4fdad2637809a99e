"""Fixtures for the tests of the course: grade a text, and a student's folder."""

import shutil
from pathlib import Path

import pytest
from little_exercise import judge
from student import ROOT, WRONG, run


@pytest.fixture
def judged(tmp_path):
    """Grade a file with the given text."""

    return lambda text: judge(tmp_path, text)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A fresh course in the folder `exercises` of an empty directory; one exercise solved, one wrong."""
    monkeypatch.chdir(tmp_path)
    assert run("init", "exercises").exit_code == 0
    folder = Path("exercises")
    solved = Path("01_probabilities/03_entropy.py")
    shutil.copy(ROOT / "solutions" / solved, folder / solved)
    (folder / "02_advantages/01_group_normalized.py").write_text(WRONG)
    return folder
