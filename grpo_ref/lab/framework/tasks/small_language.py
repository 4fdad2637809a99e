"""A language so small that all its completions can be listed: expectations are sums, nothing is sampled.

There are M = V^T completions of T tokens. The policy's state is all that was written before: N states, one
for each beginning, so that a policy can be any distribution over the completions.
"""

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.learning.policies.table import Policy, gather, pull_back

VOCABULARY, LENGTH = 3, 5


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


def log_probs(policy: Policy) -> Floats:
    """(..., 1, M, T) of every token of every completion, in nats."""
    return gather(policy.log_probs, STATES, TOKENS)


def completion_probs(policy: Policy) -> Floats:
    """(..., 1, M) of every completion, summing to 1."""
    probs: Floats = np.exp(log_probs(policy).sum(-1))
    return probs


def divergence(old: Policy, new: Policy) -> Floats:
    """(...) KL(old ‖ new) in nats per completion."""
    difference = log_probs(old) - log_probs(new)
    nats: Floats = (completion_probs(old)[..., None] * difference).sum((-3, -2, -1))
    return nats


def expected_reward(rewards: Floats, policy: Policy) -> Floats:
    """(...) J = Σ_o π(o) r(o), with rewards of shape (..., 1, M)."""
    value: Floats = (completion_probs(policy) * rewards).sum((-2, -1))
    return value


def expected_reward_gradient(rewards: Floats, policy: Policy) -> Floats:
    """(..., N, V) ∂J/∂logits = Σ_o π(o) r(o) ∂log π(o)/∂logits."""
    weights = np.repeat((completion_probs(policy) * rewards)[..., None], LENGTH, -1)
    return pull_back(weights, STATES, TOKENS, policy.probs)
