import numpy as np

from grpo_ref.plots import covariance_figure
from grpo_ref.surrogates import kl_cov


def test_chosen_tokens_stand_apart():
    rng = np.random.default_rng(0)
    log_probs, advantages = np.log(rng.random((1, 4, 5))), rng.normal(size=(1, 4, 5))
    chosen = kl_cov(np.ones((1, 4, 5)), log_probs, advantages, np.ones((1, 4, 5)), share=0.1).slope
    chosen = (chosen != np.e * advantages).ravel()
    (axis,) = covariance_figure(log_probs.ravel(), advantages.ravel(), chosen).axes
    left, marked = axis.get_lines()
    assert (len(left.get_xdata()), len(marked.get_xdata())) == (18, 2)
    products = marked.get_xdata() * marked.get_ydata()
    assert products.min() > (left.get_xdata() * left.get_ydata()).max()
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("log πθ - mean (nats)", "A - mean")
