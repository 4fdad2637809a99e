"""`grpo-ref dev`: prove and build exercises."""

import re
import shutil
import subprocess

import pytest
from student import ROOT, run

from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.layout import file_of
from grpo_ref.course.pages import pages


def test_dev_build_writes_the_starters(tmp_path):
    assert run("dev", "build", "--root", tmp_path).exit_code == 0
    for name in (*map(file_of, PROBLEMS), *pages()):
        for part in ("exercises", *["solutions"] * (name in map(file_of, PROBLEMS))):
            ours, theirs = (folder / part / name for folder in (tmp_path, ROOT))
            assert ours.read_bytes() == theirs.read_bytes()


GIT = ["git", "-c", "user.name=student", "-c", "user.email=student@example.org"]


@pytest.fixture
def repository(tmp_path):
    """A checkout under git, with an exercise that somebody has committed otherwise than it is built."""
    for name in ("solutions", "exercises"):
        ignored = shutil.ignore_patterns("__pycache__", "progress*", "*.backup")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    (tmp_path / "exercises/04_kl/01_exact_kl.py").write_text("# an earlier starter\n")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "as it was"]):
        subprocess.run([*GIT, *arguments], cwd=tmp_path, check=True)
    return tmp_path


def test_dev_build_keeps_an_answer_that_stands_in_the_exercises(repository):
    """What the commit has is safe there already."""
    folder = repository / "exercises/04_kl"
    for number, answer in enumerate(("# my answer\n", "# another\n"), start=1):
        (folder / "03_k3.py").write_text(answer)
        output = run("dev", "build", "--root", repository).output
        assert (folder / f"03_k3-{number}.backup").read_text() == answer
        assert f"a file with changes was moved to {folder / f'03_k3-{number}.backup'}" in output
        assert "1 kept in a backup" in output
    assert not list(folder.glob("01*.backup"))
    assert run("dev", "build", "--root", repository).output.endswith(
        ": 0 files written, 0 kept in a backup\n"
    )


def test_dev_build_makes_no_backup_of_its_own_starters(tmp_path):
    """Without git too: what was written is remembered."""
    run("dev", "build", "--root", tmp_path)
    (tmp_path / "exercises/04_kl/03_k3.py").unlink()
    assert ": 1 files written, 0 kept in a backup" in run("dev", "build", "--root", tmp_path).output


def test_dev_check_proves_and_draws_the_matrix():
    result = run("dev", "check", "k3", "falling_reward", "--table", "--root", ROOT)
    assert result.exit_code == 0
    proved = [PROBLEMS["kl/k3"], PROBLEMS["clinic/falling_reward"]]
    checks, wrong = (
        sum(map(len, lists)) for lists in zip(*((p.checks, p.mutants) for p in proved), strict=True)
    )
    assert f"2 exercises, {checks} checks, {wrong} wrong answers, no survivor" in result.output
    assert re.search(r"^  k2  +( [x.] )+", result.output, re.M)


def test_dev_check_finds_drift_and_missing_files(tmp_path):
    for name in ("solutions", "exercises"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "exercises/04_kl/03_k3.py").write_text("# changed by hand\n")
    (tmp_path / "solutions/04_kl/01_exact_kl.py").unlink()
    result = run("dev", "check", "kl/k3", "kl/exact_kl", "--root", tmp_path)
    assert result.exit_code == 1
    assert "the starter is not up to date" in result.output
    assert "exact_kl.py is missing" in result.output
