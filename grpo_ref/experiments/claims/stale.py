"""Stale data: a policy that has moved away, by a known divergence, from the one that drew the completions.

The language is so small that all its completions can be listed, so expectations are sums and nothing is
sampled. There are M = V^T completions of T tokens. The policy's state is all that was written before: N
states, one for each beginning, so that a policy can be any distribution over the completions.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.learning.policies.table import Policy, gather, policy_of, pull_back
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import Recipe

VOCABULARY, LENGTH = 3, 5
SHARE_RIGHT = 0.2
"""Of the completions."""
LARGEST, HALVINGS = 1024.0, 30
"""Of the bisection: the longest step, and how often the stretch is halved."""


def _listing() -> tuple[Integers, Integers]:
    """All completions: tokens and states, each (1, M, T). Beginnings are numbered from short to long."""
    places = VOCABULARY ** np.arange(LENGTH)
    number = np.arange(VOCABULARY**LENGTH)[:, None] // places[::-1]
    shorter = (places - 1) // (VOCABULARY - 1)
    beginning = np.concatenate([np.zeros_like(number[:, :1]), number[:, :-1]], axis=-1)
    return (number % VOCABULARY)[None], (shorter + beginning)[None]


TOKENS, STATES = _listing()
SHAPE = (int(STATES.max()) + 1, VOCABULARY)
"""(N, V) of a table of logits."""


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

    A fifth of the completions is right, 1, and the others are wrong, 0. Half of the way from the old policy
    to the new ones is learned, along the gradient of the expected reward, and half of it is drift.

    Args:
      distances: D divergences KL(old ‖ new), in nats a completion.
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
      too_far: steps of the given shape -> where they are too long; what is too far stays so further on.
      shape: of the cases.
    """
    low, high = np.zeros(shape), np.full(shape, LARGEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        far = too_far(middle)
        low, high = np.where(far, low, middle), np.where(far, middle, high)
    return low


def _unit(direction: Floats) -> Floats:
    length = np.sqrt((direction**2).sum((-2, -1), keepdims=True))
    unit: Floats = direction / np.maximum(length, np.finfo(np.float64).tiny)
    return unit


def divergence(old: Policy, new: Policy) -> Floats:
    """(...) KL(old ‖ new) in nats a completion."""
    difference = log_probs(old) - log_probs(new)
    nats: Floats = (completion_probs(old)[..., None] * difference).sum((-3, -2, -1))
    return nats


def log_probs(policy: Policy) -> Floats:
    """(..., 1, M, T) of every token of every completion."""
    return gather(policy.log_probs, STATES, TOKENS)


def completion_probs(policy: Policy) -> Floats:
    """(..., 1, M), summing to 1."""
    probs: Floats = np.exp(log_probs(policy).sum(-1))
    return probs


def expected_reward(rewards: Floats, policy: Policy) -> Floats:
    """(...) J = Σ_o π(o) r(o)."""
    value: Floats = (completion_probs(policy) * rewards).sum((-2, -1))
    return value


def expected_reward_gradient(rewards: Floats, policy: Policy) -> Floats:
    """(..., N, V) ∂J/∂logits = Σ_o π(o) r(o) ∂log π(o)/∂logits."""
    weights = np.repeat((completion_probs(policy) * rewards)[..., None], LENGTH, -1)
    return pull_back(weights, STATES, TOKENS, policy.probs)


def expected_push(recipe: Recipe, stale: Stale) -> Floats:
    """(..., N, V) minus the gradient of a recipe's loss with respect to the logits, expected over batches.

    Every surrogate is proportional to the size of the advantage, so the probability of each completion can be
    multiplied into its advantage: one batch of all completions then gives the mean over all batches. The
    baseline is the true value of the old policy, as in a very large group.

    Args:
      recipe: level, surrogate and aggregation are used.
      stale: the policies; completions are those of the old one.
    """
    shape = log_probs(stale.new).shape
    advantages = stale.rewards - expected_reward(stale.rewards, stale.old)[..., None, None]
    weighted = advantages * completion_probs(stale.old) * TOKENS.shape[-2]
    loss = policy_loss(
        log_probs(stale.new),
        np.broadcast_to(weighted, shape[:-1]),
        np.ones(shape),
        recipe=recipe,
        old_log_probs=np.broadcast_to(log_probs(stale.old), shape),
    )
    return -pull_back(loss.gradient, STATES, TOKENS, stale.new.probs)


def alignment(push: Floats, stale: Stale) -> Floats:
    """(...) cosine between a push and the gradient of the new policy's expected reward."""
    exact = expected_reward_gradient(stale.rewards, stale.new)
    cosine: Floats = (_unit(push) * _unit(exact)).sum((-2, -1))
    return cosine
