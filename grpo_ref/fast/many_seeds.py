"""The fast loop: many seeds, the usual recipes, few metrics.

It gives the curves of `learning.loop`, the plain loop, which is the one to read and does everything else;
`training.train` chooses between the two. (A third, `mistakes.toy_loop`, serves the exercises that train.)

`runs` says how an update is computed on tables, in whole-array NumPy. Where Numba is installed (the extra
`compiled`), `compiled` gives the same numbers, to the bit, with plain loops over the runs.
"""

import math
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import DTypeLike

from grpo_ref.fast.forms import compiled_forms
from grpo_ref.fast.runs import Runs, Tables
from grpo_ref.fast.usual import checked_metrics
from grpo_ref.fast.walk import back
from grpo_ref.learning.arguments import check_arguments
from grpo_ref.learning.batches import stretches
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.state import TrainState, Update, advanced, check_runs, starting_state
from grpo_ref.learning.task import Task
from grpo_ref.memory import keep_freed_memory
from grpo_ref.recipes import Recipe

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
    compiled: bool = False,
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
      compiled: with loops that Numba compiles: the same numbers to the bit, but no warning where one of them
        overflows. Numba takes half a second to be imported, and ten to compile the loops the first time, so
        this is for hundreds or thousands of updates.

    Yields:
      Update(metrics, state), each metric (S,): the mean over the batch.

    Raises:
      TypeError: if an argument is not of its type.
      ValueError: if the plain loop is needed, as `why_not` says, or the state cannot be continued.
      ImportError: if loops are to be compiled and Numba is not installed.
      FloatingPointError: after an update that has left logits which are not finite; it is not yielded.

    >>> from grpo_ref import GRPO, TASKS, config_for
    >>> from grpo_ref.fast.many_seeds import train_many
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
    form: type[Runs] = compiled_forms().CompiledRuns if compiled else Runs
    tables = {name: form.laid_out(table, dtype) for name, table in tables.items()}
    workers = form.workers(threads)
    rounds = math.ceil(tables["logits"].nbytes / (workers * PART_BYTES))
    stretch = stretches(len(state.params), workers * rounds)
    parts = [form(task, recipe, config, state, runs, wanted, dtype) for runs in stretch]
    with ThreadPoolExecutor(workers) as pool:
        each = pool.map if workers > 1 else map
        while state.update < config.updates:
            refresh = config.ref_refresh > 0 and (state.update + 1) % config.ref_refresh == 0
            before, tables = tables, {name: np.empty_like(table) for name, table in tables.items()}
            found = list(each(partial(form.update, before=before, after=tables, refresh=refresh), parts))
            check_runs(np.all(np.isfinite(tables["logits"]), axis=(0, 2)), config, state.update + 1)
            state = _next_state(state, tables, parts[0], refresh=refresh)
            yield Update({name: np.concatenate([one[name] for one in found]) for name in wanted}, state)


def _next_state(state: TrainState, tables: Tables, part: Runs, *, refresh: bool) -> TrainState:
    optimizer = {name: back(table) for name, table in tables.items()}
    logits = optimizer.pop("logits")
    if "steps" in state.optimizer:
        optimizer["steps"] = np.array(part.steps)
    return replace(
        state,
        update=state.update + 1,
        params=logits,
        ref_params=logits if refresh else state.ref_params,
        optimizer=optimizer,
        generators=advanced(state.generators, part.walk.numbers[0].size),
    )
