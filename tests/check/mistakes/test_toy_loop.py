"""The toy loop: one update by hand, and its stages can be exchanged."""

from dataclasses import replace

import numpy as np
import pytest

from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.toy_loop import RIGHT, chain, countdown, normalized

UNIFORMS = np.array([[[[0.25], [0.75]]]])
"""One update, one prompt, two members of one token: arms 0 and 1 of two equally likely ones."""


def first_arm_pays(update, tokens, mask):
    return (tokens[..., 0] == 0).astype(float)


def test_one_update_by_hand():
    # rewards 1 and 0, A = ±1/2, weights 1/2: the sum of W A (one-hot - 1/2) is ±1/4
    logits = RIGHT(np.zeros((1, 2)), first_arm_pays, UNIFORMS, 1.0)
    np.testing.assert_allclose(logits, [[0.25, -0.25]], rtol=1e-12)


REPLACED = {
    "downhill": ({"direction": -1.0}, [-0.25, 0.25]),
    "divided by the std": ({"advantage": normalized}, [0.5, -0.5]),
    "always the likeliest arm": ({"walk": stages.greedy}, [0.0, 0.0]),
    "the softmax forgotten": ({"back": stages.one_hot_only}, [0.25, -0.25]),
}


@pytest.mark.parametrize(("stage", "expected"), REPLACED.values(), ids=REPLACED)
def test_a_stage_is_replaced(stage, expected):
    logits = replace(RIGHT, **stage)(np.zeros((1, 2)), first_arm_pays, UNIFORMS, 1.0)
    np.testing.assert_allclose(logits, [expected], rtol=1e-3, atol=1e-12)


def test_a_chain_starts_in_the_last_row_and_goes_on_from_its_own_token():
    probs = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
    states, tokens, mask = chain(probs, np.array([[[0.25, 0.5, 0.5]]]))
    np.testing.assert_array_equal(states, [[[2, 0, 1]]])
    np.testing.assert_array_equal(tokens, [[[0, 1, 0]]])
    assert mask.all()


def test_a_countdown_ends_with_its_first_zero():
    probs = np.full((3, 2), 0.5)
    _, tokens, mask = countdown(probs, np.array([[[0.75, 0.25, 0.25]]]))
    np.testing.assert_array_equal(tokens, [[[1, 0, 0]]])
    np.testing.assert_array_equal(mask, [[[1.0, 1.0, 0.0]]])
