"""`grpo-ref dev new`: begin an exercise in our checkout, or in a package of one's own."""

import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
from own_package import files_of, grpo_ref
from student import ROOT, run


@pytest.fixture
def checkout(tmp_path):
    """A copy of the checkout, to add an exercise to."""
    for name in ("grpo_ref", "solutions", "exercises"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def in_checkout(checkout, *arguments):
    """Run the command of the copied package."""
    command = [sys.executable, "-c", "from grpo_ref.cli import main; main()", *arguments]
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, env=environment, check=False)


def texts_of(folder):
    paths = [path for kind in ("*.py", "*.md", "*.toml") for path in folder.rglob(kind)]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


FILES = {"statement.md", "answer.py", "right.py", "tests.py", "wrong.py"}


def test_dev_new_writes_a_folder_and_a_line(checkout):
    before = texts_of(checkout)
    assert run("dev", "new", "kl/doubled", "--root", checkout).exit_code == 0
    after = texts_of(checkout)
    contents = "grpo_ref/course/exercises/contents.toml"
    folder = "grpo_ref/course/exercises/kl/doubled"
    assert set(after) - set(before) == {f"{folder}/{name}" for name in (*FILES, "__init__.py")}
    assert [name for name in before if after[name] != before[name]] == [contents]
    old, new = (tomllib.loads(texts[contents]) for texts in (before, after))
    assert new["kl"]["exercises"] == [*old["kl"]["exercises"], "doubled"]
    assert {name: chapter for name, chapter in new.items() if name != "kl"} == {
        name: chapter for name, chapter in old.items() if name != "kl"
    }


def test_a_new_exercise_is_built_listed_and_graded_by_every_command(checkout):
    run("dev", "new", "kl/doubled", "--root", checkout)
    assert in_checkout(checkout, "dev", "build").returncode == 0
    assert 'NotImplementedError("kl/doubled")' in (checkout / "exercises/04_kl/08_doubled.py").read_text()
    assert re.search(r"kl/doubled +0 of 1 pt +easy", in_checkout(checkout, "list").stdout)
    assert "kl/doubled: not started" in in_checkout(checkout, "grade", "doubled").stdout
    shutil.copy(checkout / "solutions/04_kl/08_doubled.py", checkout / "exercises/04_kl/08_doubled.py")
    assert "kl/doubled: passed, 1 of 1 point" in in_checkout(checkout, "grade", "doubled").stdout
    proof = in_checkout(checkout, "dev", "check", "kl/doubled").stdout
    assert "only 2 wrong answers; the starter is not up to date" in proof


def test_dev_new_writes_nothing_over_and_knows_the_chapters(checkout):
    run("dev", "new", "kl/doubled", "--root", checkout)
    again = run("dev", "new", "kl/doubled", "--root", checkout)
    assert again.exit_code == 2
    assert "exists already" in again.output
    assert "with a chapter of" in run("dev", "new", "chemistry/doubled", "--root", checkout).output


OWN = ("--chapter-title", "Growth", "--root", "my-course")


def test_dev_new_begins_a_package_in_a_folder_of_its_own(tmp_path):
    assert grpo_ref("dev", "new", "growth/doubled", *OWN, at=tmp_path).returncode == 0
    assert files_of(tmp_path / "my-course") == {
        "pyproject.toml",
        "my_course/__init__.py",
        "my_course/exercises/contents.toml",
        "my_course/exercises/growth/chapter.md",
        *(f"my_course/exercises/growth/doubled/{name}" for name in FILES),
    }


def test_dev_new_goes_on_in_a_package(tmp_path):
    """The chapter is there the second time, and the exercises are numbered in their order."""
    grpo_ref("dev", "new", "growth/doubled", *OWN, at=tmp_path)
    before = files_of(tmp_path / "my-course")
    told = grpo_ref("dev", "new", "growth/tripled", "--root", "my-course", at=tmp_path).stdout
    assert files_of(tmp_path / "my-course") - before == {
        f"my_course/exercises/growth/tripled/{name}" for name in FILES
    }
    assert "grpo-ref dev check growth/tripled --root my-course --table" in told
    grpo_ref("dev", "new", "decay/halved", "--chapter-title", 'The "end"', "--root", "my-course", at=tmp_path)
    assert grpo_ref("dev", "build", "--root", "my-course", at=tmp_path).returncode == 0
    page = tmp_path / "my-course/exercises/decay/README.md"
    assert page.read_text().startswith('# The "end"\n')


REFUSED = {
    "chapter of ours": (["kl/doubled", *OWN], "kl is a chapter of grpo_ref.course"),
    "chapter without a title": (["growth/doubled", "--root", "x"], "growth is a new chapter; add its title"),
    "name of ours": (["growth/k3", *OWN], "kl/k3 has this name"),
    "no name": (["growth", *OWN], "expected NAME as CHAPTER/FUNCTION"),
    "folder named as a module": (
        ["growth/doubled", "--chapter-title", "Growth", "--root", "numpy"],
        "'numpy' is invalid or taken",
    ),
    "folder that names no module": (
        ["growth/doubled", "--chapter-title", "Growth", "--root", "2nd"],
        "'2nd' is invalid or taken",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_writes_nothing(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    result = run("dev", "new", *arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_a_project_of_another_kind_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    project = tmp_path / "my-course" / "pyproject.toml"
    project.parent.mkdir()
    project.write_text('[project]\nname = "other"\n')
    assert "exists already" in run("dev", "new", "growth/doubled", *OWN).output
    assert files_of(tmp_path) == {"my-course/pyproject.toml"}
