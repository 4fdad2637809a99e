"""convert: the nearest configuration in another trainer's keys, and what cannot be said in it."""

from dataclasses import replace

import pytest

from grpo_ref import RECIPES
from grpo_ref.explain.conversion import convert, nearest
from grpo_ref.explain.dialects import DIALECTS, openrlhf, trl, verl
from grpo_ref.penalties import k3


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_what_a_trainer_says_it_can_say_again(dialect):
    """From every single choice of a dialect back into the same dialect, nothing is lost."""
    for key, values in dialect.keys.choices.items():
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
        {"scale_rewards": "none", "vllm_importance_sampling_mode": "token_truncate"},
        {"keep", "corrections"},
    ),
    "a negative weight stays one": (
        ("open_instruct", "trl"),
        {"beta": -0.04, "filter_zero_std_samples": False, "use_rho_correction": False},
        {"scale_rewards": "none", "beta": -0.04},
        {"penalty"},
    ),
    "what is wrapped around the weights is lost, not the weights": (
        ("rlinf", "slime"),
        {"importance_sampling_fix": True, "training_batch_size_per_gpu": 2, "clip_ratio_c": None},
        {"use_tis": True, "tis_clip": 10.0, "calculate_per_token_loss": True},
        {"corrections", "advantage", "aggregate"},
    ),
    "verl's floor is trl's delta": (
        ("verl", "openrlhf"),
        {"clip_ratio_c": 2.5},
        {"actor.dual_clip": 2.5, "algo.kl.init_coef": 0.0},
        {"advantage"},
    ),
}


@pytest.mark.parametrize(("dialects", "config", "keys", "lost"), PAIRS.values(), ids=PAIRS)
def test_the_nearest_configuration_elsewhere(dialects, config, keys, lost):
    source, target = (DIALECTS[name] for name in dialects)
    found = convert(source, target, config)
    given = dict(target.keys.defaults) | found.config
    for key, value in keys.items():
        if key not in ("beta", "load_ref_policy"):
            assert given[key] == value, found
    assert set(found.lost) == lost
    if "beta" in keys:
        assert target.recipe(**found.config).kl_coef == keys["beta"]


def test_a_related_kernel_is_nearer_than_a_stranger():
    """A dual clip with a bound that nothing reaches is the plain clip, and a capped k3 is nearest to k3."""
    found = convert(trl.DIALECT, verl.DIALECT, {"epsilon": 0.1, "epsilon_high": 0.3, "beta": 0.04})
    wanted = {"clip_ratio_low": 0.1, "clip_ratio_high": 0.3, "clip_ratio_c": 1e6, "use_kl_loss": True}
    assert found.config == found.config | wanted | {"kl_loss_coef": 0.04}
    assert "loss_mode" not in found.config
    assert found.config["adv_estimator"] == "grpo"
    assert verl.recipe(**found.config).penalty.kernel is k3
    assert list(found.lost)[:2] == ["penalty", "surrogate"]
    assert list(found.lost)[-1] == "log_ratio_limits", "hardly any token reaches them"


NEAREST = {
    "a setting that the kernel has anyway is no difference": (
        "trl",
        "mis",
        {"epsilon_high": 0.28, "use_vllm": True},
    ),
    "a related kernel is nearer than a wrong bound": (
        "trl",
        "intellect_2",
        {"loss_type": "grpo", "delta": 4.0, "beta": 0.001, "use_bias_correction_kl": False},
    ),
    "a number is tried where there are choices too": (
        "verl",
        "intellect_2",
        {
            "clip_ratio_c": 4.0,
            "loss_agg_mode": "seq-mean-token-mean",
            "adv_estimator": "grpo",
            "use_kl_loss": True,
        },
    ),
}


@pytest.mark.parametrize(("dialect", "recipe", "config"), NEAREST.values(), ids=NEAREST)
def test_the_nearest_configuration_to_a_recipe(dialect, recipe, config):
    assert nearest(DIALECTS[dialect], RECIPES[recipe]).config == config


def test_a_correction_that_says_something_else_is_no_counterpart():
    """TRL has no two corrections that would do: its entropy mask in the place of one is another objective."""
    config = {"enable_vllm_is_correction": True, "vllm_is_correction_type": "seq-mask-tis"}
    found = convert(openrlhf.DIALECT, trl.DIALECT, config)
    assert found.config == {}
    assert next(iter(found.lost)) == "corrections"


def test_a_part_is_near_to_what_is_wrapped_around_it():
    """OpenRLHF limits the advantage and puts a penalty into it; without both it is TRL's and verl's."""
    found = convert(openrlhf.DIALECT, trl.DIALECT, {"algo.advantage.estimator": "dr_grpo"})
    assert found.config["scale_rewards"] == "none"
    assert found.lost["advantage"][1] == "group_centered"
    whitened = {"algo.advantage.estimator": "reinforce_baseline"}
    found = convert(openrlhf.DIALECT, verl.DIALECT, whitened)
    assert found.config["adv_estimator"] == "reinforce_plus_plus_baseline"
    back = convert(verl.DIALECT, openrlhf.DIALECT, {"adv_estimator": "reinforce_plus_plus_baseline"})
    assert back.config == back.config | whitened | {"algo.kl.init_coef": 0.0}


def test_what_no_recipe_holds_is_carried_over_or_told():
    config = {"num_generations": 16, "num_iterations": 2, "max_completion_length": 512}
    found = convert(trl.DIALECT, verl.DIALECT, config)
    assert found.config == found.config | {"rollout.n": 16, "ppo_epochs": 2, "loss_scale_factor": 512}
    assert found.dropped == {}
    found = convert(trl.DIALECT, verl.DIALECT, {"loss_type": "dr_grpo"})
    assert found.config["loss_scale_factor"] == 512, "TRL divides by its default too"
    found = convert(trl.DIALECT, openrlhf.DIALECT, config)
    counts = {"rollout.n_samples_per_prompt": 16, "train.max_epochs": 2}
    assert found.config == found.config | counts
    assert found.dropped == {"max_completion_length": 512}


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_has_a_nearest_configuration_in_trl(name):
    found = nearest(trl.DIALECT, RECIPES[name])
    assert trl.recipe(**found.config)
    assert set(found.lost) <= set(RECIPES[name].differences(trl.recipe(**found.config)))


def test_a_trainers_own_form_of_a_kernel_is_near_to_the_common_one():
    """RLinf's mean over completions gives NaN for an empty one; it is still its mean over completions."""
    found = convert(trl.DIALECT, DIALECTS["rlinf"], {"loss_type": "grpo"})
    assert found.config["loss_agg_func"] == "seq-mean-token-mean"
    assert found.lost["aggregate"] == ("sequence_mean_token_mean", "nan_where_empty")


def test_a_default_that_a_choice_changes_is_spelt_out():
    """GMPOConfig's epsilon is 0.4 where GRPOConfig's is 0.2, so that 0.2 has to be given."""
    found = convert(verl.DIALECT, trl.DIALECT, {"loss_mode": "geo_mean", "clip_ratio_low": 0.2})
    assert found.config == {"trainer": "GMPOTrainer", "epsilon": 0.2}
    assert trl.recipe(**found.config).surrogate.settings == {"clip_low": 0.2, "clip_high": 0.2}
    assert nearest(trl.DIALECT, RECIPES["gmpo"]).config == {"trainer": "GMPOTrainer"}


def test_a_penalty_that_has_a_number_elsewhere_is_found():
    found = convert(DIALECTS["open_instruct"], verl.DIALECT, {"kl_estimator": 1})
    assert (found.config["kl_loss_type"], found.config["kl_loss_coef"]) == ("k2", 0.05)


ROUND_TRIPS = {
    "DAPO in TRL and verl": (
        "trl",
        "verl",
        {"loss_type": "dapo", "epsilon_high": 0.28, "num_generations": 16},
    ),
    "Dr. GRPO in TRL and verl": ("trl", "verl", {"loss_type": "dr_grpo", "scale_rewards": "none"}),
    "GSPO in TRL and verl": (
        *("trl", "verl"),
        {"loss_type": "grpo", "importance_sampling_level": "sequence", "epsilon": 3e-4, "epsilon_high": 4e-4},
    ),
    "a penalty in verl and TRL": ("verl", "trl", {"use_kl_loss": True, "kl_loss_coef": 0.01, "rollout.n": 8}),
    "CISPO in verl and TRL": (
        *("verl", "trl"),
        {"loss_mode": "cispo", "clip_ratio_low": 1.0, "clip_ratio_high": 4.0},
    ),
    "DAPO in verl and EasyR1": ("verl", "easy_r1", {"clip_ratio_high": 0.28, "rollout.n": 16}),
    "a dual clip in verl and OpenRLHF": ("verl", "openrlhf", {"clip_ratio_c": 5.0, "rollout.n": 8}),
    "Dr. GRPO in understand-r1-zero and TRL": (
        *("understand_r1_zero", "trl"),
        {"critic_type": "drgrpo", "beta": 0.0, "generate_max_length": 3000},
    ),
    "GRPO in slime and TRL": ("slime", "trl", {"eps_clip": 0.2, "eps_clip_high": 0.28}),
    "centred advantages in Open Instruct and TRL": (
        *("open_instruct", "trl"),
        {"beta": 0.0, "use_rho_correction": False, "clip_higher": 0.28},
    ),
}


@pytest.mark.parametrize(("source", "target", "config"), ROUND_TRIPS.values(), ids=ROUND_TRIPS)
def test_a_round_trip_gives_the_same_objective_or_a_difference_that_was_named(source, target, config):
    """What is another afterwards was told on one of the two ways; the target accepts what it is given."""
    there = convert(DIALECTS[source], DIALECTS[target], config)
    back = convert(DIALECTS[target], DIALECTS[source], there.config)
    before, after = DIALECTS[source].recipe(**config), DIALECTS[source].recipe(**back.config)
    assert set(after.differences(before)) <= {*there.lost, *back.lost}
    assert DIALECTS[target].recipe(**there.config)
