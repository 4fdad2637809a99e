"""`pytest exercises`: every hidden test under its own name, and what was reached."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from student import GRADED, ROOT, SUM, TOTAL, WRONG, facts, pytest_in

from grpo_ref.course.contents import exercises_in
from grpo_ref.course.exercises import PROBLEMS


@pytest.fixture
def course(tmp_path):
    """A copy of the exercises: one solved, one wrong, one that cannot be loaded, the others untouched."""
    shutil.copytree(ROOT / "exercises", tmp_path / "exercises", ignore=shutil.ignore_patterns("__pycache__"))
    solved = Path("01_probabilities/03_entropy.py")
    shutil.copy(ROOT / "solutions" / solved, tmp_path / "exercises" / solved)
    (tmp_path / "exercises/02_advantages/01_group_normalized.py").write_text(WRONG)
    (tmp_path / "exercises/04_kl/03_k3.py").write_text("def k3(: pass")
    return tmp_path


def test_pytest_grades_the_folder(course):
    result = pytest_in(course, "exercises", "--junitxml=results.xml")
    text = result.stdout
    assert result.returncode == 1, text
    assert all(word in text.splitlines()[-1] for word in ("failed", "passed", "not started"))
    assert "group_normalized.py::Groups do not mix" in text
    assert (
        "likely   Computes mean and standard deviation over the whole batch; each prompt has its own." in text
    )
    assert "line 1: def k3(: pass" in text
    assert (
        f"Probabilities and log-probabilities      1 of {len(exercises_in('probabilities'))} solved" in text
    )
    assert "(grpo-ref hint probabilities/log_softmax)" in text
    assert "Traceback" not in text
    properties = (course / "results.xml").read_text()
    each = round(1 / len(PROBLEMS["probabilities/entropy"].checks), 4)  # it has one point
    assert f'<property name="points" value="{each}" />' in properties
    assert f'<property name="points_possible" value="{each}" />' in properties
    assert '<property name="points" value="0.0" />' in properties


def test_pytest_takes_one_file_and_one_name(course):
    solved = pytest_in(course, "exercises/01_probabilities/03_entropy.py")
    assert solved.returncode == 0
    assert f"{len(PROBLEMS['probabilities/entropy'].checks)} passed" in solved.stdout
    chosen = pytest_in(course, "exercises", "-k", "Certainty")
    assert "Certainty" in pytest_in(course, "exercises", "-k", "Certainty", "-v").stdout
    assert chosen.returncode == 0
    assert pytest_in(course, "exercises/nowhere.py").returncode == 4
    assert pytest_in(course, "exercises", "-k", "nothing_like_it").returncode == 5


def test_pytest_does_not_call_an_untouched_course_passed(tmp_path):
    shutil.copytree(ROOT / "exercises", tmp_path / "exercises")
    text = pytest_in(tmp_path, "exercises").stdout
    assert "passed" not in text.splitlines()[-1]
    assert "not started" in text.splitlines()[-1]


def test_pytest_remembers_what_was_reached(folder):
    text = pytest_in(".", "exercises").stdout
    assert f"1 of {TOTAL} solved, {SUM} of " in text
    assert (
        "next: exercises/01_probabilities/01_log_softmax.py   (grpo-ref hint probabilities/log_softmax)"
        in text
    )
    assert facts(folder) == ["probabilities/entropy points 1"]


def test_some_tests_of_an_exercise_count_like_all_since_all_are_run(folder):
    pytest_in(".", "exercises/01_probabilities/03_entropy.py", "-k", "Certainty")
    assert facts(folder) == ["probabilities/entropy points 1"]


def test_pytest_side_by_side(folder):
    result = pytest_in(".", "exercises", "-n", "2")
    assert result.returncode == 1
    tests = sum(len(problem.checks) for problem in PROBLEMS.values())
    failed = sum(not each.passed for each in GRADED.results)
    ran = len(GRADED.results) + len(PROBLEMS["probabilities/entropy"].checks)
    assert f"{failed} failed, {ran - failed} passed, {tests - ran} not started" in result.stdout
    assert facts(folder) == ["probabilities/entropy points 1"]


def test_pytest_shows_what_a_test_printed_also_if_it_passed(folder):
    path = folder / "01_probabilities/03_entropy.py"
    path.write_text(path.read_text().replace("    probs =", "    print('in here')\n    probs ="))
    text = pytest_in(".", str(path), "-rP").stdout
    assert "Captured printed call" in text
    assert "in here" in text


def test_pytest_in_process_is_not_official(folder):
    text = (ROOT / "solutions/01_probabilities/03_entropy.py").read_text()
    (folder / "01_probabilities/03_entropy.py").write_text(
        text.replace("    probs =", "    print('here')\n    probs =")
    )
    result = pytest_in(".", "exercises/01_probabilities", "--in-process", "-s")
    assert result.returncode == 0
    assert "here\n" in result.stdout
    assert "not official" in result.stdout
    assert facts(folder) == []


def test_pytest_pdb_stops_in_the_line_of_the_student(folder):
    (folder / "01_probabilities/03_entropy.py").write_text("def entropy(log_probs):\n    return 1 / 0\n")
    command = [sys.executable, "-m", "pytest", "exercises/01_probabilities/03_entropy.py", "--pdb", "-x"]
    result = subprocess.run(command, input="q\n", capture_output=True, text=True, check=False)
    assert "-> return 1 / 0" in result.stdout
