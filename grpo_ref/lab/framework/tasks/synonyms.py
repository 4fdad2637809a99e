"""A task with several equally right answers, to count how many a policy still gives after training."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.tasks.orders import random_orders
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.task import END, Task

PROMPTS, VOCABULARY = 12, 8
TRAINING: Mapping[str, Any] = {"updates": 150, "prompts": 12, "group_size": 8, "learning_rate": 0.1}


def synonyms(*, right: int = 4, spread: float = 1.0, seed: int = 0) -> Task:
    """Return a task with answers of two tokens, some of which are equally right.

    Args:
      right: number of right answers per prompt; their first tokens differ.
      spread: standard deviation of the reference's logits. A larger spread gives the reference stronger
        preferences.
      seed: seed of the right answers and of the reference.

    Returns:
      A task with the criterion "right".
    """
    roots = np.arange(PROMPTS) * (1 + VOCABULARY)
    following = np.full((PROMPTS, 1 + VOCABULARY, VOCABULARY), END)
    following[:, 0, :] = roots[:, None] + 1 + np.arange(VOCABULARY)
    generator = np.random.default_rng([seed, 1])
    return Task(
        name="synonyms",
        vocabulary=tuple("abcdefgh"),
        transitions=following.reshape(-1, VOCABULARY),
        prompts=tuple(f"{prompt}:" for prompt in range(PROMPTS)),
        starts=roots,
        prompt_probs=np.full(PROMPTS, 1.0 / PROMPTS),
        max_length=2,
        ref_logits=spread * generator.normal(size=(PROMPTS * (1 + VOCABULARY), VOCABULARY)),
        verify=partial(_judge, right_answers(right=right, seed=seed)),
        criteria=("right",),
        weights=np.ones(1),
    )


def right_answers(*, right: int, seed: int) -> Integers:
    """Return (prompts, right, 2) both tokens of each right answer of `synonyms`."""
    generator = np.random.default_rng([seed, 0])
    first = random_orders(generator, (PROMPTS, VOCABULARY))[:, :right]
    second = generator.integers(VOCABULARY, size=(PROMPTS, right))
    answers: Integers = np.stack([first, second], axis=-1)
    return answers


def _judge(answers: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    same = tokens[..., None, :] == answers[prompts][..., None, :, :]
    right: Floats = same.all(-1).any(-1)[..., None].astype(np.float64)
    return right


def modes(log_probs: Floats, answers: Integers) -> Floats:
    """Return the effective number of right answers of a policy: exp(entropy), averaged over the prompts.

    Args:
      log_probs: (..., N, V) log-probabilities on `synonyms`, in nats.
      answers: (prompts, right, 2) right answers.

    Returns:
      (...,) from 1 to the number of right answers.
    """
    rows = np.arange(PROMPTS)[:, None] * (1 + VOCABULARY)
    first, second = answers[..., 0], answers[..., 1]
    log_odds = log_probs[..., rows, first] + log_probs[..., rows + 1 + first, second]
    shares = log_softmax(log_odds)
    effective: Floats = np.exp(-(np.exp(shares) * shares).sum(-1)).mean(-1)
    return effective
