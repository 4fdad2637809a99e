"""A policy that is a network: it reads the prompt and what was written so far, and so it generalizes.

The network speaks of tokens, the training loop of a table whose rows are places: here every place that a
batch has visited becomes a row, so that all that is known of tables holds for networks too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from grpo_ref.arrays import Array, Floats, Integers, array_namespace, check_finite, to_host
from grpo_ref.learning.policies.parameters import Parts, Shapes, joined, size_of, views
from grpo_ref.learning.policies.sampling import Choose, distribution_functions, inverted
from grpo_ref.learning.policies.table import Visited, gather, policy_of
from grpo_ref.learning.task import Task

Cache = list[list[Array]]
"""What a network keeps of the tokens so far, to be repeated along the axis of the sequences."""


class Network(Protocol):
    """From tokens to logits, and back: a `Transformer` or an `MLP`."""

    @property
    def vocabulary(self) -> int:
        """How many tokens it knows."""

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


@contextmanager
def no_overflow() -> Iterator[None]:
    """A network's overflow is an error, not a warning: a norm of what has overflowed is 0, finite and wrong.

    Raises:
      FloatingPointError: if a number overflows, or is none. On a GPU nothing tells so.
    """
    try:
        with np.errstate(over="raise", invalid="raise"):
            yield
    except FloatingPointError as error:
        raise FloatingPointError(f"the weights are too large for the network: {error}") from error


@dataclass(frozen=True)
class NeuralPolicy:
    """The kind of policy whose parameters are the weights of a network.

    Attributes:
      network: what the weights mean.
      weights: (n,) of the reference, or (S, n) if each run has its own; training goes on in their precision,
        float32 or float64.

    Raises:
      TypeError: if the network or the weights are something else.
      ValueError: if the weights are not as many as the network has, or not finite.
    """

    network: Network
    weights: Floats

    def __post_init__(self) -> None:
        check_network(self.network)
        shape, dtype = (str(getattr(self.weights, name, "none")) for name in ("shape", "dtype"))
        if dtype not in ("float32", "float64"):
            raise TypeError(
                "weights: expected an array of float32 or float64, got"
                f" {type(self.weights).__name__ if dtype == 'none' else dtype}"
            )
        size = size_of(self.network.shapes())
        if self.weights.ndim not in (1, 2) or self.weights.shape[-1] != size:
            raise ValueError(
                f"weights: expected the network's, of shape ({size},) or (runs, {size}), got {shape}"
            )
        check_finite(weights=self.weights)

    def start(self, task: Task, runs: int) -> Floats:
        """(S, n) the reference's weights, where the task's arrays are.

        Raises:
          ValueError: if the weights are those of another number of runs, or the network's tokens are not the
            task's.
        """
        check_fit(self.network, task)
        xp = array_namespace(task.ref_logits)
        weights = xp.asarray(self.weights)
        start: Floats = xp.repeat(weights[None], runs, axis=0) if weights.ndim == 1 else xp.asarray(weights)
        if start.shape[0] != runs:
            raise ValueError(f"weights: expected those of {runs} runs, got shape {start.shape}")
        return start

    def at(self, params: Floats, temperature: float) -> "NeuralActor":
        """The policy of these weights (S, n).

        Raises:
          ValueError: if the weights have another shape.
        """
        if params.ndim != 2:
            raise ValueError(
                f"params: expected weights of shape (S, n), a row a run, got shape {params.shape}"
            )
        return NeuralActor(self.network, params, temperature)


class NeuralActor(NamedTuple):
    """A network with its weights (S, n), at a temperature."""

    network: Network
    params: Floats
    temperature: float

    @no_overflow()
    def chooser(self, task: Task, prompts: Integers, group_size: int) -> Choose:
        """Draws each token after all before it; the prompt is read once for its whole group."""
        xp, weights = array_namespace(self.params), views(self.params, self.network.shapes())
        runs, count = prompts.shape
        logits, cache = self.network.extend(weights, prompt_tokens(task)[prompts], [])
        logits = xp.repeat(logits[:, :, -1:], group_size, axis=1)
        cache = [[xp.repeat(part, group_size, axis=1) for part in layer] for layer in cache]
        rows = xp.reshape(xp.arange(runs * count * group_size), (runs, count, group_size))
        written = 0

        @no_overflow()
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

    @no_overflow()
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
        places = xp.broadcast_to(places, tokens.shape)
        return Visited(policy, places, gather(policy.log_probs, places, tokens), kept)

    @no_overflow()
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


def check_network(network: Any) -> None:
    """Raise a TypeError unless this is a network, with its sizes."""
    if isinstance(network, type) or not hasattr(network, "shapes") or not hasattr(network, "extend"):
        got = f"the class {network.__name__}" if isinstance(network, type) else f"{network!r:.40}"
        raise TypeError(f"network: expected a Transformer or an MLP, such as network_for makes, got {got}")


def check_fit(network: Network, task: Task) -> None:
    """Nothing, if the network has the task's tokens, and the prompts consist of them.

    Raises:
      ValueError: else; it says what was expected and what came.
    """
    tokens, count = prompt_tokens(task), len(task.vocabulary)
    if network.vocabulary != count:
        raise ValueError(
            f"network: expected vocabulary={count}, the tokens of {task.name}, got {network.vocabulary}"
        )
    shape = tuple(getattr(tokens, "shape", ()))
    if len(shape) != 2 or shape[0] != len(task.prompts) or shape[1] == 0:
        got = shape or f"a {type(tokens).__name__}"
        raise ValueError(
            f"prompt_tokens: expected an array of shape ({len(task.prompts)}, L), a row of at least one token"
            f" for each prompt of {task.name}, got {got}"
        )
    check_indices("prompt_tokens", tokens, count)


def check_indices(name: str, indices: Integers, count: int) -> None:
    """Raise a ValueError unless all are whole numbers from 0 to count - 1."""
    xp = array_namespace(indices)
    if not xp.isdtype(indices.dtype, "integral"):
        raise ValueError(f"{name}: expected whole numbers, got {indices.dtype}")
    low, high = to_host(xp.stack([xp.min(indices), xp.max(indices)])).tolist()
    if low < 0 or high >= count:
        raise ValueError(f"{name}: expected numbers from 0 to {count - 1}, got {low} to {high}")
