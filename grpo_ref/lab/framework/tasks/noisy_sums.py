"""Sums of digits with a verifier that errs: it accepts wrong answers and rejects right ones."""

import zlib
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.tasks.digit_sums import drawn_sums
from grpo_ref.learning.task import Task


def noisy_sums(
    seed: int, *, accepts_wrong: float = 0.0, rejects_right: float = 0.0, repeats: bool = False, **fixed: Any
) -> Task:
    """Sample a task of sums without wrong labels, and let a noisy verifier reward its answers.

    Args:
      seed: seed of the task and of the errors.
      accepts_wrong: probability that a wrong answer is rewarded (false positive).
      rejects_right: probability that a right answer is not rewarded (false negative).
      repeats: if true, the verifier always judges the same answer to the same question in the same way; if
        false, each verdict is sampled.
      fixed: arguments of `digit_sums`.

    Returns:
      A task with the criteria of `digit_sums`, where "correct" is the truth, and "accepted", the reward.
    """
    task = drawn_sums(seed, **{"mislabelled": 0.0, "copies": 1, **fixed})
    answers = (len(task.vocabulary) + 1) ** task.max_length
    always = np.random.default_rng([seed, 17]).random((len(task.prompts), answers)) if repeats else None
    return replace(
        task,
        name="noisy_sums",
        verify=partial(_noisily, task, always, seed, accepts_wrong, rejects_right),
        criteria=(*task.criteria, "accepted"),
        weights=np.array([0.0] * len(task.criteria) + [1.0]),
    )


def _noisily(
    task: Task,
    always: Floats | None,
    seed: int,
    accepts_wrong: float,
    rejects_right: float,
    prompts: Integers,
    tokens: Integers,
    mask: Bools,
) -> Floats:
    """Return (..., P, G, C + 1) the true criteria, and the noisy verdict."""
    truth = task.verify(prompts, tokens, mask)
    right = truth[..., -1]  # the last criterion is "correct"
    if always is None:
        chance = _sampled_chance(seed, tokens).reshape(right.shape)
    else:
        chance = always[prompts[..., None], _numbered(task, tokens, mask)]
    errs = chance < np.where(right > 0.0, rejects_right, accepts_wrong)
    return np.concatenate([truth, np.where(errs, 1.0 - right, right)[..., None]], axis=-1)


def _sampled_chance(seed: int, tokens: Integers) -> Floats:
    """Return uniform numbers that differ from batch to batch, because the batch's content is their seed."""
    batches = tokens.reshape(-1, *tokens.shape[-3:]).astype(np.int64)
    seeds = [[seed, zlib.crc32(np.ascontiguousarray(batch).tobytes())] for batch in batches]
    return np.stack([np.random.default_rng(one).random(batches.shape[1:-1]) for one in seeds])


def _numbered(task: Task, tokens: Integers, mask: Bools) -> Integers:
    """Return (..., P, G) a number for each completion; two different completions have different numbers."""
    digits = np.where(mask, tokens + 1, 0)
    numbers: Integers = (digits * (len(task.vocabulary) + 1) ** np.arange(tokens.shape[-1])).sum(-1)
    return numbers
