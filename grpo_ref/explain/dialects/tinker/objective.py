"""The objective of the Tinker cookbook: the meaning of its keys, and the recipe that they give."""

from typing import Any

from grpo_ref.advantages import group_centered
from grpo_ref.aggregation import token_sum
from grpo_ref.explain.bounds import clipped_as_given
from grpo_ref.explain.dialect import NO_CLIP_LOW, Averages, Objective, one_of
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.tinker.kernels import centered_less_kl
from grpo_ref.explain.dialects.tinker.phrases import PHRASES
from grpo_ref.explain.dialects.tinker.traps import TRAPS
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_groups, mixed_groups
from grpo_ref.levels import token_level
from grpo_ref.penalties import no_penalty
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import cispo, importance_weighted, squared_ratio, two_sided_clipped
from grpo_ref.surrogates import clipped as ppo

BOUNDS = {"ppo": (0.8, 1.2), "cispo": (0.0, 4.0)}
"""The service's bounds of the ratio, where loss_fn_config sets none."""


def recipe(**config: Any) -> Recipe:
    """Return the recipe of `tinker_cookbook.rl.train`. The ratio is taken to the sampler.

    Args:
      config: keys of its `Config`, or of the command line of a recipe.

    Raises:
      ValueError: if a key is unknown, or if a value cannot be expressed.

    >>> print(recipe(loss_fn="cispo").surrogate)
    cispo(min_ratio=0.0, max_ratio=4.0)
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    return Recipe(
        reward=slot(task_reward),
        keep=slot(mixed_groups if s.remove_constant_reward_groups else all_groups),
        advantage=slot(centered_less_kl, kl_coef=s.kl_penalty_coef)
        if s.kl_penalty_coef > 0.0
        else slot(group_centered),
        level=token_level,
        surrogate=_surrogate(s),
        penalty=slot(no_penalty),
        kl_coef=0.0,
        aggregate=slot(token_sum),
        source=DIALECT.version,
    )


def _surrogate(s: Settings) -> Slot:
    one_of("loss_fn", s.loss_fn, dict.fromkeys(("importance_sampling", "ppo", "cispo", "dro")))
    if s.loss_fn == "importance_sampling":
        return slot(importance_weighted)
    if s.loss_fn == "dro":
        beta = s["loss_fn_config.beta"]
        if beta is None:
            raise ValueError(
                "loss_fn_config.beta: dro cannot be expressed here without it, as the service does not publish its default"
            )
        return slot(squared_ratio, beta=beta)
    low, high = bounds(s)
    if s.loss_fn == "cispo":
        return slot(cispo, min_ratio=low, max_ratio=high)
    if low <= 1.0 <= high:
        return slot(ppo, clip_low=min(1.0 - low, NO_CLIP_LOW), clip_high=high - 1.0)
    return slot(clipped_as_given, clip_low=1.0 - low, clip_high=high - 1.0)


def bounds(s: Settings) -> tuple[float, float]:
    """Return the bounds of the ratio.

    Raises:
      ValueError: if they are out of order.
    """
    usual = BOUNDS[s.loss_fn]
    given = s["loss_fn_config.clip_low_threshold"], s["loss_fn_config.clip_high_threshold"]
    low, high = (default if value is None else value for value, default in zip(given, usual, strict=True))
    if not 0.0 <= low <= high:
        raise ValueError(
            f"loss_fn_config: Tinker refuses bounds of the ratio that are out of order, {low} and {high}"
        )
    return low, high


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        averages=lambda s: Averages(over="step"),
        phrases=PHRASES,
        forms={centered_less_kl: group_centered, clipped_as_given: two_sided_clipped},
    ),
    TRAPS,
)
