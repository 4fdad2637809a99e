"""grpo-ref explain: the command."""

import json

import pytest
from click.testing import CliRunner

from grpo_ref.cli import main
from grpo_ref.explain.dialects import DIALECTS


def run(*arguments, **options):
    return CliRunner().invoke(main, ["explain", *(str(argument) for argument in arguments)], **options)


def test_files_are_explained(tmp_path):
    yaml, data = tmp_path / "verl.yaml", tmp_path / "trl.json"
    yaml.write_text(
        "actor_rollout_ref:\n  actor:\n    policy_loss: {loss_mode: gspo}\n    clip_ratio_low: 3e-4\n"
    )
    data.write_text(json.dumps({"loss_type": "grpo", "epsilon": 0.1, "num_generations": 4}))
    shown = run("verl", yaml)
    assert shown.exit_code == 0
    assert "surrogate  gspo_token(clip_low=0.0003, clip_high=0.2, max_log_ratio=10.0)" in shown.output
    assert "! The estimator is GAE unless it is set" in shown.output
    assert run("verl", yaml, "--strict").exit_code == 1
    found = run(data)
    assert "clipped(clip_low=0.1, clip_high=0.1)" in found.output
    assert "The trainer is trl: 3 keys that change its objective." in found.output
    assert "0 warnings" in run("trl", data, "num_iterations=2", "--strict").output


LINE = "python -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor.clip_ratio_high=0.28"
SAME = {
    "a line in quotes": [LINE],
    "the words of a line": LINE.split(),
    "overrides": ["verl", *LINE.split()[3:]],
    "the trainer as an option": ["--trainer", "verl", *LINE.split()[3:]],
    "a key behind a line": [LINE.rsplit(" ", 1)[0], LINE.rsplit(" ", 1)[1]],
}


@pytest.mark.parametrize("arguments", SAME.values(), ids=SAME)
def test_a_launch_line_may_be_given_in_many_ways(arguments):
    assert "clipped(clip_low=0.2, clip_high=0.28, max_ratio=3.0)" in run(*arguments).output


def test_flags_may_be_given_as_they_are_and_options_beside_them():
    shown = run("trl", "--loss_type", "dr_grpo", "--beta=0.04", "--num_generations", "4", "--strict")
    assert shown.exit_code == 1
    assert "KL penalty 0.04" in shown.output
    assert "groups of 4" in shown.output


def test_standard_input_is_read():
    assert "KL penalty 0.1" in run("-", input="trl grpo --beta 0.1\n").output


def test_files_beside_and_above_are_found(tmp_path):
    folder = tmp_path / "scripts"
    folder.mkdir()
    (tmp_path / "recipe.yaml").write_text("beta: 0.3\nepsilon: 0.4\n")
    script = folder / "run.sh"
    script.write_text("accelerate launch trl grpo --config recipe.yaml --beta 0.1\n")
    assert "PPO-clip 0.4/0.4 per token" in run(script).output
    assert "KL penalty 0.1" in run(script).output


def test_versions_are_told_and_compared():
    assert "TRL 0.18.1 computes" in run("trl", "num_generations=4", "--version", "0.18.1").output
    shown = run("trl", "num_generations=4", "--diff", "0.18", "1.16.0").output
    assert "2 differences: together the gradient on a typical batch differs by" in shown
    assert "kl_coef (2% of the gradient)" in shown
    shown = run("openrlhf", "actor.eps_clip=0.2", "--diff", "0.10.2", "3c3be623", "--plain").output
    assert (
        "Every average is taken over\nA each micro-batch of each rank, and then over these\nB the batch"
        in shown
    )


def test_two_configurations_are_compared(tmp_path):
    ours, theirs = tmp_path / "a.yaml", tmp_path / "b.sh"
    ours.write_text("loss_type: grpo\nbeta: 0.04\nnum_generations: 8\n")
    theirs.write_text(f"{LINE}\n")
    shown = run(ours, theirs, "--plain").output
    assert "A (TRL 1.16.0): PPO-clip 0.2/0.2 per token;" in shown
    assert "B (verl 1dda039b (2026-08-22)): PPO-clip 0.2/0.28 with a dual clip at 3, per token;" in shown
    assert "aggregate (" in shown
    same = run("trl grpo --beta 0.1", "trl grpo --beta 0.1 --epsilon 0.2")
    assert "0 differences: the same objective" in same.output


def test_other_formats():
    data = json.loads(run("trl", "beta=0.04", "--format", "json").output)
    assert data["kl_coef"] == 0.04
    assert "\n## part by part\n" in run("trl", "beta=0.04", "--format", "markdown").output
    assert "\\begin{gather*}" in run("trl", "beta=0.04", "--format", "latex").output


MISTAKES = {
    "an unknown key": (["trl", "epsilonn=0.1"], "trl has no key 'epsilonn' (did you mean 'epsilon'?)"),
    "an unknown value": (["trl", "loss_type=x"], "loss_type: expected one of"),
    "an unknown dialect": (["--trainer", "trk", "beta=1"], "no dialect is called 'trk'. Did you mean 'trl'?"),
    "no dialect and no file": (["trk", "beta=1"], "trk is neither a file nor KEY=VALUE"),
    "no file": (["trl", "nowhere.yaml"], "nowhere.yaml is neither a file nor KEY=VALUE"),
    "nothing": ([], "expected a file, a launch line, or the name of a trainer with its keys"),
    "a version": (["trl", "beta=1", "--version", "0.1"], "version '0.1' is not covered"),
    "three": (["trl grpo --beta 1", "trl grpo --beta 2", "trl grpo --beta 3"], "two to compare, got 3"),
    "keys of nobody": (["lr=1"], "no trainer is known by these keys (lr, ...)"),
}


@pytest.mark.parametrize(("arguments", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_explained(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_every_dialect_is_named_in_the_help():
    assert set(DIALECTS) <= set(run("--help").output.replace(",", " ").replace(".", " ").split())


def test_a_key_that_nobody_knows_is_named_and_a_slip_passes_on_request():
    result = run("trl", "my_key=1", "epsilon=0.3")
    assert result.exit_code == 0
    assert "TRL 1.16.0 does not have this key, so its effect is unknown: my_key." in result.output
    slip = run("trl", "epsilonn=0.1", "beta=0.1", "--skip-unknown")
    assert slip.exit_code == 0
    assert "unknown: epsilonn (nearest: epsilon)." in slip.output


def test_an_entropy_bonus_is_told():
    bonus = "bonus      0.01 times the entropy of the policy is added\n"
    assert bonus in run("verl", "actor.entropy_coeff=0.01").stdout
    assert "bonus      " not in run("verl").stdout


def test_a_file_that_today_is_refused_is_explained_unless_it_is_a_check(tmp_path):
    """OpenRLHF packs only with vLLM."""
    script = tmp_path / "a.sh"
    script.write_text(
        "python3 -m openrlhf.cli.train_ppo_ray --algo.advantage.estimator rloo --ds.packing_samples\n"
    )
    assert "would not run it (vllm.num_engines: ds.packing_samples needs them" in " ".join(
        run(script).output.split()
    )
    assert run(script).exit_code == 0
    assert run(script, "--strict").exit_code == 2
    converted = CliRunner().invoke(main, ["convert", "--to", "verl", str(script)])
    assert converted.exit_code == 2
    assert "vllm.num_engines" in converted.output


def test_scripts_beside_a_file_are_read_and_those_of_the_machine_are_not(tmp_path):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "env.sh").write_text("B=0.25\n")
    own, far = tmp_path / "scripts" / "a.sh", tmp_path / "scripts" / "b.sh"
    own.write_text("source env.sh\ntrl grpo --beta $B\n")
    far.write_text(f"source {tmp_path}/env.sh\ntrl grpo --beta $B\n")
    assert "KL penalty 0.25" in " ".join(run(str(own)).output.split())
    assert "KL penalty not known (beta = $B)" in " ".join(run(str(far)).output.split())


def test_each_stage_can_be_traced(tmp_path):
    file = tmp_path / "a.sh"
    file.write_text(
        "python -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor.clip_ratio_high=$HIGH rollout.n=8"
    )
    shown = run(str(file), "--trace").output
    stages = [line for line in shown.splitlines() if not line.startswith(" ")]
    assert stages == ["1 read", "2 detect", "3 version", "4 objective", "5 report"]
    assert "  advantage (known): advantages standardised within groups of 8 (ddof 1, ε 1e-06)" in shown
    assert "  surrogate (unknown):" in shown
    assert "    actor.clip_ratio_high = $HIGH: $HIGH is not set in this file" in shown


def test_a_comparison_of_releases_names_behaviour_that_no_recipe_shows():
    """TRL PR #5902: a completion that no reward function scores counted as reward 0 until 1.5.1."""
    shown = run("trl", "num_generations=4", "--diff", "1.5.1", "1.6.0", "--plain").output
    assert "every reward function returns None" in shown
    assert "A reward 0\nB left out" in shown
    assert "returns None" not in run("trl", "num_generations=4", "--diff", "1.6.0", "1.7.0").output
