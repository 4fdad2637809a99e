"""Pretraining: a network learns to speak by imitation, before it is rewarded.

    loss = - mean over the tokens of the examples of log π(token | what came before)

It is the policy gradient with every example's weight at 1, so it goes the same way back.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
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
      ValueError: if it has nothing, or its examples are not of one shape, not of its tokens and prompts, or
        have no token to imitate.
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
      TypeError: if an argument is not of its type.
      ValueError: if the task has no examples, or the network does not fit it.
      MemoryError: if the machine could not hold the network and a step.
      FloatingPointError: where the weights have become too large, or are no longer finite; it says in which
        step, and that step is not yielded.
    """
    examples = _checked(task, network, config)
    keep_freed_memory()
    generator = np.random.default_rng(config.seed)
    shapes = network.shapes()
    params = joined(network.init(generator), shapes)[None].astype(config.dtype)
    optimizer = Adam(config.learning_rate, b2=0.95)
    state, reward = optimizer.init(params), 0.0
    for step in range(1, config.steps + 1):
        chosen = generator.integers(len(examples.prompts), size=config.batch)
        with _step_told(step, config):
            loss, gradient = likelihood_gradient(task, NeuralActor(network, params, 1.0), examples, chosen)
            gradient, _ = clip_by_norm(gradient, 1.0)
            warm = Adam(config.learning_rate * min(1.0, step / config.warm_up), b2=0.95)
            params, state = warm.step(params, gradient, state)
            if not np.isfinite(params).all():
                raise FloatingPointError("the weights are no longer finite numbers")
            if step % config.check_every == 0:
                reward = sampled_reward(task, NeuralActor(network, params, 1.0), config, generator)
        yield Pretraining(step, loss, reward, NeuralPolicy(network, params[0]))
        if reward >= config.until:
            return


def _checked(task: Any, network: Any, config: Any) -> Examples:
    """The examples, if each argument is of its own type, and all fit one another and the machine."""
    for name, value, expected in (("task", task, Task), ("config", config, PretrainConfig)):
        if not isinstance(value, expected):
            raise TypeError(f"{name}: expected a {expected.__name__}, got {value!r:.60}")
    check_network(network)
    examples = examples_of(task)
    check_fit(network, task)
    check_imitation(task, network, max(config.batch, config.checked), config.dtype)
    return examples


@contextmanager
def _step_told(step: int, config: PretrainConfig) -> Iterator[None]:
    """A FloatingPointError that says in which step of the imitation it was, and the usual cause."""
    try:
        yield
    except FloatingPointError as error:
        raise FloatingPointError(
            f"imitation, step {step}: {error}; mostly the step size is too large"
            f" (learning_rate={config.learning_rate:g})"
        ) from error


def likelihood_gradient(
    task: Task, actor: NeuralActor, examples: Examples, chosen: Integers
) -> tuple[float, Floats]:
    """The loss in nats per token on some of the examples, and its gradient with respect to the weights."""
    prompts, tokens = examples.prompts[None, chosen], examples.tokens[None, chosen, None]
    mask = examples.mask[None, chosen, None]
    visited = actor.visit(task, prompts, tokens, tokens)
    weights = mask / mask.sum()
    gradient = pull_back(-weights, visited.states, tokens, visited.policy.probs)
    return -float((weights * visited.log_probs).sum()), actor.pull_back(visited, gradient)


def sampled_reward(
    task: Task, actor: NeuralActor, config: PretrainConfig, generator: np.random.Generator
) -> float:
    """Mean reward of one completion for each of some prompts, drawn as in training."""
    return float(draw(task, actor, [generator], prompts=config.checked, group_size=1).rewards.mean())
