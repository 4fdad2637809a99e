"""The summary of results: written, read, and refused where it is none."""

import json

import pytest
from toy_experiment import TOY

from grpo_ref.experiments.framework.summary import load, save, summary
from grpo_ref.experiments.framework.sweep import run_experiment


def test_a_summary_is_read_as_it_was_written(tmp_path):
    result = run_experiment(TOY, seeds=4, seed=1)
    found = summary({"toy": TOY}, {"toy": result}, seeds=4, seed=1)
    save(tmp_path / "results.json", found)
    assert load(tmp_path / "results.json") == found
    (first, _) = found["experiments"]["toy"]["findings"]
    assert (first["says"], first["left"], first["right"]) == ("High is higher than low", "high", "low")
    assert (found["seeds"], found["seed"], found["experiments"]["toy"]["verdict"]) == (4, 1, "supported")


def test_an_infinite_effect_size_is_left_out_of_the_numbers():
    always = TOY.arms | {"low": TOY.arms["high"]}
    result = run_experiment(TOY.__class__(**{**vars(TOY), "arms": always}), seeds=4)
    assert result.findings[0].estimate.size == 0.0
    found = summary({"toy": TOY}, {"toy": result}, seeds=4, seed=0)
    assert "Infinity" not in json.dumps(found)


def test_summary_of_another_program_is_refused(tmp_path):
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(ValueError, match="is no summary of experiments"):
        load(tmp_path / "results.json")
