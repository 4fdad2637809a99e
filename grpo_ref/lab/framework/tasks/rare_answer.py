"""A bandit with one right answer, which may be rare at the start, and others that are lucky at times."""

from dataclasses import replace

import numpy as np

from grpo_ref.lab.framework.tasks.orders import random_orders
from grpo_ref.learning.task import END, Task
from grpo_ref.tasks.bandit import bandit_with

VARIANTS = 20
"""Prompts of each context, which the policy cannot tell apart."""


def rare_answer(
    *, contexts: int, answers: int, probability: float, spread: float, luck: float, seed: int
) -> Task:
    """A bandit with one right answer, the first of each context, and others that are lucky at times.

    Args:
      contexts: what the policy can tell apart.
      answers: number of tokens.
      probability: of the right answer at the start.
      spread: standard deviation of the other answers' logits at the start.
      luck: for which share of its prompts a wrong answer pays; the right one always does.
      seed: of the luck and of the logits at the start.
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
