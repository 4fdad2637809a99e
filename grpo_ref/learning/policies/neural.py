"""A policy that is a network. It reads the prompt and the tokens so far, and so it generalizes.

The training loop works with a table of logits that has one row per state. For a network, every place of a
batch, before each token of each completion, becomes a row of such a table. So the same loop trains both.
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
"""Arrays that a network keeps of the tokens so far. Their axis 1 is the sequences, and can be repeated."""


class Network(Protocol):
    """The interface of a network: a `Transformer`, an `MLP`, or your own class with these methods."""

    @property
    def vocabulary(self) -> int:
        """V, number of tokens in the vocabulary."""

    def shapes(self) -> Shapes:
        """Return name and shape of every weight."""

    def init(self, generator: np.random.Generator) -> Parts:
        """Return initial weights by name."""

    def forward(self, weights: Parts, tokens: Integers) -> tuple[Array, Any]:
        """Return the logits (S, B, T, V) after each token (S, B, T), and the arrays for `pull_back`."""

    def pull_back(self, weights: Parts, kept: Any, slope: Array) -> Parts:
        """Return ∂L/∂weight of every weight, from ∂L/∂logits."""

    def extend(self, weights: Parts, tokens: Integers, cache: Cache) -> tuple[Array, Cache]:
        """Return the logits after more tokens, and the cache with these tokens."""


@contextmanager
def no_overflow() -> Iterator[None]:
    """Make an overflow inside a network an error instead of a warning.

    Otherwise it may stay unseen: after an overflow, a norm gives 0, which is finite and wrong.

    Raises:
      FloatingPointError: if a number overflows or is NaN. On a GPU there is no such error.
    """
    try:
        with np.errstate(over="raise", invalid="raise"):
            yield
    except FloatingPointError as error:
        raise FloatingPointError(f"the weights are too large for the network: {error}") from error


@dataclass(frozen=True)
class NeuralPolicy:
    """The kind of policy whose parameters are the weights of a network.

    `pretrain` makes one, and `train` and `sample` take one as their argument `policy`.

    Attributes:
      network: the network that the weights belong to.
      weights: (n,) weights of the reference, or (S, n) if each run has its own. Training uses their dtype,
        float32 or float64.

    Raises:
      TypeError: if the network or the weights have the wrong type.
      ValueError: if the number of weights is not the network's, or a weight is not finite.
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
        """Return (S, n) the reference's weights, on the task's device.

        Raises:
          ValueError: if the weights are for another number of runs, or network and task have different
            tokens.
        """
        check_fit(self.network, task)
        xp = array_namespace(task.ref_logits)
        weights = xp.asarray(self.weights)
        start: Floats = xp.repeat(weights[None], runs, axis=0) if weights.ndim == 1 else xp.asarray(weights)
        if start.shape[0] != runs:
            raise ValueError(f"weights: expected those of {runs} runs, got shape {start.shape}")
        return start

    def at(self, params: Floats, temperature: float) -> "NeuralActor":
        """Return the policy with these weights (S, n) at a temperature.

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
        """Return a function that samples the next token of every completion."""
        # The prompt is read once for its group; then logits and cache are repeated for each completion.
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
            # In float64, so that the rounding of a cumulative sum does not move a token.
            probs = policy_of(xp.astype(logits, xp.float64), temperature=self.temperature).probs
            tokens = inverted(distribution_functions(probs), rows, uniforms)
            written += 1
            if written < task.max_length:  # nothing is sampled after the last token, so it is not read
                flat = xp.reshape(tokens, (runs, count * group_size, 1))
                logits, cache = self.network.extend(weights, flat, cache)
            return tokens

        return choose

    @no_overflow()
    def visit(self, task: Task, prompts: Integers, states: Integers, tokens: Integers) -> Visited:
        """Evaluate the policy on a batch, in one forward pass. Each token has a row of its own."""
        # Prompt and completion in one sequence, without the last token: no logits are needed after it.
        xp = array_namespace(self.params)
        runs, count, group_size, length = tokens.shape
        before = xp.repeat(prompt_tokens(task)[prompts], group_size, axis=1)
        written = xp.reshape(tokens, (runs, count * group_size, length))
        weights = views(self.params, self.network.shapes())
        logits, kept = self.network.forward(weights, xp.concat([before, written[..., :-1]], axis=-1))

        # The logits before each token of the completions become the rows of a table, numbered one by one.
        rows = xp.reshape(logits[:, :, -length:], (runs, -1, logits.shape[-1]))
        policy = policy_of(xp.astype(rows, xp.float64), temperature=self.temperature)
        places = xp.reshape(xp.arange(count * group_size * length), tokens.shape[1:])
        places = xp.broadcast_to(places, tokens.shape)
        return Visited(policy, places, gather(policy.log_probs, places, tokens), kept)

    @no_overflow()
    def pull_back(self, visited: Visited, gradient: Floats) -> Floats:
        """Return ∂L/∂weights (S, n), from ∂L/∂logits of the visited rows, by the network's backward pass."""
        # The logits inside the prompt do not enter the loss: their slope is 0.
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
        """Return the policies of some of the runs."""
        return self._replace(params=self.params[runs])


def prompt_tokens(task: Task) -> Integers:
    """Return (Q, L) the tokens of the task's prompts.

    Raises:
      ValueError: if the task has none; then only a table can be trained on it.
    """
    if task.prompt_tokens is None:
        raise ValueError(
            f"task: {task.name} has no prompt_tokens, which a network reads; train a table on it"
        )
    return task.prompt_tokens


def check_network(network: Any) -> None:
    """Raise a TypeError if the argument is not a network, or is a class instead of an object."""
    if isinstance(network, type) or not hasattr(network, "shapes") or not hasattr(network, "extend"):
        got = f"the class {network.__name__}" if isinstance(network, type) else f"{network!r:.40}"
        raise TypeError(f"network: expected a Transformer or an MLP, such as network_for makes, got {got}")


def check_fit(network: Network, task: Task) -> None:
    """Check that network and task have the same number of tokens, and that the prompts consist of these.

    Raises:
      ValueError: if not; the message gives the expected and the received value.
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
    """Raise a ValueError unless all indices are whole numbers from 0 to count - 1."""
    xp = array_namespace(indices)
    if not xp.isdtype(indices.dtype, "integral"):
        raise ValueError(f"{name}: expected whole numbers, got {indices.dtype}")
    low, high = to_host(xp.stack([xp.min(indices), xp.max(indices)])).tolist()
    if low < 0 or high >= count:
        raise ValueError(f"{name}: expected numbers from 0 to {count - 1}, got {low} to {high}")
