"""A bandit with a right answer, which may be rare at first, and wrong answers that are sometimes rewarded."""

from dataclasses import replace

import numpy as np

from grpo_ref.lab.framework.tasks.orders import random_orders
from grpo_ref.learning.task import END, Task
from grpo_ref.tasks.bandit import bandit_with

VARIANTS = 20
"""Number of prompts per context, which look the same to the policy."""


def rare_answer(
    *, contexts: int, answers: int, probability: float, spread: float, luck: float, seed: int
) -> Task:
    """Return a bandit whose first answer is right; wrong answers are sometimes rewarded.

    Args:
      contexts: number of contexts that the policy distinguishes.
      answers: number of tokens.
      probability: initial probability of the right answer.
      spread: standard deviation of the initial logits of the other answers.
      luck: fraction of the prompts for which a wrong answer has reward 1; the right answer always has.
      seed: seed of the rewards and of the initial logits.
    """
    generator = np.random.default_rng(seed)
    logits = spread * generator.normal(size=(contexts, answers))
    others = np.log(np.exp(logits[:, 1:]).sum(-1))
    logits[:, 0] = others + np.log(probability / (1.0 - probability))
    payoffs = random_orders(generator, (contexts, VARIANTS, answers), axis=1) < luck * VARIANTS
    payoffs[..., 0] = True
    return replace(
        bandit_with(payoffs.reshape(-1, answers).astype(np.float64)),
        name="rare_answer",
        starts=np.repeat(np.arange(contexts), VARIANTS),
        transitions=np.full((contexts, answers), END),
        ref_logits=logits,
    )
