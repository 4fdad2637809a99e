"""The settings of simulated runs, and the ranges from which those of healthy runs are drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from simulated_runs.worlds import WORLDS

HEALTHY_WORLDS = [name for name in WORLDS if not name.startswith(("hopeless", "solved"))]
SHARE_OF_NETWORKS = 0.15
LOSSES = ("grpo", "dapo", "dr_grpo")


@dataclass(frozen=True)
class Setting:
    """The settings of one run.

    Attributes:
      seed: seed of the run.
      trainer: "trl" or "verl": whose names and averages the log has.
      world: name of the task and policy.
      loss: name of the recipe: "grpo" has the mean per completion, "dapo" the mean over tokens, "dr_grpo" a
        fixed length and advantages that are not divided by the std.
      prompts, group_size, updates, learning_rate, kl_coef, epochs, minibatches, entropy_coef: as in training.
      logs_sampler: true if the log has the distance of sampler and learner.
      pooled: true if TRL's `reward_std` is the std of all completions, as since 0.27.
      weights: weights of the reward functions; () for those of the task.
      faults: names of the faults.
      in_file: settings that the launch file gives otherwise.
    """

    seed: int
    trainer: str = "trl"
    world: str = "sums in a table"
    loss: str = "grpo"
    prompts: int = 8
    group_size: int = 8
    updates: int = 100
    learning_rate: float = 0.1
    kl_coef: float = 0.0
    epochs: int = 1
    minibatches: int = 1
    entropy_coef: float = 0.0
    logs_sampler: bool = False
    pooled: bool = False
    weights: tuple[float, ...] = ()
    faults: frozenset[str] = frozenset()
    in_file: Mapping[str, Any] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """Optimizer steps on each batch."""
        return self.epochs * self.minibatches


def healthy(seed: int) -> Setting:
    """Return the settings of a healthy run.

    A run is healthy if none of its settings is outside these ranges, and nothing is changed in the loop, the
    log or the launch file. With them, the reward rises in every world. It does not matter how the curves
    look: a run that has solved its task, with a small entropy and few groups with different rewards, is
    healthy.
    """
    rng = np.random.default_rng([seed, 0])
    networks = [bool(WORLDS[name].network) for name in HEALTHY_WORLDS]
    share = np.where(
        networks, SHARE_OF_NETWORKS / sum(networks), (1.0 - SHARE_OF_NETWORKS) / networks.count(False)
    )
    world = str(rng.choice(HEALTHY_WORLDS, p=share))
    epochs, minibatches = ((1, 1), (1, 1), (1, 1), (2, 1), (1, 2), (1, 4))[rng.integers(6)]
    return Setting(
        seed=seed,
        trainer=str(rng.choice(["trl", "verl"])),
        world=world,
        loss=str(rng.choice(LOSSES)),
        prompts=int(rng.choice([8, 12, 16])),
        group_size=int(rng.choice([4, 6, 8, 16])),
        updates=int(rng.integers(60, 161)),
        learning_rate=WORLDS[world].learning_rate * float(rng.choice([0.5, 1.0, 2.0])),
        kl_coef=float(rng.choice([0.0, 0.001, 0.01, 0.04])),
        epochs=epochs,
        minibatches=minibatches,
        logs_sampler=bool(rng.random() < 0.3),
        pooled=bool(rng.random() < 0.3),
    )
