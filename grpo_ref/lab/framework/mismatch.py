"""A sampler that differs from the learner, in a language whose completions can all be enumerated."""

from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.tasks.small_language import (
    LENGTH,
    SHAPE,
    STATES,
    TOKENS,
    completion_probs,
    expected_reward,
    log_probs,
)
from grpo_ref.learning.policies.table import Policy, policy_of, pull_back
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import Recipe


class Case(NamedTuple):
    """A learner, the difference of its sampler, and the rewards, for S runs.

    Attributes:
      logits: (S, N, V) logits of the learner.
      noise: (S, N, V) difference of the sampler's logits, for a mismatch of size 1.
      sharper: if true, the sampler's logits are the learner's logits, scaled to be sharper, instead.
      rewards: (S, 1, M) rewards of all completions.
      size: size of the mismatch.
    """

    logits: Floats
    noise: Floats
    sharper: bool
    rewards: Floats
    size: float

    def sampler(self, logits: Floats, size: float) -> Policy:
        """Return the sampler's policy for the given logits of the learner."""
        return policy_of(logits + size * (logits if self.sharper else self.noise))


def drawn(sizes: tuple[float, float], *, seeds: int, seed: int) -> Case:
    """Sample a task of the distribution, with a separate language for each run.

    Args:
      sizes: range from which the size of the mismatch is sampled.
      seeds, seed: number of runs; base seed of the random numbers.
    """
    task = np.random.default_rng([seed, 5])
    size, right, spread = np.exp(task.uniform(*np.log(sizes))), task.uniform(0.05, 0.5), task.uniform(0.5, 2)
    sharper = bool(task.random() < 1 / 3)
    runs = [np.random.default_rng([seed, run]) for run in range(seeds)]
    logits, noise = (np.stack([one.normal(size=SHAPE) for one in runs]) for _ in range(2))
    rewards = np.stack([one.random(TOKENS.shape[:-1]) for one in runs])
    if task.random() < 0.5:
        rewards = np.where(rewards < right, 1.0, 0.0)
    return Case(spread * logits, noise, sharper, rewards, float(size))


def moments(recipe: Recipe, rewards: Floats, learner: Policy, sampler: Policy) -> tuple[Floats, Floats]:
    """Return (S, N, V) the expected ascent direction of one completion, and (S,) its variance."""
    chances = completion_probs(sampler)[:, 0]
    advantages = (rewards - expected_reward(rewards, sampler)[:, None, None])[:, 0]
    batch = (*chances.shape, 1, 1)
    each = ascent(
        recipe,
        advantages.reshape(batch),
        log_probs(learner).reshape(*batch, LENGTH),
        log_probs(sampler).reshape(*batch, LENGTH),
        np.broadcast_to(learner.probs[:, None], (*chances.shape, *SHAPE)),
    )
    weights = chances[..., None, None]
    mean: Floats = (weights * each).sum(1)
    return mean, (weights * (each - mean[:, None]) ** 2).sum((1, 2, 3))


def ascent(recipe: Recipe, advantages: Floats, learner: Floats, sampler: Floats, probs: Floats) -> Floats:
    """Return (..., N, V) minus the gradient of the loss; log-probabilities are (..., P, G, T)."""
    mask, shape = np.ones(learner.shape), learner.shape
    loss = policy_loss(learner, advantages, mask, recipe=recipe, rollout_log_probs=sampler, metrics=())
    states, tokens = (np.broadcast_to(x.reshape(shape[1:]), shape) for x in (STATES, TOKENS))
    return -pull_back(loss.gradient, states, tokens, probs)
