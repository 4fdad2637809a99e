"""A student's folder for the tests of the commands."""

import shutil
from pathlib import Path

import pytest
from student import ROOT, WRONG, run


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
