"""The tasks: each a small file that builds one automaton with its verifier."""

from collections.abc import Callable

from grpo_ref.learning.tasks.arithmetic import arithmetic
from grpo_ref.learning.tasks.bandit import bandit
from grpo_ref.learning.tasks.names import names
from grpo_ref.learning.tasks.task import Task
from grpo_ref.listing import Listing

TASKS: Listing[Callable[..., Task]] = Listing(
    "task", {build.__name__: build for build in (bandit, arithmetic, names)}
)
"""Every task by the name of its function, which takes its settings as keyword arguments with defaults."""
