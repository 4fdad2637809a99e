"""Prompts with right answers, but with rewards that are random coins."""

import zlib
from functools import partial
from typing import Literal

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.learning.task import END, Task


def answers(logits: Floats, right: Integers, *, pays: Literal["coin", "right"], seed: int) -> Task:
    """Return a task whose reward is either a random coin or the right answer.

    Args:
      logits: (Q, T, V) logits of the reference.
      right: (Q, T) right answer to each prompt.
      pays: criterion that is the reward, "coin" or "right".
      seed: seed of the coins.
    """
    prompts, length, letters = logits.shape
    states = np.arange(prompts * length)
    following = np.where(states % length == length - 1, END, states + 1)
    return Task(
        name="answers",
        vocabulary=tuple("abcdefghijkl"[:letters]),
        transitions=np.repeat(following[:, None], letters, axis=1),
        prompts=tuple(f"{prompt}:" for prompt in range(prompts)),
        starts=np.arange(prompts) * length,
        prompt_probs=np.full(prompts, 1.0 / prompts),
        max_length=length,
        ref_logits=logits.reshape(-1, letters),
        verify=partial(_judge, right, seed),
        criteria=("coin", "right"),
        weights=np.array([pays == "coin", pays == "right"], dtype=np.float64),
    )


def _judge(right: Integers, seed: int, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """Return a fair coin for each completion, and 1 if the completion is right.

    The coins differ from batch to batch, because the content of the batch is their seed.
    """
    batches = tokens.reshape(-1, *tokens.shape[-3:]).astype(np.int64)
    seeds = [[seed, zlib.crc32(np.ascontiguousarray(batch).tobytes())] for batch in batches]
    coins = np.stack([np.random.default_rng(one).random(batches.shape[1:-1]) < 0.5 for one in seeds])
    is_right = (tokens == right[prompts][..., None, :]).all(-1)
    return np.stack([coins.reshape(is_right.shape), is_right], axis=-1).astype(np.float64)
