"""Rollout: sample completions by walking the task's automaton, for all runs, prompts and groups at once."""

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
from grpo_ref.recipes import Recipe
from grpo_ref.types import Completions


def rollout(task: Task, probs: Floats, prompts: Integers, uniforms: Floats) -> Completions:
    """Sample one group of completions for each prompt.

    Each token is sampled by inverting the cumulative distribution at one uniform number. So the same numbers
    always give the same completions, whatever else is sampled beside them.

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
    runs = probs.shape[:-2]
    if uniforms.shape[: len(runs) + 1] != prompts.shape or prompts.shape[:-1] != runs:
        raise ValueError(
            "expected probs (..., N, V), prompts (..., P) and uniforms (..., P, G, T) with the same run"
            f" axes, got {probs.shape}, {prompts.shape} and {uniforms.shape}"
        )
    if uniforms.shape[-1] != task.max_length:
        raise ValueError(f"uniforms: expected {task.max_length} on the last axis, got shape {uniforms.shape}")
    return act(task, table_chooser(probs), prompts, uniforms)


def act(task: Task, choose: Choose, prompts: Integers, uniforms: Floats) -> Completions:
    """Sample completions of the given prompts with a policy's chooser, and reward them.

    Args:
      task: the automaton and its verifier.
      choose: samples the next tokens.
      prompts: (..., P) index of each prompt.
      uniforms: (..., P, G, T) numbers in [0, 1), T the task's max_length.
    """
    xp = array_namespace(prompts, uniforms)
    states, tokens = (_token_array(xp, uniforms.shape, xp.int64) for _ in range(2))
    mask = _token_array(xp, uniforms.shape, xp.bool)
    state = xp.broadcast_to(task.starts[prompts][..., None], uniforms.shape[:-1])

    # Walk the automaton, one token of all completions at a time. A completion that has ended keeps going with
    # the others, through state 0, because arrays have no holes; its tokens are 0 and masked out.
    for t in range(task.max_length):
        alive = state != END
        here = xp.where(alive, state, 0)
        token = choose(here, uniforms[..., t])
        states[..., t], tokens[..., t], mask[..., t] = here, xp.where(alive, token, 0), alive
        state = xp.where(alive, task.transitions[here, token], END)

    # The verifier gives one reward per criterion; the reward of a completion is their weighted sum.
    components = task.verify(prompts, tokens, mask)
    return Completions(
        prompts=prompts,
        states=states,
        tokens=tokens,
        mask=mask,
        ended=state == END,
        components=components,
        rewards=components @ task.weights,
        weights=task.weights,
        max_length=task.max_length,
    )


def with_steps(task: Task, batch: Completions) -> Completions:
    """Return the batch with the rewards and the ends of its steps, for process supervision.

    If the task has no `verify_steps`, a completion is one step: it ends at the last token and has the
    completion's reward.
    """
    if task.verify_steps is not None:
        rewards, ends = task.verify_steps(batch.prompts, batch.tokens, batch.mask)
    else:
        xp = array_namespace(batch.mask)
        ends = batch.mask & ~xp.roll(batch.mask, -1, axis=-1)
        ends[..., -1] = batch.mask[..., -1]
        rewards = ends * batch.rewards[..., None]
    return replace(batch, step_rewards=rewards, step_ends=ends)


def with_greedy_rewards(task: Task, recipe: Recipe, greedy: Actor, batch: Completions) -> Completions:
    """Return the batch with the shaped reward of a greedy completion of each prompt, for ReMax.

    Args:
      task: the automaton and its verifier.
      recipe: its reward shapes that of the greedy completion too.
      greedy: the policies at a temperature of nearly 0, so that the uniform numbers decide only among equals.
      batch: (S, P, G, T) completions.
    """
    xp = array_namespace(batch.rewards)
    uniforms = xp.full((*batch.prompts.shape, 1, task.max_length), 0.5)
    best = act(task, greedy.chooser(task, batch.prompts, 1), batch.prompts, uniforms)
    return replace(batch, greedy_rewards=recipe.reward(best) + xp.zeros_like(batch.rewards))


def with_turns(batch: Completions) -> Completions:
    """Return the batch with its turns, for recipes of agents: a completion of these tasks is one turn.

    The turn has the completion's reward, and its anchor state is the state of the automaton at the start.
    """
    xp = array_namespace(batch.mask)
    return replace(
        batch,
        turn_ids=xp.where(batch.mask, 0, -1),
        turn_rewards=batch.rewards[..., None],
        anchor_states=batch.states[..., :1],
    )


def _token_array(xp: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return zeros of shape (..., T), laid out in memory with T first.

    So each step over the tokens reads and writes contiguous memory, and NumPy keeps this layout in everything
    that is computed from the array.
    """
    *others, length = shape
    return xp.moveaxis(xp.zeros((length, *others), dtype=dtype), 0, -1)


def prompt_edges(prompt_probs: Floats) -> Floats:
    """Return the cumulative distribution of the prompts, infinite from the last possible prompt on.

    The infinity takes care of rounding: a sum of probabilities may end slightly below 1.

    Args:
      prompt_probs: (..., Q) probability of each prompt; each row sums to 1.

    Returns:
      (..., Q) upper edges: a uniform number below edge q, and not below the edge before it, samples prompt q.
    """
    xp = array_namespace(prompt_probs)
    count = prompt_probs.shape[-1]
    last = count - 1 - xp.argmax(prompt_probs[..., ::-1] > 0.0, axis=-1)
    edges: Floats = xp.where(xp.arange(count) < last[..., None], prompt_probs.cumsum(-1), math.inf)
    return edges


def draw_prompts(edges: Floats, uniforms: Floats) -> Integers:
    """Sample one prompt per uniform number.

    Args:
      edges: (..., Q) as returned by `prompt_edges`.
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
    """Sample one batch for each run, with random numbers of the run's own generator.

    Args:
      task: the automaton and its verifier.
      actor: the policies of the S runs.
      generators: S random generators.
      prompts, group_size: P and G.
      prompt_probs: (S, Q) probability of each prompt. Default: the task's.

    Returns:
      Completions of shape (S, P, G, T).
    """
    if prompt_probs is None:
        prompt_probs = task.prompt_probs
    # One number for each prompt, then one for each token of its group. The numbers come from the host even if
    # the policies are on a GPU, so that a GPU samples what NumPy does. They are moved in one transfer.
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
    """Resample some groups of a batch, with new prompts: one round of DAPO's dynamic sampling.

    Args:
      task, actor, generators: as in `draw`.
      batch: Completions of shape (S, P, G, T).
      replace_groups: (S, P) True for the groups to resample.
      prompt_probs: as in `draw`.

    Returns:
      Completions of the same shape; the batch itself if no group is to be resampled.
    """
    # A run without such groups uses no random numbers, so that a run does not depend on the other runs. The
    # host must know which runs these are, because the numbers come from there.
    drawing = replace_groups.any(-1)
    chosen = [generators[run] for run in np.flatnonzero(to_host(drawing)).tolist()]
    if not chosen:
        return batch
    xp = array_namespace(replace_groups)
    runs = xp.argsort(xp.where(drawing, 0, 1), stable=True)[: len(chosen)]

    # Sample a whole batch for each of these runs, and keep the groups that are needed. This wastes samples,
    # but all runs have the same shapes.
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
        new, array = getattr(fresh, name), getattr(batch, name).copy()
        replaced = replace_groups[runs].reshape(*new.shape[:2], *(1,) * (new.ndim - 2))
        array[runs] = xp.where(replaced, new, array[runs])
        merged[name] = array
    return replace(batch, **merged)


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
    """Sample completions of given policies, with the same random numbers for every run.

    Args:
      task: the automaton and its verifier.
      params: (S, N, V) logits, or (S, ...) parameters of another kind of policy.
      prompts, group_size: P and G.
      seed: seed of the random numbers.
      temperature: temperature of the policy.
      policy: the kind of policy, which says what the parameters mean.

    Returns:
      Completions of shape (S, P, G, T).

    Raises:
      ValueError: if the parameters are not finite, or prompts or group_size is less than 1.
    """
    if prompts < 1 or group_size < 1:
        raise ValueError(f"prompts and group_size: expected at least 1, got {prompts} and {group_size}")
    check_finite(params=params)
    generators = [np.random.default_rng(seed) for _ in range(len(params))]
    actor = policy.at(params, temperature)
    return draw(task, actor, generators, prompts=prompts, group_size=group_size)
