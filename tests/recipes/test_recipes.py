"""Recipes as values: they print, compare, travel, and refuse what they cannot do."""

import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import grpo_ref
from grpo_ref import (
    DAPO,
    DR_GRPO,
    GRPO,
    RECIPES,
    clipped,
    group_normalized,
    kept_token_mean,
    policy_loss,
    slot,
)


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


def test_a_slot_knows_its_kernels_settings():
    with pytest.raises(ValueError, match="clipped has no setting 'clip'; it has clip_low, clip_high"):
        slot(clipped, clip=0.2)
    assert slot(group_normalized, ddof=0) == slot(group_normalized, ddof=0) != slot(group_normalized)


def test_a_negative_penalty_is_refused():
    with pytest.raises(ValueError, match=r"kl_coef: expected a number >= 0, got -0\.1"):
        replace(GRPO, kl_coef=-0.1)


ONES = np.zeros((1, 2, 3)) - 1.0
GOOD = {"log_probs": ONES, "advantages": np.ones((1, 2)), "mask": np.ones((1, 2, 3)), "recipe": DR_GRPO}
WRONG = {
    "no reference": ({"recipe": GRPO}, r"ref_log_probs: this recipe has kl_coef=0.04 and needs a reference"),
    "mask of another shape": ({"mask": np.ones((1, 2))}, r"log_probs \(1, 2, 3\), mask \(1, 2\)"),
    "old of another shape": ({"old_log_probs": np.ones((1, 2, 4))}, r"old_log_probs \(1, 2, 4\)"),
    "advantages of another shape": (
        {"advantages": np.ones(2)},
        r"advantages: expected \(1, 2\), one per completion, or \(1, 2, 3\), one per token, got shape \(2,\)",
    ),
    "no group axis": (
        {"log_probs": ONES[0], "mask": np.ones((2, 3)), "advantages": np.ones(2)},
        r"log_probs: expected \(..., prompts, group, tokens\), got shape \(2, 3\)",
    ),
    "no budget": ({"max_length": 0}, "max_length: expected at least 1 token, got 0"),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_policy_loss_names_what_is_wrong(change, message):
    with pytest.raises(ValueError, match=message):
        policy_loss(**GOOD | change)


def test_a_penalty_without_weight_stays_out_even_where_it_is_infinite():
    result = policy_loss(**GOOD, ref_log_probs=np.full((1, 2, 3), -np.inf))
    assert np.isfinite(result.loss)
    assert np.isfinite(result.gradient).all()
    assert np.isinf(result.metrics["kl"])
    assert "kl" not in policy_loss(**GOOD).metrics


def test_a_part_is_called_with_a_record_or_with_its_fields_by_name():
    rewards = np.array([[1.0, 0.0]])
    by_name = DR_GRPO.advantage(rewards=rewards)
    np.testing.assert_array_equal(by_name, [[0.5, -0.5]])
    np.testing.assert_array_equal(DR_GRPO.advantage(SimpleNamespace(rewards=rewards)), by_name)


def test_weights_need_nothing_but_the_mask():
    """Two tokens and one: a sequence mean gives 1/4 and 1/2, a budget of four tokens 1/8 each."""
    mask = np.array([[[1, 1], [1, 0]]])
    np.testing.assert_array_equal(GRPO.weights(mask), [[[0.25, 0.25], [0.5, 0.0]]])
    np.testing.assert_array_equal(DR_GRPO.weights(mask), [[[0.25, 0.25], [0.25, 0.0]]])
    np.testing.assert_array_equal(DR_GRPO.weights(mask, max_length=4), [[[0.125, 0.125], [0.125, 0.0]]])
    decoupled = replace(GRPO, aggregate=slot(kept_token_mean))
    np.testing.assert_array_equal(decoupled.weights(mask, correction=2.0 * mask), mask / 3)
    np.testing.assert_array_equal(decoupled.weights(mask), mask / 3)


def test_the_old_spelling_of_centered_still_works():
    assert grpo_ref.group_centred is grpo_ref.group_centered
    assert str(DR_GRPO.advantage) == "group_centered"
