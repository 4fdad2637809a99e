"""The prompts of an update: from time to time, those that are too easy or too hard are excluded."""

from collections.abc import Sequence

import numpy as np

from grpo_ref.arrays import Floats, array_namespace, to_device
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
    """Return the probability of each prompt in the next update of each run.

    Every config.refilter_every updates, prompts whose pass rate is outside the bounds are excluded, until the
    next time. If a run has no prompt inside the bounds, it keeps all of them.

    Returns:
      (S, Q) probabilities; unchanged if this update filters no prompts.
    """
    if config.refilter_every == 0 or state.update % config.refilter_every:
        return state.prompt_probs

    # Sample one group for every prompt of the task. The excluded ones are sampled too: a prompt that was too
    # hard may be admitted later.
    xp, count = array_namespace(task.prompt_probs), len(task.prompts)
    prompts = xp.broadcast_to(xp.arange(count), (len(generators), count))
    shape = (count, config.group_size, task.max_length)
    uniforms = to_device(np.stack([generator.random(shape) for generator in generators]), xp)
    rewards = act(task, actor.chooser(task, prompts, config.group_size), prompts, uniforms).rewards

    # Admit the prompts inside the bounds, in the proportions of the task. Held-out prompts have probability 0
    # and keep it.
    admitted = pass_rate_between(
        rewards, low=config.pass_low, high=config.pass_high, pass_reward=config.pass_reward
    )
    admitted |= ~(admitted & (task.prompt_probs > 0.0)).any(-1, keepdims=True)
    chosen = xp.where(admitted, task.prompt_probs, 0.0)
    probs: Floats = chosen / chosen.sum(-1, keepdims=True)
    return probs
