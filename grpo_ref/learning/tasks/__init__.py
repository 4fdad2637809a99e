"""The tasks: each a small file that builds one automaton with its verifier."""

from collections.abc import Callable

from grpo_ref.learning.tasks.arithmetic import arithmetic
from grpo_ref.learning.tasks.bandit import bandit
from grpo_ref.learning.tasks.names import names
from grpo_ref.learning.tasks.task import Task

TASKS: dict[str, Callable[..., Task]] = {"bandit": bandit, "arithmetic": arithmetic, "names": names}
"""Every task by name; each takes its settings as keyword arguments."""
