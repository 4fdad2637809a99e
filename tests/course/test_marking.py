"""Grading the files of a folder."""

import subprocess
import sys

import pytest

from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.grading.problem import AS_GIVEN
from grpo_ref.course.layout import file_of, model_answer
from grpo_ref.course.marking import mark
from grpo_ref.course.starters import fill, starter_of
from grpo_ref.course.workbook import Workbook

PATIENTS = [each for each in PROBLEMS.values() if AS_GIVEN in {mutant.name for mutant in each.mutants}]


@pytest.mark.parametrize("problem", PATIENTS, ids=lambda problem: problem.id)
def test_a_patient_that_was_not_mended_brings_no_points(tmp_path, problem):
    path = tmp_path / file_of(problem.id)
    path.parent.mkdir()
    path.write_text("import numpy\n" + starter_of(problem.id) + "\n# I looked at it\n")
    report = mark(Workbook(tmp_path, pytest.fail), problem.id)
    assert report.status == "failed"
    assert report.points == 0.0
    assert report.diagnosis == next(each.tell for each in problem.mutants if each.name == AS_GIVEN)


def test_a_file_that_was_not_touched_is_not_started_whatever_it_does(tmp_path):
    workbook, name = Workbook(tmp_path, pytest.fail), PATIENTS[0].id
    fill(workbook)
    assert mark(workbook, name).status == "not started"
    workbook.path(name).write_text(starter_of(name) + "\n# touched\n")
    assert mark(workbook, name).status == "failed"


def test_a_file_that_cannot_be_read_fails_and_says_why(tmp_path, monkeypatch):
    workbook, name = Workbook(tmp_path, pytest.fail), PATIENTS[0].id
    fill(workbook)

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(workbook.path(name)), "read_bytes", refuse)
    report = mark(workbook, name)
    assert (report.status, report.points) == ("failed", 0.0)
    (result,) = report.results
    assert (result.name, result.got) == ("The file can be loaded", "PermissionError: Permission denied")


WATCHED = """
import sys
from pathlib import Path

from grpo_ref.course.grading.sandbox import Sandbox
from grpo_ref.course.marking import mark
from grpo_ref.course.workbook import Workbook

class Watched(Sandbox):
    def start(self):
        print("numpy.linalg" in sys.modules)
        super().start()

mark.__globals__["Sandbox"] = Watched
print(mark(Workbook(Path(sys.argv[1]), print), "kl/k3").status)
"""


def test_the_process_of_the_file_is_started_before_numpy_is_imported(tmp_path):
    path = tmp_path / file_of("kl/k3")
    path.parent.mkdir()
    path.write_text(model_answer("kl/k3"))
    command = [sys.executable, "-c", WATCHED, str(tmp_path)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.split() == ["False", "passed"]


def test_a_fault_of_the_grader_is_a_report(tmp_path, monkeypatch):
    def stumble(*arguments, **settings):
        raise RecursionError("too deep")

    workbook, name = Workbook(tmp_path, pytest.fail), PATIENTS[0].id
    fill(workbook)
    workbook.path(name).write_text("x = 1")
    monkeypatch.setattr("grpo_ref.course.grade", stumble)
    report = mark(workbook, name)
    assert (report.status, report.points) == ("failed", 0.0)
    assert report.results[0].wrong == (
        "the grader failed (RecursionError: too deep); please report it to the course"
    )
