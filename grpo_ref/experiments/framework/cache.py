"""Results on disk, under a name made of everything that they depend on: the code and the settings."""

import ast
import hashlib
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import grpo_ref
from grpo_ref.experiments.framework.experiment import Arm, Measures
from grpo_ref.files import replace_file
from grpo_ref.recipes import Recipe, Slot

APART = (
    *("frontends", "course", "plots", "trainers", "mistakes", "check", "fast"),
    *("files.py", "learning/runs.py"),
)
"""Parts of the package that no result depends on."""


class Job(NamedTuple):
    """A piece of work that one process does: some seeds of one arm.

    Attributes:
      experiment: name of the experiment.
      label: of the arm.
      arm: what to run.
      seeds: how many.
      seed: base of their random numbers.
    """

    experiment: str
    label: str
    arm: Arm
    seeds: int
    seed: int

    @property
    def key(self) -> str:
        """Hash of the code and of all settings: equal keys, equal results."""
        settings = described({"run": self.arm.run, **self.arm.settings})
        text = f"{code_hash()}\n{settings}\n{self.seeds} seeds from {self.seed}"
        return hashlib.sha256(text.encode()).hexdigest()[:24]


def described(value: Any) -> str:
    """A value as text that is the same in every process; a function comes with the hash of its module.

    Raises:
      TypeError: for a value whose text says nothing, as of a lambda.
    """
    if isinstance(value, Recipe | Slot):
        parts = {part.name: getattr(value, part.name) for part in fields(value)}
        return f"{type(value).__name__}({described(parts)})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {described(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(described, value)) + "]"
    if callable(value) and "<" not in value.__qualname__:
        return f"{value.__module__}.{value.__qualname__} of {_hash_of(value.__module__)}"
    if value is None or isinstance(value, str | int | float | bool):
        return repr(value)
    raise TypeError(f"a setting must be a plain value, a recipe or a named function, got {value!r}")


@cache
def code_hash() -> str:
    """Of every module that any result depends on; those of the experiments are in the keys of their jobs."""
    package = Path(grpo_ref.__file__).parent
    files = [path for path in sorted(package.rglob("*.py")) if _matters(path.relative_to(package))]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]


def _matters(path: Path) -> bool:
    return path.as_posix() not in APART and path.parts[0] not in (*APART, "experiments")


@cache
def _hash_of(module: str) -> str:
    """Of a module's file, and of those that it imports from the experiments."""
    text = Path(str(sys.modules[module].__file__)).read_bytes()
    imported = [node.module for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    ours = [_hash_of(name) for name in imported if name and name.startswith("grpo_ref.experiments.")]
    return hashlib.sha256(text + "".join(ours).encode()).hexdigest()[:16]


class Cache:
    """A folder with one file for each job that is done; a file is there as a whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, job: Job) -> Path:
        return self.folder / job.experiment / f"{job.key}.npz"

    def get(self, job: Job) -> Measures | None:
        """The measures, or None if the job is not done yet; a damaged file counts as not done."""
        try:
            with self._path(job).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return dict(arrays)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile):
            return None

    def put(self, job: Job, measures: Measures) -> None:
        """Store the measures of a job."""
        path = self._path(job)
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, lambda file: np.savez_compressed(file, allow_pickle=False, **measures))
