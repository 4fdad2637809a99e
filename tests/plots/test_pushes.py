from dataclasses import replace

import numpy as np

from grpo_ref import DR_GRPO, slot
from grpo_ref.aggregation import fixed_length
from grpo_ref.plots import compared_gradients, pushes

REWARDS = np.array([[1.0, 0.0]])
RECIPE = replace(DR_GRPO, aggregate=slot(fixed_length))


def test_a_push_by_hand():
    # advantages 1/2 and -1/2, each token weighs 1/(2 completions x 4 tokens)
    np.testing.assert_allclose(pushes(RECIPE, REWARDS, length=4), [1 / 16, -1 / 16])


def test_bars_are_the_pushes():
    (axis,) = compared_gradients({"one": RECIPE, "again": RECIPE}, REWARDS, length=4).axes
    heights = [bar.get_height() for bar in axis.patches]
    np.testing.assert_allclose(heights, [1 / 16, -1 / 16] * 2)
    assert [label.get_text() for label in axis.get_xticklabels()] == ["reward 1", "reward 0"]
