"""The objective of prime-rl: the meaning of its keys, and the recipe that they give."""

from collections.abc import Mapping
from typing import Any

from grpo_ref.advantages import group_centered, mean_scaled, raw_rewards, with_teacher
from grpo_ref.aggregation import token_mean
from grpo_ref.explain.dialect import Objective
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.common.averages import WHOLE_STEP
from grpo_ref.explain.dialects.prime_rl.kernels import (
    gated_groups,
    length_penalized,
    length_weights,
    of_any_advantage,
    probability_gated,
    symmetrically_gated,
    unless_fallen,
)
from grpo_ref.explain.dialects.prime_rl.keys import TAUGHT
from grpo_ref.explain.dialects.prime_rl.phrases import PHRASES
from grpo_ref.explain.dialects.prime_rl.refusals import check, check_run, chosen
from grpo_ref.explain.dialects.prime_rl.traps import TRAPS
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_completions, all_groups, mixed_groups
from grpo_ref.levels import token_level
from grpo_ref.penalties import no_penalty
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import dppo_tv, symmetric_tv


def recipe(**config: Any) -> Recipe:
    """Return the recipe that prime-rl computes.

    Args:
      config: the keys of rl.toml, in groups or not. A source of tasks is an entry of the list train.source.

    Raises:
      ValueError: if a key is unknown, or if prime-rl would refuse a value.

    >>> print(recipe(trainer={"loss": {"type": "ipo"}}).surrogate)
    symmetrically_gated(threshold=0.1, scale=1.0, pull=0.001)
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    settings, ranges = chosen(s)
    check(settings)
    taught = settings["algo.type"] in TAUGHT
    advantage = slot(raw_rewards) if taught else _advantage(settings)
    filtered = settings["train.filter_zero_advantages"] and not taught
    return Recipe(
        reward=slot(task_reward),
        keep=_keep(advantage, ranges),
        advantage=advantage,
        level=token_level,
        surrogate=slot(unless_fallen) if taught else _surrogate(settings),
        penalty=slot(no_penalty),
        kl_coef=0.0,
        aggregate=slot(token_mean),
        source=DIALECT.version,
        admit=slot(of_any_advantage, scores=advantage) if filtered else slot(all_completions),
        distill=slot(with_teacher, reward_coef=0.0, student="current") if taught else None,
    )


def _advantage(settings: Mapping[str, Any]) -> Slot:
    if settings["algo.type"] == "max_rl":
        return slot(mean_scaled, eps=0.0)
    weights = length_weights(settings)
    return slot(length_penalized, output=weights["output"]) if weights else slot(group_centered)


def _keep(advantage: Slot, ranges: tuple[tuple[float, float], ...]) -> Slot:
    return slot(gated_groups, scores=advantage, ranges=ranges) if ranges else slot(all_groups)


def _surrogate(settings: Mapping[str, Any]) -> Slot:
    common = {"scale": settings["loss.adv_tau"], "pull": settings["loss.kl_tau"]}
    if settings["loss.type"] == "ipo":
        return slot(symmetrically_gated, threshold=settings["loss.ipo_threshold"], **common)
    low, high = settings["loss.dppo_mask_low"], settings["loss.dppo_mask_high"]
    return slot(probability_gated, low=low, high=high, **common)


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        check_run=lambda s: check_run(chosen(s)[0]),
        averages=lambda s: WHOLE_STEP,
        phrases=PHRASES,
        forms={
            probability_gated: dppo_tv,
            symmetrically_gated: symmetric_tv,
            unless_fallen: dppo_tv,
            gated_groups: mixed_groups,
            length_penalized: group_centered,
            of_any_advantage: all_completions,
        },
    ),
    TRAPS,
)
