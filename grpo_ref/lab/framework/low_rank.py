"""Low-rank adaptation (LoRA): the weights of a network stay, and each matrix gets a small trainable product.

    W' = W + (alpha / r) A B,    A (I, r),  B (r, O)

Hu et al. 2021, sec. 4.1 (arXiv:2106.09685), with y = x W as in `layers`, so A comes first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grpo_ref.arrays import Array, Floats, Integers
from grpo_ref.learning.policies.layers import swapped
from grpo_ref.learning.policies.neural import Cache, Network, NeuralPolicy
from grpo_ref.learning.policies.parameters import Parts, Shapes, joined, views

MATRICES = ("qkv", "out", "up", "down")
"""Last part of the names of the adapted matrices: all products inside the layers, but not the embedding."""


@dataclass(frozen=True, eq=False)
class LowRank:
    """A network whose only weights are the factors A and B; the weights of the base are constant.

    Attributes:
      base: the adapted network.
      constant: (n,) weights of the base.
      rank: r, number of columns of A and of rows of B.
      alpha: numerator of the factor before the product.
    """

    base: Network
    constant: Floats
    rank: int
    alpha: float

    @property
    def vocabulary(self) -> int:
        """V, number of tokens in the vocabulary."""
        return self.base.vocabulary

    def adapted(self) -> Sequence[str]:
        """Return the names of the adapted matrices."""
        return [name for name in self.base.shapes() if name.rpartition(".")[2] in MATRICES]

    def shapes(self) -> Shapes:
        """Return name and shape of A and B of each adapted matrix."""
        shapes: dict[str, tuple[int, ...]] = {}
        for name in self.adapted():
            inputs, outputs = self.base.shapes()[name]
            shapes |= {f"{name}.A": (inputs, self.rank), f"{name}.B": (self.rank, outputs)}
        return shapes

    def init(self, generator: np.random.Generator) -> Parts:
        """Return initial weights by name: A uniform within 1/√I, as in PEFT, and B = 0, so that W' = W."""
        return {
            name: generator.uniform(-1.0, 1.0, shape) * shape[0] ** -0.5
            if name.endswith("A")
            else np.zeros(shape)
            for name, shape in self.shapes().items()
        }

    def forward(self, weights: Parts, tokens: Integers) -> tuple[Array, Any]:
        """Return the logits (S, B, T, V) after each token (S, B, T), and the arrays for `pull_back`."""
        return self.base.forward(self._merged(weights), tokens)

    def extend(self, weights: Parts, tokens: Integers, cache: Cache) -> tuple[Array, Cache]:
        """Return the logits after more tokens, and the cache with these tokens."""
        return self.base.extend(self._merged(weights), tokens, cache)

    def pull_back(self, weights: Parts, kept: Any, slope: Array) -> Parts:
        """Return the slopes of all A and B, from ∂L/∂logits.

        ∂L/∂A = (alpha / r) ∂L/∂W' Bᵀ,    ∂L/∂B = (alpha / r) Aᵀ ∂L/∂W'
        """
        of_base, scale = self.base.pull_back(self._merged(weights), kept, slope), self.alpha / self.rank
        slopes: Parts = {}
        for name in self.adapted():
            first, second = weights[f"{name}.A"], weights[f"{name}.B"]
            slopes[f"{name}.A"] = scale * (of_base[name] @ swapped(second))
            slopes[f"{name}.B"] = scale * (swapped(first) @ of_base[name])
        return slopes

    def _merged(self, weights: Parts) -> Parts:
        """Return the weights of the base with the products added, (S, ...) each."""
        runs = next(iter(weights.values())).shape[0]
        merged = {
            name: np.broadcast_to(part, (runs, *part.shape))
            for name, part in views(self.constant, self.base.shapes()).items()
        }
        for name in self.adapted():
            product = weights[f"{name}.A"] @ weights[f"{name}.B"]
            merged[name] = merged[name] + (self.alpha / self.rank) * product
        return merged


def low_rank(policy: NeuralPolicy, rank: int, alpha: float, *, seed: int) -> NeuralPolicy:
    """Return a policy that begins at the given one and learns factors of a rank instead of all weights.

    Args:
      policy: the policy to adapt, with the same weights (n,) for all runs.
      rank: rank of the products.
      alpha: numerator of the factor before them.
      seed: seed of the initial A.
    """
    network = LowRank(policy.network, policy.weights, rank, alpha)
    factors = joined(network.init(np.random.default_rng([seed, 12])), network.shapes())
    return NeuralPolicy(network, factors.astype(policy.weights.dtype))
