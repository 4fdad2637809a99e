"""The tasks. Each is a small file that builds an automaton and its verifier."""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from grpo_ref.listing import LazyListing

if TYPE_CHECKING:
    from grpo_ref.learning.task import Task

NAMES = ("bandit", "arithmetic", "names", "sums", "sorting", "liked_names")
"""The files in the order of the documentation. The function that builds a task has the name of its file."""


def _builder(name: str) -> "Callable[..., Task]":
    """Import the function that builds a task, from the file of the same name."""
    build: Callable[..., Task] = getattr(importlib.import_module(f"{__name__}.{name}"), name)
    return build


TASKS: "LazyListing[Callable[..., Task]]" = LazyListing("task", NAMES, _builder)
"""Name -> function that builds the task. Its settings are keyword arguments with defaults."""
