"""What was chosen on the command line: tasks and recipes of ours by name, the user's own as MODULE:NAME."""

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


class Begun(NamedTuple):
    """The policy of a training, before any update.

    Attributes:
      kind: one of `POLICIES`.
      network: what is imitated with; None for a table.
      pretraining: how it imitates.
    """

    kind: str = "table"
    network: OwnNetwork | None = None
    pretraining: PretrainConfig = PretrainConfig()


def chosen_policy(
    task: Task, kind: str | None, options: Mapping[str, Any], pretraining: Mapping[str, Any]
) -> Begun:
    """The policy of that kind for the task; the kind that suits the task if none is given.

    Raises:
      ValueError: if the task has nothing that a network could read, or a setting is unknown.
    """
    kind = kind or task.policy
    if kind == "table":
        if options or pretraining:
            raise ValueError("--policy-option and --pretrain are for a network; a table has no settings")
        return Begun()
    network = network_for(task, kind, options)
    return Begun(kind, network, pretrain_config_for(task, **pretraining))


class TrainingJob(NamedTuple):
    """A training as it was asked for.

    Attributes:
      task_name, recipe_name: as given, so that --resume finds what is the user's own again.
      task_options: settings of the task.
      task, recipe, config: what `train` takes.
      metrics: names of the metrics to keep; None for all.
      device: "cpu" or "gpu".
      begun: the policy that is trained and how it is begun.
    """

    task_name: str
    recipe_name: str
    task_options: dict[str, Any]
    task: Task
    recipe: Recipe
    config: TrainConfig
    metrics: tuple[str, ...] | None
    device: str
    begun: Begun = Begun()


def chosen_recipe(text: str) -> Recipe:
    """The recipe of that name, or the user's own.

    Raises:
      click.UsageError: if MODULE:NAME cannot be imported or is no Recipe.
    """
    if not is_own(text):
        return RECIPES[text]
    recipe = imported(text)
    if not isinstance(recipe, Recipe):
        raise click.UsageError(f"{text}: expected a Recipe, got {type(recipe).__name__}")
    return recipe


def chosen_task(text: str, settings: Mapping[str, Any]) -> Task:
    """The task of that name, or the user's own: a Task, or a function that makes one of its settings.

    Raises:
      click.UsageError: if MODULE:NAME cannot be imported or is no task.
      ValueError: if a setting is unknown or of another type.
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
    """Each KEY=VALUE; a value that can be read as JSON is, so that numbers are numbers."""
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
