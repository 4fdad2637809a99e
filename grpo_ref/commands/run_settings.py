"""What a run folder says was asked for, and whether the same is asked for again."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import click

from grpo_ref.commands.chosen import Begun, TrainingJob
from grpo_ref.learning.policies.kinds import OwnNetwork
from grpo_ref.learning.runs import RunError, RunFolder

Described = dict[str, Any]
"""The content of config.json."""


def described(job: TrainingJob) -> Described:
    """What the run's config.json says.

    JSON has no infinity, so a missing limit is null. The device is told if it is not the cpu, the metrics if
    not all are asked for, the policy if it is not a table.
    """
    settings = _finite(asdict(job.config))
    told: Described = {"task": job.task_name, "task_options": job.task_options, "recipe": job.recipe_name}
    told |= {"parts": job.recipe.parts(), "train": settings}
    told |= {"device": job.device} if job.device != "cpu" else {}
    told |= {} if job.begun.network is None else {"policy": _policy(job.begun, job.begun.network)}
    return told | ({"metrics": list(job.metrics)} if job.metrics is not None else {})


def _policy(begun: Begun, network: OwnNetwork) -> Described:
    """Kind and sizes of the network, and how it was begun."""
    pretraining = _finite(asdict(begun.pretraining))
    return {"kind": begun.kind, "network": asdict(network), "pretraining": pretraining}


def _finite(settings: Mapping[str, Any]) -> Described:
    return {name: None if value == math.inf else value for name, value in settings.items()}


def begin_or_find(folder: RunFolder, job: TrainingJob, *, resume: bool, lengthen: bool) -> None:
    """Begin a new run, or see that the one that is there is the same, whichever device it was on.

    Args:
      folder: of the run.
      job: what is asked for.
      resume: whether a run that is there is to be continued.
      lengthen: whether the run may have more updates now than it was made with.

    Raises:
      RunError: if the folder holds another run or something else.
    """
    asked = described(job)
    if folder.is_new() or not resume:
        folder.create(asked)
        if resume:
            click.echo(f"{folder.path} holds no run to continue: this one is new", err=True)
        return
    stored = folder.config()
    if lengthen and _updates(stored) < _updates(asked):
        asked = _with_updates(asked, _updates(stored))
    if different := _differences(stored | {"device": "any"}, asked | {"device": "any"}):
        raise RunError(f"{folder.path} holds another run: {'; '.join(different)}")


def lengthen(folder: RunFolder, updates: int) -> None:
    """Let the run's config say how many updates it has now; to be called while the run is held."""
    stored = folder.config()
    if _updates(stored) < updates:
        click.echo(f"{folder.path} goes on from {_updates(stored)} to {updates} updates", err=True)
        folder.describe(_with_updates(stored, updates))


def _updates(config: Described) -> int:
    """How many updates the run has; a config that does not say so is told apart by its differences."""
    return int(config.get("train", {}).get("updates", 0))


def _with_updates(config: Described, updates: int) -> Described:
    return config | {"train": config["train"] | {"updates": updates}}


def _differences(stored: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Every setting that is not the same, with both values."""
    told = []
    for name in dict.fromkeys([*stored, *asked]):
        theirs, ours = stored.get(name), asked.get(name)
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            told += _differences(theirs, ours)
        elif ours != theirs:
            told.append(f"{name} is {theirs!r} there and {ours!r} here")
    return told
