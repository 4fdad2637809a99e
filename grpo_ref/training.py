"""Training on a task: `train` returns the whole history, `iter_train` yields one update after another.

Both choose between two loops that compute the same curves up to rounding. `learning.loop` is the loop to
read. It supports every recipe and metric. `fast.many_seeds` is several times faster; it supports the most
common recipes and few metrics.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.fast.many_seeds import train_many
from grpo_ref.fast.measures import fast_metrics
from grpo_ref.fast.supported import why_not
from grpo_ref.fast.transformer import fast_policy
from grpo_ref.history import History
from grpo_ref.learning.arguments import check_arguments, check_metrics
from grpo_ref.learning.config import TrainConfig, config_for
from grpo_ref.learning.loop import plain_loop
from grpo_ref.learning.policies.memory import runs_at_once
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.policies.policy import Actor, PolicyKind
from grpo_ref.learning.policies.table import TABLE
from grpo_ref.learning.state import TrainState, Update
from grpo_ref.learning.task import Task
from grpo_ref.memory import keep_freed_memory
from grpo_ref.recipes import Recipe
from grpo_ref.tasks import TASKS
from grpo_ref.validation import recipe_of

LARGEST_VOCABULARY = 256
"""The fast loop is for a table with a vocabulary of at most 256 tokens. Above it the plain loop is faster."""


def train(
    task: Task | str,
    recipe: Recipe | str,
    *,
    metrics: Collection[str] | None = None,
    policy: PolicyKind = TABLE,
    teacher: Actor | None = None,
    **settings: Any,
) -> History:
    """Train policies on a task and return the history of the run.

    Args:
      task: the task to learn, as in TASKS["arithmetic"](largest=3), or its name in `TASKS`.
      recipe: the algorithm, or its name in `RECIPES`.
      metrics: names of the metrics to record, as in ("reward",). Default: all.
      policy: the kind of policy: a table, or a network that `pretrain` has made.
      teacher: as in `iter_train`.
      settings: fields of `TrainConfig`, as in seeds=4, updates=50. Default: the settings that suit the task.

    Raises:
      TypeError, ValueError, MemoryError, FloatingPointError: as `iter_train`; a ValueError also if updates is
        0.

    >>> from grpo_ref import train
    >>> history = train("bandit", "grpo", seeds=4, updates=30)
    >>> history.metrics["reward"].shape
    (30, 4)
    >>> bool(history.columns()["reward"][-1] > history.columns()["reward"][0])
    True
    """
    task = TASKS[task]() if isinstance(task, str) else task
    recipe = recipe_of(recipe)
    # `config_for` has special defaults for a table. "" means the defaults of the kind of policy that suits
    # the task.
    config = config_for(task, "table" if policy is TABLE else "", **settings)
    per_update: list[Mapping[str, Floats]] = []
    state = None
    for update in iter_train(task, recipe, config, metrics=metrics, policy=policy, teacher=teacher):
        per_update.append(update.metrics)
        state = update.state
    assert state is not None
    values = {name: np.stack([metrics[name] for metrics in per_update]) for name in per_update[0]}
    return History(task=task.name, recipe=recipe, config=config, metrics=values, state=state)


def iter_train(
    task: Task,
    recipe: Recipe | str,
    config: TrainConfig,
    state: TrainState | None = None,
    *,
    metrics: Collection[str] | None = None,
    policy: PolicyKind = TABLE,
    teacher: Actor | None = None,
    threads: int = 1,
) -> Iterator[Update]:
    """Train until config.updates updates are done, yielding after each.

    The plain loop supports everything. The fast loop, `train_many`, runs if `metrics` is given, the fast loop
    computes all of these metrics (`fast_metrics`), the fast loop supports the recipe (`why_not` finds no
    reason against it), the policy is a table with a vocabulary of at most 256 tokens, and the arrays are
    NumPy's. Both loops use the same random numbers. Their curves are the same up to rounding: about 1e-10, or
    more if many steps on a batch magnify the difference.

    Without `metrics`, iter_train always uses the plain loop; then two runs with the same seed give identical
    bits.

    Args:
      task: the task to learn.
      recipe: the algorithm, or its name in `RECIPES`.
      config: sizes and step sizes.
      state: where to continue. It may come from the CPU or a GPU, and from either loop. Default: the task's
        reference policy.
      metrics: names of the metrics to compute, as in ("reward",). Default: all.
      policy: the kind of policy: a table, or a network that `pretrain` has made.
      teacher: the policies to distill from, one for each run, as in TABLE.at(state.params, 1.0). Needed if
        the recipe distills from a teacher, as "opd" does. It need not be of the same kind as the policy.
      threads: for a network on the CPU, number of parts of the runs that are computed at the same time. It
        changes no number. It saves time if there are several seeds, the network is large, and other programs
        leave the cores free.

    Returns:
      An iterator of Update(metrics, state). The metrics, name -> (S,), are NumPy arrays, one number per run;
      the state is on the task's device. By default the metrics are all of `learning.curves.METRICS`, plus the
      mean of each of the task's criteria, under the criterion's name.

    Raises:
      TypeError: if an argument is not of its type, as when two are swapped.
      ValueError: if a metric is unknown, the recipe needs a teacher and there is none, the state is of
        another policy, task or optimizer, or the network does not fit the task.
      MemoryError: if a network is so large that the machine could not hold an update.
      FloatingPointError: after an update that leaves parameters which are not finite, as when the learning
        rate is too large, or, on the CPU, if a network's weights are so large that numbers inside it
        overflow. This update is not yielded.

    >>> from grpo_ref import GRPO, TASKS, config_for, iter_train
    >>> task = TASKS["bandit"]()
    >>> for last in iter_train(task, GRPO, config_for(task, seeds=4, updates=50)):
    ...     pass    # a list of all updates would keep every policy in memory
    >>> last.metrics["reward"].shape
    (4,)
    """
    recipe = recipe_of(recipe) if isinstance(recipe, str) else recipe
    check_arguments(task, recipe, config, state, policy, teacher)
    if not isinstance(threads, int) or threads < 1:
        raise ValueError(f"threads: expected a whole number >= 1, got {threads!r}")
    # An update frees large arrays. Returning this memory to the system and fetching it again took a third of
    # the time of a run.
    keep_freed_memory()
    if isinstance(policy, NeuralPolicy) and isinstance(task.ref_logits, np.ndarray):
        return _train_network(task, recipe, config, state, policy, metrics, teacher, threads)
    if metrics is None:
        return plain_loop(task, recipe, config, state, policy, teacher=teacher)
    wanted = check_metrics(task, metrics)
    small = policy is TABLE and task.transitions.shape[1] <= LARGEST_VOCABULARY
    if small and set(wanted) <= set(fast_metrics(task)) and not why_not(task, recipe, config, state):
        return train_many(task, recipe, config, state, metrics=wanted)
    return plain_loop(task, recipe, config, state, policy, wanted, teacher)


def _train_network(
    task: Task,
    recipe: Recipe,
    config: TrainConfig,
    state: TrainState | None,
    policy: NeuralPolicy,
    metrics: Collection[str] | None,
    teacher: Actor | None,
    threads: int,
) -> Iterator[Update]:
    """Train a network on the CPU by the plain loop: the same numbers, with faster code and smaller arrays."""
    wanted = None if metrics is None else check_metrics(task, metrics)
    at_once = runs_at_once(task, policy.network, config, str(policy.weights.dtype))
    policy = fast_policy(policy)
    return plain_loop(
        task, recipe, config, state, policy, wanted, teacher, runs_at_once=at_once, threads=threads
    )
