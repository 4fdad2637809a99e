"""Store results on disk, under a name derived from all that they depend on: the code and the settings."""

import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.files import replace_file
from grpo_ref.lab.framework.code_hash import code_hash
from grpo_ref.lab.framework.experiment import Arm, Measures
from grpo_ref.recipes import Recipe, Slot


class Job(NamedTuple):
    """A piece of work for one process: some seeds of one arm.

    Attributes:
      experiment: name of the experiment.
      label: label of the arm.
      arm: arm to run.
      seeds: number of seeds.
      seed: base seed of the random numbers.
    """

    experiment: str
    label: str
    arm: Arm
    seeds: int
    seed: int

    def run(self) -> Measures:
        """Run the arm and return its measures."""
        return self.arm.run(**self.arm.settings, seeds=self.seeds, seed=self.seed)

    @property
    def key(self) -> str:
        """Return the hash of the code and of all settings. Equal keys mean equal results."""
        text = f"{described_arm(self.arm)}\n{self.seeds} seeds from {self.seed}"
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def described_arm(arm: Arm) -> str:
    """Return an arm's function and settings as text that is the same in every process."""
    return described({"run": arm.run, **arm.settings})


def described(value: Any) -> str:
    """Return a value as text that is the same in every process; a function includes the hash of its code.

    Raises:
      TypeError: if the value has no such text, as for a lambda.
    """
    if isinstance(value, Recipe | Slot):
        parts = {part.name: getattr(value, part.name) for part in fields(value)}
        return f"{type(value).__name__}({described(parts)})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {described(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(described, value)) + "]"
    if callable(value) and "<" not in getattr(value, "__qualname__", "<"):
        return f"{value.__module__}.{value.__qualname__} of {code_hash(value.__module__)}"
    if value is None or isinstance(value, str | int | float | bool):
        return repr(value)
    raise TypeError(f"a setting must be a plain value, a recipe or a named function, got {value!r}")


class Cache:
    """A folder with one file for each finished job. Files are written completely or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, job: Job) -> Path:
        return self.folder / job.experiment / f"{job.key}.npz"

    def get(self, job: Job) -> Measures | None:
        """Return the measures, or None if the job is not done; a damaged file counts as not done."""
        try:
            with self._path(job).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return dict(arrays)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile):
            return None

    def require(self, job: Job) -> Measures:
        """Return the measures.

        Raises:
          ValueError: if the job is not done.
        """
        measures = self.get(job)
        if measures is None:
            raise ValueError(f"{job.experiment}: arm {job.label!r} was not run with these settings")
        return measures

    def put(self, job: Job, measures: Measures) -> None:
        """Store the measures of a job."""
        path = self._path(job)
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, lambda file: np.savez_compressed(file, allow_pickle=False, **measures))
