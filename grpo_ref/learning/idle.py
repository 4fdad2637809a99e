"""What a recipe's parts cannot do under given settings: clip a ratio that is 1, compare a group of one.

A training says so before it begins, because its curves alone do not.
"""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.rollout import sample
from grpo_ref.learning.task import Task
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import GRPO, RECIPES, Recipe

SHAPE, TOP = (1, 5, 4, 6), 3
"""Of the batch on which two recipes are compared: runs, prompts, group and tokens; likeliest tokens."""
OF_RATIO = ("level", "surrogate", "log_ratio_limits")
"""The parts of a recipe that look at the ratio."""
BEFORE = ("reward", "keep", "advantage", "admit")
"""The parts of a recipe that come before its loss."""


def idle_parts(recipe: Recipe, config: TrainConfig) -> tuple[str, ...]:
    """The parts of the recipe that differ from GRPO's and yet do the same, because every ratio is 1.

    With one optimizer step per batch the policy that is trained is the one that drew the batch. Whether the
    parts do the same is tried: the gradient with GRPO's parts in their place must be equal.

    >>> from grpo_ref.learning.config import TrainConfig
    >>> idle_parts(RECIPES["gspo"], TrainConfig()), idle_parts(RECIPES["gspo"], TrainConfig(epochs=2))
    (('level', 'surrogate'), ())
    """
    if config.steps_per_batch > 1:
        return ()
    different = tuple(name for name in OF_RATIO if getattr(recipe, name) != getattr(GRPO, name))
    plain = replace(recipe, **{name: getattr(GRPO, name) for name in OF_RATIO})
    return different if _agree(recipe, plain) else ()


def coinciding(recipe: Recipe) -> list[str]:
    """The names in `RECIPES` that give the same logits as this recipe where every ratio is 1.

    The penalty is left out: each is taken with the penalty, and the kl_coef, of this recipe.

    >>> coinciding(RECIPES["sapo"])
    ['grpo', 'intellect_2', 'gmpo', 'gspo', 'gspo_token', 'sapo']
    """
    same = {name: one for name, one in RECIPES.items() if _same(one, recipe, BEFORE)}
    return [
        name
        for name, one in same.items()
        if _agree(replace(one, penalty=recipe.penalty, kl_coef=recipe.kl_coef), recipe)
    ]


def _same(ours: Recipe, theirs: Recipe, parts: tuple[str, ...]) -> bool:
    return all(getattr(ours, name) == getattr(theirs, name) for name in parts)


def _agree(ours: Recipe, theirs: Recipe) -> bool:
    """Whether both have the same gradient, to rounding, on a batch whose every ratio is 1."""
    one, other = (_on_policy_gradient(recipe) for recipe in (ours, theirs))
    return bool(np.allclose(one, other, rtol=1e-9, atol=1e-12))


def _on_policy_gradient(recipe: Recipe) -> Floats:
    """(1, P, G, T) on ragged completions, drawn always alike; all that a recipe may read is given."""
    generator = np.random.default_rng(0)
    log_probs, ref_log_probs = np.log(generator.random((2, *SHAPE)))
    lengths = generator.integers(1, SHAPE[-1] + 1, SHAPE[:-1])
    top = np.log(generator.dirichlet(np.ones(TOP + 1), SHAPE)[..., :TOP])
    result = policy_loss(
        log_probs,
        generator.normal(size=SHAPE[:-1]),
        (np.arange(SHAPE[-1]) < lengths[..., None]).astype(np.float64),
        recipe=recipe,
        ref_log_probs=ref_log_probs,
        max_length=SHAPE[-1],
        entropies=generator.random(SHAPE),
        noise=generator.random(SHAPE),
        top_log_probs=top,
        top_old_log_probs=top,
    )
    gradient: Floats = result.gradient
    return gradient


def lacks_contrast(task: Task, recipe: Recipe, config: TrainConfig) -> bool:
    """Whether groups have one member and so every advantage is 0, whatever the rewards.

    Some advantages compare with more than the group, or with nothing; whether this one does is tried.
    """
    if config.group_size > 1:
        return False
    batch = sample(task, task.ref_logits[None], prompts=config.prompts)
    rewards, components = (
        np.random.default_rng(0).random(x.shape) for x in (batch.rewards, batch.components)
    )
    batch = replace(batch, rewards=rewards, components=components)
    advantages = recipe.advantage(replace(batch, rewards=recipe.reward(batch)))
    return bool(np.allclose(advantages, 0.0, rtol=0.0, atol=1e-9))
