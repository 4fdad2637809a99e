"""explain and convert: what a configuration really does, its traps, and the nearest one elsewhere."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from grpo_ref import RECIPES
from grpo_ref.frontends.cli import main
from grpo_ref.frontends.config_file import read_config
from grpo_ref.kernels.penalties import k3
from grpo_ref.trainers import DIALECTS, openrlhf, trl, verl
from grpo_ref.trainers.convert import convert, nearest
from grpo_ref.trainers.explain import explain
from grpo_ref.trainers.traps import TRAPS, sprung


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


# ---- traps -----------------------------------------------------------------------------------------

NAMES = [f"{trap.dialect}: {trap.name}" for trap in TRAPS]


def test_there_are_enough_traps_and_their_names_differ():
    assert len(TRAPS) >= 40
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("trap", TRAPS, ids=NAMES)
def test_a_trap_is_sprung_by_its_example_and_not_by_the_near_one(trap):
    dialect = DIALECTS[trap.dialect]
    assert trap in sprung(dialect, trap.example)
    assert trap not in sprung(dialect, trap.near)
    dialect.recipe(**trap.example)
    dialect.recipe(**trap.near)
    assert trap.text.endswith(".")
    assert trap.source


def test_understand_r1_zero_has_none():
    assert sprung(DIALECTS["understand_r1_zero"], {"critic_type": "grpo"}) == []


# ---- explain ---------------------------------------------------------------------------------------


def test_each_key_is_answered():
    config = {"loss_type": "dr_grpo", "num_generations": 8, "beta": 0.04, "ref_model": "m", "epsilon": 0.2}
    answers = {key: about for key, _, about in explain(trl.DIALECT, config).keys}
    assert answers["loss_type"] == "sets aggregate = fixed_length"
    assert answers["beta"] == "sets kl_coef = 0.04"
    assert answers["num_generations"].startswith("completions a prompt")
    assert answers["ref_model"].startswith("GRPOTrainer has no such argument")
    assert answers["epsilon"] == "the default"


def test_a_key_without_effect_is_told():
    config = {"clip_ratio": 0.1, "clip_ratio_low": 0.2}
    answers = {key: about for key, _, about in explain(verl.DIALECT, config).keys}
    assert answers == {"clip_ratio": "changes nothing here", "clip_ratio_low": "the default"}


def test_parts_have_sentences_and_equations():
    parts = {
        part.name: part for part in explain(trl.DIALECT, {"loss_type": "cispo", "epsilon_high": 5.0}).parts
    }
    assert parts["surrogate"].value == "cispo(max_ratio=5.0)"
    assert parts["surrogate"].equation.startswith("sₜ = sg[clip(rₜ, min_ratio, max_ratio)] A log πθ(t)")
    assert "penalty" not in parts
    assert all(part.sentence for part in parts.values())


def test_the_command_explains(tmp_path):
    yaml, data = tmp_path / "verl.yaml", tmp_path / "trl.json"
    yaml.write_text(
        "actor_rollout_ref:\n  actor:\n    policy_loss: {loss_mode: gspo}\n    clip_ratio_low: 3e-4\n"
    )
    data.write_text(json.dumps({"loss_type": "grpo", "epsilon": 0.1}))
    shown = run("explain", "verl", yaml)
    assert shown.exit_code == 0
    assert "surrogate  gspo_token(clip_low=0.0003, clip_high=0.2)" in shown.output
    assert "! The estimator is GAE unless it is set" in shown.output
    assert run("explain", "verl", yaml, "--strict").exit_code == 1
    assert "clipped(clip_low=0.1, clip_high=0.1)" in run("explain", "trl", data).output
    assert "0 warnings" in run("explain", "trl", data, "num_iterations=2", "--strict").output


MISTAKES = {
    "an unknown key": (
        ["explain", "trl", "epsilonn=0.1"],
        "trl has no key 'epsilonn' (did you mean 'epsilon'?)",
    ),
    "an unknown value": (["explain", "trl", "loss_type=x"], "loss_type: expected one of"),
    "an unknown dialect": (["explain", "trk"], "no dialect is called 'trk'. Did you mean 'trl'?"),
    "no file": (["explain", "trl", "nowhere.yaml"], "nowhere.yaml is neither a file nor KEY=VALUE"),
    "convert from nothing": (["convert", "--to", "trl"], "Missing option '--from'"),
    "convert an unknown key": (["convert", "--from", "trl", "--to", "verl", "x=1"], "trl has no key 'x'"),
}


@pytest.mark.parametrize(("arguments", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_explained(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize("text", ["[1, 2]", "a: [", "just text"])
def test_a_file_without_keys_is_refused(tmp_path, text):
    path = tmp_path / "strange.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"strange\.yaml: "):
        read_config([str(path)])


def test_unknown_keys_are_skipped_on_request():
    result = run("explain", "trl", "my_key=1", "epsilon=0.3", "--skip-unknown")
    assert result.exit_code == 0
    assert result.stderr == "skipped: trl has no key 'my_key'\n"
    assert "my_key" not in result.stdout
    result = run("convert", "--from", "trl", "--to", "verl", "my_key=1", "--skip-unknown")
    assert (result.exit_code, "skipped: trl has no key 'my_key'" in result.stderr) == (0, True)


def test_an_entropy_bonus_is_told():
    bonus = "bonus      0.01 times the entropy of the policy is added\n"
    assert bonus in run("explain", "verl", "actor.entropy_coeff=0.01").stdout
    assert "bonus      " not in run("explain", "verl").stdout


def test_a_key_on_the_command_line_changes_one_key_of_a_group(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("actor:\n  clip_ratio_low: 0.1\n  clip_ratio_high: 0.3\n")
    config = read_config([str(path), "actor.clip_ratio_high=0.4"])
    assert config == {"actor.clip_ratio_low": 0.1, "actor.clip_ratio_high": 0.4}


def test_values_are_read_as_meant():
    config = read_config(["a=3e-4", "b=None", "c=true", "d=[1e-2, 2]", "e=text", "f=0.5_5.0"])
    assert config == {"a": 3e-4, "b": None, "c": True, "d": [1e-2, 2], "e": "text", "f": "0.5_5.0"}


# ---- convert ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_what_a_trainer_says_it_can_say_again(dialect):
    """From every single choice of a dialect back into the same dialect, nothing is lost."""
    for key, values in dialect.choices.items():
        for value in values:
            config = {key: value}
            found = nearest(dialect, dialect.recipe(**config))
            assert found.lost == {}, (config, found)
            assert replace(
                dialect.recipe(**found.config), penalty=dialect.recipe(**config).penalty
            ) == dialect.recipe(**config)


PAIRS = {
    "clip-higher and no std": (
        ("trl", "open_instruct"),
        {"epsilon_high": 0.272, "scale_rewards": "none", "beta": 0.0},
        {
            "load_ref_policy": False,
            "beta": 0.0,
            "use_rho_correction": False,
            "filter_zero_std_samples": False,
        },
        set(),
    ),
    "a cap becomes an offset": (
        ("trl", "open_instruct"),
        {"loss_type": "cispo", "epsilon_high": 5.0, "scale_rewards": "none"},
        {"loss_fn": "cispo", "clip_higher": 4.0},
        set(),
    ),
    "dynamic sampling is lost": (
        ("open_instruct", "trl"),
        {"beta": 0.0},
        {"scale_rewards": "none"},
        {"keep", "corrections"},
    ),
    "verl's floor is trl's delta": (
        ("verl", "openrlhf"),
        {"clip_ratio_c": 2.5},
        {"dual_clip": 2.5},
        {"advantage", "aggregate"},
    ),
}


@pytest.mark.parametrize(("dialects", "config", "keys", "lost"), PAIRS.values(), ids=PAIRS)
def test_the_nearest_configuration_elsewhere(dialects, config, keys, lost):
    source, target = (DIALECTS[name] for name in dialects)
    found = convert(source, target, config)
    given = dict(target.defaults) | found.config
    for key, value in keys.items():
        if key not in ("beta", "load_ref_policy"):
            assert given[key] == value, found
    assert set(found.lost) == lost
    if "beta" in keys:
        assert target.recipe(**found.config).kl_coef == 0.0


def test_a_related_kernel_is_nearer_than_a_stranger():
    """A dual clip with a bound that nothing reaches is the plain clip, and a capped k3 is nearest to k3."""
    found = convert(trl.DIALECT, verl.DIALECT, {"epsilon": 0.1, "epsilon_high": 0.3, "beta": 0.04})
    wanted = {"clip_ratio_low": 0.1, "clip_ratio_high": 0.3, "clip_ratio_c": 1e6, "use_kl_loss": True}
    assert found.config == found.config | wanted | {"kl_loss_coef": 0.04}
    assert "loss_mode" not in found.config
    assert found.config["adv_estimator"] == "grpo_vectorized", "a lone completion counts 0, as in TRL"
    assert verl.recipe(**found.config).penalty.kernel is k3
    assert list(found.lost)[:2] == ["penalty", "surrogate"]
    assert list(found.lost)[-1] == "advantage", "an eps is the least of the losses"


def test_what_no_recipe_holds_is_carried_over_or_told():
    config = {"num_generations": 16, "num_iterations": 2, "max_completion_length": 512}
    found = convert(trl.DIALECT, verl.DIALECT, config)
    assert found.config == found.config | {"rollout.n": 16, "ppo_epochs": 2, "loss_scale_factor": 512}
    assert found.dropped == {}
    found = convert(trl.DIALECT, verl.DIALECT, {"loss_type": "dr_grpo"})
    assert found.config["loss_scale_factor"] == 512, "TRL divides by its default too"
    found = convert(trl.DIALECT, openrlhf.DIALECT, config)
    assert found.config["n_samples_per_prompt"] == 16
    assert found.dropped == {"num_iterations": 2, "max_completion_length": 512}
    result = run("convert", "--from", "trl", "--to", "openrlhf", "num_iterations=2")
    assert "no counterpart: num_iterations = 2\n" in result.stderr


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_has_a_nearest_configuration_in_trl(name):
    found = nearest(trl.DIALECT, RECIPES[name])
    assert trl.recipe(**found.config)
    assert set(found.lost) <= set(RECIPES[name].differences(trl.recipe(**found.config)))


def test_the_command_converts():
    result = run("convert", "--from", "trl", "--to", "verl", "loss_type=dr_grpo", "scale_rewards=none")
    assert result.exit_code == 0
    assert "loss_agg_mode: seq-mean-token-sum-norm\n" in result.stdout
    assert "norm_adv_by_std_in_grpo: false\n" in result.stdout
    assert (
        "cannot be expressed: surrogate = clipped(clip_low=0.2, clip_high=0.2); verl has dual_clipped"
        in result.stderr
    )
    assert run("convert", "--from", "trl", "--to", "verl", "--strict").exit_code == 1
    same = run("convert", "--from", "trl", "--to", "trl", "--strict")
    assert (same.exit_code, same.stdout) == (0, "# the defaults of TRL 1.16.0\n")
