"""A family of bandits and policies: how many arms there are, how they pay, how sure the policy is."""

from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Floats

FAMILY = (
    "Bandits and policies. Drawn are the number of arms, how they pay (by a symmetric beta distribution on"
    " [0, 1] whose parameter is 0.1 to 1, from nearly right or wrong to evenly spread), and how sure the"
    " policy is (a standard deviation of its logits of 0.1 to 3)."
)


class Kind(NamedTuple):
    """What is drawn for a task; payoffs and policies are drawn by it.

    Attributes:
      arms: number of tokens.
      evenness: parameter of the payoffs' beta distribution.
      sharpness: standard deviation of the policy's logits.
    """

    arms: int
    evenness: float
    sharpness: float

    def draw(self, generator: np.random.Generator, contexts: int) -> tuple[Floats, Floats]:
        """Two (contexts, arms): mean rewards and logits."""
        shape = (contexts, self.arms)
        means = generator.beta(self.evenness, self.evenness, shape)
        return means, self.sharpness * generator.normal(size=shape)


def drawn_kind(generator: np.random.Generator, *, most_arms: int) -> Kind:
    """A kind of bandit with 2 to so many arms."""
    return Kind(
        arms=int(generator.integers(2, most_arms + 1)),
        evenness=float(np.exp(generator.uniform(np.log(0.1), 0.0))),
        sharpness=float(generator.uniform(0.1, 3.0)),
    )
