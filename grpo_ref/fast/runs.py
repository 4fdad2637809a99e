"""Compute an update of many runs at once, with NumPy on tables whose first axis is the vocabulary.

The logits are stored as (V, S, N), so that a sum over the vocabulary is V additions of long rows. `walk`
samples tokens from such a table.

If the policy is a table, then all tokens of a batch with the same state have the same ratio, the same clip
and the same slope of the penalty. So the gradient needs only three sums over the tokens on each entry of the
table (W are the weights, A the advantages):

    total = Σ W A,    good = Σ W max(A, 0),    seen = Σ W

The tokens of a batch are read once, and each step on the batch is arithmetic on tables. Results are written
into arrays that are allocated once (`out=`), because allocating memory costs more than the arithmetic.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from grpo_ref.arrays import Floats, Integers
from grpo_ref.fast.supported import clip_bounds, is_of_groups
from grpo_ref.fast.walk import Walk, back, front, tokens_first
from grpo_ref.learning.batches import slices
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.curves import Metrics, of_completions
from grpo_ref.learning.optim import Adam
from grpo_ref.learning.state import TrainState, generators_of, optimizer_of
from grpo_ref.learning.task import Task
from grpo_ref.recipes import Recipe

Tables = dict[str, Floats]
"""Arrays (V, S, N) by name: the logits and the optimizer's moments."""


class Sums(NamedTuple):
    """The three sums over the tokens of a batch, tables (V, S, N). `seen` is multiplied by kl_coef."""

    total: Floats
    good: Floats
    seen: Floats


class Runs:
    """A part of the runs: their random generators, and buffers for all that an update computes."""

    walker = Walk

    @staticmethod
    def workers(threads: int) -> int:
        """Return the number of parts that are trained at the same time."""
        return threads

    @staticmethod
    def laid_out(table: Floats, dtype: DTypeLike) -> Floats:
        """Copy a table (S, N, V) to (V, S, N), in this order in memory."""
        return front(table).astype(dtype, order="C")  # type: ignore[no-any-return]

    def __init__(
        self,
        task: Task,
        recipe: Recipe,
        config: TrainConfig,
        state: TrainState,
        runs: slice,
        metrics: tuple[str, ...],
        dtype: DTypeLike,
    ) -> None:
        self.task, self.recipe, self.config, self.runs, self.metrics = task, recipe, config, runs, metrics
        self.reads = {*metrics, *recipe.reward.reads, *recipe.advantage.reads}
        generators = generators_of(state.generators[runs])
        self.walk = self.walker(task, config, state.prompt_probs[runs], generators, dtype)
        self.optimizer = optimizer_of(config)
        self.steps = float(state.optimizer.get("steps", np.zeros(())))
        self.ref = self.laid_out(state.ref_params[runs], dtype)
        self.old, self.now, self.ratio, self.gradient, self.extra = (
            np.empty_like(self.ref) for _ in range(5)
        )
        self.row, self.clipped = np.empty_like(self.ref[0]), np.empty(self.ref.shape, np.bool_)
        self.softmax(self.ref, out=self.ref)

    def update(self, before: Tables, after: Tables, *, refresh: bool) -> Metrics:
        """Read the tables before an update, write those after it, and return the metrics of each run."""
        before, after = ({name: x[:, self.runs] for name, x in tables.items()} for tables in (before, after))
        self.softmax(before["logits"], out=self.old)
        batch = self.contiguous(self.walk.draw(self.old))
        metrics = of_completions(self.task, batch, self.metrics)
        # In the first step the policy is the one that sampled the batch, so its softmax is already there.
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

    def contiguous(self, batch: Any) -> Any:
        """Lay out as (S, P, G, ...) all arrays that a metric or the recipe sums over completions.

        NumPy's order of summation depends on the memory layout. With this layout it does not depend on the
        number of runs, so a seed gives the same numbers in any company.
        """
        batch.rewards = np.ascontiguousarray(batch.rewards)
        if self.reads & {"components", *self.task.criteria}:
            batch.components = np.ascontiguousarray(batch.components)
        if self.reads & {"mask", "lengths"}:
            batch.mask = np.ascontiguousarray(batch.mask)
            batch.lengths = batch.mask.sum(-1)
        return batch

    def softmax(self, logits: Floats, out: Floats) -> None:
        """Fill `out` with the policy's probabilities, none of them 0, so that no ratio is 0/0."""
        floor = 0.9 * math.log(np.finfo(out.dtype).tiny)
        np.max(logits, axis=0, out=self.row)
        np.subtract(logits, self.row, out=out)
        np.multiply(out, 1.0 / self.config.temperature, out=out)
        np.maximum(out, floor, out=out)
        np.exp(out, out=out)
        np.divide(1.0, self.sum_tokens(out), out=self.row)
        np.multiply(out, self.row, out=out)

    def sum_tokens(self, table: Floats) -> Any:
        """Return (S, N) the sums over the vocabulary, added token by token for every shape."""
        np.copyto(self.row, table[0])
        for row in table[1:]:
            np.add(self.row, row, out=self.row)
        return self.row

    def sums(self, batch: Any) -> list[Sums]:
        """Return the three sums of each minibatch."""
        advantages = self.advantages(batch)
        return [
            self.sum_entries(self.walk.entries[..., part], self.weights(batch, part), advantages[..., part])
            for part in slices(self.config.prompts, self.config.minibatches)
        ]

    def sum_entries(self, entries: Integers, weights: Any, advantages: Any) -> Sums:
        """Return the three sums of arrays (T, G, S, P).

        Without a second step on the batch no token is clipped, so `good` is not needed; without a penalty
        `seen` is not. `total` then fills their fields.
        """
        table, gains = partial(self.table, entries), weights * advantages
        total = table(gains)
        good = table(np.maximum(gains, 0.0)) if self.takes_several_steps else total
        seen = table(weights * self.recipe.kl_coef) if self.recipe.kl_coef != 0.0 else total
        return Sums(total, good, seen)

    @property
    def takes_several_steps(self) -> bool:
        """True if there is more than one step per batch, so that ratios differ from 1."""
        return self.config.minibatches * self.config.epochs > 1

    def advantages(self, batch: Any) -> Any:
        """Return (1 or T, G, S, P) the recipe's advantages of the batch."""
        batch.rewards = self.recipe.reward(batch)
        # Sums over a group are faster with the group's axis first in memory. With one prompt per batch, NumPy
        # would then sum the group of a lone run in another order than the groups of several runs.
        if self.config.prompts > 1 and is_of_groups(self.recipe.advantage):
            batch.rewards = back(np.ascontiguousarray(front(batch.rewards)))
        return tokens_first(self.recipe.advantage(batch).reshape(*batch.rewards.shape, -1))

    def weights(self, batch: Any, part: slice) -> Any:
        """Return (T, G, S, P) the recipe's weights, divided by the temperature.

        The derivative of a log-probability with respect to a logit has this factor.
        """
        weights = tokens_first(self.recipe.weights(batch.mask[:, part], max_length=batch.max_length))
        return weights if self.config.temperature == 1.0 else weights * (1.0 / self.config.temperature)

    def table(self, entries: Integers, weights: Floats) -> Any:
        """Return (V, S, N) the sum of the weights on each entry of the table."""
        sums = np.bincount(entries.reshape(-1), weights.reshape(-1), minlength=self.walk.finished + 1)
        return sums[:-1].reshape(self.old.shape).astype(self.old.dtype, copy=False)

    def differentiate(self, sums: Sums, probs: Floats) -> None:
        """Compute the loss's gradient with respect to the logits from the slopes of all entries.

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
        """Write the slope of the clipped surrogate into `gradient`.

            slope = r (total - good [r > 1 + clip_high] - bad [r < 1 - clip_low]),    bad = total - good

        The ratio r = π/πold is exactly 1 in the first step on a batch. Above the range, tokens with a
        positive advantage are clipped; below it, tokens with a negative advantage.
        """
        if probs is self.old:
            np.copyto(self.gradient, sums.total)
            return
        lowest, highest = clip_bounds(self.recipe)
        np.divide(probs, self.old, out=self.ratio)
        np.less(self.ratio, lowest, out=self.clipped)
        np.subtract(sums.total, sums.good, out=self.extra)
        np.multiply(self.extra, self.clipped, out=self.extra)
        np.subtract(sums.total, self.extra, out=self.gradient)
        np.greater(self.ratio, highest, out=self.clipped)
        np.multiply(sums.good, self.clipped, out=self.extra)
        np.subtract(self.gradient, self.extra, out=self.gradient)
        np.multiply(self.gradient, self.ratio, out=self.gradient)

    def step(self, before: Tables, after: Tables) -> None:
        """Take one step of the optimizer, against the gradient; before and after may be the same tables."""
        self.steps += 1.0
        if self.config.max_grad_norm < math.inf:
            self.clip_norm()
        if isinstance(self.optimizer, Adam):
            self.adam(self.optimizer, before, after)
        else:
            np.multiply(self.gradient, self.optimizer.learning_rate, out=self.extra)
            np.subtract(before["logits"], self.extra, out=after["logits"])

    def clip_norm(self) -> None:
        """Scale each run's gradient down to the maximum norm, as `clip_by_norm` does."""
        np.multiply(self.gradient, self.gradient, out=self.extra)
        norm = np.sqrt(self.sum_tokens(self.extra).sum(-1, keepdims=True))
        norm = np.maximum(norm, np.finfo(norm.dtype).tiny)  # a gradient of 0 stays 0
        np.multiply(self.gradient, np.minimum(1.0, self.config.max_grad_norm / norm), out=self.gradient)

    def adam(self, optimizer: Adam, before: Tables, after: Tables) -> None:
        """Take the step of `optim.Adam`; overwrites the gradient.

        Both bias corrections are folded into one learning rate and one eps, which saves two passes over the
        tables.
        """
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
