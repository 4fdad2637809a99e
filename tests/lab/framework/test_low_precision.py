"""Rounding, against a format that NumPy has, and a sampler that rounds nothing away."""

import numpy as np
import pytest

from grpo_ref.lab.framework.low_precision import BITS, RoundedMLP, RoundedTransformer, rounded
from grpo_ref.learning.policies.mlp import MLP
from grpo_ref.learning.policies.parameters import views
from grpo_ref.learning.policies.transformer import Transformer

NUMBERS = np.random.default_rng(0).normal(size=1000)


def test_eleven_digits_are_those_of_float16():
    np.testing.assert_array_equal(rounded(NUMBERS, 11), NUMBERS.astype(np.float16).astype(np.float64))


@pytest.mark.parametrize("bits", BITS.values(), ids=BITS)
def test_the_relative_error_is_at_most_half_a_digit(bits):
    assert (abs(rounded(NUMBERS, bits) / NUMBERS - 1.0) <= 2.0**-bits).all()


def logits_of(network, tokens):
    generator = np.random.default_rng(1)
    shapes = network.shapes()
    size = sum(int(np.prod(shape)) for shape in shapes.values())
    weights = views(generator.normal(size=(2, size)).astype(np.float32), shapes)
    return network.forward(weights, tokens)[0]


def test_with_all_digits_it_is_the_learner_and_with_fewer_it_is_not():
    tokens = np.random.default_rng(2).integers(5, size=(2, 3, 6))
    exact, same, coarse = (
        logits_of(network, tokens)
        for network in (MLP(5, hidden=8), RoundedMLP(5, hidden=8, bits=24), RoundedMLP(5, hidden=8, bits=8))
    )
    np.testing.assert_array_equal(exact, same)
    assert 0.0 < abs(exact - coarse).max() < 0.1 * abs(exact).max()


def test_a_transformer_with_fewer_digits_differs_more_from_the_learner():
    tokens = np.random.default_rng(2).integers(5, size=(2, 3, 6))
    sizes = {"vocabulary": 5, "context": 6, "width": 8, "layers": 1, "heads": 2}
    exact, same, half, coarse = (
        logits_of(network, tokens)
        for network in (
            Transformer(**sizes),
            *(RoundedTransformer(**sizes, bits=bits) for bits in (24, 11, 8)),
        )
    )
    np.testing.assert_array_equal(exact, same)
    # Three digits more make the error 8 times smaller; half of that is asked, since errors are random.
    assert 0.0 < 4.0 * np.sqrt(((exact - half) ** 2).mean()) < np.sqrt(((exact - coarse) ** 2).mean())
