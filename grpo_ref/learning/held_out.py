"""Prompts that training never draws: they show whether a policy has learned the rule or the answers."""

from dataclasses import replace

from grpo_ref.arrays import Floats, array_namespace
from grpo_ref.learning.policies.policy import PolicyKind
from grpo_ref.learning.rollout import sample
from grpo_ref.learning.task import Task

GREEDY = 1e-6
"""A temperature at which only the likeliest token is drawn."""


def has_held_out(task: Task) -> bool:
    """Whether training leaves out some of the task's prompts."""
    return bool((task.prompt_probs == 0.0).any())


def held_out(task: Task) -> Task:
    """The task on the prompts that training never draws, all equally often.

    Raises:
      ValueError: if it draws them all.

    >>> from grpo_ref import TASKS
    >>> float((held_out(TASKS["sums"]()).prompt_probs > 0).mean())
    0.2
    """
    if not has_held_out(task):
        raise ValueError(f"task: {task.name} holds no prompts out")
    left_out = array_namespace(task.prompt_probs).astype(task.prompt_probs == 0.0, task.prompt_probs.dtype)
    return replace(task, prompt_probs=left_out / left_out.sum())


def held_out_rates(
    task: Task,
    params: Floats,
    policy: PolicyKind,
    *,
    prompts: int = 1000,
    temperature: float = 1.0,
    seed: int = 0,
) -> Floats:
    """The task's criteria on held-out prompts, a mean over one completion for each of some.

    Args:
      task: holds prompts out.
      params: (S, ...) of the policies.
      policy: what the parameters mean.
      prompts: how many are drawn.
      temperature: 1 for what the policy does, `GREEDY` for its likeliest tokens.
      seed: of the random numbers.

    Returns:
      (S, K) means.
    """
    drawn = sample(held_out(task), params, prompts=prompts, seed=seed, temperature=temperature, policy=policy)
    rates: Floats = drawn.components.mean((1, 2))
    return rates
