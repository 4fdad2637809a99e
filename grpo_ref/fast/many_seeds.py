"""The fast loop: many seeds, the usual recipes, few metrics, on tables with the vocabulary's axis first.

It gives the curves of `learning.loop`, the plain loop, which is the one to read and does everything else;
`training.train` chooses between the two. (A third, `mistakes.toy_loop`, serves the exercises that train.)

The logits lie in memory as (V, S, N), so that a sum over the vocabulary is V additions of long rows; `walk`
says how tokens are drawn from such a table. To a policy that is a table, a batch is no more than three sums
over the tokens that fall on each entry, because the ratio, its clip and the slope of the penalty are the same
for all of them (W are the weights, A the advantages):

    total = Σ W A,    good = Σ W max(A, 0),    seen = Σ W

So the tokens of a batch are looked at once, and every step on it is arithmetic on tables. Results are written
into arrays that are made once (`out=`), because new memory costs more than the arithmetic.
"""

import math
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from grpo_ref.arrays import Floats, Integers, keep_freed_memory
from grpo_ref.fast.usual import checked_metrics
from grpo_ref.fast.walk import Walk, back, front
from grpo_ref.learning.arguments import check_arguments
from grpo_ref.learning.batches import stretches
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.curves import Metrics, of_completions
from grpo_ref.learning.optim import Adam
from grpo_ref.learning.state import (
    TrainState,
    Update,
    check_runs,
    generators_of,
    optimizer_of,
    saved,
    starting_state,
)
from grpo_ref.learning.tasks.task import Task
from grpo_ref.recipes import Recipe

Tables = dict[str, Floats]
"""Arrays (V, S, N) by name: the logits, and what the optimizer keeps beside them."""
PART_BYTES = 1 << 22
"""Runs are trained some at a time: a dozen tables of this size fit into a third-level cache."""


def train_many(
    task: Task,
    recipe: Recipe,
    config: TrainConfig,
    state: TrainState | None = None,
    *,
    metrics: Collection[str] = ("reward",),
    threads: int = 1,
    dtype: DTypeLike = np.float64,
) -> Iterator[Update]:
    """The same as the plain loop for the usual recipes, several times faster: same random numbers and curves.

    Sums are taken in another order than in the plain loop, so logits agree to rounding (about 1e-10, less
    well where many steps on a batch magnify it), not to the bit. A run depends neither on the other runs nor
    on the threads. What was yielded is never written to again.

    Args:
      task, recipe, config, state: as in `train`; the state may be that of either loop.
      metrics: names of the metrics that are needed, among those of `fast_metrics`.
      threads: how many parts of the seeds are trained at the same time; two were slower than one on the
        machines tried, since most calls are shorter than the hand-over between threads.
      dtype: of the tables; float32 is faster, and its curves part from those of the plain loop after a while.

    Yields:
      Update(metrics, state), each metric (S,): the mean over the batch.

    Raises:
      TypeError: if an argument is not of its type.
      ValueError: if the plain loop is needed, as `why_not` says, or the state cannot be continued.
      FloatingPointError: after an update that has left logits which are not finite; it is not yielded.

    >>> from grpo_ref import GRPO, TASKS, config_for, train_many
    >>> task = TASKS["bandit"]()
    >>> curve = [update.metrics["reward"] for update in train_many(task, GRPO, config_for(task, seeds=100))]
    >>> len(curve), curve[0].shape
    (200, (100,))
    """
    check_arguments(task, recipe, config, state)
    state = starting_state(task, config, state)
    wanted = checked_metrics(task, recipe, config, state, metrics, threads)
    keep_freed_memory()
    tables = {"logits": state.params} | {name: x for name, x in state.optimizer.items() if name != "steps"}
    tables = {name: front(table).astype(dtype, order="C") for name, table in tables.items()}
    rounds = math.ceil(tables["logits"].nbytes / (threads * PART_BYTES))
    stretch = stretches(len(state.params), threads * rounds)
    parts = [_Runs(task, recipe, config, state, runs, wanted, dtype) for runs in stretch]
    with ThreadPoolExecutor(threads) as pool:
        each = pool.map if threads > 1 else map
        while state.update < config.updates:
            refresh = config.ref_refresh > 0 and (state.update + 1) % config.ref_refresh == 0
            before, tables = tables, {name: np.empty_like(table) for name, table in tables.items()}
            found = list(each(partial(_Runs.update, before=before, after=tables, refresh=refresh), parts))
            check_runs(np.all(np.isfinite(tables["logits"]), axis=(0, 2)), config, state.update + 1)
            state = _next_state(state, tables, parts, refresh=refresh)
            yield Update({name: np.concatenate([one[name] for one in found]) for name in wanted}, state)


def _next_state(state: TrainState, tables: Tables, parts: list["_Runs"], *, refresh: bool) -> TrainState:
    optimizer = {name: back(table) for name, table in tables.items()}
    logits = optimizer.pop("logits")
    if "steps" in state.optimizer:
        optimizer["steps"] = np.array(parts[0].steps)
    return replace(
        state,
        update=state.update + 1,
        params=logits,
        ref_params=logits if refresh else state.ref_params,
        optimizer=optimizer,
        generators=tuple(one for part in parts for one in part.saved),
    )


class _Sums(NamedTuple):
    """What the steps need to know of a batch: tables (V, S, N), seen times the recipe's kl_coef."""

    total: Floats
    good: Floats
    seen: Floats


class _Runs:
    """Some of the runs: their random numbers, and room for all that their updates compute."""

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
        self.recipe, self.config, self.runs, self.wanted = recipe, config, runs, wanted
        self.task = task
        self.saved = state.generators[runs]
        self.generators = generators_of(self.saved)
        self.prompt_probs = state.prompt_probs[runs]
        self.walk = Walk(task, config, len(self.saved), dtype)
        self.optimizer = optimizer_of(config)
        self.steps = float(state.optimizer.get("steps", np.zeros(())))
        self.ref = front(state.ref_params[runs]).astype(dtype, order="C")
        self.old, self.now, self.ratio, self.gradient, self.extra = np.empty((5, *self.ref.shape), dtype)
        self.row, self.stopped = np.empty_like(self.ref[0]), np.empty(self.ref.shape, np.bool_)
        self.softmax(self.ref, out=self.ref)

    def update(self, before: Tables, after: Tables, *, refresh: bool) -> Metrics:
        """One update, from the tables before to those after; the metrics of each run."""
        before, after = ({name: x[:, self.runs] for name, x in tables.items()} for tables in (before, after))
        self.softmax(before["logits"], out=self.old)
        batch = self.walk.draw(self.old, self.generators, self.prompt_probs)
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
        self.saved = saved(self.generators)
        return metrics

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

    def sums(self, batch: Any) -> list[_Sums]:
        """What the steps need to know of each minibatch; a single step clips nothing and needs no good."""
        several = self.config.minibatches * self.config.epochs > 1
        advantages = self.advantages(batch)
        found = []
        for part in stretches(self.config.prompts, self.config.minibatches):
            weights, table = self.weights(batch, part), partial(self.table, self.walk.entries[:, :, part])
            gains = weights * advantages[:, :, part]
            total = table(gains)
            good = table(np.maximum(gains, 0.0)) if several else total
            seen = table(weights * self.recipe.kl_coef) if self.recipe.kl_coef != 0.0 else total
            found.append(_Sums(total, good, seen))
        return found

    def advantages(self, batch: Any) -> Any:
        """(1 or T, S, P, G) what the recipe's slots say of the batch."""
        if {"mask", "lengths"} & {*self.recipe.reward.reads, *self.recipe.advantage.reads}:
            batch.mask = np.ascontiguousarray(batch.mask)  # else a lone run is summed in another order
            batch.lengths = batch.mask.sum(-1)
        batch.rewards = self.recipe.reward(batch)
        return front(self.recipe.advantage(batch).reshape(*batch.rewards.shape, -1))

    def weights(self, batch: Any, part: slice) -> Any:
        """(T, S, P, G) the recipe's weights, over the temperature as all slopes in the logits are."""
        weights = self.recipe.weights(batch.mask[:, part], max_length=batch.max_length)
        return front(weights) * (1.0 / self.config.temperature)

    def table(self, entries: Integers, weights: Floats) -> Any:
        """(V, S, N) the sum of the weights that fall on each entry."""
        sums = np.bincount(entries.reshape(-1), weights.reshape(-1), minlength=self.walk.finished + 1)
        return sums[:-1].reshape(self.old.shape).astype(self.old.dtype, copy=False)

    def differentiate(self, sums: _Sums, probs: Floats) -> None:
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

    def surrogate(self, sums: _Sums, probs: Floats) -> None:
        """Gradient = r (total - good [r > 1 + clip_high] - bad [r < 1 - clip_low]),  bad = total - good.

        r = π/πold is exactly 1 in the first step of a batch.
        """
        if probs is self.old:
            np.copyto(self.gradient, sums.total)
            return
        bounds = {"clip_low": 0.2, "clip_high": 0.2} | self.recipe.surrogate.settings
        np.divide(probs, self.old, out=self.ratio)
        np.less(self.ratio, 1.0 - bounds["clip_low"], out=self.stopped)
        np.subtract(sums.total, sums.good, out=self.extra)
        np.multiply(self.extra, self.stopped, out=self.extra)
        np.subtract(sums.total, self.extra, out=self.gradient)
        np.greater(self.ratio, 1.0 + bounds["clip_high"], out=self.stopped)
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
        """Extra = the move of `optim.Adam`; the gradient is overwritten."""
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
