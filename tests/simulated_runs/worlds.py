"""The tasks of the simulated runs, each with a policy that solves some prompts often and others seldom."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from grpo_ref import TASKS
from grpo_ref.learning.policies.kinds import network_for
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.policies.policy import PolicyKind
from grpo_ref.learning.policies.table import TABLE
from grpo_ref.learning.pretraining import pretrain, pretrain_config_for
from grpo_ref.learning.task import Task
from grpo_ref.tasks.arithmetic import EOS, arithmetic


@dataclass(frozen=True)
class World:
    """A task with its starting policy.

    Attributes:
      build: function of a random generator that returns the task.
      learning_rate: a learning rate that suits the task.
      network: kind of the network, or "" for a table.
      sizes: sizes of the network.
    """

    build: Callable[[np.random.Generator], Task]
    learning_rate: float
    network: str = ""
    sizes: tuple[tuple[str, int], ...] = ()


def practised(skill: float, rng: np.random.Generator) -> Task:
    """Return small sums that the starting policy solves more or less often, prompt by prompt.

    Args:
      skill: mean of the logit that the right tokens have above all others. The standard deviation is 1.
      rng: random generator of the logits.
    """
    task = arithmetic(largest=int(rng.integers(2, 5)))
    logits = task.ref_logits.copy()
    for text, start in zip(task.prompts, task.starts, strict=True):
        first, second = text.rstrip("=").split("+")
        answer = [*map(int, str(int(first) + int(second))), EOS]
        logits[start + np.arange(len(answer)), answer] += rng.normal(skill, 1.0)
    return replace(task, ref_logits=logits)


def goal(name: str, rng: np.random.Generator) -> Task:
    """Return the names with a goal. Only the goal is a criterion."""
    return only_goal(TASKS["names"](goal=name))


def only_goal(task: Task) -> Task:
    """Return a task without its criteria of weight 0."""
    counted = np.flatnonzero(task.weights)
    verify = partial(_some, task.verify, counted)
    criteria = tuple(task.criteria[each] for each in counted)
    return replace(task, verify=verify, criteria=criteria, weights=task.weights[counted])


def _some(verify, counted, prompts, tokens, mask):
    return verify(prompts, tokens, mask)[..., counted]


SMALL = (("width", 16), ("hidden", 32))
WORLDS = {
    "sums in a table": World(partial(practised, 2.5), 0.1),
    "easier sums in a table": World(partial(practised, 4.0), 0.1),
    "hopeless sums in a table": World(partial(practised, -8.0), 0.1),
    "solved sums in a table": World(partial(practised, 8.0), 0.1),
    "long names in a table": World(partial(goal, "long_names"), 0.1),
    "vowel names in a table": World(partial(goal, "ends_in_vowel"), 0.05),
    "alternating names in a table": World(partial(goal, "alternates"), 0.05),
    "liked names in a table": World(lambda rng: only_goal(TASKS["liked_names"]()), 0.04),
    "long names in an MLP": World(partial(goal, "long_names"), 2e-3, "mlp", SMALL),
    "vowel names in a transformer": World(
        partial(goal, "ends_in_vowel"), 1e-3, "transformer", (*SMALL, ("heads", 2))
    ),
    "long names in a transformer": World(
        partial(goal, "long_names"), 1e-3, "transformer", (*SMALL, ("heads", 2))
    ),
}


def policy_of(name: str, task: Task) -> PolicyKind:
    """Return the kind of policy of a world: a table, or a network that has imitated the task's examples."""
    world = WORLDS[name]
    return _imitated(world.network, world.sizes) if world.network else TABLE


@cache
def _imitated(kind: str, sizes: tuple[tuple[str, int], ...]) -> NeuralPolicy:
    task = TASKS["names"]()
    config = pretrain_config_for(task, steps=150, learning_rate=3e-3)
    *_, last = pretrain(task, network_for(task, kind, dict(sizes)), config)
    return last.policy
