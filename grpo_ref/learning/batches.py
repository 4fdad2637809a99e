"""A batch made ready for the optimizer's steps: drawn, filtered, judged, and looked at by all policies."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.filters import all_groups
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.policies.policy import Actor, PolicyKind
from grpo_ref.learning.policies.table import Visited
from grpo_ref.learning.rollout import draw, redraw, with_steps
from grpo_ref.learning.task import Task
from grpo_ref.recipes import Recipe
from grpo_ref.types import Completions


class Training(NamedTuple):
    """What stays the same during a training, the runs' sources of random numbers, and the wanted metrics."""

    task: Task
    recipe: Recipe
    config: TrainConfig
    policy: PolicyKind
    generators: Sequence[np.random.Generator]
    wanted: Sequence[str]


class Prepared(NamedTuple):
    """A batch made ready for the optimizer's steps.

    Attributes:
      completions: (S, P, G, T), rejected groups drawn anew.
      advantages: (S, P, G) or (S, P, G, T).
      mask: (S, P, G, T) 1.0 on the tokens that take part.
      old_log_probs, ref_log_probs: (S, P, G, T) in nats.
    """

    completions: Completions
    advantages: Floats
    mask: Floats
    old_log_probs: Floats
    ref_log_probs: Floats

    def places(self, part: slice) -> tuple[Integers, Integers, Integers]:
        """Prompts (S, P), states and tokens (S, P, G, T) of some of the prompts."""
        batch = self.completions
        return batch.prompts[:, part], batch.states[:, part], batch.tokens[:, part]


def drawn(training: Training, actor: Actor, prompt_probs: Floats) -> Completions:
    """A fresh batch for each run; prompt_probs are (S, Q)."""
    config = training.config
    return draw(
        training.task,
        actor,
        training.generators,
        prompts=config.prompts,
        group_size=config.group_size,
        prompt_probs=prompt_probs,
    )


def resampled(
    training: Training, actor: Actor, batch: Completions, prompt_probs: Floats
) -> tuple[Completions, Bools]:
    """The batch with the groups that the recipe rejects drawn anew, and which groups it keeps in the end."""
    task, recipe, config, generators = training.task, training.recipe, training.config, training.generators
    kept: Bools = recipe.keep(batch)
    for _ in range(0 if recipe.keep.kernel is all_groups else config.resamples):
        redrawn = redraw(task, actor, generators, batch, replace_groups=~kept, prompt_probs=prompt_probs)
        if redrawn is batch:
            break
        batch, kept = redrawn, recipe.keep(redrawn)
    return batch, kept


def prepared(
    task: Task, recipe: Recipe, batch: Completions, kept: Bools, old: Visited, ref: Visited
) -> Prepared:
    """The batch with its advantages, its mask, and what the old policy and the reference say of its tokens.

    Args:
      task: says how its steps are judged.
      recipe: shapes the rewards, gives the advantages, and admits completions.
      batch: (S, P, G, T) completions.
      kept: (S, P) groups that take part.
      old: what the policies that drew them say in its places.
      ref: what the references say there.
    """
    taking_part = kept[..., None] & recipe.admit(batch)
    judged = replace(batch, rewards=recipe.reward(batch))
    if "step_rewards" in recipe.advantage.reads:
        judged = with_steps(task, judged)
    return Prepared(
        completions=batch,
        advantages=recipe.advantage(judged),
        mask=(batch.mask & taking_part[..., None]).astype(np.float64),
        old_log_probs=old.log_probs,
        ref_log_probs=ref.log_probs,
    )


def stretches(count: int, parts: int) -> list[slice]:
    """Nearly equal stretches of `count` things, at most `parts` and none empty; slices copy nothing.

    >>> stretches(7, 3)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 7, None)]
    """
    parts = min(parts, count)
    edges = [count * part // parts for part in range(parts + 1)]
    return [slice(begin, end) for begin, end in pairwise(edges)]
