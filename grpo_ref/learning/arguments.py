"""Check the arguments of a training run, with messages that suggest the remedy."""

from collections.abc import Collection
from typing import Any

import numpy as np

from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.curves import metric_names
from grpo_ref.learning.policies.memory import check_update
from grpo_ref.learning.policies.neural import NeuralPolicy, check_fit
from grpo_ref.learning.policies.table import TABLE
from grpo_ref.learning.state import TrainState, Update
from grpo_ref.learning.task import Task
from grpo_ref.listing import unknown
from grpo_ref.recipes import Recipe

ORDER = "the order is (task, recipe, config, state)"


def check_arguments(
    task: Any, recipe: Any, config: Any, state: Any = None, policy: Any = TABLE, teacher: Any = None
) -> None:
    """Check that each argument has its type, and that a network fits the task and the machine.

    Raises:
      TypeError: if an argument has the wrong type. The message names the argument, the expected type, what
        was received, and a remedy.
      ValueError: if a network and the task have different tokens, or the recipe needs a teacher and there is
        none.
      MemoryError: if the machine does not have enough memory for an update of a network.
    """
    _check("task", task, Task, _remedy_of_task(task))
    _check("recipe", recipe, Recipe, "take one, as in RECIPES['grpo'], or change one by replace(GRPO, ...)")
    dictionary = "write config_for(task, **settings)" if isinstance(config, dict) else ""
    _check("config", config, TrainConfig, dictionary)
    if state is not None:
        _check("state", state, TrainState, "give its .state" if isinstance(state, Update) else "")
    if isinstance(policy, type) or not (hasattr(policy, "start") and hasattr(policy, "at")):
        raise TypeError(
            f"policy: expected TABLE or a NeuralPolicy, such as pretrain makes, got {_described(policy)}"
        )
    if teacher is not None and not hasattr(teacher, "visit"):
        raise TypeError(
            f"teacher: expected policies, such as TABLE.at(state.params, 1.0), got {_described(teacher)}"
        )
    if recipe.needs_teacher and teacher is None:
        raise ValueError(
            "teacher: this recipe distills from a teacher; pass one, as in"
            " iter_train(..., teacher=TABLE.at(state.params, 1.0))"
        )
    if isinstance(policy, NeuralPolicy):
        check_fit(policy.network, task)
    if isinstance(policy, NeuralPolicy) and isinstance(task.ref_logits, np.ndarray):
        check_update(task, policy.network, config, str(policy.weights.dtype))


def check_metrics(task: Task, metrics: Collection[str]) -> tuple[str, ...]:
    """Return the requested names once each, in their order.

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
    message = f"{name}: expected a {expected.__name__}, got {_described(value)}"
    raise TypeError(f"{message}; {advice}" if advice else message)


def _described(value: Any) -> str:
    """Describe an argument in one line."""
    if isinstance(value, str):
        return f"the text {value!r}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if callable(value) and hasattr(value, "__name__"):
        return f"the function {value.__name__}"
    kind = type(value).__name__
    return f"an {kind}" if kind[0] in "AEIOUaeiou" else f"a {kind}"


def _remedy_of_task(task: Any) -> str:
    """Suggest what was probably meant."""
    if isinstance(task, str):
        return f"write TASKS[{task!r}]()"
    if isinstance(task, type):
        return "make one, as TASKS['bandit']() does"
    return f"call it, as in {task.__name__}()" if callable(task) and hasattr(task, "__name__") else ""
