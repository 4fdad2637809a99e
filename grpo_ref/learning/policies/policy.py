"""What the training loop asks of a policy, be it a table or a network.

    kind      what the parameters mean, and with which ones to begin
    actor     the policy of given parameters at a temperature: it draws tokens, and says how likely they were
    visited   what an actor says in the places that a batch has visited, ready for the way back

The loop differentiates with respect to the logits of the visited places, and the actor carries that gradient
on to the parameters. For a table that is the gradient already, for a network it is a backward pass.
"""

from typing import Protocol

from grpo_ref.arrays import Floats, Integers
from grpo_ref.learning.policies.sampling import Choose
from grpo_ref.learning.policies.table import Visited
from grpo_ref.learning.task import Task


class Actor(Protocol):
    """A policy with its parameters, for S runs side by side."""

    def chooser(self, task: Task, prompts: Integers, group_size: int) -> Choose:
        """A function that draws the next token of every completion, called once for each token of the budget.

        Args:
          task: has the texts of the prompts.
          prompts: (S, P) index of each prompt.
          group_size: completions for each.
        """

    def visit(self, task: Task, prompts: Integers, states: Integers, tokens: Integers) -> Visited:
        """What it says in each place of a batch: prompts (S, P), states and tokens (S, P, G, T)."""

    def pull_back(self, visited: Visited, gradient: Floats) -> Floats:
        """From ∂L/∂logits of the visited places (S, N, V) to ∂L/∂parameters (S, ...)."""

    def only(self, runs: Integers) -> "Actor":
        """The actor of some of the runs."""


class PolicyKind(Protocol):
    """What the parameters of a policy mean."""

    def start(self, task: Task, runs: int) -> Floats:
        """(S, ...) the parameters of the reference, which training begins with."""

    def at(self, params: Floats, temperature: float) -> Actor:
        """The policy of these parameters (S, ...) at a temperature."""
