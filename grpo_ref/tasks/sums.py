"""Sums with a scratchpad, for a network: it must generalize to held-out pairs, which a table cannot.

    27+38=51.60.065      units: 5, carry 1; tens: 6, carry 0; then the sum

Only the sum is rewarded; the scratchpad helps to compute it. A fifth of the pairs is held out.
"""

from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers, array_namespace
from grpo_ref.learning.task import Examples, Task
from grpo_ref.tasks.text import one_state, split_probs

VOCABULARY = (*"0123456789+=.", "")
POINT, EOS = 12, 13


def sums(*, digits: int = 2, split_seed: int = 0) -> Task:
    """Answer "27+38=": write digit and carry of every place, then the sum.

    Args:
      digits: number of digits of each number, 1 or 2.
      split_seed: seed of the choice of held-out pairs.

    Returns:
      A task with criteria "correct" (the sum is right) and "steps" (the scratchpad is right too; weight 0,
      measured only). `prompt_probs` is 0 for held-out pairs.

    Raises:
      ValueError: if digits is not 1 or 2.
    """
    if digits not in (1, 2):
        raise ValueError(f"digits: expected 1 or 2, got {digits!r}")
    pairs = np.stack(np.divmod(np.arange(100**digits), 10**digits), axis=-1)
    right = right_completions(pairs, digits)
    prompt_probs = split_probs(len(pairs), split_seed)
    seen = np.flatnonzero(prompt_probs)
    prompts = tuple(f"{a:0{digits}}+{b:0{digits}}=" for a, b in pairs)
    return Task(
        name="sums",
        vocabulary=VOCABULARY,
        transitions=one_state(VOCABULARY),
        prompts=prompts,
        starts=np.zeros(len(pairs), dtype=np.int64),
        prompt_probs=prompt_probs,
        max_length=right.shape[-1],
        ref_logits=np.zeros((1, len(VOCABULARY))),
        verify=partial(_judge, right, digits + 2),
        criteria=("correct", "steps"),
        weights=np.array([1.0, 0.0]),
        prompt_tokens=np.array([[VOCABULARY.index(sign) for sign in text] for text in prompts]),
        examples=Examples(seen, right[seen], np.ones((len(seen), right.shape[-1]), dtype=bool)),
        policy="transformer",
        pretraining={"until": 0.1},
        settings={"updates": 400, "prompts": 64, "learning_rate": 5e-4, "max_grad_norm": 1.0},
    )


def right_completions(pairs: Integers, digits: int = 2) -> Integers:
    """Return the right completion of each prompt: scratchpad, sum and end.

    Args:
      pairs: (Q, 2) the two numbers of each prompt.
      digits: number of digits of each number.

    Returns:
      (Q, T) tokens: digit, carry and a point for each place, then digits + 1 tokens for the sum, and the end.

    >>> "".join(VOCABULARY[token] for token in right_completions(np.array([[27, 38]]))[0])
    '51.60.065'
    """
    columns, carry = [], np.zeros(len(pairs), dtype=np.int64)
    for place in range(digits):
        total = (pairs // 10**place % 10).sum(-1) + carry
        digit, carry = total % 10, total // 10
        columns += [digit, carry, np.full(len(pairs), POINT)]
    both = pairs.sum(-1)
    columns += [both // 10**place % 10 for place in reversed(range(digits + 1))]
    return np.stack([*columns, np.full(len(pairs), EOS)], axis=-1)


def _judge(right: Integers, last: int, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """Return (..., P, G, 2): are the last tokens (the sum and the end) right, and are all tokens right?"""
    xp = array_namespace(right, prompts, tokens, mask)
    same = (tokens == right[prompts][..., None, :]) & mask
    judged: Floats = xp.stack([same[..., -last:].all(-1), same.all(-1)], axis=-1).astype(xp.float64)
    return judged
