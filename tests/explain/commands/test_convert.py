"""grpo-ref convert: the command."""

import pytest
from click.testing import CliRunner

from grpo_ref.cli import main


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_command_converts():
    result = run("convert", "--from", "trl", "--to", "verl", "loss_type=dr_grpo", "scale_rewards=none")
    assert result.exit_code == 0
    assert ".loss_agg_mode: seq-mean-token-sum-norm\n" in result.stdout
    assert ".norm_adv_by_std_in_grpo: false\n" in result.stdout
    lost = "This cannot be expressed in verl: surrogate = clipped(clip_low=0.2, clip_high=0.2); it has dual"
    assert lost in result.stderr
    assert run("convert", "--from", "trl", "--to", "verl", "--strict").exit_code == 1
    same = run("convert", "--from", "trl", "--to", "trl", "--strict")
    assert (same.exit_code, same.stdout) == (0, "# the defaults of TRL 1.16.0\n")


def test_what_has_no_counterpart_is_told():
    result = run("convert", "--from", "trl", "--to", "openrlhf", "max_completion_length=64")
    assert "This key has no counterpart in openrlhf: max_completion_length = 64\n" in result.stderr


def test_a_loss_is_explained_in_words_and_by_its_effect_on_the_gradient():
    """A dual clip that no ratio reaches changes nothing; the mean over completions is another one."""
    lines = run("convert", "verl", "--to", "openrlhf", "actor.clip_ratio_c=3").stderr.splitlines()
    assert not any(" clip at " in line for line in lines)
    lines = run("convert", "trl", "--to", "verl", "beta=0.0").stderr.splitlines()
    place = next(place for place, line in enumerate(lines) if "surrogate = clipped(" in line)
    assert lines[place].endswith(" The gradient of a typical batch stays the same.")
    words = "PPO-clip 0.2/0.2 per token; in verl: PPO-clip 0.2/0.2 with a dual clip at 1000000, per token."
    assert lines[place + 1] == f"  In words: {words}"
    lines = run("convert", "trl", "--to", "understand_r1_zero", "loss_type=dapo").stderr.splitlines()
    (lost,) = [line for line in lines if ": aggregate = token_mean;" in line]
    assert " The gradient of a typical batch changes by " in lost
    assert lost.endswith(" %.")


BUFFER = ["convert", "--from", "openrlhf", "--to", "verl", "reward.overlong_buffer_len=410"]


def test_the_budget_converts_a_share_of_it_to_tokens():
    """410 of OpenRLHF's 2050 tokens are a share of 0.2; --max-length sets another budget."""
    shown = run(*BUFFER, "rollout.max_new_tokens=2050").stdout
    assert "reward.reward_kwargs.max_resp_len: 2050\n" in shown
    assert "overlong_buffer_cfg.len: 410\n" in shown
    assert "overlong_buffer_cfg.enable: true\n" in shown
    shown = run(*BUFFER, "rollout.max_new_tokens=2050", "--max-length", "20500").stdout
    assert "overlong_buffer_cfg.len: 4100\n" in shown
    assert "reward.reward_kwargs.max_resp_len: 20500\n" in shown


def test_keys_that_would_stop_the_other_trainer_are_reported():
    result = run("convert", "easy_r1", "--to", "prime_rl", "rollout.n=5", "--strict")
    assert (
        "prime_rl would stop with these keys and its other defaults: batch_size: 128 is not" in result.stderr
    )
    assert result.exit_code == 1


MISTAKES = {
    "from nothing": (
        ["--to", "trl"],
        "expected a file, a launch line, or the name of a trainer with its keys",
    ),
    "an unknown key": (["--from", "trl", "--to", "verl", "epsilonn=1"], "trl has no key 'epsilonn'"),
    "two": (["trl grpo --beta 1", "trl grpo --beta 2", "--to", "verl"], "expected one configuration, got 2"),
}


@pytest.mark.parametrize(("arguments", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_explained(arguments, message):
    result = run("convert", *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_what_is_unknown_is_told_and_not_converted():
    result = run("convert", "trl grpo --my_key 1 --beta 0.1 --epsilon $E", "--to", "verl")
    assert result.exit_code == 0
    assert "TRL 1.16.0 has no key my_key, so it is not converted\n" in result.stderr
    assert "Unknown, so it is omitted: epsilon = $E, because $E is not set in this file\n" in result.stderr
    assert run("convert", "trl", "epsilonn=1", "beta=0.1", "--to", "trl", "--skip-unknown").exit_code == 0


LOADED = {
    "keys": "actor_rollout_ref.actor.use_kl_loss: true\nactor_rollout_ref.actor.kl_loss_coef: 0.1\n",
    "yaml": "actor_rollout_ref:\n  actor:\n    use_kl_loss: true\n    kl_loss_coef: 0.1\n",
    "line": "python3 -m verl.trainer.main_ppo \\\n    actor_rollout_ref.actor.use_kl_loss=true",
}


@pytest.mark.parametrize("form", LOADED)
def test_the_target_can_load_what_is_printed(form, tmp_path):
    shown = run("convert", "trl", "beta=0.1", "loss_type=dapo", "--to", "verl", "--format", form).stdout
    assert all(line in shown for line in LOADED[form].splitlines())
    path = tmp_path / ("x.sh" if form == "line" else "x.yaml")
    path.write_text(shown)
    assert "KL penalty 0.1 (" in " ".join(run("explain", path, "--trainer", "verl").output.split())


def test_flags_are_written_as_argparse_takes_them():
    line = run(
        *("convert", "verl", "actor.clip_ratio_low=0.1", "actor.clip_ratio_high=0.3", "--to", "openrlhf"),
        *("--format", "line"),
    ).stdout
    assert line.startswith("python3 -m openrlhf.cli.train_ppo_ray \\\n    --")
    assert "    --actor.eps_clip_low_high 0.1 0.3" in line
    assert run("explain", line).exit_code == 0
