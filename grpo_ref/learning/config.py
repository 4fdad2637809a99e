"""The settings of a training run: sizes, step sizes and schedules. The recipe is not one of them."""

import math
from dataclasses import dataclass, fields
from typing import Any

from grpo_ref.learning.optim import OPTIMIZERS
from grpo_ref.learning.task import Task
from grpo_ref.listing import unknown


@dataclass(frozen=True)
class TrainConfig:
    """The settings of a training run. The algorithm itself is the recipe.

    Attributes:
      updates: number of updates; each has a new batch.
      seeds: number of independent runs, trained as one array. The result of a run does not depend on the
        other runs.
      seed: base seed; run i uses `numpy.random.default_rng([seed, i])`.
      prompts: P, prompts per batch.
      group_size: G, completions per prompt.
      temperature: temperature of the policy, both for sampling and in the gradient.
      epochs: passes over each batch.
      minibatches: number of minibatches per epoch, with one optimizer step each. Groups are not split.
      optimizer: "adam" or "sgd".
      learning_rate: step size of the optimizer.
      max_grad_norm: maximum Euclidean norm of the gradient of a run; longer gradients are scaled down.
      entropy_coef: weight of the entropy bonus. Tokens are weighted as in the loss.
      entropy_target: target entropy in nats per token; 0 keeps the weight constant. While the entropy of a
        batch is at most the target, the bonus is applied and its weight grows by entropy_delta. Otherwise
        there is no bonus and the weight shrinks. This is TRL's use_adaptive_entropy.
      entropy_delta, entropy_max: step and upper bound of the weight; 0.005 and 1 in TRL.
      refilter_every: number of updates after which prompts are filtered by pass rate again; 0 keeps all
        prompts.
      pass_low, pass_high: bounds of the pass rate, both included. If no prompt is inside, all are kept.
      pass_reward: a completion passes if its reward is above this.
      ref_refresh: number of updates after which the policy becomes the new reference; 0 keeps the reference.
      resamples: number of rounds in which groups that the recipe's filter rejects are resampled. Groups that
        are rejected after the last round are excluded from the loss.

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
        """Optimizer steps per batch. If there is only one, every ratio is 1 and nothing is clipped."""
        return self.epochs * self.minibatches


def _require(holds: bool, name: str, expected: str, got: object) -> None:
    if not holds:
        raise ValueError(f"{name}: expected {expected}, got {got!r}")


def config_for(task: Task, policy: str = "", **settings: Any) -> TrainConfig:
    """Return the settings that suit a task, with your changes.

    Args:
      task: the task; its settings are the starting point.
      policy: the kind of policy to train. Default: the kind that suits the task.
      settings: fields of `TrainConfig` to change; a field that is None is ignored.

    Raises:
      TypeError: if `TrainConfig` has no such field, or the task is not a `Task`.
      ValueError: if a setting is out of range.
    """
    if not isinstance(task, Task):
        raise TypeError(f"task: expected a Task, as in config_for(TASKS['bandit']()), got {task!r}")
    known = [item.name for item in fields(TrainConfig)]
    for name in settings:
        if name not in known:
            raise TypeError(f"config_for: {unknown('setting', name, known)}")
    given = {name: value for name, value in settings.items() if value is not None}
    # A network needs a much smaller learning rate than a table of logits.
    network_settings = {} if (policy or task.policy) == "table" else task.network_settings
    return TrainConfig(**{**task.settings, **network_settings, **given})
