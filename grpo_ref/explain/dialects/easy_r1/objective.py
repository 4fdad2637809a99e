"""The objective of EasyR1: the meaning of its keys, and the recipe that they give."""

from typing import Any, NamedTuple

from grpo_ref.advantages import best_of_group, discounted, greedy_baseline, group_normalized, leave_one_out
from grpo_ref.aggregation import sequence_mean_token_mean, token_mean
from grpo_ref.explain.dialect import NO_CLIP_LOW, Averages, NotExpressed, Objective, one_of
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.common.kernels import returned_with_penalty
from grpo_ref.explain.dialects.easy_r1.kernels import dual_clipped_per_token, mean_between
from grpo_ref.explain.dialects.easy_r1.keys import (
    DEFAULTS,
)
from grpo_ref.explain.dialects.easy_r1.phrases import PHRASES
from grpo_ref.explain.dialects.easy_r1.refusals import check, check_run
from grpo_ref.explain.dialects.easy_r1.traps import TRAPS
from grpo_ref.explain.penalty_in_reward import penalized
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_groups, mixed_groups
from grpo_ref.levels import sequence_mean_level, token_level
from grpo_ref.penalties import absolute, k1, k2, k3
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import cispo, clipped, dual_clipped, gspo_token, sapo

ESTIMATORS = {
    "grpo": slot(group_normalized, ddof=1, eps=1e-6),
    "grpo_passk": slot(best_of_group, ddof=1, eps=1e-6),
    "rloo": slot(leave_one_out),
    "reinforce_plus_plus": slot(discounted),
    "remax": slot(greedy_baseline),
}
PENALTIES = {
    "kl": slot(k1),
    "abs": slot(absolute),
    "mse": slot(k2),
    "low_var_kl": slot(k3, max_log_ratio=DEFAULTS["max_log_ratio"], max_value=10.0),
}
"""Penalties.

EasyR1 also accepts "full", but it multiplies arrays of different shapes and stops the first step.
"""
AGGREGATES = {"token": slot(token_mean), "seq": slot(sequence_mean_token_mean)}
"""Averages. EasyR1 adds 1e-8 to token counts, which has no effect: they are whole numbers in float32."""


class Penalty(NamedTuple):
    """The KL penalty.

    Attributes:
      estimator: the estimator of the KL.
      coef: weight of the penalty.
      in_loss: true if the penalty is in the loss, false if it is in the reward.
    """

    estimator: Slot
    coef: float
    in_loss: bool


def recipe(**config: Any) -> Recipe:
    """Return the recipe that EasyR1 computes on one micro-batch.

    Args:
      config: keys of `PPOConfig`, with or without their groups. EasyR1's own default of worker.rollout.n is
        1; here it is 5, as in its example.

    Raises:
      ValueError: if a key is unknown, or if EasyR1 would refuse a value.

    >>> recipe(worker={"actor": {"loss_type": "cispo"}}).surrogate.settings
    {'min_ratio': 0.8, 'max_ratio': 1.3}
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    settings = s
    check(settings)
    penalty = _penalty(s)
    return Recipe(
        reward=slot(task_reward),
        keep=slot(mean_between, low=s.filter_low, high=s.filter_high)
        if s.online_filtering
        else slot(all_groups),
        advantage=_advantage(s, penalty),
        level=sequence_mean_level if s.loss_type in ("gspo", "gspo_token") else token_level,
        surrogate=_surrogate(s),
        penalty=penalty.estimator,
        kl_coef=penalty.coef if penalty.in_loss else 0.0,
        aggregate=AGGREGATES[s.loss_avg_mode],
        source=DIALECT.version,
        log_ratio_limits=(-s.max_log_ratio, s.max_log_ratio),
    )


def _penalty(s: Settings) -> Penalty:
    """Return the penalty of the group `algorithm`.

    In February 2025, a penalty in the loss had its own keys.
    """
    in_loss, coef, name = s.use_kl_loss, s.kl_coef, s.kl_penalty
    if s.kl_loss_coef is not None:
        in_loss = s["actor.use_kl_loss"]
        coef, name = (s.kl_loss_coef, s.kl_loss_type) if in_loss else (coef, name)
    if s.disable_kl:
        return Penalty(PENALTIES["kl"], 0.0, False)
    known = PENALTIES | {"low_var_kl": slot(k3, max_log_ratio=s.max_log_ratio, max_value=10.0)}
    return Penalty(one_of("kl_penalty", name, known), coef, in_loss)


def _advantage(s: Settings, penalty: Penalty) -> Slot:
    """Return the estimator, with the penalty in the reward if it is on and not in the loss."""
    returns = s.adv_estimator == "reinforce_plus_plus"
    alone: Slot = one_of("adv_estimator", s.adv_estimator, ESTIMATORS)
    if returns:
        alone = slot(discounted, gamma=s.gamma)
    if penalty.in_loss or penalty.coef == 0.0:
        return alone
    if s.adv_estimator == "remax":
        raise NotExpressed("adv_estimator", "remax", "the penalty in the reward needs algorithm.use_kl_loss")
    taken = {"penalty": penalty.estimator, "kl_coef": penalty.coef}
    if returns:
        return slot(returned_with_penalty, **taken, gamma=s.gamma)
    return slot(penalized, scores=alone, **taken)


def _surrogate(s: Settings) -> Slot:
    """Return the surrogate of loss_type. EasyR1 treats an unknown name as the default, without an error."""
    low, high = (s.clip_ratio_low, s.clip_ratio_high) if s.clip_ratio is None else (s.clip_ratio,) * 2
    if s.loss_type == "sapo":
        return slot(sapo, tau_positive=s.tau_positive, tau_negative=s.tau_negative)
    if s.loss_type == "cispo":
        return slot(cispo, min_ratio=1.0 - low, max_ratio=1.0 + high)
    clips = {"clip_low": min(low, NO_CLIP_LOW), "clip_high": high}
    if s.clip_ratio_dual is None:
        return slot(clipped, **clips)
    clips["max_ratio"] = s.clip_ratio_dual
    return slot(dual_clipped_per_token if s.loss_type == "gspo_token" else dual_clipped, **clips)


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        check_run=check_run,
        averages=lambda s: (
            Averages(
                "a mini-batch (global_batch_size prompts), all ranks and micro-batches together", over="step"
            )
            if s.loss_avg_mode == "token"
            else Averages(
                "each micro-batch of each rank, and then over these by their tokens",
                over="micro-batch",
                across="tokens",
            )
        ),
        phrases=PHRASES,
        forms={dual_clipped_per_token: gspo_token, mean_between: mixed_groups},
    ),
    TRAPS,
)
