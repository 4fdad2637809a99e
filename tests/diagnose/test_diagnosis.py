"""The diagnosis of whole runs, as a library call and as a command."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from simulated_logs import SEQUENCE_MEAN, TOKEN_MEAN, logged

import grpo_ref
from grpo_ref.cli import main
from grpo_ref.diagnose.diagnosis import diagnose
from grpo_ref.diagnose.results import missing
from grpo_ref.diagnose.statements import statements
from grpo_ref.diagnose.text import data, markdown, sections, text

CONFIG = """\
num_generations: 8
beta: 0.04
loss_type: grpo
max_completion_length: 24
logging_steps: 1
learning_rate: 1e-6
"""


def rows(mistake=None, recipe=SEQUENCE_MEAN, count=20, verl=False):
    return [
        {"step": step, **logged(np.random.default_rng(step), recipe, mistake)[verl]}
        for step in range(1, count + 1)
    ]


@pytest.fixture
def files(tmp_path):
    """Return a function that writes a log and its configuration, and returns both paths."""

    def write(mistake=None):
        log, config = tmp_path / "log.jsonl", tmp_path / "config.yaml"
        log.write_text("".join(json.dumps(row) + "\n" for row in rows(mistake)), encoding="utf-8")
        config.write_text(CONFIG, encoding="utf-8")
        return str(log), str(config)

    return write


def test_a_healthy_run_breaks_nothing(files):
    found = diagnose(*files())
    assert found.violations == []
    assert found.contradicted == []
    assert found.is_sound
    assert found.facts.completions == 64  # shown by the log
    assert sum(found.tested.counts.values()) > 300


def test_the_package_can_be_called(files):
    assert grpo_ref.diagnose(*files()).is_sound


def test_a_broken_run_says_what_where_and_how_often(files):
    (violation,) = diagnose(*files("good advantages times 1.4")).violations
    assert (violation.code, violation.step, violation.rows, violation.of) == ("R11a", 1, 20, 20)
    assert violation.formula.startswith("loss -0.136788, β kl = 0.04 x ")


def test_a_group_size_that_differs_from_the_configuration_is_the_first_statement(tmp_path):
    config = tmp_path / "run.sh"
    config.write_text(
        "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=8"
        " actor_rollout_ref.rollout.n=4 actor_rollout_ref.actor.ppo_mini_batch_size=8\n",
        encoding="utf-8",
    )
    found = diagnose(rows(recipe=TOKEN_MEAN, verl=True), config)
    assert {fact.name: fact.value for fact in found.contradicted}["group_size"] == 8
    first = next(iter(sections(found)))
    assert first.heading == "the log differs from the configuration"
    assert "the log says completions per prompt = 8, the configuration says 4" in [
        each.title for each in first.entries
    ]


def test_a_completion_longer_than_the_budget_contradicts_the_configuration(files):
    (fact,) = diagnose(*files("lengths with the prompt")).contradicted  # 5 tokens of prompt are counted
    assert fact.name == "budget"
    assert fact.value == "at least 29"  # the budget of 24, and 5
    assert diagnose(*files()).contradicted == []


def test_statements_are_ranked_and_only_the_first_three_are_shown_with_their_evidence(tmp_path):
    log = rows("weights ignored")
    for row in log:
        row["completions/max_length"] = 30.0
        row["completions/clipped_ratio"] = 1.5  # no share
        row["kl"] = -0.1
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    found = diagnose(log, config)
    ranked = statements(found)
    assert [each.kind for each in ranked][:2] == ["contradiction", "violation"]
    assert len([each for each in ranked if each.kind != "remark"]) > 3
    brief, whole = text(found), text(found, None)
    assert brief.count("If this is not a mistake") == 2  # the third of the three is the contradiction
    assert whole.count("If this is not a mistake") == len(found.violations)
    assert "`--all` shows everything" in " ".join(brief.split())
    assert "--all" not in whole


def test_a_log_and_a_configuration_of_different_trainers_are_refused(files):
    _, config = files()
    assert diagnose(rows(verl=True)).log.trainer == "verl"
    with pytest.raises(
        ValueError, match=r"the log is of verl, and the configuration of TRL .*: they are not of one run"
    ):
        diagnose(rows(verl=True), config)


def test_what_would_help_is_named():
    assert "entropy (the entropy of the policy at the sampled positions)" in missing(diagnose(rows()))


def test_the_report_is_written_in_three_forms(files):
    found = diagnose(*files("frozen"))
    assert text(found).startswith(
        "TRL log (0.18 or later), 20 rows, steps 1 to 20, configuration read as TRL "
    )
    assert "! does not hold: the gradient is not 0 while a group has different rewards" in text(found)
    assert markdown(found).startswith("# TRL log (0.18 or later), 20 rows")
    assert json.loads(json.dumps(data(found)))["rows"] == 20


def test_the_command_prints_the_report_and_its_status(files):
    run = CliRunner().invoke(main, ["diagnose", *files("weights ignored")])
    assert run.exit_code == 1
    assert "! does not hold: reward = Σ w (mean of each reward function) (R1)" in run.output
    assert CliRunner().invoke(main, ["diagnose", *files()]).exit_code == 0
    as_json = CliRunner().invoke(main, ["diagnose", *files("weights ignored"), "--format", "json"])
    assert json.loads(as_json.output)["violations"][0]["code"] == "R1"


def test_a_file_without_metrics_is_refused_in_words(tmp_path):
    path = tmp_path / "empty.log"
    path.write_text("Loading checkpoint shards\n", encoding="utf-8")
    run = CliRunner().invoke(main, ["diagnose", str(path)])
    assert run.exit_code == 2
    assert "no metric of a known trainer is in this log" in run.output
    assert CliRunner().invoke(main, ["diagnose", str(tmp_path / "absent.log")]).exit_code == 2


def test_help_has_an_example():
    assert (
        "grpo-ref diagnose trainer_state.json train.py"
        in CliRunner().invoke(main, ["diagnose", "--help"]).output
    )


def test_the_files_may_be_given_in_any_order(files, tmp_path):
    log, config = files("weights ignored")
    run = CliRunner().invoke(main, ["diagnose", config, log])
    assert run.exit_code == 1
    assert "configuration read as TRL" in run.output
    other = tmp_path / "other.yaml"
    other.write_text("beta: 0.1\n", encoding="utf-8")
    refused = CliRunner().invoke(main, ["diagnose", config, str(other), log])
    assert refused.exit_code == 2
    assert "only one of them can be the launch file" in refused.output


def test_a_launch_file_that_cannot_be_read_leaves_the_log(files, tmp_path):
    log, _ = files()
    empty = tmp_path / "empty.yaml"
    empty.write_text("", encoding="utf-8")
    run = CliRunner().invoke(main, ["diagnose", log, str(empty)])
    assert run.exit_code == 0
    assert "The launch file is not used: " in run.output
    assert "no configuration" in run.output


def test_everything_is_listed_on_request(files):
    found = diagnose(*files())
    assert "R1: reward = Σ w (mean of each reward function): 20 comparisons." in text(found, None)
    assert "R1:" not in text(found)
