"""The automata of many runs at once: one flat table, one number per state and token.

A token and the state that it was chosen in are one number, the place of both in a flat table of (V, S, N):

    entry = (token S + run) N + state

A finished completion waits at one more entry behind the table.

The tokens of a batch lie in memory as (T, G, S, P): what is done for each is then done along long rows, and a
sum over the tokens of a completion, or over the members of a group, is a few additions of such rows.
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
    """The last axis first: a view."""
    return array.transpose(-1, *range(array.ndim - 1))


def back(array: Any) -> Any:
    """The first axis last: a view."""
    return array.transpose(*range(1, array.ndim), 0)


def tokens_first(array: Any) -> Any:
    """(S, P, G, T) as (T, G, S, P): a view."""
    return array.transpose(3, 2, 0, 1)


def tokens_last(array: Any) -> Any:
    """(T, G, S, P) as (S, P, G, T): a view."""
    return array.transpose(2, 3, 1, 0)


class Walk:
    """The automaton of a task for some runs, and room for a batch of their completions, (T, G, S, P)."""

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
        following = task.transitions.T[:, None, :]
        following = np.where(following == END, self.finished, following + self.first)
        self.following = np.append(following, self.finished)
        self.token_of = np.append(np.repeat(np.arange(vocabulary), self.rows), 0)
        halves = [1 << power for power in reversed(range((vocabulary - 1).bit_length()))]
        self.cumulative = np.full((vocabulary + 2 ** len(halves), runs, states), np.inf, dtype)
        flat = self.cumulative.reshape(-1)
        self.probes = [(half * self.rows, flat[(half - 1) * self.rows :]) for half in halves]
        self.numbers = np.empty((runs, config.prompts, 1 + config.group_size * task.max_length))
        self.uniforms, self.entries = np.empty(batch, dtype), np.empty(batch, np.int64)
        self.state, self.move = np.empty((2, *batch[1:]), np.int64)
        self.probe, self.below = np.empty(batch[1:], dtype), np.empty(batch[1:], np.bool_)

    def draw(self, probs: Floats) -> Any:
        """A batch with its rewards; the random numbers are those of `rollout.draw`."""
        self.draw_numbers()
        return self.judged(*self.completions(probs))

    def draw_numbers(self) -> None:
        """Those of the next batch, of each run from its own generator."""
        for generator, numbers in zip(self.generators, self.numbers, strict=True):
            generator.random(out=numbers)

    def completions(self, probs: Floats) -> tuple[Integers, Integers, Bools, Bools]:
        """Prompts (S, P), tokens and mask (S, P, G, T), and which completions (S, P, G) have ended."""
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
        """From state to state; by bisection, the entry moves from token 0 to the one that is drawn."""
        self.state[:] = starts + self.first
        for entry, uniforms in zip(self.entries, self.uniforms, strict=True):
            np.copyto(entry, self.state)
            for jump, cumulative in self.probes:
                cumulative.take(entry, out=self.probe, mode="clip")
                np.less_equal(self.probe, uniforms, out=self.below)
                np.multiply(self.below, jump, out=self.move)
                np.add(entry, self.move, out=entry)
            self.following.take(entry, out=self.state, mode="clip")

    def judged(self, prompts: Integers, tokens: Integers, mask: Bools, ended: Bools) -> Any:
        """What the slots of a recipe may read: `Completions` without the states."""
        components = self.task.verify(prompts, tokens, mask)
        rewards = sum(components[..., k] * weight for k, weight in enumerate(self.task.weights))
        seen = {"prompts": prompts, "tokens": tokens, "mask": mask, "ended": ended}
        judged = {"components": components, "rewards": rewards, "weights": self.task.weights}
        return SimpleNamespace(**seen, **judged, max_length=self.task.max_length)
