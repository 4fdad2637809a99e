"""Sums in digit tokens: a language for a table, with an end-of-sequence token and a strict verifier."""

from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers, array_namespace
from grpo_ref.learning.task import END, Task

EOS = 10
"""The end-of-sequence token; tokens 0 to 9 are the digits."""
AFTER = -1
"""Padding after the end of a right answer."""


def arithmetic(*, largest: int = 9, max_length: int = 4, format_weight: float = 0.1) -> Task:
    """Answer "a+b=" with the digits of the sum and an end-of-sequence token.

    The state is the prompt and the number of tokens so far. The initial policy is uniform, so it gives an
    answer of n tokens with probability 11^-n. A completion that fills the budget counts as ended, with or
    without the end-of-sequence token. So `truncated` is always 0 here; only the reward shows a missing end.

    Args:
      largest: a and b are from 0 to this number.
      max_length: generation budget in tokens, the end-of-sequence token included.
      format_weight: reward for a well-formed number (digits, no leading zero, ended), in addition to 1 for
        the right number.

    Returns:
      A task with criteria "format" and "correct". For process supervision every token is a step, with reward
      1 if the right answer has this token at this position.
    """
    pairs = [(a, b) for a in range(largest + 1) for b in range(largest + 1)]
    answers = np.stack([_spell(a + b, max_length) for a, b in pairs], axis=-1)

    # One state for each prompt and position. A digit leads to the next position, or to the end from the last.
    states = np.arange(len(pairs) * max_length)
    following = np.where(states % max_length == max_length - 1, END, states + 1)
    transitions = np.repeat(following[:, None], 11, axis=1)
    transitions[:, EOS] = END
    return Task(
        name="arithmetic",
        vocabulary=(*"0123456789", ""),
        transitions=transitions,
        prompts=tuple(f"{a}+{b}=" for a, b in pairs),
        starts=np.arange(len(pairs)) * max_length,
        prompt_probs=np.full(len(pairs), 1.0 / len(pairs)),
        max_length=max_length,
        ref_logits=np.zeros((len(pairs) * max_length, 11)),
        verify=partial(_judge, answers),
        verify_steps=partial(_judge_steps, answers),
        criteria=("format", "correct"),
        weights=np.array([format_weight, 1.0]),
        settings={"updates": 250, "prompts": 100, "group_size": 16, "learning_rate": 0.3},
    )


def _spell(number: int, max_length: int) -> Integers:
    """Return the right answer as max_length tokens."""
    tokens = [int(digit) for digit in str(number)] + [EOS]
    if len(tokens) > max_length:
        raise ValueError(
            f"max_length: {number} and its end need {len(tokens)} tokens, got a budget of {max_length}"
        )
    return np.array(tokens + [AFTER] * (max_length - len(tokens)))


def _judge(answers: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """Return (..., P, G, 2): is the completion a well-formed number, and is it exactly the sum?"""
    xp = array_namespace(answers, tokens, mask)
    sums = _sums(answers, prompts)
    needed = sums != AFTER
    correct = ((((tokens == sums) & mask) == needed) & (mask == needed)).all(-1)
    ended = ((tokens == EOS) & mask).any(-1)
    leading_zero = (tokens[..., 0] == 0) & mask[..., 2:].any(-1)
    well_formed = ended & mask[..., 1] & ~leading_zero
    judged: Floats = xp.stack([well_formed, correct], axis=-1).astype(xp.float64)
    return judged


def _judge_steps(answers: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> tuple[Floats, Bools]:
    """Return two (..., P, G, T): is the token the right answer's, and does a step end here (always)."""
    right = tokens == _sums(answers, prompts)
    return (right & mask).astype(array_namespace(tokens).float64), mask


def _sums(answers: Integers, prompts: Integers) -> Integers:
    """Return (..., P, 1, T) the right answers to the prompts, from answers (T, Q), with T first in memory."""
    sums = answers.take(prompts, axis=1)
    return sums.transpose(*range(1, sums.ndim), 0)[..., None, :]
