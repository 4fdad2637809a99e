"""A policy that is a network: it reads the prompt and what was written so far, and so it generalizes.

The network speaks of tokens, the training loop of a table whose rows are places: here every place that a
batch has visited becomes a row, so that all that is known of tables holds for networks too.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from grpo_ref.arrays import Array, Floats, Integers, array_namespace
from grpo_ref.learning.policies.parameters import Parts, Shapes, joined, views
from grpo_ref.learning.policies.sampling import Choose, distribution_functions, inverted
from grpo_ref.learning.policies.table import Visited, policy_of
from grpo_ref.learning.tasks.task import Task

Cache = list[list[Array]]
"""What a network keeps of the tokens so far, to be repeated along the axis of the sequences."""


class Network(Protocol):
    """From tokens to logits, and back: a `Transformer` or an `MLP`."""

    def shapes(self) -> Shapes:
        """Name and shape of every weight."""

    def init(self, generator: np.random.Generator) -> Parts:
        """Weights to begin with."""

    def forward(self, weights: Parts, tokens: Integers) -> tuple[Array, Any]:
        """(S, B, T) tokens -> (S, B, T, V) logits of what follows each, and what the way back needs."""

    def pull_back(self, weights: Parts, kept: Any, slope: Array) -> Parts:
        """From the slope of the logits to that of every weight."""

    def extend(self, weights: Parts, tokens: Integers, cache: Cache) -> tuple[Array, Cache]:
        """The logits after some more tokens, and the cache with theirs."""


@dataclass(frozen=True)
class NeuralPolicy:
    """The kind of policy whose parameters are the weights of a network.

    Attributes:
      network: what the weights mean.
      weights: (n,) of the reference, or (S, n) if each run has its own; training goes on in their precision.
    """

    network: Network
    weights: Floats

    def start(self, task: Task, runs: int) -> Floats:
        """(S, n) the reference's weights, where the task's arrays are."""
        xp = array_namespace(task.ref_logits)
        weights = xp.asarray(self.weights)
        start: Floats = xp.repeat(weights[None], runs, axis=0) if weights.ndim == 1 else xp.asarray(weights)
        if start.shape[0] != runs:
            raise ValueError(f"weights: expected those of {runs} runs, got shape {start.shape}")
        return start

    def at(self, params: Floats, temperature: float) -> "NeuralActor":
        """The policy of these weights (S, n)."""
        return NeuralActor(self.network, params, temperature)


class NeuralActor(NamedTuple):
    """A network with its weights (S, n), at a temperature."""

    network: Network
    params: Floats
    temperature: float

    def chooser(self, task: Task, prompts: Integers, group_size: int) -> Choose:
        """Draws each token after all before it; the prompt is read once for its whole group."""
        xp, weights = array_namespace(self.params), views(self.params, self.network.shapes())
        runs, count = prompts.shape
        logits, cache = self.network.extend(weights, prompt_tokens(task)[prompts], [])
        logits = xp.repeat(logits[:, :, -1:], group_size, axis=1)
        cache = [[xp.repeat(part, group_size, axis=1) for part in layer] for layer in cache]
        rows = xp.reshape(xp.arange(runs * count * group_size), (runs, count, group_size))
        written = 0

        def choose(here: Integers, uniforms: Floats) -> Integers:
            nonlocal logits, cache, written
            if written == task.max_length:
                raise ValueError(f"expected at most {task.max_length} tokens to be drawn")
            probs = policy_of(xp.astype(logits, xp.float64), temperature=self.temperature).probs
            tokens = inverted(distribution_functions(probs), rows, uniforms)
            written += 1
            if written < task.max_length:
                flat = xp.reshape(tokens, (runs, count * group_size, 1))
                logits, cache = self.network.extend(weights, flat, cache)
            return tokens

        return choose

    def visit(self, task: Task, prompts: Integers, states: Integers, tokens: Integers) -> Visited:
        """Every token that was drawn has a place of its own, a row of what the network says there."""
        xp = array_namespace(self.params)
        runs, count, group_size, length = tokens.shape
        said = xp.repeat(prompt_tokens(task)[prompts], group_size, axis=1)
        written = xp.reshape(tokens, (runs, count * group_size, length))
        weights = views(self.params, self.network.shapes())
        logits, kept = self.network.forward(weights, xp.concat([said, written[..., :-1]], axis=-1))
        rows = xp.reshape(logits[:, :, -length:], (runs, -1, logits.shape[-1]))
        policy = policy_of(xp.astype(rows, xp.float64), temperature=self.temperature)
        places = xp.reshape(xp.arange(count * group_size * length), tokens.shape[1:])
        return Visited(policy, xp.broadcast_to(places, tokens.shape), kept)

    def pull_back(self, visited: Visited, gradient: Floats) -> Floats:
        """(S, n) through the network, the gradient being 0 where it reads the prompt."""
        xp, shapes = array_namespace(self.params), self.network.shapes()
        runs, count, group_size, length = visited.states.shape
        by_sequence = xp.reshape(gradient, (runs, count * group_size, length, -1))
        before = visited.kept.shape[-1] - length
        slope = xp.zeros(
            (*by_sequence.shape[:2], before + length, by_sequence.shape[-1]), dtype=self.params.dtype
        )
        slope[:, :, before:] = by_sequence
        slopes = self.network.pull_back(views(self.params, shapes), visited.kept, slope)
        gradient = joined(slopes, shapes)
        return gradient

    def only(self, runs: Integers) -> "NeuralActor":
        """The networks of some of the runs."""
        return self._replace(params=self.params[runs])


def prompt_tokens(task: Task) -> Integers:
    """(Q, L) the tokens of the task's prompts.

    Raises:
      ValueError: if the task does not have them: then only a table can be trained on it.
    """
    if task.prompt_tokens is None:
        raise ValueError(
            f"task: {task.name} has no prompt_tokens, which a network reads; train a table on it"
        )
    return task.prompt_tokens
