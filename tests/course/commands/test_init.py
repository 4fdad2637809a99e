"""`grpo-ref init`: write a folder, and bring it up to date."""

from pathlib import Path

import pytest
from student import WRONG, run

from grpo_ref.course.layout import file_of
from grpo_ref.course.marking import mark
from grpo_ref.course.progress import Progress
from grpo_ref.course.starters import starter_of
from grpo_ref.course.workbook import Workbook


def test_init_again_changes_nothing(folder):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert "0 files written, 0 brought up to date, 2 of yours left alone" in run("init", "exercises").output
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_init_upgrades_what_is_untouched_and_nothing_else(folder):
    """The course as an earlier version wrote it, the notes of two exercises since rewritten."""
    untouched, touched = "kl/k3", "advantages/group_normalized"
    earlier, progress = "# an earlier text\n", Progress.load(folder, pytest.fail)
    for name in (untouched, touched):
        progress.wrote(name, earlier.encode())
    progress.save(folder)
    (folder / file_of(untouched)).write_text(earlier)
    assert mark(Workbook(folder, pytest.fail), untouched).status == "not started"
    assert "0 files written, 1 brought up to date, 2 of yours left alone" in run("init", "exercises").output
    assert (folder / file_of(untouched)).read_text() == starter_of(untouched)
    assert (folder / file_of(touched)).read_text() == WRONG


def test_init_leaves_a_conftest_of_somebody_else_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("conftest.py").write_text("# mine\n")
    assert "1 of yours left alone" in run("init", ".").output
    assert Path("conftest.py").read_text() == "# mine\n"


def test_a_folder_that_cannot_be_made_is_named(folder):
    (folder / "file").write_text("mine")
    for command in ("init", "notebooks"):
        result = run(command, str(folder / "file" / "course"), *(["--no-open"] * (command == "notebooks")))
        assert result.exit_code == 1
        assert f"Error: {folder / 'file'}" in result.output


def test_init_writes_a_folder_of_the_students_own_which_the_commands_find(tmp_path, monkeypatch):
    """Beside the exercises of a checkout, which stay as they are."""
    monkeypatch.chdir(tmp_path)
    run("init", "exercises")
    before = {path: path.read_bytes() for path in Path("exercises").rglob("*") if path.is_file()}
    assert run("init").exit_code == 0
    Path("my-exercises/02_advantages/01_group_normalized.py").write_text(WRONG)
    assert "advantages/group_normalized: failed" in run("grade", "group_normalized").output
    assert before == {path: path.read_bytes() for path in Path("exercises").rglob("*") if path.is_file()}


def test_who_has_begun_in_the_exercises_of_a_checkout_goes_on_there(folder):
    run("grade", "entropy")
    assert run("init").output.startswith("exercises: 0 files written")
    assert not Path("my-exercises").exists()


def test_init_writes_chinese_statements_and_remembers_the_language(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("init", "--language", "zh")
    folder, name = Path("my-exercises"), "probabilities/entropy"
    assert (folder / file_of(name)).read_text().startswith('"""策略的熵\n\n容易，1 分。')
    assert (folder / file_of("kl/k3")).read_text() == starter_of("kl/k3")  # not translated
    assert (folder / "GRADING.md").read_text().startswith("# 怎样评分\n")
    assert (folder / "01_probabilities/README.md").read_text().startswith("# 1. 概率与对数概率\n")
    assert mark(Workbook(folder, pytest.fail), name).status == "not started"
    assert "1 of 3: 概率为 0 的 token 应该贡献多少？" in run("hint", "entropy").output
    assert "0 brought up to date" in run("init").output
    (folder / file_of(name)).write_text("pass\n")
    run("reset", "entropy")
    assert (folder / file_of(name)).read_text() == starter_of(name, "zh")
    run("init", "--language", "en")
    assert (folder / file_of(name)).read_text() == starter_of(name)
    assert (
        "1 of 3: How much should a token of probability 0 add?"
        in run("hint", "entropy", "--steps", "1").output
    )
