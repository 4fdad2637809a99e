"""Where the files of the course lie."""

from pathlib import Path

import pytest
from student import ROOT

from grpo_ref.course.contents import CHAPTERS, EXERCISES
from grpo_ref.course.layout import exercise_at, file_of
from grpo_ref.course.starters import fill
from grpo_ref.course.workbook import Workbook


def test_nothing_but_the_course_lies_in_its_folders():
    files = {file_of(name) for name in EXERCISES}
    for folder in ("exercises", "solutions"):
        found = {path.relative_to(ROOT / folder) for path in (ROOT / folder).glob("*/*.py")}
        assert found == files


@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_is_found_by_its_file(name):
    assert exercise_at(Path("somewhere") / file_of(name)) == name


def test_a_file_that_is_no_exercise_belongs_to_none():
    assert exercise_at(Path("exercises/conftest.py")) is None
    assert exercise_at(Path("exercises/01_kl/k3.py")) is None


def test_chapters_are_numbered_in_their_order():
    folders = {file_of(name).parent.name for name in EXERCISES}
    assert folders == {f"{number:02}_{chapter}" for number, chapter in enumerate(CHAPTERS, start=1)}


def test_a_file_moves_with_the_number_of_its_exercise(tmp_path):
    """As when a later version puts an exercise before it."""
    (tmp_path / "04_kl").mkdir()
    (tmp_path / "04_kl" / "02_k3.py").write_text("mine\n")
    workbook = Workbook(tmp_path, pytest.fail)
    fill(workbook)
    assert workbook.path("kl/k3").read_text() == "mine\n"
    assert not (tmp_path / "04_kl" / "02_k3.py").exists()
