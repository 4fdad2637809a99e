"""Questions with one token for an answer, each as likely to be right at first as told."""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.learning.task import END, Task
from grpo_ref.tasks.bandit import bandit_with

COPIES = 10
"""Prompts of each question, which the policy cannot tell apart."""


def quiz(generator: np.random.Generator, chances: Floats, *, mislabelled: float) -> Task:
    """Questions with a right answer, the token 0, and 1 to 7 wrong ones; some of the labels are random.

    Args:
      generator: of all that is drawn.
      chances: (questions,) of the right answer at first.
      mislabelled: share of the prompts, of which a question has `COPIES`, whose label is any answer.
    """
    answers = int(generator.integers(2, 9))
    logits = generator.normal(size=(len(chances), answers))
    logits[:, 0] = np.log(chances / (1.0 - chances) * np.exp(logits[:, 1:]).sum(-1))
    own = np.repeat(np.arange(len(chances)), COPIES)
    is_random = generator.random(len(own)) < mislabelled
    labels = np.where(is_random, generator.integers(answers, size=len(own)), 0)
    return replace(
        bandit_with((labels[:, None] == np.arange(answers)).astype(np.float64)),
        name="quiz",
        starts=own,
        transitions=np.full(logits.shape, END),
        ref_logits=logits,
    )
