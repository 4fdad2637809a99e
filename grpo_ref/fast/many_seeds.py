"""The fast loop: many seeds, the usual recipes, few metrics, on tables with the vocabulary's axis first.

It gives the curves of `learning.loop`, the plain loop, which is the one to read and does everything else;
`training.train` chooses between the two.

The logits lie in memory as (V, S, N), so that a sum over the vocabulary is V additions of long rows. A token
and the state that it was chosen in are one number, the place of both in a flat table:

    entry = (token S + run) N + state

A finished completion waits at one more entry behind the table. To a policy that is a table, a batch is no
more than three sums over the tokens that fall on each entry, because the ratio, its clip and the slope of the
penalty are the same for all of them (W are the weights, A the advantages):

    total = Σ W A,    good = Σ W max(A, 0),    seen = Σ W

So the tokens of a batch are looked at once, and every step on it is arithmetic on tables. Results are written
into arrays that are made once (`out=`), because new memory costs more than the arithmetic.
"""

import math
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from grpo_ref.arrays import Floats, Integers, keep_freed_memory
from grpo_ref.kernels.filters import all_completions, all_groups
from grpo_ref.kernels.levels import token_level
from grpo_ref.kernels.metrics import mean_length, reward_width
from grpo_ref.kernels.penalties import k3
from grpo_ref.kernels.surrogates import clipped
from grpo_ref.learning.arguments import check_arguments, check_metrics
from grpo_ref.learning.batches import stretches
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.optim import Adam
from grpo_ref.learning.rollout import draw_prompts
from grpo_ref.learning.state import (
    Metrics,
    TrainState,
    Update,
    generators_of,
    optimizer_of,
    saved,
    starting_state,
)
from grpo_ref.learning.tasks.task import END, Task
from grpo_ref.recipes import Recipe

Tables = dict[str, Floats]
"""Arrays (V, S, N) by name: the logits, and what the optimizer keeps beside them."""


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
      threads: into how many parts the seeds are divided, to be trained at the same time; two were slower
        than one on the machines tried, since most calls are shorter than the hand-over between threads.
      dtype: of the tables; float32 is faster, and its curves part from those of the plain loop after a while.

    Yields:
      Update(metrics, state), each metric (S,): the mean over the batch.

    Raises:
      TypeError: if an argument is not of its type.
      ValueError: if the plain loop is needed, as `why_not` says, or the state is that of another optimizer.

    >>> from grpo_ref import GRPO, TASKS, config_for, train_many
    >>> task = TASKS["bandit"]()
    >>> curve = [update.metrics["reward"] for update in train_many(task, GRPO, config_for(task, seeds=100))]
    >>> len(curve), curve[0].shape
    (200, (100,))
    """
    check_arguments(task, recipe, config, state)
    state = starting_state(task, config, state)
    wanted = _checked(task, recipe, config, state, metrics, threads)
    keep_freed_memory()
    tables = {"logits": state.logits} | {name: x for name, x in state.optimizer.items() if name != "steps"}
    tables = {name: _front(table).astype(dtype, order="C") for name, table in tables.items()}
    stretch = stretches(len(state.logits), threads)
    parts = [_Runs(task, recipe, config, state, runs, wanted, dtype) for runs in stretch]
    with ThreadPoolExecutor(len(parts)) as pool:
        each = pool.map if len(parts) > 1 else map
        while state.update < config.updates:
            refresh = config.ref_refresh > 0 and (state.update + 1) % config.ref_refresh == 0
            before, tables = tables, {name: np.empty_like(table) for name, table in tables.items()}
            found = list(each(partial(_Runs.update, before=before, after=tables, refresh=refresh), parts))
            state = _next_state(state, tables, parts, refresh=refresh)
            yield Update({name: np.concatenate([one[name] for one in found]) for name in wanted}, state)


MEASURES: dict[str, Callable[[Any], Floats]] = {
    "reward": lambda batch: batch.rewards.mean((-2, -1)),
    "length": lambda batch: mean_length(batch.mask),
    "truncated": lambda batch: 1.0 - batch.ended.mean((-2, -1)),
    "reward_width": lambda batch: reward_width(batch.rewards),
}
"""The metrics that need nothing but the batch as it was drawn; `_Runs.measured` adds the task's criteria."""


def fast_metrics(task: Task) -> tuple[str, ...]:
    """The names of the metrics that this loop gives for the task."""
    return tuple(dict.fromkeys((*task.criteria, *MEASURES)))


def why_not(task: Task, recipe: Recipe, config: TrainConfig, state: TrainState | None = None) -> str:
    """The first reason why the plain loop is needed, as a sentence; empty if this one will do.

    Here the surrogate is `clipped` at the token level, the penalty is `k3` without limits (or kl_coef is 0),
    nothing is filtered or corrected, there is no entropy bonus or target and no refiltering, and all arrays
    are NumPy's.
    """
    tables = (task.ref_logits,) if state is None else (task.ref_logits, state.logits)
    if not all(isinstance(table, np.ndarray) for table in tables):
        return "task and state: expected NumPy arrays; on another device use train"
    no_bonus = config.entropy_coef == 0.0 and (state is None or not state.entropy_coef.any())
    usual = _usual_parts(recipe) | {
        "entropy_coef": no_bonus,
        "entropy_target": config.entropy_target == 0.0,
        "refilter_every": config.refilter_every == 0,
    }
    for name, is_usual in usual.items():
        if not is_usual:
            part = recipe.parts().get(name) or f"a run with {name}"
            return f"{name}: train_many cannot do {part}; use train"
    return ""


def _usual_parts(recipe: Recipe) -> dict[str, bool]:
    """Which parts of the recipe this loop knows."""
    plain_k3 = recipe.penalty.kernel is k3 and not recipe.penalty.settings
    return {
        "keep": recipe.keep.kernel is all_groups,
        "admit": recipe.admit.kernel is all_completions,
        "reward": "states" not in recipe.reward.reads,
        "advantage": "states" not in recipe.advantage.reads,
        "level": recipe.level is token_level,
        "surrogate": recipe.surrogate.kernel is clipped,
        "penalty": recipe.kl_coef == 0.0 or plain_k3,
        "corrections": not recipe.corrections,
        "log_ratio_limits": recipe.log_ratio_limits == (-math.inf, math.inf),
    }


def _checked(
    task: Task,
    recipe: Recipe,
    config: TrainConfig,
    state: TrainState,
    metrics: Collection[str],
    threads: int,
) -> tuple[str, ...]:
    """The names of the metrics, if this loop can do all that is asked."""
    if threads < 1:
        raise ValueError(f"threads: expected at least 1, got {threads}")
    if why := why_not(task, recipe, config, state):
        raise ValueError(why)
    wanted = check_metrics(task, metrics)
    if slow := [name for name in wanted if name not in fast_metrics(task)]:
        raise ValueError(f"metrics: train_many cannot give {', '.join(slow)}; use train")
    recipe.surrogate(SimpleNamespace(log_ratio=np.zeros(1), advantages=np.zeros(1)))  # checks its bounds
    return wanted


def _front(array: Any) -> Any:
    """The last axis first: a view."""
    return array.transpose(-1, *range(array.ndim - 1))


def _back(array: Any) -> Any:
    """The first axis last: a view."""
    return array.transpose(*range(1, array.ndim), 0)


def _next_state(state: TrainState, tables: Tables, parts: list["_Runs"], *, refresh: bool) -> TrainState:
    optimizer = {name: _back(table) for name, table in tables.items()}
    logits = optimizer.pop("logits")
    if "steps" in state.optimizer:
        optimizer["steps"] = np.array(parts[0].steps)
    return replace(
        state,
        update=state.update + 1,
        logits=logits,
        ref_logits=logits if refresh else state.ref_logits,
        optimizer=optimizer,
        generators=tuple(one for part in parts for one in part.saved),
    )


class _Walk:
    """The automaton of a task for some runs, and room for a batch of their completions, (T, S, P, G)."""

    def __init__(self, task: Task, config: TrainConfig, runs: int, dtype: DTypeLike) -> None:
        states, vocabulary = task.transitions.shape
        batch = (task.max_length, runs, config.prompts, config.group_size)
        self.task, self.rows = task, runs * states
        self.finished = vocabulary * self.rows
        self.first = np.arange(runs)[:, None] * states
        following = task.transitions.T[:, None, :]
        following = np.where(following == END, self.finished, following + self.first)
        self.following = np.append(following, self.finished)
        halves = [1 << power for power in reversed(range((vocabulary - 1).bit_length()))]
        self.cumulative = np.full((vocabulary + 2 ** len(halves), runs, states), np.inf, dtype)
        flat = self.cumulative.reshape(-1)
        self.probes = [(half * self.rows, flat[(half - 1) * self.rows :]) for half in halves]
        self.numbers = np.empty((runs, config.prompts, 1 + config.group_size * task.max_length))
        self.uniforms, self.entries = np.empty(batch, dtype), np.empty(batch, np.int64)
        self.state, self.move = np.empty((2, *batch[1:]), np.int64)
        self.probe, self.below = np.empty(batch[1:], dtype), np.empty(batch[1:], np.bool_)

    def draw(self, probs: Floats, generators: list[np.random.Generator], prompt_probs: Floats) -> Any:
        """A batch with its rewards; the random numbers are those of `rollout.draw`."""
        for generator, numbers in zip(generators, self.numbers, strict=True):
            generator.random(out=numbers)
        uniforms = self.numbers[..., 1:].reshape(*_back(self.uniforms).shape)
        np.copyto(self.uniforms, _front(uniforms), casting="same_kind")
        below: Any = 0.0
        for row, token_probs in zip(self.cumulative, probs[:-1], strict=False):
            below = np.add(below, token_probs, out=row)  # from the last token on, rows stay infinite
        prompts = draw_prompts(prompt_probs, self.numbers[..., 0])
        self.walk(self.task.starts[prompts])
        return self.judged(prompts)

    def walk(self, starts: Integers) -> None:
        """From state to state; by bisection, the entry moves from token 0 to the one that is drawn."""
        np.add(starts[..., None], self.first[..., None], out=self.state)
        for entry, uniforms in zip(self.entries, self.uniforms, strict=True):
            np.copyto(entry, self.state)
            for jump, cumulative in self.probes:
                cumulative.take(entry, out=self.probe, mode="clip")
                np.less_equal(self.probe, uniforms, out=self.below)
                np.multiply(self.below, jump, out=self.move)
                np.add(entry, self.move, out=entry)
            self.following.take(entry, out=self.state, mode="clip")

    def judged(self, prompts: Integers) -> Any:
        """What the slots of a recipe may read: `Completions` without the states."""
        mask = self.entries != self.finished
        tokens, mask = _back(self.entries // self.rows * mask), _back(mask)
        components = self.task.verify(prompts, tokens, mask)
        rewards = sum(components[..., k] * weight for k, weight in enumerate(self.task.weights))
        seen = {"prompts": prompts, "tokens": tokens, "mask": mask, "ended": self.state == self.finished}
        judged = {"components": components, "rewards": rewards, "weights": self.task.weights}
        return SimpleNamespace(**seen, **judged, max_length=self.task.max_length)


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
        self.criteria = task.criteria
        self.saved = state.generators[runs]
        self.generators = generators_of(self.saved)
        self.prompt_probs = state.prompt_probs[runs]
        self.walk = _Walk(task, config, len(self.saved), dtype)
        self.optimizer = optimizer_of(config)
        self.steps = float(state.optimizer.get("steps", np.zeros(())))
        self.ref = _front(state.ref_logits[runs]).astype(dtype, order="C")
        self.old, self.now, self.ratio, self.gradient, self.extra = np.empty((5, *self.ref.shape), dtype)
        self.row, self.stopped = np.empty_like(self.ref[0]), np.empty(self.ref.shape, np.bool_)
        self.softmax(self.ref, out=self.ref)

    def update(self, before: Tables, after: Tables, *, refresh: bool) -> Metrics:
        """One update, from the tables before to those after; the metrics of each run."""
        before, after = ({name: x[:, self.runs] for name, x in tables.items()} for tables in (before, after))
        self.softmax(before["logits"], out=self.old)
        batch = self.walk.draw(self.old, self.generators, self.prompt_probs)
        metrics = {name: self.measured(name, batch) for name in self.wanted}
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

    def measured(self, name: str, batch: Any) -> Floats:
        """(S,) one metric of the batch as it was drawn."""
        if name in MEASURES:
            return MEASURES[name](batch)
        of_criterion: Floats = batch.components[..., self.criteria.index(name)].mean((-2, -1))
        return of_criterion

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
            seen = table(weights * self.recipe.kl_coef) if self.recipe.kl_coef > 0.0 else total
            found.append(_Sums(total, good, seen))
        return found

    def advantages(self, batch: Any) -> Any:
        """(1 or T, S, P, G) what the recipe's slots say of the batch."""
        if {"mask", "lengths"} & {*self.recipe.reward.reads, *self.recipe.advantage.reads}:
            batch.mask = np.ascontiguousarray(batch.mask)  # else a lone run is summed in another order
            batch.lengths = batch.mask.sum(-1)
        batch.rewards = self.recipe.reward(batch)
        return _front(self.recipe.advantage(batch).reshape(*batch.rewards.shape, -1))

    def weights(self, batch: Any, part: slice) -> Any:
        """(T, S, P, G) the recipe's weights, over the temperature as all slopes in the logits are."""
        mask = batch.mask[:, part]
        everything = np.broadcast_to(1.0, mask.shape)
        record = SimpleNamespace(mask=mask, max_length=batch.max_length, correction=everything)
        return _front(self.recipe.aggregate(record)) * (1.0 / self.config.temperature)

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
        if self.recipe.kl_coef > 0.0:
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
