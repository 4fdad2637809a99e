"""Levels: one completion of three tokens and one of one, worked by hand."""

import numpy as np
import pytest

from grpo_ref.levels import sequence_mean_level, sequence_sum_level, token_level

LOG_RATIO = [[[0.3, -0.1, 0.4], [0.5, np.nan, np.inf]]]
MASK = [[[1, 1, 1], [1, 0, 0]]]
LEVELS = {
    "token: each its own": (token_level, [[[0.3, -0.1, 0.4], [0.5, 0, 0]]]),
    "sequence mean: 0.6 / 3, and 0.5 / 1": (sequence_mean_level, [[[0.2, 0.2, 0.2], [0.5, 0, 0]]]),
    "sequence sum: 0.6, and 0.5": (sequence_sum_level, [[[0.6, 0.6, 0.6], [0.5, 0, 0]]]),
}


@pytest.mark.parametrize(("level", "expected"), LEVELS.values(), ids=LEVELS)
def test_level(level, expected, asarray):
    asarray.check(level(asarray(LOG_RATIO), asarray(MASK)), expected)
    asarray.check(level(asarray(LOG_RATIO), asarray(np.array(MASK) == 1)), expected)


@pytest.mark.parametrize("level", [token_level, sequence_mean_level, sequence_sum_level])
def test_an_empty_completion_has_no_ratio(level, asarray):
    asarray.check(level(asarray([[[np.nan, 1.0]]]), asarray([[[0, 0]]])), [[[0, 0]]])


@pytest.mark.parametrize("level", [token_level, sequence_mean_level, sequence_sum_level])
def test_a_level_is_its_own_transpose(level):
    """<u, level(v)> = <level(u), v>: this is why the backward pass is the same function."""
    u, v = np.random.default_rng(0).normal(size=(2, 2, 3, 5))
    mask = np.arange(5) < np.array([[5, 0, 2], [1, 3, 4]])[..., None]
    u, v = u * mask, v * mask
    assert (u * level(v, mask)).sum() == pytest.approx((level(u, mask) * v).sum(), rel=1e-13)
