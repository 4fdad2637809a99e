"""A contextual bandit: one token per completion, and the exact policy gradient in closed form."""

from functools import partial

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.task import END, Task


def bandit(*, contexts: int = 8, arms: int = 10, seed: int = 0) -> Task:
    """Choose an arm in each context. Each prompt is a context, each token an arm with a fixed reward.

    Args:
      contexts: number of prompts and states.
      arms: number of tokens.
      seed: seed of the rewards of the arms, which are uniform in [0, 1).

    Returns:
      A task with one criterion, "payoff".
    """
    return bandit_with(np.random.default_rng(seed).random((contexts, arms)))


def bandit_with(means: Floats) -> Task:
    """Return a bandit with the given rewards.

    Args:
      means: (contexts, arms) reward of each arm in each context.
    """
    contexts, arms = means.shape
    return Task(
        name="bandit",
        vocabulary=tuple(f"a{arm}" for arm in range(arms)),
        transitions=np.full((contexts, arms), END),
        prompts=tuple(f"c{context}-" for context in range(contexts)),
        starts=np.arange(contexts),
        prompt_probs=np.full(contexts, 1.0 / contexts),
        max_length=1,
        ref_logits=np.zeros((contexts, arms)),
        verify=partial(_payoff, means),
        criteria=("payoff",),
        weights=np.ones(1),
        settings={"updates": 200, "prompts": 16, "group_size": 8, "learning_rate": 0.1},
    )


def _payoff(means: Floats, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """Return (..., P, G, 1) the reward of the chosen arm."""
    return means[prompts[..., None, None], tokens]


def expected_reward(means: Floats, logits: Floats, *, temperature: float = 1.0) -> Floats:
    """Return the exact expected reward of a policy, without sampling.

        J = 1/C Σ_c Σ_k π(k|c) mean[c, k]

    Args:
      means: (C, K).
      logits: (..., C, K).
      temperature: temperature of the policy.

    Returns:
      (...,) expected reward, with uniform contexts.
    """
    probs = policy_of(logits, temperature=temperature).probs
    value: Floats = (probs * means).sum(-1).mean(-1)
    return value


def exact_policy_gradient(means: Floats, logits: Floats, *, temperature: float = 1.0) -> Floats:
    """Return the gradient of `expected_reward`, in closed form.

        ∂J/∂logits[c, k] = 1/(C temperature) π(k|c) (mean[c, k] - Σ_j π(j|c) mean[c, j])

    Args:
      means: (C, K).
      logits: (..., C, K).
      temperature: temperature of the policy.

    Returns:
      (..., C, K).
    """
    probs = policy_of(logits, temperature=temperature).probs
    value = (probs * means).sum(-1, keepdims=True)
    gradient: Floats = probs * (means - value) / (temperature * means.shape[0])
    return gradient
