"""Read the run folders that `grpo-ref train` writes: the metrics of each update, and the facts of the configuration."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from grpo_ref.diagnose.facts import FIXED_LENGTH, SEQUENCE_MEAN, TOKEN_MEAN, Average
from grpo_ref.diagnose.log import Log, log_of
from grpo_ref.learning.curves import METRICS
from grpo_ref.learning.runs import CONFIG, RunError, RunFolder
from grpo_ref.learning.task import Task
from grpo_ref.tasks import TASKS

AVERAGES: Mapping[str, Average] = {
    "sequence_mean_token_mean": SEQUENCE_MEAN,
    "token_mean": TOKEN_MEAN,
    "fixed_length": FIXED_LENGTH,
}
"""The averages of the loss that the relations know, by the name of the kernel."""


def is_own_run(path: Path) -> bool:
    """Return true if a folder was written by `grpo-ref train`."""
    try:
        RunFolder(path).config()
    except (RunError, OSError):
        return False
    return (path / CONFIG).is_file()


def log_of_run(path: Path) -> Log:
    """Return the log of a run folder, with the facts of its configuration.

    A row is the mean over the seeds. Each seed has a batch of its own, so that several seeds count as several batches.

    Raises:
      ValueError: if the folder has no metrics, or is damaged.
    """
    try:
        config, history = RunFolder(path).config(), RunFolder(path).history()
    except RunError as error:
        raise ValueError(str(error)) from error
    try:
        task = _task(config)
        facts = _facts(config, task)
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"{path / CONFIG} is damaged: {error}") from error
    criteria = {} if task is None else {name: f"criterion/{name}" for name in task.criteria}
    records = (
        {criteria.get(name, name): float(values.mean()) for name, values in metrics.items()}
        for metrics in history
    )
    return replace(log_of(records, "grpo_ref"), settings=facts)


def _task(config: Mapping[str, Any]) -> Task | None:
    """Return the task of a run; None if it is not one of the library's. The code of other tasks is not executed."""
    options = config.get("task_options", {})
    make = TASKS.get(str(config.get("task")))
    try:
        task = make(**options) if make is not None else None
    except (TypeError, ValueError):
        return None
    return None if task is None or set(task.criteria) & set(METRICS) else task


def _facts(config: Mapping[str, Any], task: Task | None) -> dict[str, Any]:
    """Return what the configuration says, by the names of `Facts`. Keys that are missing are unknown."""
    train, parts = config.get("train", {}), config.get("parts", {})
    size, prompts, seeds = train.get("group_size"), train.get("prompts"), train.get("seeds")
    steps = train.get("epochs", 0) * train.get("minibatches", 0)
    keeps_all = parts.get("keep") == "all_groups"  # a filter changes the loss, but not the other metrics
    facts = {
        "group_size": size,
        "completions": size * prompts if size and prompts else None,
        "window": seeds,
        "steps": steps if seeds == 1 else None,
        "kl_coef": float(parts["kl_coef"]) if "kl_coef" in parts else None,
        "average": AVERAGES.get(str(parts.get("aggregate", "")).partition("(")[0]) if keeps_all else None,
        "on_policy": steps == 1 if steps else None,
        "standardized": str(parts.get("advantage", "")).startswith("group_normalized(ddof=1"),
        "masks_truncated": "admit" in parts,
        "kl_in_reward": False,
        "whole_vocabulary": True,
    }
    if task is not None:
        weights = dict(zip(task.criteria, map(float, task.weights), strict=True))
        facts |= {"weights": weights, "budget": task.max_length, "vocabulary": len(task.vocabulary)}
    return facts
