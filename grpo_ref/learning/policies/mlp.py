"""A two-layer network on the last few characters: the smallest policy that generalizes.

    x = the embeddings of the last k tokens, one after the other;   logits = gelu(x W₁) W₂

Tokens before the first one have an embedding of their own. All arrays have the runs as their first axis.

Bengio et al. 2003, section 2 (JMLR 3), with GELU for tanh and without biases or direct connections.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Array, Floats, Integers, array_namespace
from grpo_ref.learning.policies.layers import gelu, gelu_back, linear, linear_back, one_hot, swapped
from grpo_ref.learning.policies.parameters import Parts, Shapes, check_sizes


class Kept(NamedTuple):
    """What the way back needs: (S, B, T), one-hot windows of all B T places, and inputs of the products."""

    shape: tuple[int, ...]
    windows: Array
    embedded: Array
    active: Array
    derivative: Array


@dataclass(frozen=True)
class MLP:
    """The sizes of the network.

    Attributes:
      vocabulary: V, how many tokens there are.
      context: k, how many of the last tokens it sees.
      width: numbers a token.
      hidden: numbers inside.

    Raises:
      ValueError: if a size is no whole number or below 1.
    """

    vocabulary: int
    context: int = 4
    width: int = 16
    hidden: int = 128

    def __post_init__(self) -> None:
        sizes = ("vocabulary", "context", "width", "hidden")
        check_sizes(**{name: (getattr(self, name), 1) for name in sizes})

    def shapes(self) -> Shapes:
        """Name and shape of every weight; the last row of the embedding stands before the first token."""
        return {
            "embedding": (self.vocabulary + 1, self.width),
            "up": (self.context * self.width, self.hidden),
            "down": (self.hidden, self.vocabulary),
        }

    def init(self, generator: np.random.Generator) -> dict[str, Floats]:
        """Weights to begin with, each product keeping the size of what it gets; the last one small.

        Args:
          generator: NumPy's source of random numbers.
        """
        scales = {"embedding": 1.0, "up": (self.context * self.width) ** -0.5, "down": 0.02}
        return {name: scales[name] * generator.normal(size=shape) for name, shape in self.shapes().items()}

    def forward(self, weights: Parts, tokens: Integers) -> tuple[Array, Kept]:
        """The logits of what follows each token: (S, B, T) -> (S, B, T, V), and what `pull_back` needs."""
        runs, sequences, length = tokens.shape
        logits, kept = self._logits(weights, self._windows(tokens, length), tokens.shape)
        return array_namespace(logits).reshape(logits, (runs, sequences, length, -1)), kept

    def extend(
        self, weights: Parts, tokens: Integers, cache: list[list[Array]]
    ) -> tuple[Array, list[list[Array]]]:
        """The logits (S, B, T, V) after some more tokens (S, B, T), and the last k tokens with them."""
        xp, (runs, sequences, length) = array_namespace(tokens), tokens.shape
        known = xp.concat([cache[0][0], tokens], axis=-1) if cache else tokens
        logits, _ = self._logits(weights, self._windows(known, length), tokens.shape)
        return xp.reshape(logits, (runs, sequences, length, -1)), [[known[..., -self.context :]]]

    def pull_back(self, weights: Parts, kept: Kept, slope: Array) -> Parts:
        """From ∂L/∂logits (S, B, T, V) to ∂L/∂weight of every weight."""
        xp = array_namespace(slope)
        slope = xp.reshape(slope, (slope.shape[0], -1, slope.shape[-1]))
        slope, down = linear_back(slope, kept.active, weights["down"])
        slope, up = linear_back(gelu_back(slope, kept.derivative), kept.embedded, weights["up"])
        by_token = xp.reshape(slope, (slope.shape[0], -1, self.width))
        return {"embedding": swapped(kept.windows) @ by_token, "up": up, "down": down}

    def _logits(self, weights: Parts, windows: Integers, shape: tuple[int, ...]) -> tuple[Array, Kept]:
        """(S, N, V) logits of the windows (S, N, k)."""
        xp, runs = array_namespace(windows), windows.shape[0]
        hot = one_hot(xp.reshape(windows, (runs, -1)), self.vocabulary + 1, weights["embedding"])
        embedded = xp.reshape(hot @ weights["embedding"], (*windows.shape[:-1], self.context * self.width))
        active, derivative = gelu(linear(embedded, weights["up"]))
        return linear(active, weights["down"]), Kept(shape, hot, embedded, active, derivative)

    def _windows(self, tokens: Integers, length: int) -> Integers:
        """(S, B length, k) the last k tokens at each of the last `length` places of (S, B, T)."""
        xp, (runs, sequences, known) = array_namespace(tokens), tokens.shape
        before = xp.full((runs, sequences, self.context), self.vocabulary, dtype=tokens.dtype)
        padded = xp.concat([before, tokens], axis=-1)
        first = known - length + 1
        places = [padded[..., first + lag : first + lag + length] for lag in range(self.context)]
        windows: Integers = xp.reshape(xp.stack(places, axis=-1), (runs, -1, self.context))
        return windows
