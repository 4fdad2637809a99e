"""Sorting with a visible trace: only the result is rewarded, and the steps are measured.

    3142>1342>1324>1234      after each ">" the list with two neighbours swapped, until it is sorted

The policy may take any number of steps, and the steps need not be swaps. A fifth of the lists is held out.
"""

from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers, array_namespace
from grpo_ref.learning.task import Examples, Task
from grpo_ref.tasks.text import one_state, split_probs

VOCABULARY = (*"0123456789>", "")
ARROW, EOS = 10, 11
SPARE = 2
"""Number of lists that fit into the budget beyond those that the longest sorting needs."""


def sorting(*, digits: int = 4, split_seed: int = 0) -> Task:
    """Sort the digits of a list, as in 3142>1342>1324>1234: each step swaps two neighbours.

    Args:
      digits: number of digits of a list, 2 to 4.
      split_seed: seed of the choice of held-out lists.

    Returns:
      A task with criteria "sorted" (the last list is the sorted prompt) and "legal" (every list is the
      previous list with two different neighbours swapped; weight 0, measured only). `prompt_probs` is 0 for
      held-out lists.

    Raises:
      ValueError: if digits is not 2, 3 or 4.
    """
    if digits not in (2, 3, 4):
        raise ValueError(f"digits: expected 2, 3 or 4, got {digits!r}")
    lists = np.arange(10**digits)[:, None] // 10 ** np.arange(digits)[::-1] % 10
    prompts = tuple("".join(map(str, one)) for one in lists)
    prompt_probs = split_probs(len(lists), split_seed)
    seen = np.flatnonzero(prompt_probs)
    traces = _traces(lists)
    padding = np.full((len(lists), SPARE * (digits + 1)), EOS)
    tokens = np.concatenate([traces, padding], axis=-1)
    # The mask ends with the first EOS.
    mask = np.cumsum(tokens == EOS, axis=-1) - (tokens == EOS) == 0
    return Task(
        name="sorting",
        vocabulary=VOCABULARY,
        transitions=one_state(VOCABULARY),
        prompts=prompts,
        starts=np.zeros(len(lists), dtype=np.int64),
        prompt_probs=prompt_probs,
        max_length=tokens.shape[-1],
        ref_logits=np.zeros((1, len(VOCABULARY))),
        verify=partial(_judge, lists),
        criteria=("sorted", "legal"),
        weights=np.array([1.0, 0.0]),
        prompt_tokens=lists,
        examples=Examples(seen, (tokens * mask)[seen], mask[seen]),
        policy="transformer",
        pretraining={"until": 0.3},
        settings={"updates": 300, "prompts": 32, "learning_rate": 5e-4, "max_grad_norm": 1.0},
    )


def _traces(lists: Integers) -> Integers:
    """Return (Q, T) an arrow and a list for each swap of the first two digits out of order, then EOS."""
    now, blocks = lists.copy(), []
    rows, (count, digits) = np.arange(len(lists))[:, None], lists.shape
    for _ in range(digits * (digits - 1) // 2):
        falls = now[:, :-1] > now[:, 1:]
        places = falls.argmax(-1)[:, None] + [0, 1]
        now[rows, places] = np.sort(now[rows, places], axis=-1)
        step = np.concatenate([np.full((count, 1), ARROW), now], axis=-1)
        blocks.append(np.where(falls.any(-1, keepdims=True), step, EOS))
    return np.concatenate(blocks, axis=-1)


def _judge(lists: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """Return (..., P, G, 2): is the last list the sorted prompt, and is every step one swap?"""
    # The whole text: an arrow and the prompt's list, then the completion, in blocks of an arrow and a list.
    xp, width = array_namespace(lists, prompts, tokens, mask), lists.shape[-1] + 1
    written = mask & (tokens != EOS)
    given = xp.broadcast_to(lists[prompts][..., None, :], (*tokens.shape[:-1], width - 1))
    arrow = xp.full((*tokens.shape[:-1], 1), ARROW, dtype=tokens.dtype)
    text = xp.concat([arrow, given, xp.where(written, tokens, EOS)], axis=-1)
    last = xp.take_along_axis(text, written.sum(-1)[..., None] + xp.arange(width), axis=-1)
    right = (last == xp.concat([arrow, xp.sort(given, axis=-1)], axis=-1)).all(-1)
    blocks = text.reshape(*text.shape[:-1], -1, width)
    over = (blocks[..., 1:, :] == EOS).all(-1)
    legal = (over | _swapped(blocks[..., :-1, :], blocks[..., 1:, :])).all(-1)
    ended = (mask & ~written).any(-1)
    judged: Floats = xp.stack([right & ended, legal & ended], axis=-1).astype(xp.float64)
    return judged


def _swapped(before: Integers, after: Integers) -> Bools:
    """Return (...) True where two blocks (..., n + 1), each an arrow and a list, differ by one swap."""
    differs = before != after
    crossed = (before[..., 1:-1] == after[..., 2:]) & (before[..., 2:] == after[..., 1:-1]) & differs[..., 2:]
    swapped: Bools = crossed.any(-1) & (differs.sum(-1) == 2)
    return swapped
