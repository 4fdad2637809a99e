"""Prompts of two signs: the first asks for an answer, the second says how long to think before it.

A completion is any number of thoughts, which are all the same token, and then an answer, which ends it. So
the chance of a right completion is a sum over the number of thoughts, and nothing needs to be sampled.
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.network import Started
from grpo_ref.learning.task import END, Task

THINK = 0
"""The token that goes on; every other token is an answer and ends the completion."""


class Thinkers(NamedTuple):
    """A task and a network that has imitated its reference, with the facts about its prompts.

    Attributes:
      start: task and network.
      right: (Q,) right answer to each prompt.
      needed: (Q,) number of thoughts that each prompt needs before its answer.
    """

    start: Started
    right: Integers
    needed: Integers


def required_thoughts(
    right: Integers,
    needed: Integers,
    onward: Floats,
    prompt_probs: Floats,
    *,
    known: float,
    budget: int,
) -> Task:
    """Return the task of a table, with one state for each prompt.

    Args:
      right: (Q,) right answer to each pair of signs, from 1 to kinds - 1. Q is kinds squared.
      needed: (Q,) number of thoughts that each pair needs before its answer.
      onward: (Q,) probability of another thought under the reference.
      prompt_probs: (Q,) probability of each prompt; 0 if it is held out.
      known: probability that an answer of the reference is right.
      budget: longest completion in tokens. A completion that the budget truncates has no answer.
    """
    states, kinds = np.arange(len(right)), math.isqrt(len(right))
    ref_logits = np.zeros((len(states), kinds))
    ref_logits[states, right] = np.log(known / (1.0 - known) * (kinds - 2))
    answered = np.exp(ref_logits[:, THINK + 1 :]).sum(-1)
    ref_logits[:, THINK] = np.log(onward / (1.0 - onward) * answered)
    transitions = np.full(ref_logits.shape, END)
    transitions[:, THINK] = states
    return Task(
        name="required_thoughts",
        vocabulary=("-", *"abcdefghijk"[: kinds - 1]),
        transitions=transitions,
        prompts=tuple(f"{asked}{amount}:" for asked, amount in pairs(kinds)),
        starts=states,
        prompt_probs=prompt_probs,
        max_length=budget,
        ref_logits=ref_logits,
        verify=partial(_judge, right, needed),
        criteria=("right",),
        weights=np.ones(1),
    )


def pairs(kinds: int) -> Integers:
    """Return (Q, 2) the two signs of each prompt, which a network reads.

    >>> pairs(2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return np.stack(np.divmod(np.arange(kinds**2), kinds), axis=-1)


def _judge(right: Integers, needed: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """Return 1 for the right answer after at least as many thoughts as were needed, otherwise 0."""
    answered = ((tokens == right[prompts][..., None, None]) & mask).any(-1)
    judged: Floats = (answered & (mask.sum(-1) > needed[prompts][..., None]))[..., None].astype(np.float64)
    return judged


def expected(thinkers: Thinkers, weights: Floats) -> Floats:
    """Return (S, 2, Q) the share of right completions, and their length as a share of the budget.

    Token k + 1 is written if the k tokens before it were thoughts.

    Args:
      thinkers: the task and its facts.
      weights: (S, n) weights of the network in each run.
    """
    (task, policy), right, needed = thinkers
    shape = (len(weights), len(right), 1, task.max_length)
    prompts, thoughts = np.broadcast_to(np.arange(len(right)), shape[:2]), np.full(shape, THINK)
    probs = policy.at(weights, 1.0).visit(task, prompts, thoughts, thoughts).policy.probs
    by_place = probs.reshape(shape[0], shape[1], shape[3], -1)
    going_on = by_place[..., THINK].cumprod(-1)
    reached = np.concatenate([np.ones_like(going_on[..., :1]), going_on[..., :-1]], axis=-1)
    answered = by_place[:, np.arange(len(right)), :, right].swapaxes(0, 1)
    enough = np.arange(task.max_length) >= needed[:, None]
    return np.stack([(reached * answered * enough).sum(-1), reached.mean(-1)], axis=1)
