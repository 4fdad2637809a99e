"""What was predicted, as files: a changed prediction has another hash and another date."""

import json
from dataclasses import replace
from datetime import date

import pytest
from toy_experiment import TOY

from grpo_ref.lab.framework.predictions import fingerprint, write_predictions, written_on

FIRST, LATER = date(2026, 1, 2), date(2026, 3, 4)


def test_a_file_that_says_the_same_keeps_its_date(tmp_path):
    assert written_on(TOY, tmp_path) == ""
    assert write_predictions(TOY, tmp_path, FIRST)
    assert not write_predictions(TOY, tmp_path, LATER)
    assert written_on(TOY, tmp_path) == "2026-01-02"


@pytest.mark.parametrize(
    "change",
    [
        {"claim": "Less is more."},
        {"family": "Tasks are drawn."},
        {"predictions": (TOY.predictions[0], TOY.predictions[1]._replace(margin=0.4))},
        {"predictions": TOY.predictions[::-1]},
    ],
    ids=["claim", "family", "margin", "order"],
)
def test_another_prediction_has_another_hash_and_date(tmp_path, change):
    other = replace(TOY, **change)
    assert fingerprint(other) != fingerprint(TOY)
    write_predictions(TOY, tmp_path, FIRST)
    assert written_on(other, tmp_path) == ""
    assert write_predictions(other, tmp_path, LATER)
    assert written_on(other, tmp_path) == "2026-03-04"


def test_what_is_said_of_a_result_may_change():
    assert fingerprint(replace(TOY, remark="Seen.", chosen="This.")) == fingerprint(TOY)


def test_a_file_that_was_edited_does_not_count(tmp_path):
    write_predictions(TOY, tmp_path, FIRST)
    path = tmp_path / "toy.json"
    found = json.loads(path.read_text())
    found["predictions"][0]["margin"] = 0.25
    path.write_text(json.dumps(found))
    assert written_on(TOY, tmp_path) == ""
