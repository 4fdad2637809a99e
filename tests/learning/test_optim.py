"""Optimizers, by hand."""

import numpy as np

from grpo_ref.learning.optim import SGD, Adam, clip_by_norm


def test_sgd_by_hand():
    params, state = SGD(0.5).step(np.array([[1.0, 2.0]]), np.array([[2.0, -4.0]]), {})
    assert params.tolist() == [[0.0, 4.0]]
    assert state == {}


def test_adam_by_hand():
    """The first step is learning_rate * sign(g); with g = 1, then -1: m = -0.01 and v = 0.001999."""
    optimizer = Adam(0.1, eps=0.0)
    start = np.zeros((1, 2))
    first, state = optimizer.step(start, np.array([[1.0, -3.0]]), optimizer.init(start))
    np.testing.assert_allclose(first, [[-0.1, 0.1]], rtol=1e-12)
    second, _ = optimizer.step(first, np.array([[-1.0, -3.0]]), state)
    m_hat, v_hat = -0.01 / (1 - 0.81), 0.001999 / (1 - 0.998001)
    np.testing.assert_allclose(second[0], [-0.1 - 0.1 * m_hat / np.sqrt(v_hat), 0.2], rtol=1e-10)


def test_clip_by_norm_shortens_each_run_by_itself():
    gradient = np.array([[[3.0, 4.0]], [[0.3, 0.4]], [[0.0, 0.0]]])
    clipped, norm = clip_by_norm(gradient, 1.0)
    np.testing.assert_allclose(norm, [5.0, 0.5, 0.0], rtol=1e-15)
    np.testing.assert_allclose(clipped, [[[0.6, 0.8]], [[0.3, 0.4]], [[0.0, 0.0]]], rtol=1e-15)
