"""The recipes as values: they print, compare, travel, and differ from GRPO in a few parts."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grpo_ref import DAPO, GRPO, RECIPES, gspo_token, policy_loss, sequence_mean_level


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_recipe_prints_compares_and_travels(recipe):
    assert pickle.loads(pickle.dumps(recipe)) == recipe
    assert recipe.source in str(recipe)
    assert recipe.differences(recipe) == {}
    changed = recipe.differences(GRPO)
    restored = replace(recipe, **{part: getattr(GRPO, part) for part in changed}, source=GRPO.source)
    assert restored == GRPO


def test_what_dapo_changes():
    assert DAPO.differences(GRPO) == {
        "reward": "soft_overlong(buffer=0.2)",
        "keep": "mixed_groups",
        "surrogate": "clipped(clip_low=0.2, clip_high=0.28)",
        "kl_coef": "0.0",
        "aggregate": "token_mean",
    }


SHAPE = (2, 3, 4)
RATIOS = hnp.arrays(np.float64, SHAPE, elements=st.floats(-2.0, 2.0, width=16))
SIGNED = hnp.arrays(np.float64, SHAPE[:-1], elements=st.floats(-2.0, 2.0, width=16)).map(
    lambda a: np.repeat(a[..., None], SHAPE[-1], axis=-1)
)


@given(RATIOS, SIGNED, hnp.arrays(np.int64, SHAPE[:-1], elements=st.integers(1, 4)))
def test_gspo_token_is_gspo_for_one_advantage_per_completion(log_ratio, advantages, lengths):
    mask = np.arange(SHAPE[-1]) < lengths[..., None]
    gspo = replace(GRPO, level=sequence_mean_level, kl_coef=0.0)
    by_token = replace(gspo, surrogate=partial_slot(gspo_token))
    new = np.full(SHAPE, -3.0) + log_ratio
    ours, theirs = (
        policy_loss(new, advantages, mask, recipe=recipe, old_log_probs=np.full(SHAPE, -3.0))
        for recipe in (by_token, gspo)
    )
    np.testing.assert_allclose(ours.loss, theirs.loss, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ours.gradient, theirs.gradient, rtol=1e-12, atol=1e-14)


def partial_slot(kernel):
    return replace(GRPO.surrogate, kernel=kernel)


def test_a_difference_from_grpo_is_one_line():
    for name, recipe in RECIPES.items():
        assert name == "grpo" or 1 <= len(recipe.differences(GRPO)) <= 6
