"""Low-rank adaptation: it begins at the base, and its slopes are those of finite differences."""

import numpy as np
import pytest

from grpo_ref.lab.framework.low_rank import LowRank, low_rank
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.policies.parameters import joined, size_of, views
from grpo_ref.learning.policies.transformer import Transformer

BASE = Transformer(vocabulary=5, context=4, width=8, layers=1, heads=2)
GENERATOR = np.random.default_rng(0)
CONSTANT = joined(BASE.init(GENERATOR), BASE.shapes())
TOKENS = GENERATOR.integers(5, size=(2, 3, 4))


def with_batch(flat, shapes):
    return views(flat[None], shapes)


def test_it_has_two_factors_for_each_matrix_of_a_layer():
    # qkv 8 x 24, out 8 x 8, up 8 x 32 and down 32 x 8: at rank 1 a column and a row each
    network = LowRank(BASE, CONSTANT, 1, 32.0)
    assert size_of(network.shapes()) == (8 + 24) + (8 + 8) + (8 + 32) + (32 + 8)
    assert network.shapes()["0.up.A"] == (8, 1)
    assert network.shapes()["0.up.B"] == (1, 32)


def test_it_begins_at_the_base():
    policy = low_rank(NeuralPolicy(BASE, CONSTANT), 2, 32.0, seed=1)
    start = np.repeat(policy.weights[None], 2, axis=0)
    adapted, _ = policy.network.forward(views(start, policy.network.shapes()), TOKENS)
    expected, _ = BASE.forward(views(np.repeat(CONSTANT[None], 2, axis=0), BASE.shapes()), TOKENS)
    np.testing.assert_allclose(adapted, expected)


def test_a_product_of_known_factors_is_added_times_alpha_over_rank():
    network = LowRank(BASE, CONSTANT, 2, 32.0)
    factors = {name: np.zeros((1, *shape)) for name, shape in network.shapes().items()}
    factors["0.out.A"][0, 3, 1], factors["0.out.B"][0, 1, 5] = 2.0, 0.25
    moved = views(CONSTANT.copy(), BASE.shapes())
    changed = {name: part[None].copy() for name, part in moved.items()}
    changed["0.out"][0, 3, 5] += 32.0 / 2 * (2.0 * 0.25)
    np.testing.assert_allclose(
        network.forward(factors, TOKENS[:1])[0], BASE.forward(changed, TOKENS[:1])[0], rtol=1e-12
    )


@pytest.mark.parametrize("rank", [1, 3])
def test_slopes_are_those_of_finite_differences(rank):
    network = LowRank(BASE, CONSTANT, rank, 32.0)
    shapes, generator = network.shapes(), np.random.default_rng(2)
    point = 0.1 * generator.normal(size=size_of(shapes))
    upstream, direction = generator.normal(size=(1, 3, 4, 5)), generator.normal(size=point.shape)

    def value(flat):
        return float((network.forward(with_batch(flat, shapes), TOKENS[:1])[0] * upstream).sum())

    weights = with_batch(point, shapes)
    _, kept = network.forward(weights, TOKENS[:1])
    slope = joined(network.pull_back(weights, kept, upstream), shapes)[0]
    step = 1e-6
    expected = (value(point + step * direction) - value(point - step * direction)) / (2 * step)
    np.testing.assert_allclose(slope @ direction, expected, rtol=1e-5)


def test_reading_token_by_token_gives_the_logits_of_reading_at_once():
    network = LowRank(BASE, CONSTANT, 2, 32.0)
    weights = views(np.random.default_rng(3).normal(size=(2, size_of(network.shapes()))), network.shapes())
    at_once, _ = network.forward(weights, TOKENS)
    first, cache = network.extend(weights, TOKENS[..., :2], [])
    then, _ = network.extend(weights, TOKENS[..., 2:], cache)
    np.testing.assert_allclose(np.concatenate([first, then], axis=2), at_once)
