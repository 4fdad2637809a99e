"""verl: what its keys compute, and what it alone does."""

import re
from math import inf, log
from types import SimpleNamespace

import numpy as np
import pytest

from grpo_ref import policy_loss
from grpo_ref.corrections import truncated
from grpo_ref.explain import understood
from grpo_ref.explain.description import explain
from grpo_ref.explain.dialect import COMPLETIONS
from grpo_ref.explain.dialects import verl
from grpo_ref.explain.dialects.verl.correction import rejection, window
from grpo_ref.explain.dialects.verl.kernels import (
    Bound,
    close_to_sampler,
    geometric_mean_weight,
    overlong_in_tokens,
    returned_with_penalty,
    share_of_kept,
)
from grpo_ref.explain.explanation import dialect_of, report
from grpo_ref.explain.launch import launches
from grpo_ref.explain.penalty_in_reward import penalized
from grpo_ref.explain.trap import sprung
from grpo_ref.parity.calls.verl import as_actor, torch_permutation
from grpo_ref.parity.replay import rebuild
from grpo_ref.recipes import RECIPES, slot

# configuration -> parts of the recipe, as text
PARTS = {
    "ReMax": ({"adv_estimator": "remax"}, {"advantage": "greedy_baseline"}),
    "the optimal token baseline": (
        {"adv_estimator": "optimal_token_baseline"},
        {"advantage": "optimal_token_baseline"},
    ),
    "the optimal token baseline for several turns": (
        {"adv_estimator": "tir_optimal_token_baseline"},
        {"advantage": "optimal_token_baseline(skip_holes=True)"},
    ),
    "dual clip is always on": (
        {},
        {
            "surrogate": "dual_clipped(clip_low=0.2, clip_high=0.2, max_ratio=3.0)",
            "log_ratio_limits": "(-20.0, 20.0)",
        },
    ),
    "clip_ratio counts only where low and high are taken away": (
        {"clip_ratio": 0.1, "clip_ratio_low": None},
        {"surrogate": "dual_clipped(clip_low=0.1, clip_high=0.2, max_ratio=3.0)"},
    ),
    "with its groups": (
        {
            "actor_rollout_ref": {"actor": {"policy_loss": {"loss_mode": "cispo"}}},
            "algorithm.filter_groups.enable": True,
        },
        {"surrogate": "cispo(min_ratio=0.8, max_ratio=1.2)", "keep": "groups_with_a_std"},
    ),
    "gspo forces its average": (
        {"loss_mode": "gspo", "loss_agg_mode": "token-mean"},
        {"aggregate": "sequence_mean_token_mean", "penalty_aggregate": "token_mean"},
    ),
    "where the forced average is the same, there is one": (
        {"loss_mode": "sapo", "loss_agg_mode": "seq-mean-token-mean"},
        {"aggregate": "sequence_mean_token_mean", "penalty_aggregate": "the same"},
    ),
    "cispo without a lower bound, as in its example": (
        {"loss_mode": "cispo", "clip_ratio_low": 10, "clip_ratio_high": 0.2},
        {"surrogate": "cispo(min_ratio=0.0, max_ratio=1.2)"},
    ),
    "the value of k3 is limited below its straight-through gradient too": (
        {"use_kl_loss": True, "kl_loss_type": "low_var_kl+"},
        {"penalty": "straight_through(estimator=limited_k3)"},
    ),
    "passk without the std": (
        {"adv_estimator": "grpo_passk", "norm_adv_by_std_in_grpo": False},
        {"advantage": "best_of_group(scale=False)"},
    ),
    "in bypass mode nothing is corrected": (
        {"bypass_mode": True, "rollout_is": "token", "rollout_rs": "token_k2", "rollout_rs_threshold": 0.1},
        {"corrections": "()", "admit": "all_completions"},
    ),
    "the punishment is the reward manager's": (
        {
            "reward_model.reward_kwargs.max_resp_len": 2048,
            "reward.reward_kwargs.overlong_buffer_cfg": {"enable": True, "len": 512, "penalty_factor": 0.5},
            "reward.reward_manager.name": "dapo",
            "data.max_response_length": 4096,
        },
        {"reward": "overlong_in_tokens(buffer=512, budget=2048, factor=0.5)"},
    ),
    "a window is written low_high": (
        {"rollout_is": "token", "rollout_is_threshold": "0.5_5.0"},
        {
            "corrections": "(masked(min_ratio=0.5, level=token_level, max_ratio=5.0, max_log_ratio=20.0,"
            " unknown=nan))"
        },
    ),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()", "penalty_aggregate": "the same", "admit": "all_completions"} | verl.recipe(
        **config
    ).parts()
    assert {name: ours[name] for name in parts} == parts


def test_limits():
    assert verl.recipe(loss_mode="gspo").log_ratio_limits == (-inf, inf), "its kernel's, where the slope ends"
    assert verl.recipe(loss_mode="geo_mean").log_ratio_limits == (-inf, inf)
    assert verl.recipe().log_ratio_limits == (-20.0, 20.0)


def test_beyond_a_log_ratio_of_10_gspo_has_no_gradient():
    log_probs, old = np.full((1, 1, 2), -1.0), np.array([[[-12.0, -12.0]]])
    loss = policy_loss(
        log_probs,
        np.array([[-1.0]]),
        np.ones((1, 1, 2)),
        recipe=verl.recipe(loss_mode="gspo"),
        old_log_probs=old,
    )
    assert loss.loss == pytest.approx(np.exp(10.0))
    assert not loss.gradient.any()


def test_rounding_may_keep_a_group_of_equal_rewards():
    keep = verl.recipe(**{"filter_groups.enable": True}).keep
    rewards = np.array([[1.0, 1.0, 1.0], [0.1, 0.1, 0.1], [1.0, 0.0, 0.0]])
    assert [np.std([0.1] * 3) == 0.0, *keep(rewards=rewards)] == [False, False, True, True]


def test_keys_of_other_programs_and_keys_without_effect_are_passed_over():
    config = {
        "actor_rollout_ref.rollout.engine_kwargs.vllm": {"anything": 1},
        "trainer": {"logger": ["console"]},
        "actor": {"clip_ratio_high": 0.28},
    }
    assert verl.recipe(**config) == verl.recipe(clip_ratio_high=0.28)


def test_a_key_that_is_beyond_may_be_given_its_idle_value():
    assert verl.recipe(use_kl_in_reward=False, rollout_rs=None) == verl.recipe()


BEYOND = {
    "a weight that follows the KL": (
        {"use_kl_in_reward": True, "kl_ctrl": {"type": "adaptive"}},
        "expected 'fixed', got 'adaptive'",
    ),
    "a critic": ({"adv_estimator": "gae"}, "gae cannot be expressed here, it needs a critic's values"),
    "a penalty for each token of ReMax": (
        {"adv_estimator": "remax", "use_kl_in_reward": True, "kl_coef": 0.1},
        "with adv_estimator=remax each token has the penalties from there on",
    ),
    "weights in the optimal token baseline": (
        {"adv_estimator": "optimal_token_baseline", "rollout_is": "token"},
        "the weights of rollout_is also weight its baseline",
    ),
    "a teacher": ({"distillation.enabled": True}, "distillation.enabled = True cannot be expressed here"),
    "a window from 0": (
        {"rollout_is": "token", "rollout_is_threshold": "0.0_3.0"},
        "rollout_is_threshold: expected 0 < low <= high",
    ),
    "a window in words": (
        {"rollout_is": "token", "rollout_is_threshold": "0.5_high"},
        "rollout_is_threshold: expected a number, got '0.5_high'",
    ),
    "twice as many tokens as there are": (
        {"loss_mode": "kl_cov", "kl_cov_ratio": 2.0},
        "kl_cov_ratio: expected a number > 0 and < 2.0, got 2.0",
    ),
    "weights per group, which are measured only": (
        {"loss_mode": "bypass_mode", "policy_loss.rollout_correction.rollout_is": "group"},
        "rollout_is: expected one of 'token', 'sequence', got 'group'",
    ),
    "a punishment without a budget": (
        {"overlong_buffer_cfg.enable": True, "reward_manager.name": "dapo"},
        "reward_kwargs.max_resp_len: the overlong penalty needs it",
    ),
    "an older name of the punishment": (
        {"reward_model.overlong_buffer.enable": True},
        "verl has no key 'reward_model.overlong_buffer.enable'",
    ),
}


@pytest.mark.parametrize(("config", "message"), BEYOND.values(), ids=BEYOND)
def test_what_cannot_be_is_refused_with_a_reason(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        verl.recipe(**config)


def test_a_key_of_an_ignored_group_may_count():
    assert verl.DIALECT.settings({"trainer": {"use_v1": False, "logger": "console"}})
    assert not verl.DIALECT.settings({"trainer.use_v1": False})["trainer.use_v1"]
    assert verl.recipe(**{"critic.ppo_epochs": 7}) == verl.recipe()


# ---- the rollout correction ------------------------------------------------------------------------

OLD = np.log(np.array([[[0.5, 0.5], [0.4, 0.8]]]))
SAMPLER = np.log(np.array([[[0.25, 0.5], [0.8, 0.4]]]))
"""Ratios of learner to sampler: 2 and 1; 1/2 and 2."""
ONES = np.ones((1, 2, 2))

# options and thresholds -> kept, worked by hand; k1 is the log of the sampler's ratio to the learner
KEPT = {
    "token_k1 from 2/3 to 3/2": ("token_k1", 1.5, [[0, 1], [0, 0]]),
    "token_k1, 1/2 included": ("token_k1", "0.5_1.0", [[1, 1], [0, 1]]),
    "token_k2 up to log(2)²/2": ("token_k2", 0.25, [[1, 1], [1, 1]]),
    "token_k3: 2 - 1 - log 2 is more than 1/2 - 1 + log 2": ("token_k3", 0.25, [[0, 1], [1, 0]]),
    "seq_sum_k1: 1/2 and 1": ("seq_sum_k1", "0.9_1.1", [[0, 0], [1, 1]]),
    "seq_mean_k1: 1/√2 and 1": ("seq_mean_k1", "0.7_1.1", [[1, 1], [1, 1]]),
    "seq_max_k2: equal": ("seq_max_k2", 0.2, [[0, 0], [0, 0]]),
    "seq_mean_k3": ("seq_mean_k3", 0.2, [[1, 1], [0, 0]]),
    "both have to hold": ("token_k3,seq_sum_k1", "0.25,0.9_1.1", [[0, 0], [1, 0]]),
}


@pytest.mark.parametrize(("options", "thresholds", "kept"), KEPT.values(), ids=KEPT)
def test_a_rejection_keeps(options, thresholds, kept):
    found = close_to_sampler(OLD, SAMPLER, ONES, bounds=rejection(options, thresholds))
    assert found.astype(int).tolist() == [kept]


def test_bounds_of_ratios_are_in_nats():
    assert rejection(" token_k1, token_k1", "0.5_2.0") == (Bound("token_k1", log(0.5), log(2.0)),)
    assert window(3) == (None, 3.0)
    assert window("2.0") == (None, 2.0)
    assert window(" 2e0 ") == (None, 2.0)
    assert window("1e-1_inf") == (0.1, inf)
    powers = verl.recipe(rollout_is="token", rollout_is_threshold="5e-1_5e0")
    assert powers == verl.recipe(rollout_is="token", rollout_is_threshold="0.5_5.0")


def test_a_geometric_mean_of_weights():
    found = geometric_mean_weight(OLD, SAMPLER, ONES, weights=slot(truncated, max_ratio=2.0))
    np.testing.assert_allclose(found, [[[2**0.5, 2**0.5], [1.0, 1.0]]], rtol=1e-8)


def test_an_average_per_completion_is_over_the_tokens_that_are_kept():
    bounds = rejection("token_k1", 1.5)
    assert share_of_kept(OLD, SAMPLER, ONES, bounds=bounds).tolist() == [[[0.0, 1.0], [0.0, 0.0]]]
    assert share_of_kept(OLD, SAMPLER, ONES, bounds=bounds, per_length=True).tolist() == [
        [[0.0, 2.0], [0.0, 0.0]]
    ]


@pytest.mark.parametrize(("is_v1", "weight"), [(True, 0.25), (False, 1.0)])
def test_v1_counts_tokens_before_the_rejection(is_v1, weight):
    """One token of four is left."""
    config = {"rollout_rs": "token_k1", "rollout_rs_threshold": 1.5, "trainer.use_v1": is_v1}
    record = {"log_probs": OLD, "old_log_probs": OLD, "rollout_log_probs": SAMPLER, "mask": ONES}
    settings = verl.DIALECT.settings(config)
    recipe, left = as_actor(settings, verl.recipe(**config), SimpleNamespace(**record))
    assert left.mask.tolist() == [[[0.0, 1.0], [0.0, 0.0]]]
    assert recipe.weights(left.mask).tolist() == [[[0.0, weight], [0.0, 0.0]]]


CASE = {
    "trainer": "verl",
    "call": "loss",
    "given": {
        "log_probs": "learner",
        "old_log_probs": "learner",
        "rollout_log_probs": "sampler",
        "advantages": "a",
        "mask": "m",
    },
    "inputs": {
        "group_size": 2,
        "learner": OLD[0].tolist(),
        "sampler": SAMPLER[0].tolist(),
        "a": [1.0, -1.0],
        "m": [[1, 1], [1, 1]],
    },
}
"""Ratios of 2, 1, 1/2 and 2, whose products per completion are 2 and 1."""


def test_a_window_without_a_token_ends_in_a_division_by_zero_as_it_does_there():
    outside = {"rollout_is": "token", "rollout_is_threshold": "3.0_4.0"}
    with pytest.raises(ValueError, match=r"no token is inside '3\.0_4\.0'; .* divides by 0"):
        rebuild(CASE | {"config": outside}, {})
    rebuild(CASE | {"config": outside | {"rollout_is_threshold": "2.0_4.0"}}, {})


def test_in_bypass_mode_weights_that_are_only_measured_may_stop_it():
    inside = "policy_loss.rollout_correction"
    measured = {"rollout_is": "sequence", "rollout_is_threshold": "3.0_4.0"}
    config = {"loss_mode": "bypass_mode", "bypass_mode": True}
    with pytest.raises(ValueError, match="no token is inside"):
        rebuild(CASE | {"config": config | {inside: measured}}, {})
    rebuild(CASE | {"config": config | {inside: measured | {"rollout_is_threshold": None}}}, {})


def test_in_bypass_mode_a_correction_that_is_not_given_measures_the_weights_of_sequences():
    """They are 2 and 1, of two tokens each: their mean is 3/2; per token it would be (2 + 1 + 1/2 + 2)/4."""
    mean = "actor/rollout_corr/rollout_is_mean"
    config = {"loss_mode": "bypass_mode", "bypass_mode": True}
    logged = rebuild(CASE | {"config": config, "metrics": {mean: 1.5}}, {})["logged"]
    assert logged[mean] == pytest.approx(1.5)


@pytest.mark.parametrize(("share", "is_refused"), [(1.0, False), (1.2, False), (1.25, True), (1.9, True)])
def test_kl_cov_chooses_no_more_tokens_than_there_are(share, is_refused):
    """int(share · 4) of 4 tokens."""
    case = CASE | {"config": {"loss_mode": "kl_cov", "kl_cov_ratio": share}}
    if is_refused:
        with pytest.raises(ValueError, match="of 4 tokens are more than there are"):
            rebuild(case, {})
    else:
        assert np.isfinite(rebuild(case, {})["loss"])


def test_perplexities_overflow_in_the_precision_of_the_log_probabilities():
    """exp(90) is 1.2e39, which is infinite in float32."""
    rare = {**CASE["inputs"], "learner": [[-90.0, -90.0], [-90.0, -90.0]]}
    case = CASE | {"config": {}, "inputs": rare, "metrics": {"rollout_corr/training_ppl": 0.0}}
    found = rebuild(case, {})["logged"]["rollout_corr/training_ppl"]
    assert found == pytest.approx(np.exp(90.0))
    with np.errstate(over="ignore"):
        assert rebuild(case | {"dtype": "float32"}, {})["logged"]["rollout_corr/training_ppl"] == inf


def test_the_overlong_punishment_is_in_tokens_and_goes_on_beyond_the_budget():
    """Of 100 tokens the last 20 are punished, up to 1/2, and 110 tokens with 3/4."""
    lengths = np.array([[80.0, 90.0, 100.0, 110.0]])
    found = overlong_in_tokens(np.zeros((1, 4)), lengths, buffer=20, budget=100, factor=0.5)
    assert found.tolist() == [[0.0, -0.25, -0.5, -0.75]]


def test_its_example_of_reinforce_in_bypass_mode_is_ppos_clip():
    """examples/rollout_correction/run_qwen2_5_7b_fsdp.sh; a trap says so."""
    correction = {"rollout_is": "sequence", "rollout_is_batch_normalize": True, "bypass_mode": True}
    config = {"algorithm.rollout_correction": correction | {"loss_type": "reinforce"}}
    assert explain(verl.DIALECT, config).recipe.surrogate == verl.recipe().surrogate
    dialect = verl.DIALECT
    told = sprung(dialect.traps, dialect.settings(config), dialect.given(config))
    assert "bypass_mode does not change the loss" in {trap.name for trap in told}


def test_every_loss_mode_is_tried_by_convert_but_the_two_that_need_more():
    assert set(verl.objective.MODES) - set(verl.DIALECT.keys.choices["loss_mode"]) == {"dro", "bypass_mode"}


def test_a_shuffle_holds_each_number_once_and_depends_on_the_seed():
    assert sorted(torch_permutation(9, 0)) == list(range(9))
    assert torch_permutation(9, 0) != torch_permutation(9, 1)
    assert torch_permutation(0, 0) == []


def test_an_estimator_is_looked_at_only_where_the_loss_has_a_penalty():
    assert verl.recipe(kl_loss_type="k4").kl_coef == 0.0
    with pytest.raises(ValueError, match="kl_loss_type: expected one of"):
        verl.recipe(kl_loss_type="k4", use_kl_loss=True)


def test_without_a_threshold_there_are_no_weights():
    assert verl.recipe(rollout_is="sequence", rollout_is_threshold=None).corrections == ()
    assert len(verl.recipe(rollout_is="sequence").corrections) == 1


def test_a_penalty_in_the_reward_is_taken_off_before_the_group_is_looked_at():
    apart = np.array([[[0.1, 0.2, 9.0], [0.0, 0.3, 0.0]]])
    mask = np.array([[[1, 1, 0], [1, 1, 1]]])
    config = {"use_kl_in_reward": True, "kl_ctrl.kl_coef": 1.0, "norm_adv_by_std_in_grpo": False}
    advantages = verl.recipe(**config).advantage(
        rewards=np.array([[1.0, 0.0]]), mask=mask, old_log_probs=apart - 1.0, ref_log_probs=apart * 0.0 - 1.0
    )
    np.testing.assert_allclose(advantages, [[0.5, -0.5]], rtol=1e-12)


@pytest.mark.parametrize(
    ("config", "is_penalized"),
    [({}, True), ({"use_kl_loss": True}, False), ({"adv_estimator": "reinforce_plus_plus"}, True)],
)
def test_early_versions_had_the_penalty_in_the_reward_unless_it_was_in_the_loss(config, is_penalized):
    kernel = verl.DIALECT.at("0.3").recipe(**config).advantage.kernel
    assert (kernel in (penalized, returned_with_penalty)) == is_penalized


OWN = (
    "verl.trainer.main_ppo",
    "verl.experimental.one_step_off_policy.main_ppo",
    "recipe.dapo.main_dapo",
    "verl_recipe.entropy.main_entropy",
    "recipe.fully_async_policy.fully_async_main",
    "recipe.partial_rollout.main_ppo",
)
OTHERS = (
    "recipe.flowrl.main_flowrl",
    "recipe.prime.main_prime",
    "recipe.spo.spo_main_ppo",
    "recipe.gvpo.gvpo_main_ppo",
    "recipe.gkd.main_gkd",
    "recipe.rep_exp.main_rep_exp",
    "verl_recipe.sppo.main_sppo",
    "verl.agent_trainer.main_ppo",
    "verl.experimental.vla.main_ppo",
)
KEYS = (
    "algorithm.adv_estimator=grpo actor_rollout_ref.rollout.n=8 actor_rollout_ref.actor.clip_ratio_high=0.28"
    " actor_rollout_ref.actor.use_kl_loss=False"
)


@pytest.mark.parametrize("module", OWN)
def test_an_entry_point_with_verls_own_loss_is_explained(module):
    (launch,) = launches(f"python3 -m {module} {KEYS}")
    told = report(*dialect_of(launch))
    assert (launch.trainer, launch.program) == ("verl", "")
    assert told.sentence.startswith("PPO-clip 0.2/0.28 with a dual clip at 3")


@pytest.mark.parametrize("module", OTHERS)
def test_an_entry_point_with_another_loss_is_not_known(module):
    (launch,) = launches(f"python3 -m {module} {KEYS}")
    told = report(*dialect_of(launch))
    assert (launch.trainer, launch.program) == ("verl", module)
    assert "surrogate, advantages and average not known" in told.sentence
    assert told.launch.cautions[0].startswith(f"{module} is a custom script.")
    assert told.warnings == []


def test_asynchronous_entry_points_take_the_samplers_log_probs_as_the_old_ones():
    (launch,) = launches(f"python3 -m verl.experimental.one_step_off_policy.main_ppo {KEYS}")
    assert launch.keys["algorithm.rollout_correction.bypass_mode"] is True


# keys of forks, with the parts that they may change
UNKNOWN = {
    "custom_reward_function.overlong_buffer.len": (4096, ("reward",)),
    "custom_reward_function.overlong_buffer.penalty_factor": (1.0, ("reward",)),
    "data.filter_accuracy": (True, ("keep",)),
    "data.accuracy_lower_bound": (0.1, ("keep",)),
    "data.filter_mode": ("EMA", ("keep",)),
    "data.std_filter_beta": (0.5, ("keep",)),
    "data.n_samples": (8, (COMPLETIONS,)),
    "actor_rollout_ref.rollout.filter_groups": (True, ("keep",)),
    "data.filter_truncated": (True, ("admit",)),
}


@pytest.mark.parametrize("key", UNKNOWN)
def test_a_key_of_a_fork_is_unknown_and_may_change_the_objective(key):
    value, parts = UNKNOWN[key]
    assert verl.DIALECT.key(key) is None
    found = understood(
        verl.DIALECT, {"algorithm.adv_estimator": "grpo", key: value}, strict=False, forked=True
    )
    assert [(each.key, each.parts) for each in found.unsure] == [(key, parts)]


HARMLESS = (
    "data.train_files",
    "trainer.project_name",
    "actor_rollout_ref.actor.fsdp_config.param_offload",
    "critic.optim.lr",
    "actor_rollout_ref.rollout.engine_kwargs.vllm.swap_space",
    "actor_rollout_ref.actor.megatron.tensor_model_parallel_size",
    "actor_rollout_ref.rollout.val_kwargs.n",
)


@pytest.mark.parametrize("key", HARMLESS)
def test_a_key_of_verls_own_files_is_known(key):
    assert verl.DIALECT.key(key) is not None
    assert verl.DIALECT.key(key) not in verl.DIALECT.keys.table


@pytest.mark.parametrize(
    "key", ["data.foo_bar", "trainer.foo_bar", "critic.foo_bar", "custom_reward_function.foo_bar"]
)
def test_an_invented_key_is_unknown(key):
    assert verl.DIALECT.key(key) is None


@pytest.mark.parametrize(("mode", "threshold"), [("dppo_tv", 0.15), ("dppo_kl", 0.05)])
def test_dppo_compares_with_the_policy_at_the_start_of_the_update(mode, threshold):
    """π = 0.5, πold = 0.5, μ = 0.1: no distance from πold, so the token is kept with its ratio of 1.

    From μ it is 0.4 in probability, and 0.1 log 0.2 + 0.9 log 1.8 = 0.37 nats, beyond both thresholds.
    """
    recipe = verl.recipe(loss_mode=mode, clip_ratio_low=threshold, clip_ratio_high=threshold)
    now, old, sampler = (np.log(np.full((1, 1, 1), p)) for p in (0.5, 0.5, 0.1))
    given = {"old_log_probs": old, "rollout_log_probs": sampler}
    found = policy_loss(now, np.ones((1, 1)), np.ones((1, 1, 1)), recipe=recipe, **given)
    np.testing.assert_allclose(found.gradient, [[[-1.0]]], rtol=1e-14)
    theirs = policy_loss(now, np.ones((1, 1)), np.ones((1, 1, 1)), recipe=RECIPES[mode], **given)
    assert (theirs.gradient == 0.0).all()
