"""Policies at a known distance from the sampler, and what a recipe makes of their data."""

from dataclasses import replace

import numpy as np

from grpo_ref import GRPO, slot
from grpo_ref.lab.framework.stale_data import (
    BATCH,
    DISTANCES,
    alignment,
    drawn_frequencies,
    expected_push,
    push,
    stale_policies,
)
from grpo_ref.lab.framework.tasks.small_language import divergence
from grpo_ref.levels import sequence_sum_level
from grpo_ref.surrogates import importance_weighted

STALE = stale_policies(DISTANCES, seeds=3, seed=0)


def test_the_new_policies_are_as_far_away_as_asked():
    away = divergence(STALE.old, STALE.new)
    np.testing.assert_allclose(away, np.tile(DISTANCES, (3, 1)), rtol=1e-5)


def test_the_exact_weight_of_a_completion_gives_the_exact_gradient():
    exact = replace(GRPO, kl_coef=0.0, surrogate=slot(importance_weighted), level=sequence_sum_level)
    np.testing.assert_allclose(alignment(expected_push(exact, STALE), STALE), 1.0, rtol=1e-12)


def test_a_batch_pushes_by_the_mean_of_its_completions():
    one, other = (drawn_frequencies(STALE, BATCH, seed=seed) for seed in (0, 1))
    np.testing.assert_allclose(one.sum(-1), 1.0)
    assert not np.array_equal(one, other)
    recipe = replace(GRPO, kl_coef=0.0)
    together = push(recipe, STALE, (one + other) / 2.0)
    apart = (push(recipe, STALE, one) + push(recipe, STALE, other)) / 2.0
    np.testing.assert_allclose(together, apart, atol=1e-14)
