"""SkyRL: what its keys compute."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from grpo_ref.aggregation import token_mean
from grpo_ref.corrections import truncated
from grpo_ref.explain.description import explain
from grpo_ref.explain.dialect import BONUS
from grpo_ref.explain.dialects import skyrl
from grpo_ref.explain.dialects.common.kernels import returned_with_penalty
from grpo_ref.explain.dialects.skyrl.kernels import (
    clip_cov_of_scaled,
    contrasted,
    contrasted_groups,
    dppo_kl_against_sampler,
    dppo_tv_against_sampler,
    ended_and_contrasted,
    groups_with_a_std,
    kl_cov_of_scaled,
    micro_batch_token_mean,
    normalized_with_padding,
    of_what_is_left,
    overlong_in_tokens,
    prompt_mean,
    zero_if_cut_off,
)
from grpo_ref.explain.dialects.skyrl.traps import TRAPS
from grpo_ref.explain.penalty_in_reward import penalized
from grpo_ref.explain.trap import sprung
from grpo_ref.levels import sequence_sum_level
from grpo_ref.parity.calls.common import correction
from grpo_ref.parity.replay import record_of
from grpo_ref.recipes import slot

DIALECT = skyrl.DIALECT
CORRECTION = "trainer.algorithm.off_policy_correction"
BY_COMPLETION = "sequence_mean_token_mean"
# configuration -> parts of the recipe, as text
PARTS = {
    "nothing given: a penalty by completion": (
        {},
        {
            "surrogate": "clipped(clip_low=0.2, clip_high=0.2)",
            "kl_coef": "0.001",
            "aggregate": "token_mean",
            "penalty_aggregate": BY_COMPLETION,
        },
    ),
    "a penalty in the reward": (
        {"use_kl_loss": False, "use_kl_in_reward": True, "kl_estimator_type": "k2"},
        {
            "kl_coef": "0.0",
            "advantage": "penalized(scores=group_normalized(ddof=1, eps=1e-06, keep_singletons=True),"
            " penalty=k2, kl_coef=0.001)",
        },
    ),
    "an average that a loss and its penalty share": (
        {"loss_reduction": "sequence_mean"},
        {"aggregate": BY_COMPLETION, "penalty_aggregate": "None"},
    ),
    "turns as sequences": (
        {"generator.step_wise_trajectories": True},
        {"aggregate": "token_mean", "penalty_aggregate": "turn_token_mean"},
    ),
    "a mean over turns as sequences": (
        {"generator.step_wise_trajectories": True, "loss_reduction": "sequence_mean"},
        {"aggregate": "turn_token_mean", "penalty_aggregate": "None"},
    ),
    "an average over micro-batches": (
        {"loss_reduction": "token_mean_legacy", "micro_train_batch_size_per_gpu": 4},
        {"aggregate": "micro_batch_token_mean(rows=4)"},
    ),
    "gspo with a gradient per token": (
        {"policy_loss_type": "gspo"},
        {
            "level": "sequence_mean_level",
            "surrogate": "gspo_token(clip_low=0.2, clip_high=0.2, max_log_ratio=10.0)",
        },
    ),
    "a covariance of what was averaged": (
        {"policy_loss_type": "kl_cov", "kl_cov.kl_cov_frac": 0.1},
        {"surrogate": "kl_cov_of_scaled(aggregate=token_mean, rows=1, share=0.1, coef=1.0)"},
    ),
    "the old name of a correction": (
        {"use_tis": True, "tis_imp_ratio_cap": 3.0},
        {"corrections": "(truncated(max_ratio=3.0, max_log_ratio=20.0, unknown=nan))"},
    ),
    "a correction that the loss does not know": (
        {"policy_loss_type": "importance_sampling", f"{CORRECTION}.tis_ratio_type": "token"},
        {"surrogate": "importance_weighted", "corrections": "()"},
    ),
    "one of two bounds": ({f"{CORRECTION}.token_mask_is_threshold_high": 2.0}, {"corrections": "()"}),
    "a filter, and one that only masks": (
        {"dynamic_sampling.type": "filter", "zero_variance_filter": True},
        {"keep": "groups_with_a_std", "admit": "contrasted(tol=1e-06)"},
    ),
    "the punishment of the DAPO example": (
        {"overlong_buffer_len": 4, "max_generate_length": 16},
        {"reward": "overlong_in_tokens(buffer=4, budget=16, factor=1.0)"},
    ),
    "normalized once more": (
        {"advantage_estimator": "rloo", "advantage_batch_normalize": True},
        {"advantage": "normalized_with_padding(scores=leave_one_out)"},
    ),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()", "penalty_aggregate": "None"} | skyrl.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


ASYNCHRONOUS = {
    "fully_async.enabled": True,
    "num_parallel_generation_workers": 1024,
    "policy_mini_batch_size": 1024,
    "colocate_all": False,
    "policy_loss_type": "rollout_is",
}
REFUSED = {
    "no critic": ({"advantage_estimator": "gae"}, "gae cannot be expressed here, it needs a critic's values"),
    "supervised": ({"policy_loss_type": "cross_entropy"}, "It learns every completion, whatever its reward"),
    "a length that is not told": (
        {"loss_reduction": "seq_mean_token_sum_norm"},
        "max_seq_len: SkyRL refuses",
    ),
    "two penalties": ({"use_kl_in_reward": True}, "SkyRL refuses it with use_kl_loss"),
    "a weight that moves": (
        {"use_kl_in_reward": True, "use_kl_loss": False, "kl_ctrl.type": "adaptive"},
        "would follow the KL",
    ),
    "a loss that turns around": ({"use_tis": True}, "It is -1.0, which cannot be meant"),
    "copies of groups": ({"dynamic_sampling.type": "replace"}, "replace cannot be expressed here"),
    "turns of the ratio of a sequence": (
        {"generator.step_wise_trajectories": True, "policy_loss_type": "gspo"},
        "each turn is a sequence of its own for policy_loss_type=gspo",
    ),
    "turns and returns": (
        {"generator.step_wise_trajectories": True, "advantage_estimator": "reinforce++"},
        "advantage_estimator: SkyRL refuses reinforce++ with step_wise_trajectories",
    ),
    "turns and micro-batches": (
        {"generator.step_wise_trajectories": True, "loss_reduction": "token_mean_legacy"},
        "loss_reduction: SkyRL refuses token_mean_legacy with step_wise_trajectories",
    ),
    "turns and a penalty for length": (
        {"generator.step_wise_trajectories": True, "overlong_buffer_len": 64},
        "the overlong penalty would be that of the last turn",
    ),
    "masked out and normalized": (
        {"zero_variance_filter": True, "advantage_batch_normalize": True},
        "still counts in that normalization",
    ),
    "sizes that do not fit": (
        {"policy_mini_batch_size": 300},
        "expected a multiple of policy_mini_batch_size",
    ),
    "engines elsewhere": ({"inference_engine.num_engines": 4}, "refuses 4 GPUs for the sampler beside 1"),
    "asynchronous with old ones": (
        ASYNCHRONOUS | {"policy_loss_type": "gspo"},
        "refuses gspo with fully_async",
    ),
    "corrected twice": (
        {"policy_loss_type": "cispo", "cispo_anchor": "rollout", "tis_ratio_type": "token"},
        "which would correct twice",
    ),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_told(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        skyrl.recipe(**config)


def test_the_asynchronous_trainer_draws_groups_until_each_has_contrast():
    whole = ASYNCHRONOUS | {"sample_full_batch": True, "zero_variance_filter": True}
    assert str(skyrl.recipe(**whole).keep) == "contrasted_groups(tol=1e-06)"
    assert str(skyrl.recipe(**whole | {"fully_async.enabled": False}).keep) == "all_groups"


def test_a_bonus_counts_where_it_is_switched_on():
    assert DIALECT.concept(BONUS, {"entropy_loss_coef": 0.1}, 0.0) == 0.0
    assert explain(DIALECT, {"use_entropy_loss": True, "entropy_loss_coef": 0.1}).entropy_coef == 0.1


MASK = np.array([[[1, 1, 1], [1, 0, 0]], [[1, 1, 0], [0, 0, 0]]])


def test_every_prompt_has_the_same_weight():
    """4 tokens and 2: 1/8 and 1/4 each."""
    np.testing.assert_allclose(prompt_mean(MASK), MASK * np.array([1 / 8, 1 / 4])[:, None, None])


def test_a_mean_over_micro_batches_leaves_the_rest_out():
    """Three of four completions: a micro-batch of 6 tokens; the fourth, which is empty, is the rest."""
    expected = MASK / 6.0
    np.testing.assert_allclose(micro_batch_token_mean(MASK, rows=3), expected)
    by_two = MASK * np.array([1 / 8, 1 / 4])[:, None, None]
    np.testing.assert_allclose(micro_batch_token_mean(MASK, rows=2), by_two)


def test_the_padding_counts_in_the_mean():
    """Advantages 1, 1, 1 and -1 on 4 of 6 places: m = 1/3, v = (3 · 4/9 + 16/9)/4 = 7/9."""
    mask = np.array([[[1, 1, 1], [1, 0, 0]]])
    value = normalized_with_padding(
        np.array([[2.0, 0.0]]), mask, scores=DIALECT.recipe(grpo_norm_by_std=False).advantage
    )
    scale = np.sqrt(7.0) / 3.0
    np.testing.assert_allclose(value, [[[2 / 3 / scale] * 3, [-4 / 3 / scale, 0, 0]]])


def test_a_penalty_in_the_reward_is_summed():
    """Costs of 1 + 1 and 1 at weight 1/2: rewards 1 and 1 become 0 and 1/2."""
    old, ref, mask = np.zeros((1, 2, 2)), -np.ones((1, 2, 2)), np.array([[[1, 1], [1, 0]]])
    recipe = skyrl.recipe(grpo_norm_by_std=False, kl_estimator_type="k1")
    given = {"scores": recipe.advantage, "penalty": recipe.penalty, "kl_coef": 0.5}
    np.testing.assert_allclose(penalized(np.ones((1, 2)), mask, old, ref, **given), [[-0.25, 0.25]])


def test_a_token_pays_for_those_after_it():
    """Two tokens, reward 1, costs 1 and 1 at weight 1/2: returns 0 and 1/2, whitened to ∓1/√2."""
    old, ref, mask = np.zeros((1, 1, 2)), -np.ones((1, 1, 2)), np.ones((1, 1, 2))
    penalty = skyrl.recipe(kl_estimator_type="k1").penalty
    value = returned_with_penalty(np.ones((1, 1)), mask, old, ref, penalty=penalty, kl_coef=0.5)
    np.testing.assert_allclose(value, [[[-np.sqrt(0.5), np.sqrt(0.5)]]], rtol=1e-6)


def _tokens(*values):
    return np.array([[values]])


def test_a_divergence_from_the_sampler_leaves_tokens_out():
    """0.5 → 0.8 with A > 0 moves 0.3 > 0.2; 0.8 → 0.5 may, as it moves back; A < 0 the other way round."""
    now, before = np.log(_tokens(0.8, 0.5, 0.8, 0.5)), np.log(_tokens(0.5, 0.8, 0.5, 0.8))
    advantages = _tokens(1.0, 1.0, -1.0, -1.0)
    expected = _tokens(0.0, 0.625, -1.6, 0.0)
    for kernel in (dppo_tv_against_sampler, dppo_kl_against_sampler):
        term = kernel(now, before, advantages, low=0.15, high=0.15)
        np.testing.assert_allclose(term.value, expected)
        np.testing.assert_allclose(term.direct, expected)


def test_a_covariance_of_averaged_advantages_hardly_ever_counts():
    """Two tokens with A = ±2 and log πθ of -1 and -3: the covariance of each is 2, of A/2 it is 1."""
    log_probs, advantages, mask = _tokens(-1.0, -3.0), _tokens(2.0, -2.0), np.ones((1, 1, 2))
    given = (0.0 * log_probs, log_probs, advantages, mask)
    average, noise = slot(token_mean), np.zeros((1, 1, 2))
    share = {"aggregate": average, "rows": 1, "share": 1.0, "cov_high": 5.0}
    kept = clip_cov_of_scaled(*given, noise, 2, cov_low=1.5, **share)
    np.testing.assert_allclose(kept.slope, advantages)
    chosen = clip_cov_of_scaled(*given, noise, 2, cov_low=0.5, **share)
    np.testing.assert_allclose(chosen.slope, [[[0.0, 0.0]]])


def test_a_penalty_that_is_summed_grows_with_the_number_of_tokens():
    """Of four tokens one is chosen; its penalty 0.1 |log r| is 0.4 |log r| before the mean over four."""
    log_ratio = _tokens(0.5, 0.0, 0.0, 0.0)
    log_probs, advantages = _tokens(-1.0, -3.0, -3.0, -3.0), _tokens(1.0, 0.0, 0.0, 0.0)
    given = (log_ratio, log_probs, advantages, np.ones((1, 1, 4)), 4)
    term = kl_cov_of_scaled(*given, aggregate=slot(token_mean), share=0.25, coef=0.1)
    np.testing.assert_allclose(term.value, _tokens(np.exp(0.5) - 0.4 * 0.5, 0.0, 0.0, 0.0), rtol=1e-12)


OLD, SAMPLER = np.log(np.array([[[0.5, 0.5], [0.5, 0.5]]])), np.log(np.array([[[0.25, 0.5], [0.4, 0.5]]]))


def test_a_ratio_of_the_completion_sees_what_the_window_leaves():
    """Ratios of 2 and 1: a window up to 1.5 leaves 1, so the product is 1 and not 2."""
    part = slot(truncated, level=sequence_sum_level, max_ratio=5.0)
    weights = of_what_is_left(OLD, SAMPLER, np.ones((1, 2, 2)), part=part, min_ratio=0.5, max_ratio=1.5)
    np.testing.assert_allclose(weights, [[[0.0, 1.0], [1.25, 1.25]]])


def test_corrections_are_multiplied_in_the_order_of_skyrl():
    case = {"given": {"old_log_probs": "o", "rollout_log_probs": "s", "mask": "m"}}
    arrays = {"group_size": 2, "o": OLD[0].tolist(), "s": SAMPLER[0].tolist(), "m": [[1, 1], [1, 1]]}
    config = {
        f"{CORRECTION}.tis_ratio_type": "token",
        f"{CORRECTION}.token_tis_ratio_clip_high": 1.2,
        f"{CORRECTION}.outlier_token_is_threshold_high": 1.5,
    }
    value = correction(DIALECT, config, record_of(case, arrays))["value"]
    np.testing.assert_allclose(value, [[[0.0, 0.0], [1.2, 1.0]]])


REWARDS = np.array([[1.0, 0.0, 0.0], [0.3, 0.3, 0.3], [1.0, 0.999, 1.0]])


LENGTHS = np.ones((3, 3))


def test_groups_without_contrast_are_masked_out_or_drawn_anew():
    whole = np.array([[True] * 3, [False] * 3, [True] * 3])
    np.testing.assert_array_equal(contrasted(REWARDS, LENGTHS), whole)
    np.testing.assert_array_equal(contrasted_groups(REWARDS, LENGTHS, tol=0.01), [True, False, False])
    np.testing.assert_array_equal(groups_with_a_std(np.array([[1.0, 0.0], [1.0, 1.0]])), [True, False])
    np.testing.assert_array_equal(groups_with_a_std(np.array([[1.0], [0.0]])), [True, True])


def test_a_group_is_judged_by_those_that_ended():
    ended = np.array([[True, True, False], [True, False, False], [False, False, False]])
    kept = ended_and_contrasted(REWARDS, LENGTHS, ended)
    np.testing.assert_array_equal(kept, [[True, True, False], [True, False, False], [False] * 3])
    alike = ended_and_contrasted(np.array([[1.0, 0.0, 0.0]]), LENGTHS[:1], np.array([[False, True, True]]))
    np.testing.assert_array_equal(alike, [[False] * 3])


def test_a_completion_without_tokens_makes_no_contrast():
    kept = contrasted(np.array([[1.0, 0.0, 0.0]]), np.array([[0, 5, 5]]))
    np.testing.assert_array_equal(kept, [[False] * 3])


def test_each_micro_batch_has_a_token_that_is_held_back():
    """Two completions of one token: of both together one is chosen, of each one alone it is."""
    log_ratio = np.full((1, 2, 1), 0.5)
    log_probs, advantages = np.array([[[-1.0], [-3.0]]]), np.array([[[1.0], [0.5]]])
    given = (log_ratio, log_probs, advantages, np.ones((1, 2, 1)), 1)
    held = {"aggregate": slot(token_mean), "share": 0.5, "coef": 0.1}
    together, alone = (kl_cov_of_scaled(*given, rows=rows, **held) for rows in (2, 1))
    gain = np.exp(0.5) * advantages
    np.testing.assert_allclose(together.value, gain - [[[0.1], [0.0]]])
    np.testing.assert_allclose(alone.value, gain - 0.1)


def test_what_is_cut_off_gets_nothing():
    record = SimpleNamespace(rewards=np.array([[1.0, 1.0]]), ended=np.array([[1, 0]]))
    np.testing.assert_array_equal(zero_if_cut_off(record.rewards, record.ended), [[1.0, 0.0]])


def test_the_last_stretch_is_punished():
    lengths = np.array([[6.0, 7.0, 8.0, 9.0]])
    shaped = overlong_in_tokens(np.ones((1, 4)), lengths, buffer=2, budget=8, factor=0.5)
    np.testing.assert_allclose(shaped, [[1.0, 0.75, 0.5, 0.0]])


def test_a_run_of_an_agent_is_explained():
    """DPPO by prompt on a full batch: eps_clip is given and not read."""
    algorithm = {
        "policy_loss_type": "dppo",
        "loss_reduction": "prompt_mean",
        "dppo": {"delta_low": 0.15, "delta_high": 0.15},
        "use_kl_loss": False,
        "eps_clip_high": 4,
        "zero_variance_filter": True,
    }
    given = {
        "trainer": {"algorithm": algorithm, "policy_mini_batch_size": 16, "train_batch_size": 16},
        "generator": {"n_samples_per_prompt": 16, "eval_sampling_params": {"temperature": 0.0}},
    }
    told = explain(DIALECT, given)
    assert [trap.name for trap in told.traps] == ["eps_clip_low and eps_clip_high are ignored by this loss"]
    assert told.recipe.aggregate == slot(prompt_mean)


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
def test_a_trap_is_sprung_by_its_example_and_not_by_what_is_near(trap):
    dialect = DIALECT.at(trap.release)

    def found(config):
        return sprung((trap,), dialect.settings(config), dialect.given(config))

    assert found(trap.example) == [trap]
    assert found(trap.near) == []
