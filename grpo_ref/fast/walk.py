"""Sample completions of many runs at once, each run from its own table.

A task is an automaton: each token leads from one state to the next. A token and the state in which it was
sampled are stored as one number, the index of both in a flat table (V, S, N):

    entry = (token S + run) N + state

A finished completion stays at one additional entry behind the table.

The tokens of a batch are stored as (T, G, S, P). Operations on each token then run along long rows, and a sum
over the tokens of a completion, or over a group, is a few additions of such rows.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.rollout import draw_prompts, prompt_edges
from grpo_ref.learning.task import END, Task


def front(array: Any) -> Any:
    """Return a view with the last axis first."""
    return array.transpose(-1, *range(array.ndim - 1))


def back(array: Any) -> Any:
    """Return a view with the first axis last."""
    return array.transpose(*range(1, array.ndim), 0)


def tokens_first(array: Any) -> Any:
    """Return a view (T, G, S, P) of an array (S, P, G, T)."""
    return array.transpose(3, 2, 0, 1)


def tokens_last(array: Any) -> Any:
    """Return a view (S, P, G, T) of an array (T, G, S, P)."""
    return array.transpose(2, 3, 1, 0)


class Walk:
    """The automaton of a task for some runs, and buffers for a batch of completions, (T, G, S, P)."""

    def __init__(
        self,
        task: Task,
        config: TrainConfig,
        prompt_probs: Floats,
        generators: list[np.random.Generator],
        dtype: DTypeLike,
    ) -> None:
        self.edges, self.generators, runs = prompt_edges(prompt_probs), generators, len(prompt_probs)
        states, vocabulary = task.transitions.shape
        batch = (task.max_length, config.group_size, runs, config.prompts)
        self.task, self.rows = task, runs * states
        self.finished = vocabulary * self.rows
        self.first = np.arange(runs)[:, None] * states
        # following[entry] is the next state's entry with token 0; after the end, the entry behind the table.
        following = task.transitions.T[:, None, :]
        following = np.where(following == END, self.finished, following + self.first)
        self.following = np.append(following, self.finished)
        self.token_of = np.append(np.repeat(np.arange(vocabulary), self.rows), 0)
        # Cumulative probabilities, padded with infinity, so that the bisection below needs no bounds: step by
        # step the entry moves `jump` tokens on if the cumulative probability before that token is <= uniform.
        halves = [1 << power for power in reversed(range((vocabulary - 1).bit_length()))]
        self.cumulative = np.full((vocabulary + 2 ** len(halves), runs, states), np.inf, dtype)
        flat = self.cumulative.reshape(-1)
        self.probes = [(half * self.rows, flat[(half - 1) * self.rows :]) for half in halves]
        self.numbers = np.empty((runs, config.prompts, 1 + config.group_size * task.max_length))
        self.uniforms, self.entries = np.empty(batch, dtype), np.empty(batch, np.int64)
        self.state, self.move = np.empty((2, *batch[1:]), np.int64)
        self.probe, self.below = np.empty(batch[1:], dtype), np.empty(batch[1:], np.bool_)

    def draw(self, probs: Floats) -> Any:
        """Sample a batch and its rewards, with the random numbers of `learning.rollout.draw`."""
        self.draw_numbers()
        return self.with_rewards(*self.completions(probs))

    def draw_numbers(self) -> None:
        """Draw the random numbers of the next batch, each run's from its own generator."""
        for generator, numbers in zip(self.generators, self.numbers, strict=True):
            generator.random(out=numbers)

    def completions(self, probs: Floats) -> tuple[Integers, Integers, Bools, Bools]:
        """Return prompts (S, P), tokens and mask (S, P, G, T), and (S, P, G) true for ended completions."""
        prompts = draw_prompts(self.edges, self.numbers[..., 0])
        uniforms = self.numbers[..., 1:].reshape(*tokens_last(self.uniforms).shape)
        np.copyto(self.uniforms, tokens_first(uniforms), casting="same_kind")
        below: Any = 0.0
        for row, token_probs in zip(self.cumulative, probs[:-1], strict=False):
            below = np.add(below, token_probs, out=row)  # from the last token on, rows stay infinite
        self.walk(self.task.starts[prompts])
        tokens, mask = self.token_of.take(self.entries), self.entries != self.finished
        return prompts, tokens_last(tokens), tokens_last(mask), back(self.state == self.finished)

    def walk(self, starts: Integers) -> None:
        """Fill in the entries token by token; a bisection moves each from token 0 to the sampled token."""
        self.state[:] = starts + self.first
        for entry, uniforms in zip(self.entries, self.uniforms, strict=True):
            np.copyto(entry, self.state)
            for jump, cumulative in self.probes:
                cumulative.take(entry, out=self.probe, mode="clip")
                np.less_equal(self.probe, uniforms, out=self.below)
                np.multiply(self.below, jump, out=self.move)
                np.add(entry, self.move, out=entry)
            self.following.take(entry, out=self.state, mode="clip")

    def with_rewards(self, prompts: Integers, tokens: Integers, mask: Bools, ended: Bools) -> Any:
        """Return the batch with its rewards: the fields of `Completions`, except for the states."""
        components = self.task.verify(prompts, tokens, mask)
        rewards = sum(components[..., k] * weight for k, weight in enumerate(self.task.weights))
        return SimpleNamespace(
            prompts=prompts,
            tokens=tokens,
            mask=mask,
            ended=ended,
            components=components,
            rewards=rewards,
            weights=self.task.weights,
            max_length=self.task.max_length,
        )
