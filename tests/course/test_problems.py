"""The course is proved from both sides: starters fail, solutions pass, every wrong answer is caught."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from grpo_ref.course.grading.grade import grade
from grpo_ref.course.grading.matrix import kill_matrix, near_misses
from grpo_ref.course.grading.statement import statement
from grpo_ref.course.layout import file_of, problem_of, starter_of
from grpo_ref.course.problems import CHAPTERS, PROBLEMS
from grpo_ref.course.workbook import Workbook

ROOT = Path(__file__).parents[2]
EACH = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
matrix_of = cache(lambda name: kill_matrix(PROBLEMS[name]))


@EACH
def test_the_reference_and_right_answers_in_other_styles_pass(problem):
    assert problem.others
    for answer in (problem.reference, *problem.others.values()):
        report = grade(problem, answer)
        assert report.status == "passed", [result for result in report.results if not result.passed]


@EACH
def test_the_solution_passes(problem):
    report = grade(problem, ROOT / "solutions" / file_of(problem))
    assert report.status == "passed", [result for result in report.results if not result.passed]
    assert report.warnings == ()


@EACH
def test_the_starter_is_not_started_and_up_to_date(problem):
    path = ROOT / "exercises" / file_of(problem)
    assert Workbook(ROOT / "exercises", pytest.fail).grade(problem).status == "not started"
    assert path.read_text(encoding="utf-8") == starter_of(problem), "run: grpo-ref dev build"


@EACH
def test_a_starter_does_not_pass_even_if_it_counts_as_an_answer(problem):
    """Those of the clinic run, and are wrong: at least two of their tests fail."""
    report = grade(problem, ROOT / "exercises" / file_of(problem))
    assert report.status == ("failed" if is_to_be_mended(problem) else "not started")
    if is_to_be_mended(problem):
        assert sum(not result.passed for result in report.results) >= 2
        assert report.diagnosis == next(m.tell for m in problem.mutants if m.name == "as it came")


def is_to_be_mended(problem):
    return problem.id.startswith("clinic/") and problem.id != "clinic/read_the_curve"


@EACH
def test_every_wrong_answer_is_caught(problem):
    matrix = matrix_of(problem.id)
    assert len(matrix) == len(problem.mutants) >= 6
    assert [name for name, killed in matrix.items() if not killed] == []


@EACH
def test_every_check_catches_a_wrong_answer(problem):
    caught = {name for killed in matrix_of(problem.id).values() for name in killed}
    assert [check.name for check in problem.checks if check.name not in caught] == []


@EACH
def test_the_tolerance_is_as_declared(problem):
    assert near_misses(problem) == (True, True)


@EACH
def test_verdicts_do_not_hang_on_the_seed(problem):
    for seed in range(5):
        assert grade(problem, problem.reference, seed=seed).status == "passed"


@EACH
def test_the_statement_is_whole(problem):
    text = statement(problem)
    for part in ("Background", "Problem", "Input", "Output", "Source"):
        assert f"## {part}\n" in text
    assert max(map(len, text.splitlines())) <= 110
    assert len(problem.hints) == 3
    assert all(mutant.tell for mutant in problem.mutants)
    assert len({check.name for check in problem.checks}) == len(problem.checks)
    assert problem.id.split("/")[0] in CHAPTERS
    assert problem_of(Path("somewhere") / file_of(problem)) is problem


def test_nothing_but_the_course_lies_in_its_folders():
    files = {file_of(problem) for problem in PROBLEMS.values()}
    for folder in ("exercises", "solutions"):
        found = {path.relative_to(ROOT / folder) for path in (ROOT / folder).glob("*/*.py")}
        assert found == files


def test_the_problem_the_course_grew_from_keeps_its_five_tests():
    names = [check.name for check in PROBLEMS["objective/grpo_objective"].checks]
    assert names[:5] == [
        "Reference example",
        "Matching policies make KL ~ 0; objective ~ mean advantage",
        "Large ratio with positive advantage is clipped",
        "Length mismatch raises ValueError",
        "Larger beta lowers the objective when KL > 0",
    ]


# ---- as a student meets it -----------------------------------------------------------------------

WRONG = """
import numpy as np

def group_advantages(rewards, eps=1e-4):
    rewards = np.asarray(rewards, dtype=float)
    return (rewards - rewards.mean()) / (rewards.std() + eps)
"""


@pytest.fixture
def course(tmp_path):
    """A copy of the exercises: one solved, one wrong, one that cannot be loaded, the others untouched."""
    shutil.copytree(ROOT / "exercises", tmp_path / "exercises", ignore=shutil.ignore_patterns("__pycache__"))
    solved = Path("01_probabilities/entropy.py")
    shutil.copy(ROOT / "solutions" / solved, tmp_path / "exercises" / solved)
    (tmp_path / "exercises/02_advantages/group_normalized.py").write_text(WRONG)
    (tmp_path / "exercises/04_kl/k3.py").write_text("def k3(: pass")
    return tmp_path


def pytest_in(folder, *arguments):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)


def test_pytest_grades_the_folder(course):
    result = pytest_in(course, "exercises", "--junitxml=results.xml")
    text = result.stdout
    assert result.returncode == 1, text
    assert all(word in text.splitlines()[-1] for word in ("failed", "passed", "not started"))
    assert "group_normalized.py::Groups do not mix" in text
    assert "likely   Mean and std are taken over the whole batch; every prompt has its own." in text
    assert "line 1: def k3(: pass" in text
    assert "Probabilities and log-probabilities      1 of 4 solved" in text
    assert "(grpo-ref hint probabilities/log_softmax)" in text
    assert "Traceback" not in text
    properties = (course / "results.xml").read_text()
    assert '<property name="points" value="0.1667" />' in properties
    assert '<property name="points_possible" value="0.1667" />' in properties
    assert '<property name="points" value="0.0" />' in properties


def test_pytest_takes_one_file_and_one_name(course):
    solved = pytest_in(course, "exercises/01_probabilities/entropy.py")
    assert solved.returncode == 0
    assert "6 passed" in solved.stdout
    chosen = pytest_in(course, "exercises", "-k", "Everyone")
    assert "Everyone agrees" in pytest_in(course, "exercises", "-k", "Everyone", "-v").stdout
    assert chosen.returncode == 0
    assert pytest_in(course, "exercises/nowhere.py").returncode == 4
    assert pytest_in(course, "exercises", "-k", "nothing_like_it").returncode == 5


def test_pytest_does_not_call_an_untouched_course_passed(tmp_path):
    shutil.copytree(ROOT / "exercises", tmp_path / "exercises")
    text = pytest_in(tmp_path, "exercises").stdout
    assert "passed" not in text.splitlines()[-1]
    assert "not started" in text.splitlines()[-1]
