"""grpo-ref explain: the command."""

import json

import pytest
from click.testing import CliRunner

from grpo_ref.frontends.cli import main
from grpo_ref.trainers import DIALECTS


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_command_explains(tmp_path):
    yaml, data = tmp_path / "verl.yaml", tmp_path / "trl.json"
    yaml.write_text(
        "actor_rollout_ref:\n  actor:\n    policy_loss: {loss_mode: gspo}\n    clip_ratio_low: 3e-4\n"
    )
    data.write_text(json.dumps({"loss_type": "grpo", "epsilon": 0.1}))
    shown = run("explain", "verl", yaml)
    assert shown.exit_code == 0
    assert "surrogate  gspo_token(clip_low=0.0003, clip_high=0.2, max_log_ratio=10.0)" in shown.output
    assert "! The estimator is GAE unless it is set" in shown.output
    assert run("explain", "verl", yaml, "--strict").exit_code == 1
    assert "clipped(clip_low=0.1, clip_high=0.1)" in run("explain", "trl", data).output
    assert "0 warnings" in run("explain", "trl", data, "num_iterations=2", "--strict").output


MISTAKES = {
    "an unknown key": (["trl", "epsilonn=0.1"], "trl has no key 'epsilonn' (did you mean 'epsilon'?)"),
    "an unknown value": (["trl", "loss_type=x"], "loss_type: expected one of"),
    "an unknown dialect": (["trk"], "no dialect is called 'trk'. Did you mean 'trl'?"),
    "no file": (["trl", "nowhere.yaml"], "nowhere.yaml is neither a file nor KEY=VALUE"),
}


@pytest.mark.parametrize(("arguments", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_explained(arguments, message):
    result = run("explain", *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_every_dialect_is_named_in_the_help():
    assert set(DIALECTS) <= set(run("explain", "--help").output.replace(",", " ").replace(".", " ").split())


def test_unknown_keys_are_skipped_on_request():
    result = run("explain", "trl", "my_key=1", "epsilon=0.3", "--skip-unknown")
    assert result.exit_code == 0
    assert result.stderr == "skipped: trl has no key 'my_key'\n"
    assert "my_key" not in result.stdout


def test_an_entropy_bonus_is_told():
    bonus = "bonus      0.01 times the entropy of the policy is added\n"
    assert bonus in run("explain", "verl", "actor.entropy_coeff=0.01").stdout
    assert "bonus      " not in run("explain", "verl").stdout
