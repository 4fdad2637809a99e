"""What students start from: a folder is filled and brought up to date, and no work is lost."""

import pytest

from grpo_ref.course.contents import EXERCISES
from grpo_ref.course.layout import exercise_folder, support_files
from grpo_ref.course.pages import pages
from grpo_ref.course.starters import fill, is_untouched, reset, starter_of
from grpo_ref.course.workbook import Workbook

NAME = "kl/k3"


@pytest.fixture
def workbook(tmp_path):
    workbook = Workbook(tmp_path, pytest.fail)
    pictures = sum((exercise_folder(name) / "picture.svg").is_file() for name in EXERCISES)
    files = len(EXERCISES) + pictures + len(support_files()) + len(pages())
    assert fill(workbook) == (files, 0, 0)
    return workbook


def test_a_file_of_the_present_or_an_earlier_version_is_untouched(workbook):
    assert is_untouched(workbook, NAME)
    workbook.path(NAME).write_text("# an earlier text\n")
    assert not is_untouched(workbook, NAME)
    progress = workbook.progress
    progress.wrote(NAME, b"# an earlier text\n")
    progress.save(workbook.folder)
    assert is_untouched(workbook, NAME)


def test_filling_again_upgrades_what_is_untouched_alone(workbook):
    progress = workbook.progress
    progress.wrote(NAME, b"# an earlier text\n")
    progress.save(workbook.folder)
    workbook.path(NAME).write_text("# an earlier text\n")
    workbook.path("kl/exact_kl").write_text("# my work\n")
    assert fill(workbook) == (0, 1, 1)
    assert workbook.path(NAME).read_text() == starter_of(NAME)
    assert workbook.path("kl/exact_kl").read_text() == "# my work\n"


def test_a_reset_keeps_the_work_under_a_free_name(workbook):
    assert reset(workbook, NAME) is None
    for number in (1, 2):
        workbook.path(NAME).write_text(f"# try {number}\n")
        backup = reset(workbook, NAME)
        assert backup.name == f"03_k3-{number}.backup"
        assert backup.read_text() == f"# try {number}\n"
        assert workbook.path(NAME).read_text() == starter_of(NAME)
    workbook.path(NAME).unlink()
    assert reset(workbook, NAME) is None
    assert workbook.path(NAME).exists()
