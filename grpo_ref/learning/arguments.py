"""The arguments of a training, checked once at its door, and told in words."""

from collections.abc import Collection
from typing import Any

import numpy as np

from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.curves import metric_names
from grpo_ref.learning.policies.memory import check_update
from grpo_ref.learning.policies.neural import NeuralPolicy, check_fit
from grpo_ref.learning.policies.table import TABLE
from grpo_ref.learning.state import TrainState, Update
from grpo_ref.learning.tasks import TASKS
from grpo_ref.learning.tasks.task import Task
from grpo_ref.listing import nearest, unknown
from grpo_ref.recipes import Recipe
from grpo_ref.validation import check_recipe

ORDER = "the order is (task, recipe, config, state)"


def check_arguments(task: Any, recipe: Any, config: Any, state: Any = None, policy: Any = TABLE) -> None:
    """Nothing, if each argument is of its own type, and a network fits the task and the machine.

    Raises:
      TypeError: else; it names the argument, what was expected, what was given and the likely remedy.
      ValueError: if a network has other tokens than the task.
      MemoryError: if the machine could not hold an update of a network.
    """
    _check("task", task, Task, _remedy_of_task(task))
    if isinstance(recipe, Task | TrainConfig | TrainState):
        _check("recipe", recipe, Recipe, ORDER)
    check_recipe(recipe)
    dictionary = "write config_for(task, **settings)" if isinstance(config, dict) else ""
    _check("config", config, TrainConfig, dictionary)
    if state is not None:
        _check("state", state, TrainState, "give its .state" if isinstance(state, Update) else "")
    if isinstance(policy, type) or not (hasattr(policy, "start") and hasattr(policy, "at")):
        raise TypeError(
            f"policy: expected TABLE or a NeuralPolicy, such as pretrain makes, got {_described(policy)}"
        )
    if isinstance(policy, NeuralPolicy):
        check_fit(policy.network, task)
    if isinstance(policy, NeuralPolicy) and isinstance(task.ref_logits, np.ndarray):
        check_update(task, policy.network, config, str(policy.weights.dtype))


def check_metrics(task: Task, metrics: Collection[str]) -> tuple[str, ...]:
    """The names, in the order given.

    Raises:
      TypeError: if metrics is a text instead of a collection of names.
      ValueError: if no metric of the task has such a name.
    """
    if isinstance(metrics, str):
        raise TypeError(f"metrics: expected several names, as in ({metrics!r},), got the text {metrics!r}")
    known = metric_names(task)
    for name in metrics:
        if name not in known:
            raise ValueError(f"metrics: {unknown('metric', name, known)}")
    return tuple(dict.fromkeys(metrics))


def _check(name: str, value: Any, expected: type, remedy: str) -> None:
    if isinstance(value, expected):
        return
    swapped = isinstance(value, Task | Recipe | TrainConfig | TrainState)
    advice = ORDER if swapped else remedy
    told = f"{name}: expected a {expected.__name__}, got {_described(value)}"
    raise TypeError(f"{told}; {advice}" if advice else told)


def _described(value: Any) -> str:
    """What was given, short enough for one line."""
    if isinstance(value, str):
        return f"the text {value!r}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if callable(value) and hasattr(value, "__name__"):
        return f"the function {value.__name__}"
    kind = type(value).__name__
    return f"an {kind}" if kind[0] in "AEIOUaeiou" else f"a {kind}"


def _remedy_of_task(task: Any) -> str:
    """How to write what was probably meant."""
    if isinstance(task, str):
        return f"write TASKS[{nearest(task, TASKS) or next(iter(TASKS))!r}]()"
    if isinstance(task, type):
        return f"make one, as TASKS[{next(iter(TASKS))!r}]() does"
    return f"call it, as in {task.__name__}()" if callable(task) and hasattr(task, "__name__") else ""
