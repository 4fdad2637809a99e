"""Held-out prompts: training never samples them, so they show if a policy has learned the rule."""

from dataclasses import replace

from grpo_ref.arrays import Floats, array_namespace
from grpo_ref.learning.policies.policy import PolicyKind
from grpo_ref.learning.rollout import sample
from grpo_ref.learning.task import Task

GREEDY = 1e-6
"""A temperature at which only the most likely token is sampled."""


def has_held_out(task: Task) -> bool:
    """Return True if the task has prompts that training never samples."""
    return bool((task.prompt_probs == 0.0).any())


def held_out(task: Task) -> Task:
    """Return the task with the held-out prompts only, all with the same probability.

    Raises:
      ValueError: if the task has no held-out prompts.

    >>> from grpo_ref import TASKS
    >>> float((held_out(TASKS["sums"]()).prompt_probs > 0).mean())
    0.2
    """
    if not has_held_out(task):
        raise ValueError(f"task: {task.name} holds no prompts out")
    chosen = array_namespace(task.prompt_probs).astype(task.prompt_probs == 0.0, task.prompt_probs.dtype)
    return replace(task, prompt_probs=chosen / chosen.sum())


def held_out_rates(
    task: Task,
    params: Floats,
    policy: PolicyKind,
    *,
    prompts: int = 1000,
    temperature: float = 1.0,
    seed: int = 0,
) -> Floats:
    """Return the mean of each criterion on held-out prompts, with one completion per sampled prompt.

    Args:
      task: a task with held-out prompts.
      params: (S, ...) parameters of the policies.
      policy: the kind of policy, which says what the parameters mean.
      prompts: number of prompts to sample.
      temperature: 1 to sample as in training, `GREEDY` to take the most likely tokens.
      seed: seed of the random numbers.

    Returns:
      (S, K) means.
    """
    drawn = sample(held_out(task), params, prompts=prompts, seed=seed, temperature=temperature, policy=policy)
    rates: Floats = drawn.components.mean((1, 2))
    return rates
