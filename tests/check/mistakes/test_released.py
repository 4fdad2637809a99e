"""Ten instructive bugs of released trainers: each buggy form differs from the right one."""

from dataclasses import replace

import numpy as np
import pytest

from grpo_ref import DAPO, DR_GRPO, GRPO, RECIPES, group_normalized, policy_loss, slot
from grpo_ref.aggregation import token_mean, token_sum_over
from grpo_ref.check import compare
from grpo_ref.check.mistakes import released
from grpo_ref.corrections import masked, truncated
from grpo_ref.explain.dialects import open_instruct, trl, verl
from grpo_ref.levels import sequence_mean_level, sequence_sum_level
from grpo_ref.metrics import clip_fractions
from grpo_ref.penalties import k1, k3
from grpo_ref.surrogates import clipped

GENERATOR = np.random.default_rng(3)
SHAPE = (2, 2, 4)
OLD = np.log(GENERATOR.uniform(0.2, 0.8, SHAPE))
NEW = OLD + GENERATOR.uniform(-0.5, 0.5, SHAPE)
MASK = (np.arange(4) < np.array([[4, 1], [2, 1]])[..., None]).astype(float)
ADVANTAGES = np.array([[1.0, -1.0], [0.5, -0.5]])


def test_1_a_loss_of_zero_is_no_sign_of_a_bug():
    """open-r1 #239, TRL #2703: on fresh data the loss is minus the mean advantage, 0; the gradient is not."""
    result = policy_loss(OLD, ADVANTAGES, MASK, recipe=replace(GRPO, kl_coef=0.0))
    assert result.loss == pytest.approx(0.0, abs=1e-15)
    assert np.abs(result.gradient).max() > 0.1
    stopped = policy_loss(OLD, np.zeros((2, 2)), MASK, recipe=replace(GRPO, kl_coef=0.0))
    assert np.abs(stopped.gradient).max() == 0.0


def test_2_the_length_decides_what_a_wrong_answer_costs():
    """TRL #3178, #3256: under GRPO a token of a long wrong answer costs less, under Dr. GRPO the same."""
    mask = np.array([[[1, 1, 1, 1], [1, 0, 0, 0]]], dtype=float)
    wrong = np.array([[-1.0, -1.0]])
    grpo, dr_grpo = (
        policy_loss(OLD[:1], wrong, mask, recipe=replace(recipe, kl_coef=0.0)).gradient[0, :, 0]
        for recipe in (GRPO, DR_GRPO)
    )
    assert grpo[0] == pytest.approx(grpo[1] / 4)
    assert dr_grpo[0] == dr_grpo[1]


def test_3_k1_as_a_loss_does_nothing_on_average():
    """open-instruct #534, TRL #4637: the expected slope of k1 is 0, of k3 another divergence's."""
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    expected = {
        kernel: p * (slope - (p * slope).sum())
        for kernel, slope in (
            ("k1", k1(np.log(p), np.log(q)).direct),
            ("k3", k3(np.log(p), np.log(q)).direct),
            ("true", np.log(p / q)),
        )
    }
    np.testing.assert_allclose(expected["k1"], 0.0, atol=1e-16)
    np.testing.assert_allclose(expected["k3"], p - q, atol=1e-16)
    assert np.abs(expected["k3"] - expected["true"]).max() > 0.05


def test_4_micro_batches_must_add_up_to_the_batch():
    """TRL #5619, PR #6024; verl #7321: the mean of the token means of parts is not the token mean."""
    recipe = replace(DAPO, surrogate=slot(clipped))
    whole = policy_loss(NEW, ADVANTAGES, MASK, recipe=recipe, old_log_probs=OLD)
    parts = [(slice(0, 1), MASK[:1]), (slice(1, 2), MASK[1:])]

    def summed(recipe, factor):
        results = [
            policy_loss(NEW[part], ADVANTAGES[part], mask, recipe=recipe, old_log_probs=OLD[part])
            for part, mask in parts
        ]
        return sum(result.loss for result in results) * factor

    assert summed(replace(recipe, aggregate=slot(token_mean)), 0.5) != pytest.approx(whole.loss, rel=1e-3)
    known = replace(recipe, aggregate=slot(token_sum_over, tokens=MASK.sum()))
    assert summed(known, 1.0) == pytest.approx(whole.loss, rel=1e-14)


def test_5_luspo_leaked_into_the_padding():
    """TRL PR #6654: L² / T weights, and a gradient on padding."""
    bug = released.luspo_before_6654(NEW[0], OLD[0], ADVANTAGES[0][:, None], MASK[0])
    ours = policy_loss(
        NEW[:1], ADVANTAGES[:1], MASK[:1], recipe=trl.recipe(loss_type="luspo"), old_log_probs=OLD[:1]
    )
    assert np.abs(bug.gradient[MASK[0] == 0]).max() > 0.0
    assert np.abs(ours.gradient[MASK[:1] == 0]).max() == 0.0
    assert bug.loss != pytest.approx(float(ours.loss), rel=1e-3)


def test_6_a_clip_metric_that_ignores_the_sign_counts_tokens_that_train():
    """TRL #3032, PR #3175: a good token that became rarer is outside the band and not clipped."""
    log_ratio, advantages, mask = np.log([[[0.5, 0.5]]]), np.array([[[1.0, -1.0]]]), np.ones((1, 1, 2))
    low, high = clip_fractions(clipped(log_ratio, advantages), log_ratio, advantages, mask)
    ignoring = (np.abs(np.exp(log_ratio) - 1.0) > 0.2).mean()
    assert (low, high, ignoring) == (0.5, 0.0, 1.0)


def test_7_the_spread_of_large_or_equal_rewards():
    """verl PR #6348, NeMo-RL PR #4161: E[x²] - E[x]² cancels; a variance floored at 1e-6 is a std of 1e-3."""
    rewards = np.array([[1e9, 1e9 + 1.0]])
    cancelled = np.sqrt(max((rewards**2).mean() - rewards.mean() ** 2, 0.0))
    assert cancelled != pytest.approx(0.5, rel=0.1)
    np.testing.assert_allclose(group_normalized(rewards, ddof=0, eps=0.0), [[-1.0, 1.0]], rtol=1e-12)
    small = np.array([[0.0, 1e-4]])
    floored = (small - small.mean()) / np.sqrt(max(small.var(ddof=1), 1e-6))
    assert abs(floored).max() < 0.1
    assert abs(group_normalized(small, eps=1e-8)).max() == pytest.approx(1 / np.sqrt(2), rel=1e-3)
    assert (group_normalized(np.full((1, 3), 0.1), eps=0.0) == 0.0).all()
    assert (group_normalized(np.array([[3.0]]), eps=0.0) == 0.0).all()


def test_8_the_mismatch_of_a_sequence_is_the_exponential_of_the_sum():
    """TRL #5814 (sum or mean), unsloth-zoo #870 (a sum of exponentials), #5231 (metrics after truncation)."""
    old, rollout, mask = np.log([[[0.5, 0.6]]]), np.log([[[0.4, 0.4]]]), np.ones((1, 1, 2))
    product = truncated(old, rollout, mask, level=sequence_sum_level, max_ratio=10.0)
    mean = truncated(old, rollout, mask, level=sequence_mean_level, max_ratio=10.0)
    sum_of_exponentials = np.exp(old - rollout).sum()
    np.testing.assert_allclose(product, 1.25 * 1.5)
    np.testing.assert_allclose(mean, np.sqrt(1.25 * 1.5))
    assert sum_of_exponentials == pytest.approx(2.75)
    assert masked(old, rollout, mask, level=sequence_sum_level, max_ratio=1.8).max() == 0.0
    assert masked(old, rollout, mask, level=sequence_mean_level, max_ratio=1.8).min() > 0.0


def test_9_three_trainers_mean_three_caps():
    """SkyRL #1928, tinker-cookbook #763: 0.28 is a cap of 0.28, of 1.28, or a band of 0.8 to 1.28."""
    recipes = [
        trl.recipe(loss_type="cispo", epsilon_high=0.28),
        open_instruct.recipe(loss_fn="cispo", clip_higher=0.28, beta=0.0, use_rho_correction=False),
        verl.recipe(loss_mode="cispo", clip_ratio_high=0.28),
    ]
    new = OLD[:1, :1] + np.log([[[0.5, 1.0, 1.1, 2.0]]])
    weights = [
        -4
        * policy_loss(
            new, np.ones((1, 1)), np.ones((1, 1, 4)), recipe=one, old_log_probs=OLD[:1, :1]
        ).gradient
        for one in recipes
    ]
    np.testing.assert_allclose(weights[0][0, 0], [0.28, 0.28, 0.28, 0.28], rtol=1e-12)
    np.testing.assert_allclose(weights[1][0, 0], [0.5, 1.0, 1.1, 1.28], rtol=1e-12)
    np.testing.assert_allclose(weights[2][0, 0], [0.8, 1.0, 1.1, 1.28], rtol=1e-12)


def test_10_swapped_arguments_turn_the_penalty_into_a_bonus():
    """RLinf PR #1400: with k1 the sign flips, with k3 it is the other direction."""
    log_probs, ref = np.log([0.5]), np.log([0.25])
    assert k1(ref, log_probs).value == -k1(log_probs, ref).value
    assert k3(ref, log_probs).value != pytest.approx(k3(log_probs, ref).value)

    def swapped(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        present = mask > 0
        ratio = np.exp(np.where(present, log_probs - old_log_probs, 0.0))
        a, v = advantages[:, None], np.where(present, ref_log_probs - log_probs, 0.0)
        gain = np.minimum(ratio * a, np.clip(ratio, 0.8, 1.2) * a) - 0.04 * (np.expm1(-v) + v)
        return -(np.where(present, gain, 0.0).sum(-1) / np.maximum(mask.sum(-1), 1)).mean()

    assert not compare(swapped, GRPO, batches=15).agrees


def test_the_recipes_of_the_bugs_are_in_the_table():
    assert {"dr_grpo", "luspo", "cispo", "tis", "mis"} <= set(RECIPES)
