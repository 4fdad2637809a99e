"""Sources of randomness for sampling inputs."""

from collections.abc import Mapping
from typing import Protocol, TypeVar

import numpy as np

from grpo_ref.arrays import Bools, Floats

T = TypeVar("T")
Shape = tuple[int, ...]


class Source(Protocol):
    """The interface of a source of randomness. NumPy's generator is one source, Hypothesis can be another."""

    def integer(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""

    def reals(self, low: float, high: float, shape: Shape) -> Floats:
        """Return numbers from low to high."""

    def flags(self, shape: Shape) -> Bools:
        """Return truth values, both equally likely."""

    def pick(self, name: str, options: Mapping[str, T]) -> T:
        """Return one of the options and record its label under this name."""

    @property
    def picked(self) -> dict[str, str]:
        """Name of each choice for the current input -> label of the picked option."""


class Dealer:
    """A source that deals the options of each choice like cards from a deck.

    Every option comes once before any comes again, so that a rare class of inputs is tried as often as a
    frequent one. Equal seeds give equal inputs.

    >>> dealer = Dealer(0)
    >>> sorted(dealer.pick("values", {"zero": 0, "large": 1, "negative": 2}) for _ in range(3))
    [0, 1, 2]
    """

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.decks: dict[tuple[str, int], list[int]] = {}
        self.picked: dict[str, str] = {}

    def integer(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return int(self.generator.integers(low, high, endpoint=True))

    def reals(self, low: float, high: float, shape: Shape) -> Floats:
        """Return numbers from low to high."""
        return self.generator.uniform(low, high, shape)

    def flags(self, shape: Shape) -> Bools:
        """Return truth values, both equally likely."""
        return self.generator.random(shape) < 0.5

    def pick(self, name: str, options: Mapping[str, T]) -> T:
        """Return the next option of the deck with this name. An empty deck is shuffled again."""
        deck = self.decks.setdefault((name, len(options)), [])
        if not deck:
            deck.extend(self.generator.permutation(len(options)).tolist())
        label = list(options)[deck.pop()]
        self.picked[name] = label
        return options[label]
