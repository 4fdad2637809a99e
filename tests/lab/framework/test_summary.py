"""The summary of results: written, read, and refused where it is none."""

import math
from dataclasses import replace

import pytest
from toy_experiment import TOY, shifted

from grpo_ref.lab.framework.experiment import arm
from grpo_ref.lab.framework.summary import load, save, summary
from grpo_ref.lab.framework.sweep import run_experiment


def test_a_summary_is_read_as_it_was_written(tmp_path):
    result = run_experiment(TOY, seeds=8, seed=0)
    found = summary({"toy": TOY}, {"toy": result}, seeds=8, seed=0, predictions=tmp_path)
    save(tmp_path / "results.json", found)
    assert load(tmp_path / "results.json") == found
    (first, _) = found["experiments"]["toy"]["findings"]
    assert (first["says"], first["left"], first["right"]) == ("High is higher than low", "high", "low")
    assert (found["seeds"], found["seed"], found["experiments"]["toy"]["verdict"]) == (8, 0, "supported")


def test_an_infinite_effect_size_is_written_as_none(tmp_path):
    exact = replace(TOY, arms={label: arm(shifted, by=by) for label, by in (("low", -1e9), ("high", 1e9))})
    result = run_experiment(exact, seeds=4)
    assert result.findings[0].estimate.size == math.inf
    found = summary({"toy": exact}, {"toy": result}, seeds=4, seed=0, predictions=tmp_path)
    assert found["experiments"]["toy"]["findings"][0]["size"] is None


def test_summary_of_another_program_is_refused(tmp_path):
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(ValueError, match="is not a summary of experiments"):
        load(tmp_path / "results.json")
