"""Comparing somebody else's loss with a recipe."""

from dataclasses import replace

import numpy as np
from losses import loss_with, sequence_mean, surrogate, token_mean, with_gradient

from grpo_ref import DAPO, DR_GRPO, GRPO, RECIPES, masked, slot
from grpo_ref.check import assert_matches, compare


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
        return -np.where(mask > 0, weight * log_probs, 0.0).sum() / mask.sum()

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
