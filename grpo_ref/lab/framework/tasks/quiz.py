"""Questions with answers of one token and given initial probabilities of the right answer."""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.learning.task import END, Task
from grpo_ref.tasks.bandit import bandit_with

COPIES = 10
"""Number of prompts per question, which look the same to the policy."""


def quiz(generator: np.random.Generator, chances: Floats, *, mislabelled: float) -> Task:
    """Return questions with a right answer, token 0, and 1 to 7 wrong answers; some labels are random.

    Args:
      generator: random generator of the task.
      chances: (questions,) initial probability of the right answer.
      mislabelled: fraction of the prompts whose label is a random answer. A question has `COPIES` prompts.
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
