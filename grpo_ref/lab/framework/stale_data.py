"""Stale data: a policy at a known divergence from the policy that sampled the completions."""

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
"""Fraction of the completions that are right."""
DISTANCES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""KL from the sampler to the policy, in nats per completion, at which recipes are compared."""
COMPARED_AT = 0.3
"""The distance at which measures with a single number are taken."""
BATCH = 64
"""Number of completions in a sampled batch."""
LONGEST_STEP, HALVINGS = 1024.0, 30
"""Longest step of the bisection, and the number of halvings."""


class Stale(NamedTuple):
    """An old policy, and policies that have moved away from it.

    Attributes:
      rewards: (..., 1, M) rewards of all completions.
      old: policy that sampled the completions, tables of shape (..., N, V).
      new: policy to improve.
    """

    rewards: Floats
    old: Policy
    new: Policy


def stale_policies(distances: tuple[float, ...], *, seeds: int, seed: int) -> Stale:
    """Return an old policy for each seed and a new policy for each distance, with run axes (S, D).

    A fifth of the completions are right and have reward 1; the others have reward 0. Half of the way from the
    old policy to a new policy follows the gradient of the expected reward, and half of it is random drift.

    Args:
      distances: D divergences KL(old ‖ new), in nats per completion.
      seeds, seed: number of runs; base seed of their random numbers.
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
    """Return the longest allowed step of each case, by bisection.

    Args:
      too_far: maps steps of the given shape to true where they are too long. If a step is too long, all
        longer steps must be too long.
      shape: shape of the cases.

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
    """Return (..., N, V) the expectation over batches of minus the loss's gradient in the logits."""
    return push(recipe, stale, completion_probs(stale.old))


def push(recipe: Recipe, stale: Stale, frequencies: Floats) -> Floats:
    """Return (..., N, V) minus the loss's gradient in the logits, for a batch of all completions.

    Every surrogate is proportional to the magnitude of the advantage, so a completion's frequency can be
    multiplied into its advantage. With probabilities as frequencies, one batch of all completions gives the
    mean over all batches. The baseline is the true value of the old policy, as in a very large group.

    Args:
      recipe: recipe whose level, surrogate and aggregation are used.
      stale: the policies; the old policy samples the completions.
      frequencies: (..., 1, M) frequencies of the completions in the batch, which sum to 1.
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
    """Return (S, 1, 1, M) the frequency of each completion in a batch that the old policies sample."""
    probs = completion_probs(stale.old)
    generators = [np.random.default_rng([seed, run, 1]) for run in range(len(probs))]
    counts = [one.multinomial(completions, p) for one, p in zip(generators, probs[:, 0, 0], strict=True)]
    return np.stack(counts)[:, None, None] / completions


def alignment(push: Floats, stale: Stale) -> Floats:
    """Return (...) the cosine between a push and the gradient of the new policy's expected reward."""
    exact = expected_reward_gradient(stale.rewards, stale.new)
    cosine: Floats = (_unit(push) * _unit(exact)).sum((-2, -1))
    return cosine
