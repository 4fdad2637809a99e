"""Rollout: walk the task's automaton with the policy, all runs, prompts and group members at once."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers, array_namespace, check_finite, to_device, to_host
from grpo_ref.learning.policies.policy import Actor, PolicyKind
from grpo_ref.learning.policies.sampling import Choose
from grpo_ref.learning.policies.table import TABLE, table_chooser
from grpo_ref.learning.task import END, Task
from grpo_ref.types import Completions


def rollout(task: Task, probs: Floats, prompts: Integers, uniforms: Floats) -> Completions:
    """Sample one group of completions for each prompt.

    A token is the inverse of the distribution function at one uniform number, so the same numbers always give
    the same completions, whatever else is sampled beside them.

    Args:
      task: the automaton and its verifier.
      probs: (..., N, V) the policy's probabilities in every state.
      prompts: (..., P) index of each prompt.
      uniforms: (..., P, G, T) numbers in [0, 1), T the task's max_length.

    Returns:
      Completions with their rewards.

    Raises:
      ValueError: if the shapes do not fit one another or the task.
    """
    _check_shapes(task, probs, prompts, uniforms)
    return act(task, table_chooser(probs), prompts, uniforms)


def act(task: Task, choose: Choose, prompts: Integers, uniforms: Floats) -> Completions:
    """Completions of given prompts, their tokens drawn by a policy's chooser, with their rewards.

    Args:
      task: the automaton and its verifier.
      choose: draws the next tokens.
      prompts: (..., P) index of each prompt.
      uniforms: (..., P, G, T) numbers in [0, 1), T the task's max_length.
    """
    states, tokens, mask, ended = _walk(task, choose, prompts, uniforms)
    components = task.verify(prompts, tokens, mask)
    return Completions(
        prompts=prompts,
        states=states,
        tokens=tokens,
        mask=mask,
        ended=ended,
        components=components,
        rewards=components @ task.weights,
        weights=task.weights,
        max_length=task.max_length,
    )


def with_steps(task: Task, batch: Completions) -> Completions:
    """The batch with the rewards and ends of its steps, which process supervision reads.

    A task without a verdict on steps has one step a completion, which ends with it and has its reward.
    """
    if task.verify_steps is not None:
        rewards, ends = task.verify_steps(batch.prompts, batch.tokens, batch.mask)
    else:
        xp = array_namespace(batch.mask)
        ends = batch.mask & ~xp.roll(batch.mask, -1, axis=-1)
        ends[..., -1] = batch.mask[..., -1]
        rewards = ends * batch.rewards[..., None]
    return replace(batch, step_rewards=rewards, step_ends=ends)


def _check_shapes(task: Task, probs: Floats, prompts: Integers, uniforms: Floats) -> None:
    runs = probs.shape[:-2]
    if uniforms.shape[: len(runs) + 1] != prompts.shape or prompts.shape[:-1] != runs:
        raise ValueError(
            "expected probs (..., N, V), prompts (..., P) and uniforms (..., P, G, T) with the same run"
            f" axes, got {probs.shape}, {prompts.shape} and {uniforms.shape}"
        )
    if uniforms.shape[-1] != task.max_length:
        raise ValueError(f"uniforms: expected {task.max_length} on the last axis, got shape {uniforms.shape}")


def _walk(
    task: Task, choose: Choose, prompts: Integers, uniforms: Floats
) -> tuple[Integers, Integers, Bools, Bools]:
    """Through the automaton, token by token: states, tokens, mask (..., P, G, T) and ended (..., P, G)."""
    xp = array_namespace(prompts, uniforms)
    states, tokens = (_token_array(xp, uniforms.shape, xp.int64) for _ in range(2))
    mask = _token_array(xp, uniforms.shape, xp.bool)
    state = xp.broadcast_to(task.starts[prompts][..., None], uniforms.shape[:-1])
    for t in range(task.max_length):
        alive = state != END
        here = xp.where(alive, state, 0)
        token = choose(here, uniforms[..., t])
        states[..., t], tokens[..., t], mask[..., t] = here, xp.where(alive, token, 0), alive
        state = xp.where(alive, task.transitions[here, token], END)
    return states, tokens, mask, state == END


def _token_array(xp: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros of shape (..., T), laid out in memory with T first.

    Every step over the tokens is then one long stretch, and NumPy keeps the layout in all that is computed
    from it.
    """
    *others, length = shape
    return xp.moveaxis(xp.zeros((length, *others), dtype=dtype), 0, -1)


def prompt_edges(prompt_probs: Floats) -> Floats:
    """The distribution function of the prompts, infinite from the last possible one on.

    Args:
      prompt_probs: (..., Q) how often each prompt is drawn; each row sums to 1.

    Returns:
      (..., Q) below which uniform numbers prompt q or one before it is drawn.
    """
    xp = array_namespace(prompt_probs)
    count = prompt_probs.shape[-1]
    last = count - 1 - xp.argmax(prompt_probs[..., ::-1] > 0.0, axis=-1)
    edges: Floats = xp.where(xp.arange(count) < last[..., None], prompt_probs.cumsum(-1), math.inf)
    return edges


def draw_prompts(edges: Floats, uniforms: Floats) -> Integers:
    """Prompts in their proportions, one per uniform number.

    Args:
      edges: (..., Q) as `prompt_edges` gives them.
      uniforms: (..., P) numbers in [0, 1).

    Returns:
      (..., P) prompt indices.
    """
    drawn: Integers = (edges[..., None, :] <= uniforms[..., None]).sum(-1)
    return drawn


def draw(
    task: Task,
    actor: Actor,
    generators: Sequence[np.random.Generator],
    *,
    prompts: int,
    group_size: int,
    prompt_probs: Floats | None = None,
) -> Completions:
    """One batch for each run, its prompts and tokens drawn from the run's own generator.

    The numbers are drawn on the host wherever the policies are, so that a GPU samples what NumPy does; they
    are moved there all at once.

    Args:
      task: the automaton and its verifier.
      actor: the policies of the S runs.
      generators: S sources of random numbers.
      prompts, group_size: P and G.
      prompt_probs: (S, Q) how often each prompt is drawn; left out, as often as the task has it.

    Returns:
      Completions of shape (S, P, G, T).
    """
    if prompt_probs is None:
        prompt_probs = task.prompt_probs
    numbers = np.stack(
        [generator.random((prompts, 1 + group_size * task.max_length)) for generator in generators]
    )
    numbers = to_device(numbers, array_namespace(prompt_probs))
    uniforms = numbers[..., 1:].reshape(len(generators), prompts, group_size, task.max_length)
    drawn = draw_prompts(prompt_edges(prompt_probs), numbers[..., 0])
    return act(task, actor.chooser(task, drawn, group_size), drawn, uniforms)


def redraw(
    task: Task,
    actor: Actor,
    generators: Sequence[np.random.Generator],
    batch: Completions,
    *,
    replace_groups: Bools,
    prompt_probs: Floats,
) -> Completions:
    """The batch with some groups drawn anew, prompts included: one round of DAPO's dynamic sampling.

    Runs without such groups draw no numbers, so a run does not depend on its neighbours. Which runs have some
    must be known on the host, where the numbers are drawn.

    Args:
      task, actor, generators: as in `draw`.
      batch: Completions of shape (S, P, G, T).
      replace_groups: (S, P) True for the groups to draw anew.
      prompt_probs: as in `draw`.

    Returns:
      Completions of the same shape; the batch itself if there is nothing to draw anew.
    """
    drawing = replace_groups.any(-1)
    chosen = [generators[run] for run in np.flatnonzero(to_host(drawing)).tolist()]
    if not chosen:
        return batch
    xp = array_namespace(replace_groups)
    runs = xp.argsort(xp.where(drawing, 0, 1), stable=True)[: len(chosen)]
    prompts, group_size = batch.rewards.shape[-2:]
    fresh = draw(
        task,
        actor.only(runs),
        chosen,
        prompts=prompts,
        group_size=group_size,
        prompt_probs=prompt_probs[runs],
    )
    merged = {}
    for name in ("prompts", "states", "tokens", "mask", "ended", "components", "rewards"):
        merged[name] = getattr(batch, name).copy()
        merged[name][runs] = _choose(replace_groups[runs], getattr(fresh, name), merged[name][runs])
    return replace(batch, **merged)


def _choose(groups: Bools, ours: Floats, theirs: Floats) -> Floats:
    groups = groups.reshape(groups.shape + (1,) * (ours.ndim - groups.ndim))
    chosen: Floats = array_namespace(groups, ours, theirs).where(groups, ours, theirs)
    return chosen


def sample(
    task: Task,
    params: Floats,
    *,
    prompts: int,
    group_size: int = 1,
    seed: int = 0,
    temperature: float = 1.0,
    policy: PolicyKind = TABLE,
) -> Completions:
    """Look at given policies: completions drawn with the same fresh random numbers for every run.

    Args:
      task: the automaton and its verifier.
      params: (S, N, V) logits, or (S, ...) what another kind of policy has.
      prompts, group_size: P and G.
      seed: of the random numbers.
      temperature: of the policy.
      policy: what the parameters mean.

    Returns:
      Completions of shape (S, P, G, T).

    Raises:
      ValueError: if the parameters are not finite, or nothing is to be drawn.
    """
    if prompts < 1 or group_size < 1:
        raise ValueError(f"prompts and group_size: expected at least 1, got {prompts} and {group_size}")
    check_finite(params=params)
    generators = [np.random.default_rng(seed) for _ in range(len(params))]
    actor = policy.at(params, temperature)
    return draw(task, actor, generators, prompts=prompts, group_size=group_size)
