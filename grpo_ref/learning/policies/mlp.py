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
    """Arrays that the forward pass keeps for the backward pass.

    Attributes:
      shape: (S, B, T) of the tokens.
      windows: (S, B T k, V + 1) one-hot tokens of all windows.
      embedded, active: (S, B T, ...) inputs of the products with up and down.
      derivative: the derivative of the activation.
    """

    shape: tuple[int, ...]
    windows: Array
    embedded: Array
    active: Array
    derivative: Array


@dataclass(frozen=True)
class MLP:
    """A two-layer network on the last few tokens, given by its sizes. It does not contain weights.

    Attributes:
      vocabulary: V, number of tokens in the vocabulary.
      context: k, number of last tokens that the network sees.
      width: features per token.
      hidden: features between the two products.

    Raises:
      ValueError: if a size is not a whole number of at least 1.
    """

    vocabulary: int
    context: int = 4
    width: int = 16
    hidden: int = 128

    def __post_init__(self) -> None:
        sizes = ("vocabulary", "context", "width", "hidden")
        check_sizes(**{name: (getattr(self, name), 1) for name in sizes})

    def shapes(self) -> Shapes:
        """Return name and shape of every weight. The embedding's last row is for places before the text."""
        return {
            "embedding": (self.vocabulary + 1, self.width),
            "up": (self.context * self.width, self.hidden),
            "down": (self.hidden, self.vocabulary),
        }

    def init(self, generator: np.random.Generator) -> dict[str, Floats]:
        """Return initial weights by name. The last product is small, so the policy starts nearly uniform.

        Args:
          generator: a random generator.
        """
        scales = {"embedding": 1.0, "up": (self.context * self.width) ** -0.5, "down": 0.02}
        return {name: scales[name] * generator.normal(size=shape) for name, shape in self.shapes().items()}

    def forward(self, weights: Parts, tokens: Integers) -> tuple[Array, Kept]:
        """Return the logits (S, B, T, V) after each token (S, B, T), and the arrays for `pull_back`."""
        runs, sequences, length = tokens.shape
        logits, kept = self._logits(weights, self._windows(tokens, length), tokens.shape)
        return array_namespace(logits).reshape(logits, (runs, sequences, length, -1)), kept

    def extend(
        self, weights: Parts, tokens: Integers, cache: list[list[Array]]
    ) -> tuple[Array, list[list[Array]]]:
        """Return the logits (S, B, T, V) after more tokens (S, B, T), and the last k tokens as the cache."""
        xp, (runs, sequences, length) = array_namespace(tokens), tokens.shape
        known = xp.concat([cache[0][0], tokens], axis=-1) if cache else tokens
        logits, _ = self._logits(weights, self._windows(known, length), tokens.shape)
        return xp.reshape(logits, (runs, sequences, length, -1)), [[known[..., -self.context :]]]

    def pull_back(self, weights: Parts, kept: Kept, slope: Array) -> Parts:
        """Return ∂L/∂weight of every weight, from ∂L/∂logits (S, B, T, V)."""
        xp = array_namespace(slope)
        slope = xp.reshape(slope, (slope.shape[0], -1, slope.shape[-1]))
        # The steps of `_logits`, in reverse order.
        slope, down = linear_back(slope, kept.active, weights["down"])
        slope, up = linear_back(gelu_back(slope, kept.derivative), kept.embedded, weights["up"])
        by_token = xp.reshape(slope, (slope.shape[0], -1, self.width))
        return {"embedding": swapped(kept.windows) @ by_token, "up": up, "down": down}

    def _logits(self, weights: Parts, windows: Integers, shape: tuple[int, ...]) -> tuple[Array, Kept]:
        """Return the logits (S, N, V) of windows (S, N, k), and the arrays for the backward pass."""
        xp, runs = array_namespace(windows), windows.shape[0]
        hot = one_hot(xp.reshape(windows, (runs, -1)), self.vocabulary + 1, weights["embedding"])
        embedded = xp.reshape(hot @ weights["embedding"], (*windows.shape[:-1], self.context * self.width))
        active, derivative = gelu(linear(embedded, weights["up"]))
        return linear(active, weights["down"]), Kept(shape, hot, embedded, active, derivative)

    def _windows(self, tokens: Integers, length: int) -> Integers:
        """Return (S, B length, k) the last k tokens at each of the last `length` places of (S, B, T)."""
        # Before the text is a token of its own, number V.
        xp, (runs, sequences, known) = array_namespace(tokens), tokens.shape
        before = xp.full((runs, sequences, self.context), self.vocabulary, dtype=tokens.dtype)
        padded = xp.concat([before, tokens], axis=-1)
        first = known - length + 1
        places = [padded[..., first + lag : first + lag + length] for lag in range(self.context)]
        windows: Integers = xp.reshape(xp.stack(places, axis=-1), (runs, -1, self.context))
        return windows
