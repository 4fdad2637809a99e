"""A distribution of bandits and policies, with different numbers of arms, rewards and entropies."""

from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Floats

FAMILY = (
    "Bandits and policies. Drawn are the number of arms, how they pay (by a symmetric beta distribution on"
    " [0, 1] whose parameter is 0.1 to 1, from nearly right or wrong to evenly spread), and how sure the"
    " policy is (a standard deviation of its logits of 0.1 to 3)."
)


class Kind(NamedTuple):
    """Parameters of a task, from which rewards and policies are sampled.

    Attributes:
      arms: number of tokens.
      evenness: parameter of the beta distribution of the mean rewards.
      sharpness: standard deviation of the policy's logits.
    """

    arms: int
    evenness: float
    sharpness: float

    def draw(self, generator: np.random.Generator, contexts: int) -> tuple[Floats, Floats]:
        """Sample mean rewards and logits, (contexts, arms) each."""
        shape = (contexts, self.arms)
        means = generator.beta(self.evenness, self.evenness, shape)
        return means, self.sharpness * generator.normal(size=shape)


def drawn_kind(generator: np.random.Generator, *, most_arms: int) -> Kind:
    """Sample the parameters of a bandit with 2 to `most_arms` arms."""
    return Kind(
        arms=int(generator.integers(2, most_arms + 1)),
        evenness=float(np.exp(generator.uniform(np.log(0.1), 0.0))),
        sharpness=float(generator.uniform(0.1, 3.0)),
    )
