"""Which tokens are chosen by their covariance, worked by hand."""

import numpy as np
import pytest

from grpo_ref.surrogates import clip_cov, clip_cov_eligible, kl_cov

# settings, mask -> coef of each of three tokens
CHOSEN = {
    "less than one token is one token, the first": ({}, [1, 1, 1], [0.1, 0, 0]),
    "0.7 of three tokens are two": ({"share": 0.7}, [1, 1, 1], [0.1, 0.1, 0]),
    "all; where the log-ratio is 0 the penalty has no slope": ({"share": 1.0}, [1, 1, 1], [0.1, 0.1, 0.1]),
    "another coefficient": ({"coef": 0.5}, [1, 1, 1], [0.5, 0, 0]),
    "no token is left to choose": ({"share": 1.0}, [0, 0, 0], [0, 0, 0]),
}


@pytest.mark.parametrize(("settings", "mask", "coefs"), CHOSEN.values(), ids=CHOSEN)
def test_kl_cov_holds_back_the_tokens_of_highest_covariance(settings, mask, coefs, asarray):
    """Three tokens, A = 2, -1, 0 and log π = -1, -3, -2: means 1/3 and -2, covariances 5/3, 4/3 and 0.

    Had the padding's NaN a say in the means, nothing could be ranked.
    """
    log_ratio, log_probs = asarray([[[0.5, -0.5, 0.0, np.nan]]]), asarray([[[-1.0, -3.0, -2.0, np.nan]]])
    advantages, mask = asarray([[[2.0, -1.0, 0.0, np.nan]]]), asarray([[[*mask, 0]]])
    term = kl_cov(log_ratio, log_probs, advantages, mask, **settings)
    gain, coefs = np.array([2 * np.exp(0.5), -np.exp(-0.5), 0.0]), np.array(coefs)
    asarray.check(term.value[0, 0, :3], gain - coefs * [0.5, 0.5, 0.0])
    asarray.check(term.slope[0, 0, :3], gain - coefs * [1, -1, 0])
    assert term.direct == 0.0


def test_clip_cov_takes_the_smallest_noise_of_those_inside(asarray):
    """A = 2 -1 0 and log p = -1 -3 -2: covariances 5/3, 4/3, 0; the noise picks the second of two."""
    log_probs, advantages = asarray([[[-1.0, -3.0, -2.0]]]), asarray([[[2.0, -1.0, 0.0]]])
    arrays = asarray([[[0.0, 0.0, 0.0]]]), log_probs, advantages, asarray([[[1, 1, 1]]])
    noise = asarray([[[0.9, 0.1, 0.0]]])
    asarray.check(clip_cov_eligible(*arrays, cov_low=1.0, cov_high=5.0), [[[True, True, False]]])
    asarray.check(clip_cov_eligible(*arrays, cov_low=1.0, cov_high=1.5), [[[False, True, False]]])
    asarray.check(clip_cov(*arrays, noise).slope, [[[2.0, 0.0, 0.0]]])
    asarray.check(clip_cov(*arrays, noise, share=0.7).slope, [[[0.0, 0.0, 0.0]]])
    asarray.check(clip_cov(*arrays, noise, cov_low=5.0).slope, [[[2.0, -1.0, 0.0]]])


def test_a_token_that_the_clip_holds_is_not_chosen():
    arrays = (
        np.log([[[1.5, 1.0, 1.0]]]),
        np.array([[[-1.0, -3.0, -2.0]]]),
        np.array([[[2.0, -1.0, 0.0]]]),
        np.ones((1, 1, 3)),
    )
    assert clip_cov_eligible(*arrays).tolist() == [[[False, True, False]]]
