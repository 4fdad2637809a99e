"""Some runs as one array: an update on tables with the vocabulary's axis first, in whole-array NumPy.

The logits lie in memory as (V, S, N), so that a sum over the vocabulary is V additions of long rows; `walk`
says how tokens are drawn from such a table. To a policy that is a table, a batch is no more than three sums
over the tokens that fall on each entry, because the ratio, its clip and the slope of the penalty are the same
for all of them (W are the weights, A the advantages):

    total = Σ W A,    good = Σ W max(A, 0),    seen = Σ W

So the tokens of a batch are looked at once, and every step on it is arithmetic on tables. Results are written
into arrays that are made once (`out=`), because new memory costs more than the arithmetic.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from grpo_ref.arrays import Floats, Integers
from grpo_ref.fast.usual import clip_bounds, is_of_groups
from grpo_ref.fast.walk import Walk, back, front, tokens_first
from grpo_ref.learning.batches import stretches
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.curves import Metrics, of_completions
from grpo_ref.learning.optim import Adam
from grpo_ref.learning.state import TrainState, generators_of, optimizer_of
from grpo_ref.learning.task import Task
from grpo_ref.recipes import Recipe

Tables = dict[str, Floats]
"""Arrays (V, S, N) by name: the logits, and what the optimizer keeps beside them."""


class Sums(NamedTuple):
    """What the steps need to know of a batch: tables (V, S, N), seen times the recipe's kl_coef."""

    total: Floats
    good: Floats
    seen: Floats


class Runs:
    """Some of the runs: their random numbers, and room for all that their updates compute."""

    walker = Walk

    @staticmethod
    def workers(threads: int) -> int:
        """How many parts of the runs are trained at the same time."""
        return threads

    @staticmethod
    def laid_out(table: Floats, dtype: DTypeLike) -> Floats:
        """From (S, N, V) to (V, S, N), in this order in memory."""
        return front(table).astype(dtype, order="C")  # type: ignore[no-any-return]

    def __init__(
        self,
        task: Task,
        recipe: Recipe,
        config: TrainConfig,
        state: TrainState,
        runs: slice,
        wanted: tuple[str, ...],
        dtype: DTypeLike,
    ) -> None:
        self.task, self.recipe, self.config, self.runs, self.wanted = task, recipe, config, runs, wanted
        self.reads = {*wanted, *recipe.reward.reads, *recipe.advantage.reads}
        generators = generators_of(state.generators[runs])
        self.walk = self.walker(task, config, state.prompt_probs[runs], generators, dtype)
        self.optimizer = optimizer_of(config)
        self.steps = float(state.optimizer.get("steps", np.zeros(())))
        self.ref = self.laid_out(state.ref_params[runs], dtype)
        self.old, self.now, self.ratio, self.gradient, self.extra = (
            np.empty_like(self.ref) for _ in range(5)
        )
        self.row, self.stopped = np.empty_like(self.ref[0]), np.empty(self.ref.shape, np.bool_)
        self.softmax(self.ref, out=self.ref)

    def update(self, before: Tables, after: Tables, *, refresh: bool) -> Metrics:
        """One update, from the tables before to those after; the metrics of each run."""
        before, after = ({name: x[:, self.runs] for name, x in tables.items()} for tables in (before, after))
        self.softmax(before["logits"], out=self.old)
        batch = self.in_order(self.walk.draw(self.old))
        metrics = of_completions(self.task, batch, self.wanted)
        probs = self.old
        for sums in self.sums(batch) * self.config.epochs:
            if probs is self.now:
                self.softmax(before["logits"], out=probs)
            self.differentiate(sums, probs)
            self.step(before, after)
            before, probs = after, self.now
        if refresh:
            self.softmax(after["logits"], out=self.ref)
        return metrics

    def in_order(self, batch: Any) -> Any:
        """The batch, with all that somebody sums over its completions laid out as (S, P, G, ...).

        So the order of a sum does not depend on how many runs there are.
        """
        batch.rewards = np.ascontiguousarray(batch.rewards)
        if self.reads & {"components", *self.task.criteria}:
            batch.components = np.ascontiguousarray(batch.components)
        if self.reads & {"mask", "lengths"}:
            batch.mask = np.ascontiguousarray(batch.mask)
            batch.lengths = batch.mask.sum(-1)
        return batch

    def softmax(self, logits: Floats, out: Floats) -> None:
        """The policy; what is below the floor counts as the floor, so that no quotient of two is 0/0."""
        floor = 0.9 * math.log(np.finfo(out.dtype).tiny)
        np.max(logits, axis=0, out=self.row)
        np.subtract(logits, self.row, out=out)
        np.multiply(out, 1.0 / self.config.temperature, out=out)
        np.maximum(out, floor, out=out)
        np.exp(out, out=out)
        np.divide(1.0, self.sum_tokens(out), out=self.row)
        np.multiply(out, self.row, out=out)

    def sum_tokens(self, table: Floats) -> Any:
        """(S, N) sums over the vocabulary, in the order of the tokens whatever the shape."""
        np.copyto(self.row, table[0])
        for row in table[1:]:
            np.add(self.row, row, out=self.row)
        return self.row

    def sums(self, batch: Any) -> list[Sums]:
        """What the steps need to know of each minibatch."""
        advantages = self.advantages(batch)
        return [
            self.added(self.walk.entries[..., part], self.weights(batch, part), advantages[..., part])
            for part in stretches(self.config.prompts, self.config.minibatches)
        ]

    def added(self, entries: Integers, weights: Any, advantages: Any) -> Sums:
        """The three sums, from arrays (T, G, S, P); a single step clips nothing and needs no good."""
        table, gains = partial(self.table, entries), weights * advantages
        total = table(gains)
        good = table(np.maximum(gains, 0.0)) if self.takes_several_steps else total
        seen = table(weights * self.recipe.kl_coef) if self.recipe.kl_coef != 0.0 else total
        return Sums(total, good, seen)

    @property
    def takes_several_steps(self) -> bool:
        """Whether the policy parts from the one that drew the batch before the batch is used up."""
        return self.config.minibatches * self.config.epochs > 1

    def advantages(self, batch: Any) -> Any:
        """(1 or T, G, S, P) what the recipe's slots say of the batch."""
        batch.rewards = self.recipe.reward(batch)
        if self.config.prompts > 1 and is_of_groups(self.recipe.advantage):  # a lone group has another order
            batch.rewards = back(np.ascontiguousarray(front(batch.rewards)))
        return tokens_first(self.recipe.advantage(batch).reshape(*batch.rewards.shape, -1))

    def weights(self, batch: Any, part: slice) -> Any:
        """(T, G, S, P) the recipe's weights, over the temperature as all slopes in the logits are."""
        weights = tokens_first(self.recipe.weights(batch.mask[:, part], max_length=batch.max_length))
        return weights if self.config.temperature == 1.0 else weights * (1.0 / self.config.temperature)

    def table(self, entries: Integers, weights: Floats) -> Any:
        """(V, S, N) the sum of the weights that fall on each entry."""
        sums = np.bincount(entries.reshape(-1), weights.reshape(-1), minlength=self.walk.finished + 1)
        return sums[:-1].reshape(self.old.shape).astype(self.old.dtype, copy=False)

    def differentiate(self, sums: Sums, probs: Floats) -> None:
        """The gradient with respect to the logits, from the slopes of all tokens of an entry together.

        gradient = π Σ slope - slope,    the sum over the tokens of a state
        slope = surrogate + kl_coef seen (πref/π - 1)
        """
        gradient, extra = self.gradient, self.extra
        self.surrogate(sums, probs)
        if self.recipe.kl_coef != 0.0:
            np.divide(self.ref, probs, out=extra)
            np.subtract(extra, 1.0, out=extra)
            np.multiply(extra, sums.seen, out=extra)
            np.add(gradient, extra, out=gradient)
        np.multiply(probs, self.sum_tokens(gradient), out=extra)
        np.subtract(extra, gradient, out=gradient)

    def surrogate(self, sums: Sums, probs: Floats) -> None:
        """Gradient = r (total - good [r > 1 + clip_high] - bad [r < 1 - clip_low]),  bad = total - good.

        r = π/πold is exactly 1 in the first step of a batch.
        """
        if probs is self.old:
            np.copyto(self.gradient, sums.total)
            return
        lowest, highest = clip_bounds(self.recipe)
        np.divide(probs, self.old, out=self.ratio)
        np.less(self.ratio, lowest, out=self.stopped)
        np.subtract(sums.total, sums.good, out=self.extra)
        np.multiply(self.extra, self.stopped, out=self.extra)
        np.subtract(sums.total, self.extra, out=self.gradient)
        np.greater(self.ratio, highest, out=self.stopped)
        np.multiply(sums.good, self.stopped, out=self.extra)
        np.subtract(self.gradient, self.extra, out=self.gradient)
        np.multiply(self.gradient, self.ratio, out=self.gradient)

    def step(self, before: Tables, after: Tables) -> None:
        """One step of the optimizer, against the gradient; before and after may be the same tables."""
        self.steps += 1.0
        if self.config.max_grad_norm < math.inf:
            self.shorten()
        if isinstance(self.optimizer, Adam):
            self.adam(self.optimizer, before, after)
        else:
            np.multiply(self.gradient, self.optimizer.learning_rate, out=self.extra)
            np.subtract(before["logits"], self.extra, out=after["logits"])

    def shorten(self) -> None:
        """`clip_by_norm`, run by run."""
        np.multiply(self.gradient, self.gradient, out=self.extra)
        norm = np.sqrt(self.sum_tokens(self.extra).sum(-1, keepdims=True))
        longest = np.maximum(norm, np.finfo(norm.dtype).tiny)
        np.multiply(self.gradient, np.minimum(1.0, self.config.max_grad_norm / longest), out=self.gradient)

    def adam(self, optimizer: Adam, before: Tables, after: Tables) -> None:
        """The step of `optim.Adam`; the gradient is overwritten."""
        gradient, extra, b1, b2 = self.gradient, self.extra, optimizer.b1, optimizer.b2
        root = math.sqrt(1.0 - b2**self.steps)
        np.multiply(before["mean"], b1, out=after["mean"])
        np.multiply(gradient, 1.0 - b1, out=extra)
        np.add(after["mean"], extra, out=after["mean"])
        np.multiply(before["square"], b2, out=after["square"])
        np.multiply(gradient, gradient, out=gradient)
        np.multiply(gradient, 1.0 - b2, out=gradient)
        np.add(after["square"], gradient, out=after["square"])
        np.sqrt(after["square"], out=extra)
        np.add(extra, optimizer.eps * root, out=extra)
        np.divide(after["mean"], extra, out=extra)
        np.multiply(extra, optimizer.learning_rate * root / (1.0 - b1**self.steps), out=extra)
        np.subtract(before["logits"], extra, out=after["logits"])
