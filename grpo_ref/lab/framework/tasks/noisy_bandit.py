"""A bandit with noisy rewards: the prompts of one state look the same to the policy."""

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
    """Return a bandit in which no arm is always right.

    A good arm has reward 1 for a fraction `pays` of the prompts of its state, and 0 for the others. A bad arm
    has reward 1 for a fraction 1 - pays, plus possibly one prompt by rounding: with the defaults, 28 and 13
    of 40 prompts. The best mean reward of a policy is `pays`, with any mixture of the good arms.

    Args:
      states: number of states that the policy distinguishes.
      prompts: number of prompts per state.
      arms: number of tokens.
      good: number of good arms of each state.
      pays: fraction of the prompts for which a good arm has reward 1; if 1, rewards have no noise.
      spread: standard deviation of the initial logits.
      seed: seed of the rewards and of the initial logits.
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
