"""The tasks: each a small file that builds one automaton with its verifier."""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from grpo_ref.listing import LazyListing

if TYPE_CHECKING:
    from grpo_ref.learning.task import Task

NAMES = ("bandit", "arithmetic", "names", "sums", "sorting", "liked_names")
"""The files, in the order in which they are shown; the function that builds the task has the same name."""


def _builder(name: str) -> "Callable[..., Task]":
    """The function that builds a task, from the file of the same name."""
    build: Callable[..., Task] = getattr(importlib.import_module(f"{__name__}.{name}"), name)
    return build


TASKS: "LazyListing[Callable[..., Task]]" = LazyListing("task", NAMES, _builder)
"""Every task by the name of its function, which takes its settings as keyword arguments with defaults."""
