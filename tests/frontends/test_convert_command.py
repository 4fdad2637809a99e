"""grpo-ref convert: the command."""

import pytest
from click.testing import CliRunner

from grpo_ref.frontends.cli import main


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_command_converts():
    result = run("convert", "--from", "trl", "--to", "verl", "loss_type=dr_grpo", "scale_rewards=none")
    assert result.exit_code == 0
    assert "loss_agg_mode: seq-mean-token-sum-norm\n" in result.stdout
    assert "norm_adv_by_std_in_grpo: false\n" in result.stdout
    lost = "This cannot be expressed in verl: surrogate = clipped(clip_low=0.2, clip_high=0.2); it has dual"
    assert lost in result.stderr
    assert run("convert", "--from", "trl", "--to", "verl", "--strict").exit_code == 1
    same = run("convert", "--from", "trl", "--to", "trl", "--strict")
    assert (same.exit_code, same.stdout) == (0, "# the defaults of TRL 1.16.0\n")


def test_what_has_no_counterpart_is_told():
    result = run("convert", "--from", "trl", "--to", "openrlhf", "max_completion_length=64")
    assert "This key has no counterpart in openrlhf: max_completion_length = 64\n" in result.stderr


MISTAKES = {
    "from nothing": (["--to", "trl"], "Missing option '--from'"),
    "an unknown key": (["--from", "trl", "--to", "verl", "x=1"], "trl has no key 'x'"),
}


@pytest.mark.parametrize(("arguments", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_explained(arguments, message):
    result = run("convert", *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_unknown_keys_are_skipped_on_request():
    result = run("convert", "--from", "trl", "--to", "verl", "my_key=1", "--skip-unknown")
    assert (result.exit_code, "skipped: trl has no key 'my_key'" in result.stderr) == (0, True)
