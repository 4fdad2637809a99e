"""A bandit whose rewards have luck in them: the policy cannot tell apart the prompts of one state."""

from dataclasses import replace

import numpy as np

from grpo_ref.lab.framework.tasks.orders import random_orders
from grpo_ref.learning.task import END, Task
from grpo_ref.tasks.bandit import bandit_with


def noisy_bandit(
    *,
    states: int = 2,
    prompts: int = 40,
    arms: int = 16,
    good: int = 8,
    pays: float = 0.7,
    spread: float = 1.0,
    seed: int = 0,
) -> Task:
    """A bandit in which no arm is always right.

    A good arm pays 1 for a share `pays` of the prompts of its state and 0 for the others; a bad arm pays 1
    for a share 1 - pays, which floating point may raise by one prompt: with the defaults, 28 and 13 of 40
    prompts. The best mean reward that a policy can reach is `pays`, with any mixture of the good arms.

    Args:
      states: what the policy can tell apart.
      prompts: number of prompts per state.
      arms: number of tokens.
      good: how many arms of each state are good.
      pays: share of the prompts for which a good arm pays; 1 means payoffs without luck.
      spread: standard deviation of the logits at the start.
      seed: of the payoffs and of the logits at the start.
    """
    generator = np.random.default_rng(seed)
    is_good = random_orders(generator, (states, 1, arms)) < good
    places = random_orders(generator, (states, prompts, arms), axis=1)
    payoffs = places < np.where(is_good, pays, 1.0 - pays) * prompts
    return replace(
        bandit_with(payoffs.reshape(-1, arms).astype(np.float64)),
        name="noisy_bandit",
        starts=np.repeat(np.arange(states), prompts),
        transitions=np.full((states, arms), END),
        ref_logits=spread * generator.normal(size=(states, arms)),
    )
