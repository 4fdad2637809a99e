"""convert: the nearest configuration in another trainer's keys, and what cannot be said in it."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from grpo_ref import DAPO, RECIPES
from grpo_ref.explain.conversion import convert, in_places, nearest, share_needs_budget
from grpo_ref.explain.dialect import UNITS
from grpo_ref.explain.dialects import DIALECTS, openrlhf, skyrl, trl, tunix, verl
from grpo_ref.loss import policy_loss
from grpo_ref.penalties import k3
from grpo_ref.recipes import slot
from grpo_ref.surrogates import geometric_mean_clipped


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
    "a setting that the requested kernel has by default is no difference": (
        "trl",
        "vespo",
        {"loss_type": "vespo"},
    ),
    "bounds that the requested kernel has by default are tried": (
        "skyrl",
        "dppo_tv",
        {
            "policy_loss_type": "dppo",
            "eps_clip_high": 20.0,
            "use_kl_loss": False,
            "delta_low": 0.15,
            "delta_high": 0.15,
        },
    ),
    "a loss that needs a number is tried together with the number": (
        "verl",
        "dro",
        {
            "adv_estimator": "grpo",
            "norm_adv_by_std_in_grpo": False,
            "loss_mode": "dro",
            "dro_beta": 0.1,
        },
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
    "two bounds that one key takes as text are tried together": (
        "verl",
        "icepop",
        {
            "adv_estimator": "grpo",
            "clip_ratio_high": 0.28,
            "clip_ratio_c": 1e6,
            "rollout_is": "token",
            "rollout_is_threshold": "0.5_5.0",
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


BUDGET = 20480
"""DAPO's generation budget in tokens. Its buffer is 4096 tokens, a share of 0.2."""
BUFFERS = {
    "verl": {"reward_manager": "dapo", "overlong_buffer_cfg.enable": True, "max_resp_len": 20480},
    "openrlhf": {"reward.overlong_buffer_len": 4096, "rollout.max_new_tokens": 20480},
    "nemo_rl": {
        "reward_shaping.enabled": True,
        "reward_shaping.overlong_buffer_length": 4096,
        "reward_shaping.max_response_length": 20480,
    },
    "skyrl": {"overlong_buffer_len": 4096, "sampling_params.max_generate_length": 20480},
}
"""Keys of DAPO's overlong penalty. In verl a buffer of 4096 tokens with a weight of 1 is the default."""


@pytest.mark.parametrize(("name", "keys"), BUFFERS.items(), ids=BUFFERS)
def test_a_share_of_the_budget_is_converted_to_tokens(name, keys):
    found = nearest(DIALECTS[name], DAPO, max_length=BUDGET)
    assert found.config == found.config | keys
    assert "reward" not in found.lost
    assert found.budget == BUDGET


def test_a_number_is_tried_only_for_keys_of_its_unit():
    """DAPO has two numbers of tokens. None of its shares and weights is tried as a number of tokens."""
    for name, dialect in DIALECTS.items():
        tokens = [key for key, each in dialect.keys.table.items() if each.unit & {"budget", "tokens"}]
        found = nearest(dialect, DAPO, max_length=BUDGET).config
        assert {found[key] for key in tokens if key in found} <= {4096, 20480}, name


@pytest.mark.parametrize(("source", "target"), [(a, b) for a in BUFFERS for b in BUFFERS if a != b])
def test_a_buffer_keeps_its_tokens_in_every_trainer_that_has_one(source, target):
    found = convert(DIALECTS[source], DIALECTS[target], BUFFERS[source])
    assert found.config == found.config | BUFFERS[target]
    assert "reward" not in found.lost


def test_without_a_budget_a_share_of_it_is_lost():
    found = nearest(verl.DIALECT, DAPO)
    assert found.budget is None
    assert found.lost["reward"] == ("soft_overlong(buffer=0.2, weight=0.5)", "task_reward")


def test_the_budget_of_the_trainer_counts_if_no_other_is_known():
    """SkyRL samples 1024 tokens at most. A share of 0.25 is 256 of them."""
    found = nearest(skyrl.DIALECT, replace(DAPO, reward=slot(DAPO.reward.kernel, buffer=0.25)))
    assert found.budget == 1024
    assert found.config["overlong_buffer_len"] == 256
    assert "sampling_params.max_generate_length" not in found.config
    assert "reward" not in found.lost


def test_tokens_are_not_characters():
    """Tunix counts the characters of the text, so its length penalty is another one."""
    assert tunix.DIALECT.keys.table["overlong_buffer.max_response_length"].unit == {"characters"}
    assert "reward" in nearest(tunix.DIALECT, DAPO, max_length=BUDGET).lost


def test_one_key_may_have_two_units():
    """The half-width of GMPO's clip is in nats, and the same key of TRL holds it."""
    recipe = replace(RECIPES["gmpo"], surrogate=slot(geometric_mean_clipped, clip_low=0.3, clip_high=0.5))
    found = nearest(trl.DIALECT, recipe)
    assert found.config == found.config | {"trainer": "GMPOTrainer", "epsilon": 0.3, "epsilon_high": 0.5}


def test_a_recipe_needs_a_budget_only_for_a_share_of_it():
    in_tokens = verl.recipe(**BUFFERS["verl"])
    assert [share_needs_budget(each) for each in (DAPO, RECIPES["grpo"], in_tokens)] == [True, False, False]


def test_lengths_are_scaled_to_the_places_of_a_batch():
    """4096 of 20480 tokens are 8 of 40 places."""
    reward = in_places(verl.recipe(**BUFFERS["verl"]), BUDGET, 40).reward
    assert reward.settings == {"buffer": 8.0, "budget": 40.0, "factor": 1.0}
    assert in_places(DAPO, BUDGET, 40) == DAPO


def test_kernels_of_one_name_may_differ():
    """EasyR1 and OpenRLHF both have a `mean_between`, but only OpenRLHF's computes the mean in float64."""
    low_and_high = {"algo.dynamic_filtering_enable": True, "algo.dynamic_filtering_range": [0.01, 0.99]}
    found = convert(openrlhf.DIALECT, DIALECTS["easy_r1"], low_and_high)
    assert found.config["online_filtering"] is True
    wanted, got = found.lost["keep"]
    assert got.endswith("mean_between(low=0.01, high=0.99)")
    assert wanted != got


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_every_unit_is_known_and_every_number_of_the_objective_has_one(dialect):
    table = dialect.keys.table
    assert {unit for key in table.values() for unit in key.unit} <= UNITS.keys()
    for name, key in table.items():
        assert {dialect.key(other) for other in key.together} == set(key.together), name
    recipe = dialect.recipe()
    for name, key in table.items():
        if type(key.default) is float and not key.behaviour and not key.unit:
            other = dialect.settings({name: key.default + 0.125})
            assert dialect.objective.build(other) == recipe, f"{name} changes the objective and has no unit"


PAIRS_OF_TRAINERS = [(source, target) for source in DIALECTS for target in DIALECTS if source != target]
EACH = ["", *RECIPES]
"""The trainer's default objective, and every recipe."""


@pytest.mark.parametrize(
    ("source", "target", "name"),
    [(*pair, EACH[7 * place % len(EACH)]) for place, pair in enumerate(PAIRS_OF_TRAINERS)],
)
def test_the_parts_that_are_not_named_as_lost_compute_the_same(source, target, name):
    """All pairs of trainers, there and back: compare the loss and gradient of a hard batch."""
    config = _expressed(source, name)
    for one, other in ((source, target), (target, source)):
        found = convert(DIALECTS[one], DIALECTS[other], config, max_length=BUDGET)
        before, after = (
            dialect.lenient().recipe(**keys)
            for dialect, keys in ((DIALECTS[one], config), (DIALECTS[other], found.config))
        )
        lost = {*found.lost, *(["penalty", "penalty_aggregate"] if "kl_coef" in found.lost else [])}
        expected = replace(before, **{part: getattr(after, part) for part in lost})
        for wanted, got in zip(_numbers(expected), _numbers(after), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12, err_msg=str((config, found)))
        if found.refusal:
            return
        config = found.config


def test_keys_that_stop_the_other_trainer_are_named():
    """EasyR1 samples 5 completions per prompt. PRIME-RL's batch of 128 completions cannot be divided by 5."""
    found = convert(DIALECTS["easy_r1"], DIALECTS["prime_rl"], {"rollout.n": 5})
    assert found.config["group_size"] == 5
    assert found.refusal == "batch_size: 128 is not divisible by group_size, 5"
    assert convert(DIALECTS["easy_r1"], DIALECTS["prime_rl"], {"rollout.n": 4}).refusal == ""


@cache
def _expressed(dialect, name):
    """Return the trainer's nearest configuration to a recipe."""
    return nearest(DIALECTS[dialect], RECIPES[name], max_length=BUDGET).config if name else {}


def _numbers(recipe):
    """Return the rewards, kept groups, kept completions, advantages, loss and gradient."""
    recipe = in_places(recipe, BUDGET, 24)
    record = SimpleNamespace(**{name: np.copy(value) for name, value in _hard_batch().items()})
    record.rewards = recipe.reward(record)
    kept, admitted, advantages = recipe.keep(record), recipe.admit(record), recipe.advantage(record)
    names = ("old", "ref", "rollout")
    fields = [f"{name}_log_probs" for name in names] + [
        "entropies",
        "noise",
        "top_log_probs",
        "top_rollout_log_probs",
    ]
    given = {name: getattr(record, name) for name in fields}
    result = policy_loss(record.log_probs, advantages, record.mask, recipe=recipe, max_length=24, **given)
    return record.rewards, kept, admitted, advantages, result.loss, result.gradient


@cache
def _hard_batch():
    """Return ragged completions with ratios from 1/8 to 8, and a group with equal rewards."""
    rng = np.random.default_rng(4096)
    shape = (6, 4, 24)
    lengths = rng.integers(1, 25, shape[:2])
    mask = (np.arange(24) < lengths[..., None]).astype(float)
    old = np.log(rng.uniform(0.1, 0.9, shape))
    others = ("log_probs", "ref_log_probs", "rollout_log_probs")
    near = {name: np.minimum(old + rng.uniform(-2.0, 2.0, shape), -1e-9) for name in others}
    tops = {
        name: np.log(rng.dirichlet(np.ones(4), shape)[..., :3])
        for name in ("top_log_probs", "top_rollout_log_probs")
    }
    rewards = rng.integers(0, 2, shape[:2]).astype(float)
    rewards[0] = 1.0
    return {
        **near,
        **tops,
        "old_log_probs": old,
        "rewards": rewards,
        "components": np.stack([rewards, lengths < 20], axis=-1).astype(float),
        "weights": np.array([1.0, 0.0]),
        "step_rewards": mask * rewards[..., None],
        "step_ends": mask,
        "turn_ids": np.where(mask > 0.0, 0, -1),
        "greedy_rewards": np.full(mask.shape[:-1], 0.5),
        "score_norms": mask * 0.5,
        "turn_rewards": rewards[..., None],
        "anchor_states": np.zeros((*shape[:2], 1), dtype=int),
        "lengths": lengths.astype(float),
        "ended": lengths < 24,
        "max_length": np.asarray(24),
        "mask": mask,
        "entropies": rng.gamma(1.0, 0.5, shape),
        "noise": rng.random(shape),
    }
