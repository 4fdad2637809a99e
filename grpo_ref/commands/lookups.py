"""Look up what the command line names: tasks and recipes of the library by name, your own as MODULE:NAME."""

import json
from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any, NamedTuple

import click

from grpo_ref.commands.user_code import imported, is_own
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.policies.kinds import OwnNetwork, network_for
from grpo_ref.learning.pretraining import PretrainConfig, pretrain_config_for
from grpo_ref.learning.task import Task
from grpo_ref.recipes import RECIPES, Recipe
from grpo_ref.render.choices import suggestion
from grpo_ref.tasks import TASKS


class InitialPolicy(NamedTuple):
    """The policy of a training run before the first update.

    Attributes:
      kind: one of `POLICIES`.
      network: the network that first learns to imitate; None for a table.
      pretraining: settings of the imitation.
    """

    kind: str = "table"
    network: OwnNetwork | None = None
    pretraining: PretrainConfig = PretrainConfig()


def chosen_policy(
    task: Task, kind: str | None, options: Mapping[str, Any], pretraining: Mapping[str, Any]
) -> InitialPolicy:
    """Return the policy of the given kind; if the kind is None, the task's own kind.

    Raises:
      ValueError: if a network cannot read the task, or a setting is unknown.
    """
    kind = kind or task.policy
    if kind == "table":
        if options or pretraining:
            raise ValueError("--policy-option and --pretrain need a network, but the policy is a table")
        return InitialPolicy()
    network = network_for(task, kind, options)
    return InitialPolicy(kind, network, pretrain_config_for(task, **pretraining))


class TrainingJob(NamedTuple):
    """A training run that the command line describes.

    Attributes:
      task_name, recipe_name: names as given, so that --resume finds your own task and recipe again.
      task_options: settings of the task.
      task, recipe, config: arguments of `train`.
      metrics: names of the metrics to keep; None for all.
      device: "cpu" or "gpu".
      initial: the policy before the first update.
    """

    task_name: str
    recipe_name: str
    task_options: dict[str, Any]
    task: Task
    recipe: Recipe
    config: TrainConfig
    metrics: tuple[str, ...] | None
    device: str
    initial: InitialPolicy = InitialPolicy()


def chosen_recipe(text: str) -> Recipe:
    """Return a recipe of the library by name, or your own by MODULE:NAME.

    Raises:
      click.UsageError: if MODULE:NAME cannot be imported or is not a Recipe.
    """
    if not is_own(text):
        return RECIPES[text]
    recipe = imported(text)
    if not isinstance(recipe, Recipe):
        raise click.UsageError(f"{text}: expected a Recipe, got {type(recipe).__name__}")
    return recipe


def chosen_task(text: str, settings: Mapping[str, Any]) -> Task:
    """Return a task of the library by name, or your own by MODULE:NAME.

    MODULE:NAME is a Task, or a function that takes the settings and returns a Task.

    Raises:
      click.UsageError: if MODULE:NAME cannot be imported or does not give a task.
      ValueError: if a setting is unknown or has the wrong type.
    """
    build = imported(text) if is_own(text) else TASKS[text]
    if isinstance(build, Task):
        _check_settings(text, settings, {})
        return build
    if not callable(build):
        raise click.UsageError(f"{text}: expected a Task or a function, got {type(build).__name__}")
    _check_settings(text, settings, _defaults(build))
    try:
        signature(build).bind(**settings)
    except TypeError as error:
        raise ValueError(f"{text}: {error}; give it with -o") from error
    task = build(**settings)
    if not isinstance(task, Task):
        raise click.UsageError(f"{text}: expected a function that returns a Task, got {type(task).__name__}")
    return task


def settings_of(options: tuple[str, ...], flag: str) -> dict[str, Any]:
    """Return the settings of options KEY=VALUE; a value that is JSON is read as JSON, such as a number."""
    return dict(_key_value(option, flag) for option in options)


def _key_value(option: str, flag: str) -> tuple[str, Any]:
    key, equals, value = option.partition("=")
    if not equals:
        raise ValueError(f"{flag}: expected KEY=VALUE, got {option!r}")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _defaults(build: Any) -> dict[str, Any]:
    return {name: parameter.default for name, parameter in signature(build).parameters.items()}


def _check_settings(task: str, settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    for key, value in settings.items():
        if key not in defaults:
            known = suggestion(key, defaults) if defaults else "It has none."
            raise ValueError(f"--task-option: {task} has no setting {key!r}. {known}")
        kind = type(defaults[key])
        if defaults[key] is not Parameter.empty and not isinstance(value, kind | int):
            raise ValueError(f"--task-option {key}: expected a value of type {kind.__name__}, got {value!r}")
