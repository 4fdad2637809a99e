"""Find the parts of a recipe that have no effect under given settings.

Two examples: a clip, if every ratio is 1, and a comparison within groups of one completion. The command line
warns of them before training begins, because the curves do not show them.
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
"""Sizes of the batch on which two recipes are compared: runs, prompts, group, tokens; most likely tokens."""
OF_RATIO = ("level", "surrogate", "log_ratio_limits")
"""The parts of a recipe that read the ratio."""
BEFORE = ("reward", "keep", "advantage", "admit", "distill")
"""The parts of a recipe that come before its loss."""


def idle_parts(recipe: Recipe, config: TrainConfig) -> tuple[str, ...]:
    """Return the parts of the recipe that differ from GRPO's but have the same effect, as every ratio is 1.

    This happens with one optimizer step per batch: the trained policy is the one that sampled the batch. The
    function tests it numerically: the gradient must not change if GRPO's parts replace these parts.

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
    """Return the names in `RECIPES` that have the same gradient as this recipe if every ratio is 1.

    Penalties are not compared: each recipe is tested with the penalty and the kl_coef of this one.

    >>> coinciding(RECIPES["sapo"])
    ['grpo', 'intellect_2', 'gmpo', 'gspo', 'gspo_token', 'sapo']
    """
    return [
        name
        for name, other in RECIPES.items()
        if all(getattr(other, part) == getattr(recipe, part) for part in BEFORE)
        and _agree(replace(other, penalty=recipe.penalty, kl_coef=recipe.kl_coef), recipe)
    ]


def _agree(first: Recipe, second: Recipe) -> bool:
    """Return True if both recipes have the same gradient, to rounding, when every ratio is 1."""
    gradient, other = (_on_policy_gradient(recipe) for recipe in (first, second))
    return bool(np.allclose(gradient, other, rtol=1e-9, atol=1e-12))


def _on_policy_gradient(recipe: Recipe) -> Floats:
    """Return (1, P, G, T) the gradient on a fixed random batch that has every input a recipe can read."""
    generator = np.random.default_rng(0)
    log_probs, ref_log_probs = np.log(generator.random((2, *SHAPE)))
    lengths = generator.integers(1, SHAPE[-1] + 1, SHAPE[:-1])
    top = np.log(generator.dirichlet(np.ones(TOP + 1), SHAPE)[..., :TOP])
    teacher_log_probs = np.log(np.random.default_rng(1).random(SHAPE))
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
        top_rollout_log_probs=top,
        teacher_log_probs=teacher_log_probs,
    )
    gradient: Floats = result.gradient
    return gradient


def lacks_contrast(task: Task, recipe: Recipe, config: TrainConfig) -> bool:
    """Return True if groups have one completion and therefore every advantage is 0, whatever the rewards.

    Some advantages compare across groups, or with nothing, and are not 0. So the function computes the
    advantages of one batch with random rewards.
    """
    if config.group_size > 1 or recipe.distill is not None:  # a teacher judges each token by itself
        return False
    batch = sample(task, task.ref_logits[None], prompts=config.prompts)
    rewards, components = (
        np.random.default_rng(0).random(x.shape) for x in (batch.rewards, batch.components)
    )
    batch = replace(batch, rewards=rewards, components=components)
    advantages = recipe.advantage(replace(batch, rewards=recipe.reward(batch)))
    return bool(np.allclose(advantages, 0.0, rtol=0.0, atol=1e-9))
