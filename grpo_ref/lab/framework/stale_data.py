"""Stale data: a policy that has moved away, by a known divergence, from the one that drew the completions."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats
from grpo_ref.lab.framework.tasks.small_language import (
    SHAPE,
    STATES,
    TOKENS,
    completion_probs,
    divergence,
    expected_reward,
    expected_reward_gradient,
    log_probs,
)
from grpo_ref.learning.policies.table import Policy, policy_of, pull_back
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import Recipe

SHARE_RIGHT = 0.2
"""Share of the completions that are right."""
DISTANCES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""KL from the sampler to the policy, in nats per completion, at which recipes are compared."""
COMPARED_AT = 0.3
"""The one of these distances at which single numbers are taken."""
BATCH = 64
"""Completions in a batch that is drawn."""
LONGEST_STEP, HALVINGS = 1024.0, 30
"""Of the bisection: the longest step, and how often the interval is halved."""


class Stale(NamedTuple):
    """An old policy and others that have moved away from it since.

    Attributes:
      rewards: (..., 1, M) of every completion.
      old: the policy that drew the completions, tables of shape (..., N, V).
      new: the policy to be improved.
    """

    rewards: Floats
    old: Policy
    new: Policy


def stale_policies(distances: tuple[float, ...], *, seeds: int, seed: int) -> Stale:
    """An old policy for each seed, and one new policy for each distance: run axes (S, D).

    A fifth of the completions are right, with reward 1, and the others are wrong, with reward 0. Half of the
    way from the old policy to the new ones is learned, along the gradient of the expected reward, and half
    of it is random drift.

    Args:
      distances: D divergences KL(old ‖ new), in nats per completion.
      seeds, seed: number of runs, and the base of their random numbers.
    """
    generators = [np.random.default_rng([seed, run]) for run in range(seeds)]
    right = np.stack([one.random(TOKENS.shape[:-1]) < SHARE_RIGHT for one in generators])[:, None]
    logits, drift = (np.stack([one.normal(size=SHAPE) for one in generators])[:, None] for _ in range(2))
    rewards, old = right.astype(np.float64), policy_of(logits)
    direction = _unit(expected_reward_gradient(rewards, old)) + _unit(drift)
    steps = largest_step(
        lambda step: divergence(old, policy_of(logits + step[..., None, None] * direction)) > distances,
        (seeds, len(distances)),
    )
    return Stale(rewards, old, policy_of(logits + steps[..., None, None] * direction))


def largest_step(too_far: Callable[[Floats], Bools], shape: tuple[int, ...]) -> Floats:
    """How far one may go in each of many cases, by bisection.

    Args:
      too_far: from steps of the given shape to where they are too long; a step longer than one that is too
        long must be too long as well.
      shape: of the cases.

    >>> largest_step(lambda step: step**2 > np.array([4.0, 9.0]), (2,)).round(5).tolist()
    [2.0, 3.0]
    """
    low, high = np.zeros(shape), np.full(shape, LONGEST_STEP)
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        far = too_far(middle)
        low, high = np.where(far, low, middle), np.where(far, middle, high)
    return low


def _unit(direction: Floats) -> Floats:
    length = np.sqrt((direction**2).sum((-2, -1), keepdims=True))
    unit: Floats = direction / np.maximum(length, np.finfo(np.float64).tiny)
    return unit


def expected_push(recipe: Recipe, stale: Stale) -> Floats:
    """(..., N, V) minus the gradient of a recipe's loss with respect to the logits, expected over batches."""
    return push(recipe, stale, completion_probs(stale.old))


def push(recipe: Recipe, stale: Stale, frequencies: Floats) -> Floats:
    """(..., N, V) minus the gradient of a recipe's loss with respect to the logits, for one kind of batch.

    Every surrogate is proportional to the size of the advantage, so the frequency of each completion can be
    multiplied into its advantage: with their probabilities, one batch of all completions gives the mean over
    all batches. The baseline is the true value of the old policy, as in a very large group.

    Args:
      recipe: its level, surrogate and aggregation are used.
      stale: the policies; the completions are those of the old one.
      frequencies: (..., 1, M) of the completions in the batch, summing to 1.
    """
    shape = np.broadcast_shapes(log_probs(stale.new).shape, (*frequencies.shape, 1))
    advantages = stale.rewards - expected_reward(stale.rewards, stale.old)[..., None, None]
    weighted = advantages * frequencies * TOKENS.shape[-2]
    loss = policy_loss(
        np.broadcast_to(log_probs(stale.new), shape),
        np.broadcast_to(weighted, shape[:-1]),
        np.ones(shape),
        recipe=recipe,
        old_log_probs=np.broadcast_to(log_probs(stale.old), shape),
        metrics=(),
    )
    return -pull_back(loss.gradient, STATES, TOKENS, stale.new.probs)


def drawn_frequencies(stale: Stale, completions: int, *, seed: int) -> Floats:
    """(S, 1, 1, M) how often each completion comes in a batch that the old policies have drawn."""
    probs = completion_probs(stale.old)
    generators = [np.random.default_rng([seed, run, 1]) for run in range(len(probs))]
    counts = [one.multinomial(completions, p) for one, p in zip(generators, probs[:, 0, 0], strict=True)]
    return np.stack(counts)[:, None, None] / completions


def alignment(push: Floats, stale: Stale) -> Floats:
    """(...) cosine between a push and the gradient of the new policy's expected reward."""
    exact = expected_reward_gradient(stale.rewards, stale.new)
    cosine: Floats = (_unit(push) * _unit(exact)).sum((-2, -1))
    return cosine
