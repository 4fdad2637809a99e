"""A sampler that computes in low precision: with the learner's own weights, but a different policy."""

from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Array, Integers
from grpo_ref.learning.policies.layers import gelu, linear, one_hot
from grpo_ref.learning.policies.mlp import MLP, Kept
from grpo_ref.learning.policies.neural import NeuralActor
from grpo_ref.learning.policies.parameters import Parts
from grpo_ref.learning.policies.transformer import Cache, KeptBlock, Transformer
from grpo_ref.learning.policies.transformer import Kept as KeptByTransformer

BITS = {"float32": 24, "float16": 11, "bfloat16": 8, "float8": 4}
"""Number format -> binary digits of its significand (float8: e4m3). The range is not simulated."""


def rounded(numbers: Array, bits: int) -> Array:
    """Round to the nearest number with the given number of binary digits.

    >>> rounded(np.array([1.0, 1.1, -300.0]), 4).tolist()
    [1.0, 1.125, -288.0]
    """
    digits, exponents = np.frexp(numbers)
    return np.ldexp(np.rint(digits * 2.0**bits), exponents - bits).astype(numbers.dtype)


@dataclass(frozen=True)
class RoundedMLP(MLP):
    """A network whose weights and layer outputs are rounded to `bits` binary digits."""

    bits: int = 8

    def _logits(self, weights: Parts, windows: Integers, shape: tuple[int, ...]) -> tuple[Array, Kept]:
        runs = windows.shape[0]
        coarse = {name: rounded(part, self.bits) for name, part in weights.items()}
        hot = one_hot(windows.reshape(runs, -1), self.vocabulary + 1, coarse["embedding"])
        embedded = (hot @ coarse["embedding"]).reshape(*windows.shape[:-1], self.context * self.width)
        active, derivative = gelu(rounded(linear(embedded, coarse["up"]), self.bits))
        active = rounded(active, self.bits)
        logits = rounded(linear(active, coarse["down"]), self.bits)
        return logits, Kept(shape, hot, embedded, active, derivative)


@dataclass(frozen=True)
class RoundedTransformer(Transformer):
    """A transformer whose weights, layer outputs and logits are rounded to `bits` binary digits."""

    bits: int = 8

    def _read(self, weights: Parts, tokens: Integers, cache: Cache) -> tuple[Array, KeptByTransformer, Cache]:
        coarse = {name: rounded(part, self.bits) for name, part in weights.items()}
        logits, kept, cache = super()._read(coarse, tokens, cache)
        return rounded(logits, self.bits), kept, cache

    def _block(
        self, x: Array, weights: Parts, past: list[Array], start: int, shape: tuple[int, ...]
    ) -> tuple[Array, KeptBlock, list[Array]]:
        x, kept, keys_values = super()._block(x, weights, past, start, shape)
        return rounded(x, self.bits), kept, keys_values


class Pair(NamedTuple):
    """A learner, and a sampler with the learner's weights."""

    learner: NeuralActor
    sampler: NeuralActor


def pair(actor: NeuralActor, bits: int) -> Pair:
    """Return the learner and a sampler that computes with the given number of binary digits."""
    network = actor.network
    assert isinstance(network, MLP | Transformer)
    coarse = RoundedMLP if isinstance(network, MLP) else RoundedTransformer
    return Pair(actor, actor._replace(network=coarse(**asdict(network), bits=bits)))
