"""The arguments of a training, checked once at its door, and told in words."""

import difflib
from collections.abc import Collection
from typing import Any

from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.curves import metric_names
from grpo_ref.learning.state import TrainState, Update
from grpo_ref.learning.tasks import TASKS
from grpo_ref.learning.tasks.task import Task
from grpo_ref.recipes import RECIPES, Recipe

ORDER = "the order is (task, recipe, config, state)"


def check_arguments(task: Any, recipe: Any, config: Any, state: Any = None) -> None:
    """Nothing, if each argument is of its own type.

    Raises:
      TypeError: else; it names the argument, what was expected, what was given and the likely remedy.
    """
    _check("task", task, Task, _remedy_of_task(task))
    _check("recipe", recipe, Recipe, _named(recipe, RECIPES, "RECIPES[{!r}]"))
    dictionary = "write config_for(task, **settings)" if isinstance(config, dict) else ""
    _check("config", config, TrainConfig, dictionary)
    if state is not None:
        _check("state", state, TrainState, "give its .state" if isinstance(state, Update) else "")


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
            raise ValueError(f"metrics: no metric is called {name!r}; {_nearest(name, known)}")
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
    if isinstance(task, str):
        return _named(task, TASKS, "TASKS[{!r}]()")
    if isinstance(task, type):
        return f"make one, as TASKS[{next(iter(TASKS))!r}]() does"
    return f"call it, as in {task.__name__}()" if callable(task) and hasattr(task, "__name__") else ""


def _named(value: Any, known: Collection[str], spelt: str) -> str:
    """How to write what a text probably means."""
    if not isinstance(value, str):
        return ""
    return f"write {spelt.format(value)}" if value in known else _nearest(value, known)


def _nearest(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"choose among {', '.join(known)}"
