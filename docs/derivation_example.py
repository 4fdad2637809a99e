"""The example of the derivation: a policy that says "a" or stops, with a budget of three tokens.

Its four completions, each as often as it is expected, make a batch of eight, over which a mean is exact.
"""

import numpy as np

from grpo_ref import REINFORCE, Recipe, policy_loss_from_logits, token_log_probs
from grpo_ref.arrays import Array, Floats

COPIES = np.array([4, 2, 1, 1])
TOKENS = np.repeat(np.eye(4, 3, dtype=int), COPIES, axis=0)
MASK = np.repeat(np.tri(4, 3), COPIES, axis=0)
REWARDS = np.repeat([0.0, 0.0, 1.0, 0.0], COPIES)
COMPLETIONS, POSITIONS = ("“.”", "“a.”", "“aa.”", "“aaa”"), ("1st", "2nd", "3rd")
EVEN = np.zeros((3, 2))
"""Logits of the policy that sampled the batch: every token had probability 1/2."""
OLD = np.log(0.5) * MASK


def says_a(prob: float) -> Floats:
    """Return the (3, 2) logits of the policy that says "a" with this probability at every token."""
    return np.log(np.array([[prob, 1.0 - prob]] * 3))


def log_probs(logits: Floats) -> Floats:
    """Return the (8, 3) log-probabilities of the tokens of the batch."""
    return token_log_probs(np.broadcast_to(logits, (8, 3, 2)), TOKENS) * MASK


def value(logits: Floats) -> float:
    """Return J, the expected reward of a policy."""
    return float((np.exp((log_probs(logits) - OLD).sum(-1)) * REWARDS).mean())


def steps(logits: Floats, advantages: Floats, recipe: Recipe = REINFORCE, **others: Array) -> Floats:
    """Return the (8, 3, 2) step of the logits for each completion alone. The mean is the expected step."""
    table = np.broadcast_to(logits, (8, 3, 2))
    result = policy_loss_from_logits(table, TOKENS, advantages, MASK, recipe=recipe, **others)
    return -8.0 * result.gradient


def variance(each: Floats) -> float:
    """Return the variance of equally likely estimates, summed over the logits."""
    return float(((each - each.mean(0)) ** 2).sum((1, 2)).mean())
