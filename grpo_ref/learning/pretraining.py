"""Pretraining: a network learns to speak by imitation, before it is rewarded.

    loss = - mean over the tokens of the examples of log π(token | what came before)

It is the policy gradient with every example's weight at 1, so it goes the same way back.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats, Integers, keep_freed_memory
from grpo_ref.learning.optim import Adam, clip_by_norm
from grpo_ref.learning.policies.neural import Network, NeuralActor, NeuralPolicy
from grpo_ref.learning.policies.parameters import joined
from grpo_ref.learning.policies.table import gather, pull_back
from grpo_ref.learning.rollout import draw
from grpo_ref.learning.tasks.task import Examples, Task
from grpo_ref.listing import unknown


@dataclass(frozen=True)
class PretrainConfig:
    """How to imitate.

    Attributes:
      steps: of the optimizer, at most.
      batch: examples a step.
      learning_rate: of Adam, after it has risen evenly for `warm_up` steps.
      warm_up: steps.
      until: sampled reward at which to stop; looked at every `check_every` steps on `checked` prompts.
      check_every: steps.
      checked: how many prompts, drawn among those of training.
      seed: of the weights and of all that is drawn.
      dtype: of the weights, "float32" or "float64".
    """

    steps: int = 400
    batch: int = 256
    learning_rate: float = 1e-3
    warm_up: int = 50
    until: float = float("inf")
    check_every: int = 10
    checked: int = 256
    seed: int = 0
    dtype: str = "float32"

    def __post_init__(self) -> None:
        least = {"steps": 1, "batch": 1, "warm_up": 1, "check_every": 1, "checked": 1, "seed": 0}
        for name, bound in least.items():
            value = getattr(self, name)
            if not isinstance(value, int) or value < bound:
                raise ValueError(f"{name}: expected a whole number >= {bound}, got {value!r}")
        for name in ("learning_rate", "until"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not value > 0:
                raise ValueError(f"{name}: expected a number > 0, got {value!r}")
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype: expected float32 or float64, got {self.dtype!r}")


def pretrain_config_for(task: Task, **settings: Any) -> PretrainConfig:
    """The settings of the imitation that suit the task, changed where told otherwise.

    Raises:
      ValueError: if the task has no examples, `PretrainConfig` has no such field, or one is out of range.
    """
    examples_of(task)
    known = [field.name for field in fields(PretrainConfig)]
    for name in settings:
        if name not in known:
            raise ValueError(f"pretraining: {unknown('setting', name, known)}")
    return PretrainConfig(**(dict(task.pretraining) | settings))


def examples_of(task: Task) -> Examples:
    """What the task has to imitate.

    Raises:
      ValueError: if it has nothing.
    """
    if task.examples is None:
        raise ValueError(f"task: {task.name} has no examples to imitate")
    return task.examples


class Pretraining(NamedTuple):
    """What `pretrain` yields after each step.

    Attributes:
      step: from 1.
      loss: nats per token.
      reward: sampled, when it was last looked at.
      policy: with the weights so far.
    """

    step: int
    loss: float
    reward: float
    policy: NeuralPolicy


def pretrain(task: Task, network: Network, config: PretrainConfig) -> Iterator[Pretraining]:
    """Imitate the task's examples, step by step.

    Args:
      task: has the examples.
      network: what is trained.
      config: how.

    Raises:
      ValueError: if the task has no examples.
    """
    examples = examples_of(task)
    keep_freed_memory()
    generator = np.random.default_rng(config.seed)
    shapes = network.shapes()
    params = joined(network.init(generator), shapes)[None].astype(config.dtype)
    optimizer = Adam(config.learning_rate, b2=0.95)
    state, reward = optimizer.init(params), 0.0
    for step in range(1, config.steps + 1):
        chosen = generator.integers(len(examples.prompts), size=config.batch)
        loss, gradient = likelihood_gradient(task, NeuralActor(network, params, 1.0), examples, chosen)
        gradient, _ = clip_by_norm(gradient, 1.0)
        warm = Adam(config.learning_rate * min(1.0, step / config.warm_up), b2=0.95)
        params, state = warm.step(params, gradient, state)
        if step % config.check_every == 0:
            reward = sampled_reward(task, NeuralActor(network, params, 1.0), config, generator)
        yield Pretraining(step, loss, reward, NeuralPolicy(network, params[0]))
        if reward >= config.until:
            return


def likelihood_gradient(
    task: Task, actor: NeuralActor, examples: Examples, chosen: Integers
) -> tuple[float, Floats]:
    """The loss in nats per token on some of the examples, and its gradient with respect to the weights."""
    prompts, tokens = examples.prompts[None, chosen], examples.tokens[None, chosen, None]
    mask = examples.mask[None, chosen, None]
    visited = actor.visit(task, prompts, tokens, tokens)
    log_probs = gather(visited.policy.log_probs, visited.states, tokens)
    weights = mask / mask.sum()
    gradient = pull_back(-weights, visited.states, tokens, visited.policy.probs)
    return -float((weights * log_probs).sum()), actor.pull_back(visited, gradient)


def sampled_reward(
    task: Task, actor: NeuralActor, config: PretrainConfig, generator: np.random.Generator
) -> float:
    """Mean reward of one completion for each of some prompts, drawn as in training."""
    return float(draw(task, actor, [generator], prompts=config.checked, group_size=1).rewards.mean())
