"""The textbook forms, worked by hand."""

from math import log

import numpy as np
import pytest

from grpo_ref.surrogates import gated_ratio, symmetric_kl, symmetric_tv, top_kl_movers, top_movers


def test_the_books_gate(asarray):
    """At a ratio of 1 the gate is 1/2; slope A (1/2 + 1/(4 tau)) above, A (1/2 - 1/(4 tau)) below."""
    term = gated_ratio(asarray([0.0, 0.0]), asarray([2.0, -2.0]), tau_positive=0.5, tau_negative=1.0)
    asarray.check(term.value, [1.0, -1.0])
    asarray.check(term.slope, [2.0, -0.5])


def test_the_books_masks_have_no_direction(asarray):
    """p = 0.4 from q = 0.6 with A > 0: the paper keeps it, |p - q| = 0.2 does not, p log(p/q) < 0 does."""
    arrays = asarray([log(0.4 / 0.6)]), asarray([log(0.4)]), asarray([1.0])
    asarray.check(symmetric_tv(*arrays, delta=0.15).slope, [0.0])
    asarray.check(symmetric_tv(*arrays, delta=0.25).slope, [0.4 / 0.6])
    asarray.check(symmetric_kl(*arrays, delta=0.0).value, [0.4 / 0.6])
    up = asarray([log(0.6 / 0.4)]), asarray([log(0.6)]), asarray([1.0])
    asarray.check(symmetric_kl(*up, delta=0.6 * log(1.5) + 1e-3).value, [1.5])
    asarray.check(symmetric_kl(*up, delta=0.6 * log(1.5) - 1e-3).value, [0.0])


def test_top_movers(asarray):
    """Moves of 0.1, 0.3 and 0.2; the padding does not compete."""
    p, q = np.array([[[0.5, 0.5, 0.5, 0.9]]]), np.array([[[0.4, 0.2, 0.3, 0.1]]])
    arrays = (
        asarray(np.log(p / q)),
        asarray(np.log(p)),
        asarray(np.ones((1, 1, 4))),
        asarray([[[1, 1, 1, 0]]]),
    )
    asarray.check(top_movers(*arrays, k=1).slope, [[[0.0, 2.5, 0.0, 0.0]]])
    asarray.check(top_movers(*arrays, k=2).slope, [[[0.0, 2.5, 5 / 3, 0.0]]])
    with pytest.raises(ValueError, match="k: expected at least 1 token, got 0"):
        top_movers(*arrays, k=0)


def test_top_kl_movers(asarray):
    """p log(p/q) is 0.8 log 1.25 = 0.179, 0.3 log 3 = 0.330 and 0.1 log 0.2 = -0.161.

    The moves are 0.16, 0.2 and 0.4: the last one is the largest, and the least by this measure.
    """
    p, q = np.array([[[0.8, 0.3, 0.1, 0.9]]]), np.array([[[0.64, 0.1, 0.5, 0.1]]])
    arrays = (
        asarray(np.log(p / q)),
        asarray(np.log(p)),
        asarray(np.ones((1, 1, 4))),
        asarray([[[1, 1, 1, 0]]]),
    )
    asarray.check(top_kl_movers(*arrays, k=1).slope, [[[0.0, 3.0, 0.0, 0.0]]])
    asarray.check(top_kl_movers(*arrays, k=2).slope, [[[1.25, 3.0, 0.0, 0.0]]])
    asarray.check(top_movers(*arrays, k=1).slope, [[[0.0, 0.0, 0.2, 0.0]]])
