"""Pretraining: a network imitates examples before it is rewarded (supervised fine-tuning).

    loss = - mean over the tokens of the examples of log π(token | the tokens before)

This is a policy gradient in which every token has the weight 1 / number of tokens. So the backward pass is
that of training.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.learning.optim import Adam, clip_by_norm
from grpo_ref.learning.policies.memory import check_imitation
from grpo_ref.learning.policies.neural import (
    Network,
    NeuralActor,
    NeuralPolicy,
    check_fit,
    check_indices,
    check_network,
)
from grpo_ref.learning.policies.parameters import check_sizes, joined
from grpo_ref.learning.policies.table import pull_back
from grpo_ref.learning.rollout import draw
from grpo_ref.learning.task import Examples, Task
from grpo_ref.listing import unknown
from grpo_ref.memory import keep_freed_memory


@dataclass(frozen=True)
class PretrainConfig:
    """The settings of pretraining.

    Attributes:
      steps: maximum number of optimizer steps.
      batch: examples per step.
      learning_rate: learning rate of Adam after the warm-up.
      warm_up: number of steps in which the learning rate rises linearly.
      until: mean reward of sampled completions at which to stop.
      check_every: number of steps between two measurements of the reward.
      checked: number of prompts on which the reward is measured, sampled as in training.
      seed: seed of the initial weights and of all samples.
      dtype: dtype of the weights, "float32" or "float64".
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
        check_sizes(**{name: (getattr(self, name), bound) for name, bound in least.items()})
        for name in ("learning_rate", "until"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not value > 0:
                raise ValueError(f"{name}: expected a number > 0, got {value!r}")
        if self.learning_rate == math.inf:
            raise ValueError("learning_rate: expected a finite number, got inf")
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype: expected float32 or float64, got {self.dtype!r}")


def pretrain_config_for(task: Task, **settings: Any) -> PretrainConfig:
    """Return the settings of pretraining that suit a task, with your changes.

    Raises:
      ValueError: if the task has no examples, `PretrainConfig` has no such field, or a setting is out of
        range.
    """
    examples_of(task)
    known = [field.name for field in fields(PretrainConfig)]
    for name in settings:
        if name not in known:
            raise ValueError(f"pretraining: {unknown('setting', name, known)}")
    return PretrainConfig(**(dict(task.pretraining) | settings))


def examples_of(task: Task) -> Examples:
    """Return the task's examples after checking them.

    Raises:
      ValueError: if the task has no examples, their shapes differ, they contain prompts or tokens that the
        task does not have, or an example has no token.
    """
    examples = task.examples
    if examples is None or len(examples.prompts) == 0:
        raise ValueError(f"task: {task.name} has no examples to imitate")
    shapes = [tuple(array.shape) for array in (examples.prompts, examples.tokens, examples.mask)]
    if len(shapes[1]) != 2 or shapes != [shapes[1][:1], shapes[1], shapes[1]]:
        raise ValueError(
            "examples: expected prompts (M,), tokens (M, T) and mask (M, T), got shapes"
            f" {', '.join(map(str, shapes))}"
        )
    if shapes[1][1] > task.max_length:
        raise ValueError(
            f"examples: expected at most max_length={task.max_length} tokens, got {shapes[1][1]}"
        )
    if not examples.mask.any(-1).all():
        raise ValueError("examples: expected at least one token in each row of the mask, got a row of none")
    check_indices("examples: prompts", examples.prompts, len(task.prompts))
    check_indices("examples: tokens", examples.tokens, len(task.vocabulary))
    return examples


class Pretraining(NamedTuple):
    """The result of one step of `pretrain`.

    Attributes:
      step: number of the step, from 1.
      loss: loss before the step, in nats per token.
      reward: mean reward of sampled completions when it was last measured; 0 before the first measurement.
      policy: the policy with the weights after the step.
    """

    step: int
    loss: float
    reward: float
    policy: NeuralPolicy


def pretrain(task: Task, network: Network, config: PretrainConfig) -> Iterator[Pretraining]:
    """Train a network to imitate the task's examples, and yield after each step.

    Args:
      task: a task with examples.
      network: the network to train, as `network_for` makes it.
      config: the settings, as `pretrain_config_for` makes them.

    Yields:
      Pretraining(step, loss, reward, policy). Train the policy of the last step with
      `train(task, recipe, policy=...)`.

    Raises:
      TypeError: if an argument has the wrong type.
      ValueError: if the task has no examples, or the network does not fit the task.
      MemoryError: if the machine does not have enough memory for the network and a step.
      FloatingPointError: if the weights are no longer finite, or too large for the network. The message names
        the step; this step is not yielded.
    """
    for name, value, expected in (("task", task, Task), ("config", config, PretrainConfig)):
        if not isinstance(value, expected):
            raise TypeError(f"{name}: expected a {expected.__name__}, got {value!r:.60}")
    check_network(network)
    examples = examples_of(task)
    check_fit(network, task)
    check_imitation(task, network, max(config.batch, config.checked), config.dtype)
    keep_freed_memory()

    generator = np.random.default_rng(config.seed)
    params = joined(network.init(generator), network.shapes())[None].astype(config.dtype)
    optimizer = Adam(config.learning_rate, b2=0.95)
    state, reward = optimizer.init(params), 0.0
    for step in range(1, config.steps + 1):
        # 1. Choose examples, with replacement.
        chosen = generator.integers(len(examples.prompts), size=config.batch)
        try:
            # 2. The gradient of the loss, clipped: a few early batches have very long gradients.
            loss, gradient = likelihood_gradient(task, NeuralActor(network, params, 1.0), examples, chosen)
            gradient, _ = clip_by_norm(gradient, 1.0)

            # 3. One step. The learning rate rises in the warm-up, while Adam's moments are still noisy.
            warm = Adam(config.learning_rate * min(1.0, step / config.warm_up), b2=0.95)
            params, state = warm.step(params, gradient, state)
            if not np.isfinite(params).all():
                raise FloatingPointError("the weights are no longer finite numbers")

            # 4. Now and then, sample as in training: is the reward high enough to begin?
            if step % config.check_every == 0:
                reward = sampled_reward(task, NeuralActor(network, params, 1.0), config, generator)
        except FloatingPointError as error:
            raise FloatingPointError(
                f"imitation, step {step}: {error}; mostly the step size is too large"
                f" (learning_rate={config.learning_rate:g})"
            ) from error
        yield Pretraining(step, loss, reward, NeuralPolicy(network, params[0]))
        if reward >= config.until:
            return


def likelihood_gradient(
    task: Task, actor: NeuralActor, examples: Examples, chosen: Integers
) -> tuple[float, Floats]:
    """Return the loss on the chosen examples, in nats per token, and its gradient (1, n).

        loss = -Σ w log π(token),    w = 1 / number of tokens, or 0 on padding

    The gradient is with respect to the weights of the network.
    """
    # A batch of groups of one: (1, M, 1, T). So everything that is known of a training batch applies.
    prompts, tokens = examples.prompts[None, chosen], examples.tokens[None, chosen, None]
    mask = examples.mask[None, chosen, None]
    visited = actor.visit(task, prompts, tokens, tokens)
    weights = mask / mask.sum()
    gradient = pull_back(-weights, visited.states, tokens, visited.policy.probs)
    return -float((weights * visited.log_probs).sum()), actor.pull_back(visited, gradient)


def sampled_reward(
    task: Task, actor: NeuralActor, config: PretrainConfig, generator: np.random.Generator
) -> float:
    """Return the mean reward of `config.checked` completions, with prompts sampled as in training."""
    return float(draw(task, actor, [generator], prompts=config.checked, group_size=1).rewards.mean())
