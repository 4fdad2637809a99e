"""Slots and recipes: what they are called with, and what they refuse."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from grpo_ref import DR_GRPO, GRPO, group_normalized, slot
from grpo_ref.aggregation import kept_token_mean
from grpo_ref.levels import token_level
from grpo_ref.surrogates import clipped


def test_a_slot_knows_its_kernels_settings():
    with pytest.raises(ValueError, match="clipped has no setting 'clip'; it has clip_low, clip_high"):
        slot(clipped, clip=0.2)
    assert slot(group_normalized, ddof=0) == slot(group_normalized, ddof=0) != slot(group_normalized)


def test_a_penalty_of_unknown_weight_is_refused():
    with pytest.raises(ValueError, match="kl_coef: expected a number, got nan"):
        replace(GRPO, kl_coef=float("nan"))


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


def test_a_part_called_with_an_array_says_how_it_is_called():
    with pytest.raises(TypeError) as error:
        GRPO.advantage(np.ones((2, 4)))
    assert str(error.value) == (
        "Expected a record or keyword arguments, got an array of shape (2, 4)."
        " Call the part with rewards=..., or the kernel itself as group_normalized(rewards)."
    )


def test_a_field_that_is_missing_is_named():
    with pytest.raises(ValueError, match="group_normalized needs `rewards`, but none was given"):
        GRPO.advantage(reward=np.ones((2, 4)))


def test_a_kernel_without_its_slot_is_refused():
    with pytest.raises(TypeError, match=r"surrogate: expected .* slot\(clipped, \.\.\.\), got clipped"):
        replace(GRPO, surrogate=clipped)
    with pytest.raises(TypeError, match="level: expected the function itself, token_level, got a slot"):
        replace(GRPO, level=slot(token_level))
