"""The interface between the training loop and a policy, which is a table or a network.

    PolicyKind   the meaning of the parameters, and the initial parameters
    Actor        the policy with given parameters at a temperature: it samples tokens and evaluates batches
    Visited      an actor's log-probabilities on a batch, with what the backward pass needs

The loop computes the gradient with respect to the logits of the visited places. The actor carries it on to
the parameters: for a table the logits are the parameters, for a network this is a backward pass.
"""

from typing import Protocol

from grpo_ref.arrays import Floats, Integers
from grpo_ref.learning.policies.sampling import Choose
from grpo_ref.learning.policies.table import Visited
from grpo_ref.learning.task import Task


class Actor(Protocol):
    """A policy with its parameters, for S runs side by side."""

    def chooser(self, task: Task, prompts: Integers, group_size: int) -> Choose:
        """Return a function that samples the next token of every completion, called once per token.

        Args:
          task: the task of the prompts.
          prompts: (S, P) index of each prompt.
          group_size: completions per prompt.
        """

    def visit(self, task: Task, prompts: Integers, states: Integers, tokens: Integers) -> Visited:
        """Evaluate the policy on a batch: prompts (S, P), states and tokens (S, P, G, T)."""

    def pull_back(self, visited: Visited, gradient: Floats) -> Floats:
        """Return ∂L/∂parameters (S, ...), from ∂L/∂logits of the visited places (S, N, V)."""

    def only(self, runs: Integers) -> "Actor":
        """Return the policies of some of the runs."""


class PolicyKind(Protocol):
    """A kind of policy: it gives the parameters their meaning."""

    def start(self, task: Task, runs: int) -> Floats:
        """Return (S, ...) the parameters of the reference, with which training begins."""

    def at(self, params: Floats, temperature: float) -> Actor:
        """Return the policies with parameters (S, ...) at a temperature."""
