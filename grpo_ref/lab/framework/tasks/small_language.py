"""A language so small that all completions are enumerated, and expectations are exact sums.

There are M = V^T completions of T tokens. The policy's state is the whole beginning of the completion. There
are N states, one for each beginning, so that a policy can be any distribution over the completions.
"""

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.learning.policies.table import Policy, gather, pull_back

VOCABULARY, LENGTH = 3, 5


def _listing() -> tuple[Integers, Integers]:
    """Return tokens and states of all completions, (1, M, T) each; beginnings are numbered by length."""
    places = VOCABULARY ** np.arange(LENGTH)
    number = np.arange(VOCABULARY**LENGTH)[:, None] // places[::-1]
    shorter = (places - 1) // (VOCABULARY - 1)
    beginning = np.concatenate([np.zeros_like(number[:, :1]), number[:, :-1]], axis=-1)
    return (number % VOCABULARY)[None], (shorter + beginning)[None]


TOKENS, STATES = _listing()
SHAPE = (int(STATES.max()) + 1, VOCABULARY)
"""Shape (N, V) of a table of logits."""


def log_probs(policy: Policy) -> Floats:
    """Return (..., 1, M, T) the log-probability of every token of every completion, in nats."""
    return gather(policy.log_probs, STATES, TOKENS)


def completion_probs(policy: Policy) -> Floats:
    """Return (..., 1, M) the probability of every completion; these sum to 1."""
    probs: Floats = np.exp(log_probs(policy).sum(-1))
    return probs


def divergence(old: Policy, new: Policy) -> Floats:
    """Return (...) KL(old ‖ new) in nats per completion."""
    difference = log_probs(old) - log_probs(new)
    nats: Floats = (completion_probs(old)[..., None] * difference).sum((-3, -2, -1))
    return nats


def expected_reward(rewards: Floats, policy: Policy) -> Floats:
    """Return (...) J = Σ_o π(o) r(o), for rewards of shape (..., 1, M)."""
    value: Floats = (completion_probs(policy) * rewards).sum((-2, -1))
    return value


def expected_reward_gradient(rewards: Floats, policy: Policy) -> Floats:
    """Return (..., N, V) ∂J/∂logits = Σ_o π(o) r(o) ∂log π(o)/∂logits."""
    weights = np.repeat((completion_probs(policy) * rewards)[..., None], LENGTH, -1)
    return pull_back(weights, STATES, TOKENS, policy.probs)
