"""The wrong kernels are wrong in the way that their sentences say, by hand."""

import numpy as np
import pytest

from grpo_ref import k3
from grpo_ref.check import check_slope
from grpo_ref.mistakes.kernels import (
    attracting_k3,
    clip_without_min,
    inverted,
    padded_mean,
    stale_clipped,
    swapped_k3,
)

HALF, QUARTER = np.log(np.full((1, 1, 1), 0.5)), np.log(np.full((1, 1, 1), 0.25))
GOOD, BAD = np.ones((1, 1, 1)), -np.ones((1, 1, 1))
MASK = np.array([[[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]])


def test_attracting_k3_pays_for_leaving_the_reference():
    ours, theirs = k3(HALF, QUARTER), attracting_k3(HALF, QUARTER)
    assert float(theirs.value[0, 0, 0]) == -float(ours.value[0, 0, 0]) < 0.0
    assert float(theirs.direct[0, 0, 0]) == -0.5  # 1 - πref/π = 1/2, turned over


def test_swapped_k3_grows_with_the_policy_not_with_the_reference():
    term = swapped_k3(HALF, QUARTER)  # v = log 2
    assert float(term.value[0, 0, 0]) == pytest.approx(2.0 - 1.0 - np.log(2.0))
    assert float(term.direct[0, 0, 0]) == pytest.approx(2.0 - 1.0)


def test_an_inverted_ratio_pushes_good_tokens_down():
    term = inverted(np.log(np.full((1, 1, 1), 1.25)), GOOD)  # the ratio taken is 0.8
    assert float(term.value[0, 0, 0]) == pytest.approx(0.8)
    assert float(term.slope[0, 0, 0]) == pytest.approx(-0.8)


def test_without_the_minimum_a_token_is_not_called_back():
    log_ratio = np.log(np.full((1, 1, 1), 1.5))
    term = clip_without_min(log_ratio, BAD)
    assert float(term.value[0, 0, 0]) == pytest.approx(-1.2)
    assert float(term.slope[0, 0, 0]) == 0.0


def test_a_stale_ratio_is_to_the_first_policy():
    near = stale_clipped(HALF, HALF - np.log(1.1), GOOD)
    far = stale_clipped(HALF, HALF - np.log(1.3), GOOD)
    assert near.direct[0, 0, 0] == pytest.approx(1.1)
    assert far.direct[0, 0, 0] == 0.0


def test_a_padded_mean_counts_padding():
    assert padded_mean(MASK)[0, 0, 0] == 1 / 8
    assert padded_mean(np.pad(MASK, [(0, 0), (0, 0), (0, 4)]))[0, 0, 0] == 1 / 16


@pytest.mark.parametrize("kernel", [inverted, clip_without_min, stale_clipped, swapped_k3, attracting_k3])
def test_a_wrong_kernel_has_the_right_slope_of_its_wrong_value(kernel):
    assert check_slope(kernel).agrees
