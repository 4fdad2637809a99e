"""Comparing somebody else's loss with a recipe."""

from dataclasses import replace
from functools import partial

import numpy as np
from losses import loss_with, sequence_mean, surrogate, token_mean, with_gradient

from grpo_ref import DAPO, DR_GRPO, GRPO, RECIPES, REINFORCE, slot
from grpo_ref.advantages import group_normalized
from grpo_ref.aggregation import token_mean as token_mean_kernel
from grpo_ref.check import assert_matches, compare
from grpo_ref.corrections import masked
from grpo_ref.explain.dialects import nemo_rl


def test_a_right_loss_passes_with_and_without_a_gradient():
    assert_matches(loss_with(token_mean), DAPO)
    assert_matches(with_gradient, DAPO)
    assert compare(loss_with(token_mean), DAPO).gradients


def test_a_wrong_gradient_beside_a_right_loss_is_noticed():
    found = compare(lambda **arrays: with_gradient(**arrays, factor=0.5), DAPO, batches=20)
    assert "the loss agrees, the gradient does not: at [" in found.first


def test_without_a_derivative_of_its_own_the_gradient_is_not_compared():
    """CISPO's weight is detached: a plain number has no gradient to look at."""

    def cispo(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        difference = np.where(mask > 0, log_probs - old_log_probs, 0.0)
        weight = np.minimum(np.exp(difference), 5.0) * advantages[:, None]
        return -np.where(mask > 0, weight * log_probs, 0.0).sum() / max(mask.sum(), 1)

    found = compare(cispo, RECIPES["cispo"])
    assert found.agrees
    assert not found.gradients
    assert "the gradient was not compared" in str(found)


def test_penalty_budget_and_sampler_reach_the_function():
    def dr_grpo(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        return -surrogate(log_probs, old_log_probs, advantages, mask, 0.2, 0.2).sum() / len(mask) / 11

    assert_matches(dr_grpo, DR_GRPO, max_length=11)

    def with_k1(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        penalty = np.where(mask > 0, log_probs - ref_log_probs, 0.0)
        gain = surrogate(log_probs, old_log_probs, advantages, mask, 0.2, 0.2) - 0.04 * penalty
        return -sequence_mean(gain, mask)

    assert compare(with_k1, GRPO).matches == ("the penalty is k1",)

    def with_exchanged_k3(log_probs, old_log_probs, ref_log_probs, advantages, mask):
        v = np.where(mask > 0, log_probs - ref_log_probs, 0.0)
        gain = surrogate(log_probs, old_log_probs, advantages, mask, 0.2, 0.2) - 0.04 * (np.exp(v) - 1 - v)
        return -sequence_mean(gain, mask)

    exchanged = ("the penalty is k3 with policy and reference exchanged",)
    assert compare(with_exchanged_k3, GRPO).matches == exchanged

    def corrected(log_probs, old_log_probs, ref_log_probs, advantages, mask, rollout_log_probs):
        weight = np.exp(np.where(mask > 0, old_log_probs - rollout_log_probs, 0.0))
        gain = surrogate(log_probs, old_log_probs, advantages, mask) * np.where(weight <= 3.0, weight, 0.0)
        return -token_mean(gain, mask)

    assert_matches(corrected, replace(DAPO, corrections=(slot(masked, max_ratio=3.0),)))


def packed_dapo(log_probs, old_log_probs, ref_log_probs, advantages, mask, sequence_ids):
    """The token mean needs no boundaries."""
    assert log_probs.shape == advantages.shape == mask.shape == sequence_ids.shape == (1, mask.size)
    return -surrogate(log_probs.T, old_log_probs.T, advantages[0], mask.T).sum() / max(mask.sum(), 1)


def packed_grpo(log_probs, old_log_probs, ref_log_probs, advantages, mask, sequence_ids, completions):
    """The mean of each completion first, so boundaries matter."""
    gain = surrogate(log_probs.T, old_log_probs.T, advantages[0], mask.T, high=0.2)[:, 0]
    sums, lengths = (
        np.bincount(sequence_ids[0], weights, minlength=completions) for weights in (gain, mask[0])
    )
    return -(sums / np.maximum(lengths, 1)).mean()


def test_a_packed_loss_is_compared():
    assert_matches(packed_dapo, DAPO, packed=True)
    assert_matches(packed_grpo, replace(GRPO, kl_coef=0.0), packed=True)
    assert not compare(packed_dapo, replace(GRPO, kl_coef=0.0), packed=True, batches=12).agrees


def test_the_gradient_of_a_packed_loss_is_compared_token_by_token():
    """REINFORCE over the tokens: the gradient is -A / tokens, first right, then shifted by a token."""
    recipe = replace(REINFORCE, aggregate=slot(token_mean_kernel))

    def loss(log_probs, old_log_probs, ref_log_probs, advantages, mask, sequence_ids, shift=0):
        weights = np.where(mask > 0, advantages, 0.0) / np.maximum(mask.sum(), 1.0)
        return -(weights * np.where(mask > 0, log_probs, 0.0)).sum(), -np.roll(weights, shift, axis=1)

    assert_matches(loss, recipe, packed=True)
    shifted = compare(partial(loss, shift=1), recipe, packed=True, batches=12)
    assert "the loss agrees, the gradient does not" in shifted.first


def leave_one_out_loss(logps, old_logps, rewards, mask, num_generations, exact=False):
    """DAPO with NeMo-RL's comparison with the others; the variance is E[r²] - E[r]², as in NeMo-RL.

    For one 0.95 among seven 0.35 the others' variance is 0. In float32 it is a rounding error of about 1e-8,
    so the advantage is about 0.6 / 1e-4 in place of 0.6.
    """
    groups = rewards.reshape(-1, num_generations)
    number = groups.dtype.type(num_generations - 1)
    mean = (groups.sum(1, keepdims=True) - groups) / number
    squares = ((groups**2).sum(1, keepdims=True) - groups**2) / number
    variance = np.maximum(squares - mean**2, 0) * number / (number - 1)
    if exact:
        variance = np.where(variance < 1e-6, 0, variance)
    std = np.sqrt(variance)
    centered = groups - mean
    a = np.where(std > 0, centered / (np.where(std > 0, std, 1) + groups.dtype.type(1e-6)), centered).reshape(
        -1
    )
    return -token_mean(surrogate(logps, old_logps, a, mask), mask)


def test_a_spread_that_is_a_rounding_error_is_named():
    recipe = replace(DAPO, advantage=nemo_rl.recipe().advantage)
    found = compare(leave_one_out_loss, recipe, dtype="float32")
    assert found.unless == "whose equal rewards have a standard deviation that is a rounding error"
    assert found.note.startswith("in double precision your loss agrees on these batches")
    (match,) = found.matches
    assert match == "the advantages are divided by a standard deviation that is only a rounding error"
    assert_matches(partial(leave_one_out_loss, exact=True), recipe, dtype="float32")


def standardized_loss(logps, old_logps, rewards, mask, num_generations, eps=1e-4):
    """DAPO; seven times 0.35 is not exact in float32, so the mean differs from 0.35 by about 3e-8."""
    groups = rewards.reshape(-1, num_generations)
    centered = groups - groups.mean(1, keepdims=True)
    std = np.sqrt((centered**2).sum(1, keepdims=True) / groups.dtype.type(num_generations - 1))
    a = (centered / (std + groups.dtype.type(eps))).reshape(-1)
    return -token_mean(surrogate(logps, old_logps, a, mask), mask)


def test_an_eps_may_be_too_small_for_single_precision():
    assert_matches(standardized_loss, DAPO, dtype="float32")
    small = replace(DAPO, advantage=slot(group_normalized, eps=1e-9))
    found = compare(partial(standardized_loss, eps=1e-9), small, dtype="float32")
    assert found.unless == "whose equal rewards have a standard deviation that is a rounding error"
    assert_matches(partial(standardized_loss, eps=1e-9), small)
