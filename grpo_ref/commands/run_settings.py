"""Read and write the settings in a run folder, and compare them with those on the command line."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import click

from grpo_ref.commands.lookups import TrainingJob
from grpo_ref.learning.runs import RunError, RunFolder

Described = dict[str, Any]
"""The content of config.json."""


def described(job: TrainingJob) -> Described:
    """Return the content of the run's config.json.

    Defaults are omitted: the device if it is the CPU, the metrics if all are kept, the policy if it is a
    table.
    """
    config: Described = {"task": job.task_name, "task_options": job.task_options, "recipe": job.recipe_name}
    config |= {"parts": job.recipe.parts(), "train": _finite(asdict(job.config))}
    if job.device != "cpu":
        config["device"] = job.device
    if (network := job.initial.network) is not None:
        pretraining = _finite(asdict(job.initial.pretraining))
        config["policy"] = {
            "kind": job.initial.kind,
            "network": asdict(network),
            "pretraining": pretraining,
        }
    if job.metrics is not None:
        config["metrics"] = list(job.metrics)
    return config


def _finite(settings: Mapping[str, Any]) -> Described:
    """Replace infinite limits by None, since JSON has no infinity."""
    return {name: None if value == math.inf else value for name, value in settings.items()}


def create_or_match(folder: RunFolder, job: TrainingJob, *, resume: bool, lengthen: bool) -> None:
    """Create a new run folder, or check that the run in the folder has the requested settings.

    The device may differ.

    Args:
      folder: folder of the run.
      job: requested training run.
      resume: if true, continue the run in the folder.
      lengthen: if true, the run may have more updates now than when it was created.

    Raises:
      RunError: if the folder holds another run, or other files.
    """
    requested = described(job)
    if folder.is_new() or not resume:
        folder.create(requested)
        if resume:
            click.echo(f"{folder.path} holds no run to continue, so a new run begins", err=True)
        return
    stored = folder.config()
    if lengthen and _updates(stored) < _updates(requested):
        requested = _with_updates(requested, _updates(stored))
    if different := _differences(stored | {"device": "any"}, requested | {"device": "any"}):
        raise RunError(f"{folder.path} holds another run: {'; '.join(different)}")


def lengthen(folder: RunFolder, updates: int) -> None:
    """Write the new number of updates into config.json. Call this while the folder is locked."""
    stored = folder.config()
    if _updates(stored) < updates:
        click.echo(f"{folder.path} goes on from {_updates(stored)} to {updates} updates", err=True)
        folder.describe(_with_updates(stored, updates))


def _updates(config: Described) -> int:
    """Return the number of updates of the run, or 0 if the configuration does not state it."""
    return int(config.get("train", {}).get("updates", 0))


def _with_updates(config: Described, updates: int) -> Described:
    return config | {"train": config["train"] | {"updates": updates}}


def _differences(stored: Mapping[str, Any], requested: Mapping[str, Any]) -> list[str]:
    """Describe each setting that differs, with both values."""
    differences = []
    for name in dict.fromkeys([*stored, *requested]):
        there, here = stored.get(name), requested.get(name)
        if isinstance(here, Mapping) and isinstance(there, Mapping):
            differences += _differences(there, here)
        elif here != there:
            differences.append(f"{name} is {there!r} there and {here!r} here")
    return differences
