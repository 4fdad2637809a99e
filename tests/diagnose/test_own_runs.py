"""The run folders of `grpo-ref train`, with the facts of their configuration."""

import csv
import json

import pytest
from click.testing import CliRunner

from grpo_ref.cli import main
from grpo_ref.diagnose.diagnosis import diagnose, read_log
from grpo_ref.diagnose.facts import SEQUENCE_MEAN
from grpo_ref.diagnose.own_runs import is_own_run, log_of_run


@pytest.fixture
def run(tmp_path):
    """Return a function that trains into a folder, and returns the folder."""

    def train(*options, seeds=1):
        folder = tmp_path / "run"
        arguments = ["train", "names", "--updates", "6", "--seeds", str(seeds), "--prompts", "4", *options]
        result = CliRunner().invoke(
            main, [*arguments, "--group-size", "8", "--policy", "table", "--out", str(folder)]
        )
        assert result.exit_code == 0, result.output
        return folder

    return train


def test_a_run_folder_is_diagnosed_with_the_facts_of_its_configuration(run):
    folder = run()
    assert is_own_run(folder)
    found = diagnose(folder)
    assert found.is_sound
    assert sum(found.tested.counts.values()) > 30
    facts = found.facts
    assert (facts.group_size, facts.completions, facts.window, facts.steps) == (8, 32, 1, 1)
    assert (facts.kl_coef, facts.average, facts.on_policy) == (0.04, SEQUENCE_MEAN, True)
    assert set(facts.weights) == set(found.log.components)
    assert len(found.log.rows) == 6


def test_facts_follow_the_recipe_and_the_settings(run):
    # DAPO filters groups, so that its loss is that of other completions than the sampled ones
    log = log_of_run(run("--recipe", "dapo", "--epochs", "2", seeds=3))
    assert log.settings["average"] is None
    assert log.settings["on_policy"] is False
    assert (log.settings["window"], log.settings["steps"]) == (3, None)
    assert len(log.rows) == 6  # means over the seeds


def test_a_wrong_number_in_the_metrics_is_found(run):
    path = run() / "metrics.csv"
    with path.open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    for row in rows:  # the reward is the weighted sum of the criteria
        row[header.index("reward")] = str(float(row[header.index("reward")]) + 0.25)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    assert "R1" in {violation.code for violation in diagnose(path.parent).violations}


def test_the_code_of_a_task_of_somebody_else_is_not_executed(run):
    folder = run()
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["task"] = "os:getcwd"
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    log = log_of_run(folder)
    assert "weights" not in log.settings
    assert log.components == ()


@pytest.mark.parametrize(
    "wrong", [{"train": []}, {"train": {"epochs": "x", "minibatches": []}}, {"parts": 3}]
)
def test_a_damaged_folder_is_refused_in_words(run, wrong):
    folder = run()
    config = json.loads((folder / "config.json").read_text(encoding="utf-8")) | wrong
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ValueError, match="is damaged"):
        read_log(folder)


def test_the_command_reads_a_run_folder(run):
    result = CliRunner().invoke(main, ["diagnose", str(run())])
    assert result.exit_code == 0
    assert "grpo-ref log, 6 rows, steps 1 to 6, configuration of the folder" in result.output
