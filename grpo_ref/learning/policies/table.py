"""The policy: a table of logits, one row per state, with its backward pass written by hand.

    πθ(token | state) = softmax(logits[state] / temperature)[token]

A table has shape (..., N, V): N states, V tokens, and one table for each independent run on the axes before.
States and tokens of a batch have shape (..., P, G, T) with the same run axes.
"""

import math
from typing import Any, NamedTuple

from grpo_ref.arrays import Floats, Integers, array_namespace, sums_at
from grpo_ref.learning.policies.sampling import Choose, distribution_functions, inverted
from grpo_ref.learning.task import Task


class Policy(NamedTuple):
    """The distribution over the next token in every state, as log-probabilities and as probabilities.

    This is the actor of a table; the interface `Actor` is in `learning.policies.policy`.

    Attributes:
      log_probs: (..., N, V) in nats.
      probs: (..., N, V); each row sums to 1.
    """

    log_probs: Floats
    probs: Floats

    def entropies(self) -> Floats:
        """Return (..., N) the entropy of each state in nats. The logits must be finite."""
        entropies: Floats = -array_namespace(self.probs).vecdot(self.probs, self.log_probs)
        return entropies

    def divergences(self, ref_log_probs: Floats) -> Floats:
        """Return (..., N) KL(policy ‖ reference) of each state in nats; ref_log_probs (..., N, V), finite."""
        xp = array_namespace(self.probs, ref_log_probs)
        difference = xp.vecdot(self.probs, self.log_probs) - xp.vecdot(self.probs, ref_log_probs)
        # Rounding can make the difference of two nearly equal sums negative.
        divergences: Floats = xp.maximum(difference, 0.0)
        return divergences

    def chooser(self, task: Task, prompts: Integers, group_size: int) -> Choose:
        """Return a function that samples from the row of each state. The state includes the prompt."""
        return table_chooser(self.probs)

    def visit(self, task: Task, prompts: Integers, states: Integers, tokens: Integers) -> "Visited":
        """Evaluate the policy on a batch. The rows are the states of the automaton."""
        return Visited(self, states, gather(self.log_probs, states, tokens))

    def pull_back(self, visited: "Visited", gradient: Floats) -> Floats:
        """Return the gradient unchanged, since the logits are the parameters."""
        return gradient

    def only(self, runs: Integers) -> "Policy":
        """Return the tables of some of the runs."""
        return Policy(self.log_probs[runs], self.probs[runs])


class Visited(NamedTuple):
    """A batch under a policy: the distributions in all visited places, and the tokens' log-probabilities.

    Attributes:
      policy: log-probabilities and probabilities (S, N, V), with a row for each place.
      states: (S, P, G, T) the row of each token.
      log_probs: (S, P, G, T) log-probability of each token, in nats.
      kept: arrays for the actor's backward pass.
    """

    policy: Policy
    states: Integers
    log_probs: Floats
    kept: Any = None


class Table:
    """The kind of policy whose parameters are a table of logits, with a row for each state."""

    def start(self, task: Task, runs: int) -> Floats:
        """Return (S, N, V) the logits of the task's reference."""
        start: Floats = array_namespace(task.ref_logits).repeat(task.ref_logits[None], runs, axis=0)
        return start

    def at(self, params: Floats, temperature: float) -> Policy:
        """Return the softmax of the table."""
        return policy_of(params, temperature=temperature)


TABLE = Table()


def table_chooser(probs: Floats) -> Choose:
    """Return a function that samples tokens from rows of probabilities (..., N, V)."""
    *runs, n_states, _ = probs.shape
    cumulative = distribution_functions(probs)
    first_row = array_namespace(probs).arange(math.prod(runs)).reshape(*runs, 1, 1) * n_states
    return lambda here, uniforms: inverted(cumulative, first_row + here, uniforms)


def policy_of(logits: Floats, *, temperature: float = 1.0) -> Policy:
    """Return the policy of a table of logits.

        log πₐ = zₐ - log Σ_b exp(z_b),   z = logits / temperature

    Args:
      logits: (..., N, V), finite.
      temperature: > 0; the same value must be used for sampling and for the gradient.

    Returns:
      Policy.

    Raises:
      ValueError: if the temperature is not positive.
    """
    if not temperature > 0.0:
        raise ValueError(f"temperature: expected a number > 0, got {temperature}")
    xp = array_namespace(logits)
    # Subtracting the maximum changes no probability and keeps exp from overflowing. The rest is in place:
    # a table is large, and this runs in every step.
    log_probs: Floats = logits - logits.max(-1, keepdims=True)
    log_probs /= temperature
    probs = xp.exp(log_probs)
    total = probs.sum(-1, keepdims=True)
    log_probs -= xp.log(total)
    probs /= total
    return Policy(log_probs, probs)


def log_softmax(logits: Floats, *, temperature: float = 1.0) -> Floats:
    """Return the log-probabilities of `policy_of`."""
    return policy_of(logits, temperature=temperature).log_probs


def gather(table: Floats, states: Integers, tokens: Integers) -> Floats:
    """Return the table's entry for each state and token of a batch.

    Args:
      table: (..., N, V).
      states, tokens: (..., P, G, T).

    Returns:
      (..., P, G, T).
    """
    # One look-up in the flat table. The arrays of a rollout have T first in memory; moving the axis there and
    # back keeps this order, so that memory is read in sequence.
    xp = array_namespace(table, states, tokens)
    index = _flat_index(table.shape, states, tokens)
    gathered: Floats = xp.moveaxis(table.reshape(-1).take(xp.moveaxis(index, -1, 0)), 0, -1)
    return gathered


def gather_states(values: Floats, states: Integers) -> Floats:
    """Return the value of each state of a batch.

    Args:
      values: (..., N).
      states: (..., P, G, T).

    Returns:
      (..., P, G, T).
    """
    return gather(values[..., None], states, array_namespace(states).zeros_like(states))


def scatter_add(weights: Floats, states: Integers, tokens: Integers, shape: tuple[int, ...]) -> Floats:
    """Add each weight to the table's entry of its state and token; the transpose of `gather`.

    Args:
      weights: (..., P, G, T).
      states, tokens: (..., P, G, T).
      shape: (..., N, V) of the table.

    Returns:
      (..., N, V) sums.
    """
    xp = array_namespace(weights, states, tokens)
    index, weights = (xp.moveaxis(x, -1, 0) for x in (_flat_index(shape, states, tokens), weights))
    return sums_at(index.reshape(-1), weights.reshape(-1), math.prod(shape)).reshape(shape)


def pull_back(
    gradient: Floats, states: Integers, tokens: Integers, probs: Floats, *, temperature: float = 1.0
) -> Floats:
    """Return the gradient with respect to the logits, from the gradient with respect to log-probabilities.

        ∂L/∂logits[s, a] = (g[s, a] - π(a|s) Σ_b g[s, b]) / temperature

    g[s, a] is the sum of ∂L/∂log_prob over the tokens of the batch with state s and token a.

    Args:
      gradient: (..., P, G, T) ∂L/∂log_probs, 0 on padding.
      states, tokens: (..., P, G, T).
      probs: (..., N, V) probabilities of the whole table.
      temperature: temperature of the policy.

    Returns:
      (..., N, V) ∂L/∂logits; each row sums to zero.
    """
    # d log π(a) / d logits = (onehot(a) - π) / temperature. The one-hot part is the sum itself.
    summed = scatter_add(gradient, states, tokens, probs.shape)
    pulled: Floats = probs * -summed.sum(-1, keepdims=True)
    pulled += summed
    pulled /= temperature
    return pulled


def entropy_gradient(
    weights: Floats, states: Integers, policy: Policy, *, temperature: float = 1.0
) -> Floats:
    """Return the gradient of the weighted entropy of a batch's states with respect to the logits.

        ∂/∂logits[s, a] Σ w H(s) = -w[s] π(a|s) (log π(a|s) + H(s)) / temperature,   w[s] = Σ over visits of s

    Args:
      weights: (..., P, G, T) weight of each visit, 0 on padding.
      states: (..., P, G, T).
      policy: the whole table.
      temperature: temperature of the policy.

    Returns:
      (..., N, V).
    """
    # w[s]: a scatter into a table with one column.
    first = array_namespace(states).zeros_like(states)
    visits = scatter_add(weights, states, first, (*policy.probs.shape[:-1], 1))
    surprise = policy.log_probs + policy.entropies()[..., None]
    gradient: Floats = -visits * policy.probs * surprise / temperature
    return gradient


def _flat_index(shape: tuple[int, ...], states: Integers, tokens: Integers) -> Integers:
    """Return the index of each state and token in the flat table of all runs."""
    *runs, n_states, n_tokens = shape
    runs_before = array_namespace(states, tokens).arange(math.prod(runs)).reshape(*runs, 1, 1, 1)
    index: Integers = runs_before * (n_states * n_tokens) + states * n_tokens + tokens
    return index
