"""How to train: sizes, step sizes and schedules. What is optimized is the recipe's business."""

import math
from dataclasses import dataclass, fields
from typing import Any

from grpo_ref.learning.optim import OPTIMIZERS
from grpo_ref.learning.task import Task
from grpo_ref.listing import unknown


@dataclass(frozen=True)
class TrainConfig:
    """How to train; what to optimize is the recipe's business.

    Attributes:
      updates: number of sampled batches.
      seeds: number of independent runs, trained as one array; the result of a run does not depend on the
        others.
      seed: the base seed; run i draws from `numpy.random.default_rng([seed, i])`.
      prompts: P, prompts per batch.
      group_size: G, completions per prompt.
      temperature: of the policy, for sampling and for the gradient alike.
      epochs: passes over each batch.
      minibatches: into how many parts, by prompts, each pass is cut; one optimizer step each.
      optimizer: "adam" or "sgd".
      learning_rate: step size.
      max_grad_norm: longest gradient of a run, in Euclidean norm.
      entropy_coef: weight of the entropy bonus, weighted like the tokens of the loss.
      entropy_target: if not 0, the weight goes up by entropy_delta after a batch whose entropy, in nats per
        token, is at most this, and down otherwise; only batches of the first kind are given the bonus.
        TRL's use_adaptive_entropy.
      entropy_delta, entropy_max: step and upper bound of the weight; 0.005 and 1 in TRL.
      refilter_every: every so many updates, admit anew the prompts whose pass rate is inside the bounds; 0
        never.
      pass_low, pass_high: the bounds, both included; if no prompt is inside, all are admitted.
      pass_reward: a reward above it is a pass.
      ref_refresh: copy the policy to the reference every so many updates; 0 keeps the reference frozen.
      resamples: how often groups that the recipe's filter rejects are drawn anew before they are left out.

    Raises:
      ValueError: if a setting is out of range.
    """

    updates: int = 200
    seeds: int = 1
    seed: int = 0
    prompts: int = 16
    group_size: int = 8
    temperature: float = 1.0
    epochs: int = 1
    minibatches: int = 1
    optimizer: str = "adam"
    learning_rate: float = 0.1
    max_grad_norm: float = math.inf
    entropy_coef: float = 0.0
    entropy_target: float = 0.0
    entropy_delta: float = 0.005
    entropy_max: float = 1.0
    refilter_every: int = 0
    pass_low: float = 0.2
    pass_high: float = 0.8
    pass_reward: float = 0.5
    ref_refresh: int = 0
    resamples: int = 3

    def __post_init__(self) -> None:
        for name in ("updates", "seeds", "prompts", "group_size", "epochs", "minibatches"):
            _require(getattr(self, name) >= 1, name, "a whole number >= 1", getattr(self, name))
        for name in ("seed", "ref_refresh", "resamples", "refilter_every"):
            _require(getattr(self, name) >= 0, name, "a number >= 0", getattr(self, name))
        for name in ("entropy_coef", "entropy_target", "entropy_delta", "entropy_max"):
            _require(getattr(self, name) >= 0, name, "a number >= 0", getattr(self, name))
        for name in ("temperature", "learning_rate", "max_grad_norm"):
            _require(getattr(self, name) > 0, name, "a number > 0", getattr(self, name))
        for name in ("temperature", "learning_rate", "entropy_coef", "entropy_max"):
            _require(math.isfinite(getattr(self, name)), name, "a finite number", getattr(self, name))
        few_enough = self.minibatches <= self.prompts
        _require(few_enough, "minibatches", f"at most prompts={self.prompts}", self.minibatches)
        _require(self.optimizer in OPTIMIZERS, "optimizer", f"one of {', '.join(OPTIMIZERS)}", self.optimizer)

    @property
    def steps_per_batch(self) -> int:
        """Optimizer steps between two batches; where it is 1, every ratio is 1."""
        return self.epochs * self.minibatches


def _require(holds: bool, name: str, expected: str, got: object) -> None:
    if not holds:
        raise ValueError(f"{name}: expected {expected}, got {got!r}")


def config_for(task: Task, policy: str = "", **settings: Any) -> TrainConfig:
    """The settings that suit the task, changed where told otherwise.

    Args:
      task: whose settings to start from.
      policy: the kind of policy that is trained; left out, the one that suits the task.
      settings: fields of `TrainConfig`; one that is None is ignored.

    Raises:
      TypeError: if `TrainConfig` has no such field, or the task is none.
      ValueError: if a setting is out of range.
    """
    if not isinstance(task, Task):
        raise TypeError(f"task: expected a Task, as in config_for(TASKS['bandit']()), got {task!r}")
    known = [item.name for item in fields(TrainConfig)]
    for name in settings:
        if name not in known:
            raise TypeError(f"config_for: {unknown('setting', name, known)}")
    given = {name: value for name, value in settings.items() if value is not None}
    of_policy = {} if (policy or task.policy) == "table" else task.network_settings
    return TrainConfig(**{**task.settings, **of_policy, **given})
