"""Compiled exponentials: as exact as their precision allows, also at the ends of its range."""

import numpy as np
import pytest

pytest.importorskip("numba")
from grpo_ref.fast.exponentials import PART, exponential, exponentiate

BOUNDS = {"float32": (-87.0, 88.0), "float64": (-707.0, 709.0)}
"""Bounds between which the exponential is a normal number."""


def powers_of(logits):
    powers, totals = np.empty_like(logits), np.empty(len(logits))
    exponentiate(logits, powers, totals)
    return powers, totals


@pytest.mark.parametrize("dtype", BOUNDS)
def test_an_exponential_is_within_one_unit_in_the_last_place(dtype):
    logits = np.random.default_rng(0).uniform(*BOUNDS[dtype], size=(50, 2000)).astype(dtype)
    expected = np.exp(logits.astype(np.longdouble))
    powers, _ = powers_of(logits)
    assert powers.dtype == dtype
    assert np.abs(powers / expected - 1.0).max() <= np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", BOUNDS)
def test_numbers_at_the_ends(dtype):
    below, above = BOUNDS[dtype][0] * 1.1, BOUNDS[dtype][1] * 1.1
    powers, _ = powers_of(np.array([[0.0, -np.inf, below, np.nan, above, np.inf]], dtype))
    assert powers[0, :3].tolist() == [1.0, 0.0, 0.0]
    assert np.isnan(powers[0, 3])
    assert (powers[0, 4:] > 1e38).all()  # the row is then computed again, without its maximum


@pytest.mark.parametrize("dtype", BOUNDS)
@pytest.mark.parametrize("size", [1, PART - 1, PART, 3 * PART + 1])
def test_sums(dtype, size):
    logits = np.random.default_rng(1).normal(size=(3, size)).astype(dtype)
    powers, totals = powers_of(logits)
    np.testing.assert_allclose(powers, np.exp(logits), rtol=4 * np.finfo(dtype).eps)
    np.testing.assert_allclose(totals, powers.sum(-1, dtype=float), rtol=10 * np.finfo(dtype).eps)


def test_the_logits_may_be_overwritten():
    logits = np.random.default_rng(2).normal(size=(4, 100))
    expected, _ = powers_of(logits)
    exponentiate(logits, logits, np.empty(4))
    np.testing.assert_array_equal(logits, expected)


def test_the_interpreter_has_it_too():
    assert exponential(1.0) == pytest.approx(2.718281828459045, rel=1e-15)
