"""The objective of Liger's loss: the meaning of its arguments, and the recipe that they give."""

from typing import Any

from grpo_ref.advantages import raw_rewards
from grpo_ref.aggregation import fixed_length, sequence_mean_token_mean, sequence_mean_token_sum, token_mean
from grpo_ref.explain.bounds import clipped_as_given
from grpo_ref.explain.dialect import NO_CLIP_LOW, Averages, NotExpressed, Objective, one_of
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.liger.kernels import given_advantages
from grpo_ref.explain.dialects.liger.phrases import PHRASES
from grpo_ref.explain.dialects.liger.traps import TRAPS
from grpo_ref.explain.dialects.trl.kernels import (
    LEVELS,
    cispo_with_any_cap,
    vespo_in_limits,
    weighted_k3_beside,
)
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_groups
from grpo_ref.levels import sequence_sum_level
from grpo_ref.penalties import k3, weighted_k3
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import cispo, clipped, dual_clipped, sapo, two_sided_clipped, vespo

AGGREGATES = {
    **dict.fromkeys(("grpo", "sapo"), slot(sequence_mean_token_mean)),
    **dict.fromkeys(("bnpo", "dapo", "cispo", "vespo"), slot(token_mean)),
    "dr_grpo": slot(fixed_length),
    "luspo": slot(sequence_mean_token_sum),
}


def recipe(**config: Any) -> Recipe:
    """Return the recipe of `LigerFusedLinearGRPOLoss`, with the rewards as the advantages that the caller computes.

    Args:
      config: arguments of the class.

    Raises:
      ValueError: if an argument is unknown, or if Liger would refuse a value.

    >>> print(recipe(loss_type="cispo", epsilon_high=5.0).surrogate)
    cispo(max_ratio=5.0)
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    aggregate = one_of("loss_type", s.loss_type, AGGREGATES)
    level = one_of("importance_sampling_level", s.importance_sampling_level, LEVELS)
    _check(s)
    return Recipe(
        reward=slot(task_reward),
        keep=slot(all_groups),
        advantage=slot(given_advantages),
        level=sequence_sum_level if s.loss_type == "vespo" else level,
        surrogate=_surrogate(s),
        penalty=_penalty(s),
        kl_coef=s.beta,
        aggregate=aggregate,
        source=DIALECT.version,
    )


def _check(s: Settings) -> None:
    """Raise a ValueError for arguments that Liger refuses, or that cannot be expressed here."""
    if s.importance_sampling_level == "sequence" and s.loss_type in ("cispo", "sapo", "vespo"):
        raise ValueError(
            f"importance_sampling_level: Liger refuses 'sequence' with loss_type={s.loss_type!r}"
        )
    if s.loss_type == "dr_grpo" and s.max_completion_length is None:
        raise ValueError("max_completion_length: Liger refuses loss_type='dr_grpo' without it")
    if s.delta is not None and s.delta <= 0.0:
        raise ValueError(f"delta: Liger refuses a number that is not positive, got {s.delta}")
    if min(s.sapo_temperature_pos, s.sapo_temperature_neg) <= 0.0:
        raise ValueError(
            "sapo_temperature_pos, sapo_temperature_neg: Liger refuses numbers that are not positive"
        )
    if s.loss_type == "luspo" and (s.importance_sampling_level == "token" or s.beta):
        raise NotExpressed(
            "loss_type",
            "luspo",
            "as its mean includes padding unless the level is the sequence and beta is 0",
        )


def _surrogate(s: Settings) -> Slot:
    if s.loss_type == "cispo":
        return slot(cispo if s.epsilon_high >= 0.0 else cispo_with_any_cap, max_ratio=s.epsilon_high)
    if s.loss_type == "sapo":
        return slot(sapo, tau_positive=s.sapo_temperature_pos, tau_negative=s.sapo_temperature_neg)
    if s.loss_type == "vespo":
        return slot(
            vespo_in_limits,
            k_positive=s.vespo_k_pos,
            lambda_positive=s.vespo_lambda_pos,
            k_negative=s.vespo_k_neg,
            lambda_negative=s.vespo_lambda_neg,
        )
    clips = {"clip_low": min(s.epsilon_low, NO_CLIP_LOW), "clip_high": s.epsilon_high}
    if min(s.epsilon_low, s.epsilon_high) < 0.0 or (s.delta is not None and s.delta <= 1.0):
        capped = {} if s.delta is None else {"max_ratio": s.delta}
        return slot(clipped_as_given, clip_low=s.epsilon_low, clip_high=s.epsilon_high, **capped)
    if s.delta is None:
        return slot(clipped, **clips)
    is_wide = s.delta >= 1.0 + s.epsilon_high
    return slot(dual_clipped if is_wide else two_sided_clipped, max_ratio=s.delta, **clips)


def _penalty(s: Settings) -> Slot:
    if not s.use_bias_correction_kl:
        return slot(k3)
    return slot(weighted_k3_beside) if s.loss_type == "vespo" else slot(weighted_k3)


def _averages(s: Settings) -> Averages:
    if s.loss_type in ("dapo", "cispo", "vespo"):
        return Averages(
            "the tokens that the call's num_items_in_batch counts, or each micro-batch of all processes without it"
        )
    return Averages("each call of the loss", over="micro-batch")


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        averages=_averages,
        phrases=PHRASES,
        forms={
            given_advantages: raw_rewards,
            clipped_as_given: two_sided_clipped,
            cispo_with_any_cap: cispo,
            vespo_in_limits: vespo,
            weighted_k3_beside: weighted_k3,
        },
    ),
    TRAPS,
)
