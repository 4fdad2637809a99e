"""The fast training loop: many seeds, the most common recipes, few metrics.

The plain loop, `learning.loop`, is the one to read: it computes the same curves and supports everything.
`grpo_ref.training.train` chooses between the two. (A third loop, `check.mistakes.toy_loop`, serves the
training exercises of the course.)

`runs` computes an update on tables, with NumPy on whole arrays. If Numba is installed (the extra `compiled`),
`compiled` computes the same numbers, to the bit, with loops over the runs.
"""

import math
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import DTypeLike

from grpo_ref.fast.numba_loops import compiled_forms
from grpo_ref.fast.runs import Runs, Tables
from grpo_ref.fast.supported import checked_metrics
from grpo_ref.fast.walk import back
from grpo_ref.learning.arguments import check_arguments
from grpo_ref.learning.batches import slices
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.state import TrainState, Update, advanced, check_runs, starting_state
from grpo_ref.learning.task import Task
from grpo_ref.memory import keep_freed_memory
from grpo_ref.recipes import Recipe

PART_BYTES = 1 << 22
"""Size of a table in bytes, above which the runs are split. A dozen such tables fit into a level-3 cache."""


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
    """Train many seeds several times faster than the plain loop, with the same random numbers and curves.

    Sums are taken in another order than in the plain loop, so logits agree to rounding, not to the bit: to
    about 1e-10, or less closely if many steps on one batch amplify the rounding. A run depends neither on the
    other runs nor on the number of threads. Yielded arrays are never written to again.

    Args:
      task, recipe, config, state: as in `train`. The state may come from either loop.
      metrics: names of the requested metrics, among those of `fast_metrics`.
      threads: number of parts of the seeds that are trained at the same time. Two threads were slower than
        one on the machines tried, since most NumPy calls are shorter than a switch between threads.
      dtype: dtype of the tables. float32 is faster, but its curves depart from the plain loop's after a
        while.
      compiled: if true, use loops that Numba compiles. The numbers are the same to the bit, but there is no
        warning of an overflow. Importing Numba takes 0.5 s and the first compilation 10 s, so this is for
        hundreds or thousands of updates.

    Yields:
      Update(metrics, state), with metrics of shape (S,), averaged over the batch.

    Raises:
      TypeError: if an argument has the wrong type.
      ValueError: if the fast loop does not support the run (`why_not` gives the reason), or the state cannot
        be continued.
      ImportError: if compiled is true and Numba is not installed.
      FloatingPointError: after an update that leaves logits which are not finite. This update is not yielded.

    >>> from grpo_ref import GRPO, TASKS, config_for
    >>> from grpo_ref.fast.many_seeds import train_many
    >>> task = TASKS["bandit"]()
    >>> curve = [update.metrics["reward"] for update in train_many(task, GRPO, config_for(task, seeds=100))]
    >>> len(curve), curve[0].shape
    (200, (100,))
    """
    check_arguments(task, recipe, config, state)
    state = starting_state(task, config, state)
    names = checked_metrics(task, recipe, config, state, metrics, threads)
    keep_freed_memory()
    # Tables (V, S, N): the vocabulary first, so that a sum over tokens is V additions of long rows.
    tables = {"logits": state.params} | {name: x for name, x in state.optimizer.items() if name != "steps"}
    form: type[Runs] = compiled_forms().CompiledRuns if compiled else Runs
    tables = {name: form.laid_out(table, dtype) for name, table in tables.items()}
    workers = form.workers(threads)
    rounds = math.ceil(tables["logits"].nbytes / (workers * PART_BYTES))
    parts = [
        form(task, recipe, config, state, runs, names, dtype)
        for runs in slices(len(state.params), workers * rounds)
    ]
    with ThreadPoolExecutor(workers) as pool:
        each = pool.map if workers > 1 else map
        while state.update < config.updates:
            refresh = config.ref_refresh > 0 and (state.update + 1) % config.ref_refresh == 0
            before, tables = tables, {name: np.empty_like(table) for name, table in tables.items()}
            metrics_of_parts = list(
                each(partial(form.update, before=before, after=tables, refresh=refresh), parts)
            )
            check_runs(np.all(np.isfinite(tables["logits"]), axis=(0, 2)), config, state.update + 1)
            state = _next_state(state, tables, parts[0], refresh=refresh)
            yield Update(
                {name: np.concatenate([part[name] for part in metrics_of_parts]) for name in names}, state
            )


def _next_state(state: TrainState, tables: Tables, part: Runs, *, refresh: bool) -> TrainState:
    """Return the state after an update, in the layout of the plain loop."""
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
