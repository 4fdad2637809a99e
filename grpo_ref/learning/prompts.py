"""Which prompts are drawn: now and then, those that are neither too easy nor too hard are admitted anew."""

from collections.abc import Sequence

import numpy as np

from grpo_ref.arrays import Bools, Floats, array_namespace, to_device
from grpo_ref.filters import pass_rate_between
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.policies.policy import Actor
from grpo_ref.learning.rollout import act
from grpo_ref.learning.state import TrainState
from grpo_ref.learning.task import Task


def prompt_probs(
    task: Task,
    config: TrainConfig,
    state: TrainState,
    actor: Actor,
    generators: Sequence[np.random.Generator],
) -> Floats:
    """How often each run draws each prompt in the next update.

    Every config.refilter_every updates, prompts whose pass rate is outside the bounds are left out; a run in
    which none is left draws them all.

    Returns:
      (S, Q) probabilities; those of the state where nothing is to be filtered.
    """
    if config.refilter_every == 0 or state.update % config.refilter_every:
        return state.prompt_probs
    admitted = _pass(task, config, actor, generators)
    admitted |= ~(admitted & (task.prompt_probs > 0.0)).any(-1, keepdims=True)
    chosen = array_namespace(admitted).where(admitted, task.prompt_probs, 0.0)
    probs: Floats = chosen / chosen.sum(-1, keepdims=True)
    return probs


def _pass(task: Task, config: TrainConfig, actor: Actor, generators: Sequence[np.random.Generator]) -> Bools:
    """(S, Q) prompts whose pass rate is inside the bounds, judged by one group for each."""
    xp, count = array_namespace(task.prompt_probs), len(task.prompts)
    every = xp.broadcast_to(xp.arange(count), (len(generators), count))
    shape = (count, config.group_size, task.max_length)
    uniforms = to_device(np.stack([generator.random(shape) for generator in generators]), xp)
    rewards = act(task, actor.chooser(task, every, config.group_size), every, uniforms).rewards
    inside: Bools = pass_rate_between(
        rewards, low=config.pass_low, high=config.pass_high, pass_reward=config.pass_reward
    )
    return inside
