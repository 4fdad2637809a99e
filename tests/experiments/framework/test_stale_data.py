"""Policies at a known distance from the sampler, and what a recipe makes of their data."""

from dataclasses import replace

import numpy as np

from grpo_ref import GRPO, importance_weighted, sequence_sum_level, slot
from grpo_ref.experiments.framework.stale_data import DISTANCES, alignment, expected_push, stale_policies
from grpo_ref.experiments.framework.tasks.small_language import divergence

STALE = stale_policies(DISTANCES, seeds=3, seed=0)


def test_the_new_policies_are_as_far_away_as_asked():
    away = divergence(STALE.old, STALE.new)
    np.testing.assert_allclose(away, np.tile(DISTANCES, (3, 1)), rtol=1e-5)


def test_the_exact_weight_of_a_completion_gives_the_exact_gradient():
    exact = replace(GRPO, kl_coef=0.0, surrogate=slot(importance_weighted), level=sequence_sum_level)
    np.testing.assert_allclose(alignment(expected_push(exact, STALE), STALE), 1.0, rtol=1e-12)
