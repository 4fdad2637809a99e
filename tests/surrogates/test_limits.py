"""What surrogates share: slopes that are derivatives, and what is left of each without its bounds."""

from functools import partial
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grpo_ref.surrogates import (
    cispo,
    clipped,
    dppo_kl,
    dppo_top_kl,
    dppo_top_tv,
    dppo_tv,
    dual_clipped,
    geometric_mean_clipped,
    gspo_token,
    importance_weighted,
    kl_cov,
    reinforce,
    sapo,
    squared_ratio,
    symmetric_tv,
    top_movers,
    two_sided_clipped,
    vespo,
)

# Points on both sides of every kink and at least 0.03 from each: log of 0.8, 1.2, 1.5 are -0.22, 0.18, 0.41
LOG_RATIO = np.array([[[-1.0, -0.3, -0.15, 0.1, 0.3, 0.6], [-0.9, -0.4, -0.1, 0.15, 0.25, 0.7]]])
ADVANTAGES = np.array([[[2.0], [-1.5]]])
LOG_PROBS = np.log(np.linspace(0.1, 0.9, 12)).reshape(1, 2, 6)
SURROGATES = {
    "clipped": partial(clipped, advantages=ADVANTAGES),
    "dual clipped": partial(dual_clipped, advantages=ADVANTAGES, max_ratio=1.5),
    "importance weighted": partial(importance_weighted, advantages=ADVANTAGES),
    "kl-cov": lambda x: kl_cov(x, LOG_PROBS, ADVANTAGES, np.ones_like(x), share=0.5),
    "reinforce": partial(reinforce, advantages=ADVANTAGES),
    "sapo": partial(sapo, advantages=ADVANTAGES, tau_positive=0.5, tau_negative=3.0),
}


@pytest.mark.parametrize("kernel", SURROGATES.values(), ids=SURROGATES)
def test_the_slope_is_the_central_difference_of_the_value(kernel):
    term, h = kernel(LOG_RATIO), 1e-5
    numerical = (kernel(LOG_RATIO + h).value - kernel(LOG_RATIO - h).value) / (2 * h)
    np.testing.assert_allclose(term.slope + term.direct, numerical, rtol=1e-8, atol=1e-9)


SHAPE = (2, 3, 4)
RATIOS = hnp.arrays(np.float64, SHAPE, elements=st.floats(-2.0, 2.0, width=16))
SIGNED = hnp.arrays(np.float64, SHAPE[:-1], elements=st.floats(-2.0, 2.0, width=16)).map(
    lambda a: np.repeat(a[..., None], SHAPE[-1], axis=-1)
)
ONES = np.ones(SHAPE)


def assert_same_term(ours, theirs):
    np.testing.assert_allclose(ours.value, theirs.value, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        ours.slope + ours.direct + 0 * ours.value,
        theirs.slope + theirs.direct + 0 * ours.value,
        rtol=1e-12,
        atol=1e-14,
    )


@given(RATIOS, SIGNED)
def test_without_bounds_the_clip_family_is_the_plain_ratio(log_ratio, advantages):
    plain = importance_weighted(log_ratio, advantages)
    wide = {"clip_low": 1 - 1e-12, "clip_high": 1e9}
    assert_same_term(clipped(log_ratio, advantages, **wide), plain)
    assert_same_term(dual_clipped(log_ratio, advantages, **wide, max_ratio=1e9), plain)
    assert_same_term(two_sided_clipped(log_ratio, advantages, **wide, max_ratio=1e9), plain)
    assert_same_term(symmetric_tv(log_ratio, -np.abs(log_ratio) - 3, advantages, delta=1.0), plain)
    assert_same_term(top_movers(log_ratio, -np.abs(log_ratio) - 3, advantages, ONES, k=99), plain)


@given(RATIOS, SIGNED)
def test_without_bounds_detached_weights_are_the_ratio(log_ratio, advantages):
    log_probs = -np.abs(log_ratio) - 2.5
    weight = np.exp(log_ratio) * advantages
    unbounded = {"low": 1.0, "high": 1.0, "max_ratio": inf}
    np.testing.assert_allclose(
        cispo(log_ratio, log_probs, advantages, max_ratio=inf).direct, weight, rtol=1e-14
    )
    np.testing.assert_allclose(
        dppo_tv(log_probs, log_probs - log_ratio, advantages, **unbounded).direct, weight, rtol=1e-14
    )
    far = {"low": 1e9, "high": 1e9, "max_ratio": inf}
    np.testing.assert_allclose(
        dppo_kl(log_probs, log_probs - log_ratio, advantages, **far).direct, weight, rtol=1e-14
    )


@given(SIGNED)
def test_on_policy_every_slope_is_the_advantage(advantages):
    zeros, log_probs = np.zeros(SHAPE), np.full(SHAPE, -1.0)
    tops = np.log(np.full((*SHAPE, 2), 0.3))
    terms = [
        clipped(zeros, advantages),
        sapo(zeros, advantages, tau_positive=3.0, tau_negative=0.5),
        geometric_mean_clipped(zeros, advantages, ONES),
        gspo_token(zeros, advantages),
        vespo(zeros, log_probs, advantages, ONES, ONES),
        cispo(zeros, log_probs, advantages),
        dppo_tv(log_probs, log_probs, advantages),
        dppo_kl(log_probs, log_probs, advantages),
        dppo_top_tv(log_probs, log_probs, tops, tops, advantages),
        dppo_top_kl(log_probs, log_probs, tops, tops, advantages),
        squared_ratio(zeros, log_probs, advantages, beta=3.0),
        reinforce(log_probs, advantages),
    ]
    for term in terms:
        np.testing.assert_allclose(term.slope + term.direct + zeros, advantages, rtol=1e-12, atol=1e-15)
