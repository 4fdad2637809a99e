"""Where draws take their randomness from."""

from collections.abc import Mapping
from typing import Protocol, TypeVar

import numpy as np

from grpo_ref.arrays import Bools, Floats

T = TypeVar("T")
Shape = tuple[int, ...]


class Source(Protocol):
    """All that a domain asks of randomness; NumPy's generator is one source, Hypothesis can be another."""

    def integer(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""

    def reals(self, low: float, high: float, shape: Shape) -> Floats:
        """Numbers from low to high."""

    def flags(self, shape: Shape) -> Bools:
        """Truth values, both equally likely."""

    def pick(self, name: str, options: Mapping[str, T]) -> T:
        """One of the options by label; which one is noted under the name."""

    @property
    def picked(self) -> dict[str, str]:
        """Name of each choice of the present draw -> label of what was picked."""


class Dealer:
    """A source that deals the options of each choice like cards.

    Every option comes once before one comes again, so that a rare class of inputs is tried as often as a
    frequent one. Equal seeds give equal draws.

    >>> dealer = Dealer(0)
    >>> sorted(dealer.pick("values", {"zero": 0, "large": 1, "negative": 2}) for _ in range(3))
    [0, 1, 2]
    """

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.decks: dict[tuple[str, int], list[int]] = {}
        self.picked: dict[str, str] = {}

    def integer(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return int(self.generator.integers(low, high, endpoint=True))

    def reals(self, low: float, high: float, shape: Shape) -> Floats:
        """Numbers from low to high."""
        return self.generator.uniform(low, high, shape)

    def flags(self, shape: Shape) -> Bools:
        """Truth values, both equally likely."""
        return self.generator.random(shape) < 0.5

    def pick(self, name: str, options: Mapping[str, T]) -> T:
        """The next card of the deck of this name; an empty deck is shuffled anew."""
        deck = self.decks.setdefault((name, len(options)), [])
        if not deck:
            deck.extend(self.generator.permutation(len(options)).tolist())
        label = list(options)[deck.pop()]
        self.picked[name] = label
        return options[label]
