"""The attack as a whole, on a small exercise whose one check lets much pass."""

import json

import pytest

from grpo_ref.course.attack import data_files, run
from grpo_ref.course.attack.data_files import freeze, readable, reasons_of
from grpo_ref.course.attack.mutants import wrong_answers
from grpo_ref.course.attack.run import attack, survivors_of
from grpo_ref.course.attack.store import Store
from grpo_ref.course.attack.tables import first_caught_by, table
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.grade import grade


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The exercise's folder is a folder of the test."""
    folder = tmp_path / "shares"
    folder.mkdir()
    (folder / "tests.py").write_text("TEXT = 'on which verdicts depend'\n")
    monkeypatch.setattr(run, "exercise_folder", lambda name: folder)
    monkeypatch.setattr(data_files, "exercise_folder", lambda name: folder)
    return folder


def attacked(problem, styles, folder, shown=None):
    show = (lambda *told: None) if shown is None else lambda *told: shown.append(told)
    return attack(problem, styles, Store(folder / "store.jsonl"), seed=0, draws=150, show=show)


def test_from_right_answers_to_hidden_cases(problem, styles, place, tmp_path):
    outcome = attacked(problem, styles, tmp_path)
    caught, by_checks = sum(outcome.caught.values()), sum(outcome.by_checks.values())
    assert outcome.made == caught + outcome.missed + by_checks + len(outcome.left)
    assert by_checks == 0
    assert len(outcome.left) < outcome.made / 3
    assert 5 <= len(outcome.cases) <= 60
    assert outcome.missed == 0

    freeze(outcome)
    problem.__dict__["checks"] = (*problem.checks, *found_cases(place))
    namespace = {}
    exec(styles["a loop"], namespace)
    assert grade(problem, problem.reference).status == grade(problem, namespace["shares"]).status == "passed"
    left = {each.wrong.text for each in outcome.left}
    made = wrong_answers(problem, styles)
    assert {each.text for each in survivors_of(made, problem, lambda *told: None)} <= left
    assert outcome.problem.id in table([problem])
    assert sum(first_caught_by(problem).values()) == caught


def test_a_second_run_finds_everything_in_the_store(problem, styles, place, tmp_path):
    first = attacked(problem, styles, tmp_path)
    size = (tmp_path / "store.jsonl").stat().st_size
    shown = []
    again = attacked(problem, styles, tmp_path, shown)
    assert (tmp_path / "store.jsonl").stat().st_size == size
    assert repr(again.cases) == repr(first.cases)
    assert {stage for stage, _, _ in shown} == {"checks", "search", "shrink", "signs"}


def test_reasons_that_somebody_wrote_are_kept(problem, styles, place, tmp_path):
    outcome = attacked(problem, styles, tmp_path)
    freeze(outcome)
    path = place / "left.json"
    left = json.loads(path.read_text())
    left[0]["reason"] = "the same function"
    path.write_text(json.dumps(left))
    freeze(outcome)
    assert reasons_of(path)[left[0]["change"]] == "the same function"


def test_readable_json_is_the_same_data():
    data = {"a": [1, {"b": [[1.5, None]] * 40}], "c": "x" * 200, "d": {"e": {"f": [{"g": [0] * 90}]}}}
    assert json.loads(readable(data)) == data
    assert max(map(len, readable({"a": list(range(30))}).splitlines())) <= 120
