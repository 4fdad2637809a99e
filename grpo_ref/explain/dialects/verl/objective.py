"""The objective of verl: the meaning of its keys, and the recipe that they give."""

import math
from collections.abc import Callable, Mapping
from math import inf
from typing import Any, NamedTuple

from grpo_ref.advantages import (
    best_of_group,
    discounted,
    gpg,
    greedy_baseline,
    group_centered,
    group_normalized,
    leave_one_out,
    length_weighted,
    normalized_then_whitened,
    optimal_token_baseline,
    whitened,
)
from grpo_ref.aggregation import (
    fixed_length,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
    token_sum,
)
from grpo_ref.arrays import Array
from grpo_ref.explain.dialect import NO_CLIP_LOW, Averages, NotExpressed, Objective, one_of
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.common.averages import BY_COMPLETIONS, EACH_MICRO_BATCH
from grpo_ref.explain.dialects.verl.correction import admitted, corrections, inner
from grpo_ref.explain.dialects.verl.kernels import (
    FORMS,
    dppo_kl_against_old,
    dppo_tv_against_old,
    geometric_mean_per_token,
    groups_with_a_std,
    overlong_in_tokens,
    penalties,
    returned_with_penalty,
    summed_over_rows,
)
from grpo_ref.explain.dialects.verl.keys import BEYOND_ESTIMATORS, SUBTRACTED
from grpo_ref.explain.dialects.verl.phrases import PHRASES
from grpo_ref.explain.dialects.verl.traps import TRAPS
from grpo_ref.explain.penalty_in_reward import penalized
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_groups
from grpo_ref.levels import sequence_mean_level, token_level
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import (
    cispo,
    clip_cov,
    clipped,
    dual_clipped,
    gspo_token,
    kl_cov,
    reinforce,
    sapo,
    squared_ratio,
)
from grpo_ref.types import Term

ESTIMATORS = {
    "grpo": slot(group_normalized, ddof=1, eps=1e-6, keep_singletons=True),
    "grpo_vectorized": slot(group_normalized, ddof=1, eps=1e-6, keep_singletons=True),
    "grpo_passk": slot(best_of_group, ddof=1, eps=1e-6),
    "reinforce_plus_plus": slot(discounted, gamma=1.0),
    "reinforce_plus_plus_baseline": slot(whitened, keep_singletons=True),
    "rloo": slot(leave_one_out, keep_singletons=True),
    "rloo_vectorized": slot(leave_one_out),
    "opo": slot(length_weighted),
    "gpg": slot(gpg, count_rewarded=True, keep_singletons=True),
    "remax": slot(greedy_baseline),
    "optimal_token_baseline": slot(optimal_token_baseline),
    "tir_optimal_token_baseline": slot(optimal_token_baseline, skip_holes=True),
    "gdpo": slot(normalized_then_whitened, ddof=1, eps=1e-6, keep_singletons=True),
}
OF_RETURNS = ("remax", "optimal_token_baseline", "tir_optimal_token_baseline")
"""Estimators that subtract a baseline from the sum of the rewards from each token on."""
WITHOUT_STD = {
    "grpo": slot(group_centered, keep_singletons=True),
    "grpo_passk": slot(best_of_group, scale=False),
}
"""Estimators that norm_adv_by_std_in_grpo=False changes. verl does not pass the key to grpo_vectorized and gdpo."""
NO_DUAL_CLIP = 1e6
"""A bound that no ratio reaches, because the dual clip has no switch."""


def recipe(**config: Any) -> Recipe:
    """Return the recipe that verl computes.

    Args:
      config: keys of `actor_rollout_ref.actor`, its `policy_loss`, `algorithm` and `rollout_correction`, with
        or without their groups. verl's own default of adv_estimator is "gae", here it is "grpo".

    Raises:
      ValueError: if a key is unknown, or if verl would refuse a value.

    >>> recipe(loss_mode="gspo").surrogate.kernel.__name__
    'gspo_token'
    """
    return DIALECT.recipe(**config)


def _clips(s: Settings) -> dict[str, float]:
    """Return the widths below and above 1. clip_ratio counts if one of the two is None."""
    low = s.clip_ratio if s.clip_ratio_low is None else s.clip_ratio_low
    high = s.clip_ratio if s.clip_ratio_high is None else s.clip_ratio_high
    return {"clip_low": low, "clip_high": high}


def _ratio_clips(s: Settings) -> dict[str, float]:
    """Return `_clips` for a clip of the ratio, which never reaches a lower bound below 0."""
    clips = _clips(s)
    return clips | {"clip_low": min(clips["clip_low"], NO_CLIP_LOW)}


def _cispo(s: Settings) -> Slot:
    clips = _clips(s)
    return slot(cispo, min_ratio=max(0.0, 1.0 - clips["clip_low"]), max_ratio=1.0 + clips["clip_high"])


def _dro(s: Settings) -> Slot:
    if s.dro_beta is None or s.dro_beta <= 0.0:
        raise ValueError(f"dro_beta: verl has no default for it; give a number > 0, got {s.dro_beta}")
    return slot(squared_ratio, beta=s.dro_beta)


def _dppo(s: Settings, kernel: Callable[..., Term]) -> Slot:
    """Return a DPPO surrogate.

    The limit of ± 20 nats applies only to the weight, not to the probabilities.
    """
    clips = _clips(s)
    largest = min(s.clip_ratio_c, math.exp(20.0))
    return slot(kernel, low=clips["clip_low"], high=clips["clip_high"], max_ratio=largest)


def _clip_cov(s: Settings) -> Slot:
    given = {"share": s.clip_cov_ratio, "cov_low": s.clip_cov_lb, "cov_high": s.clip_cov_ub}
    unset = {"share": 0.0002, "cov_low": 1.0, "cov_high": 5.0}
    covariance = {name: unset[name] if value is None else value for name, value in given.items()}
    _check_share("clip_cov_ratio", covariance["share"])
    return slot(clip_cov, **covariance, **_ratio_clips(s))


def _kl_cov(s: Settings) -> Slot:
    share = 0.0002 if s.kl_cov_ratio is None else s.kl_cov_ratio
    _check_share("kl_cov_ratio", share, below=2.0)
    return slot(kl_cov, share=share, coef=1.0 if s.ppo_kl_coef is None else s.ppo_kl_coef)


def _check_share(key: str, share: float, below: float = math.inf) -> None:
    """Raise a ValueError for a share below one token, or above the tokens of any batch."""
    if not 0.0 < share < below:
        raise ValueError(f"{key}: expected a number > 0 and < {below}, got {share}")


def _dual_clip(s: Settings) -> Slot:
    if s.clip_ratio_c is None:
        return slot(clipped, **_ratio_clips(s))
    return slot(dual_clipped, **_ratio_clips(s), max_ratio=s.clip_ratio_c)


def _gspo(s: Settings) -> Slot:
    return slot(gspo_token, **_ratio_clips(s), max_log_ratio=10.0)


def _bypass(s: Settings) -> Slot:
    kinds = {"ppo_clip": _dual_clip(s), "reinforce": slot(reinforce)}
    surrogate: Slot = one_of("loss_type", inner(s)["loss_type"], kinds)
    return surrogate


class Mode(NamedTuple):
    """The parts of the objective that a loss_mode sets.

    Attributes:
      surrogate: a function from all settings to the surrogate.
      level: the level of the ratio.
      aggregate: the loss_agg_mode that the mode forces; "" if the key sets it.
      is_limited: true if the log-ratio after the level is limited to ± max_log_ratio.
    """

    surrogate: Callable[[Settings], Slot]
    level: Callable[[Array, Array], Array] = token_level
    aggregate: str = ""
    is_limited: bool = True


PER_COMPLETION = "seq-mean-token-mean"
MODES = {
    "vanilla": Mode(_dual_clip),
    "gspo": Mode(_gspo, sequence_mean_level, PER_COMPLETION, is_limited=False),
    "sapo": Mode(
        lambda s: slot(sapo, tau_positive=s.tau_pos, tau_negative=s.tau_neg), aggregate=PER_COMPLETION
    ),
    "cispo": Mode(_cispo),
    "gpg": Mode(lambda s: slot(reinforce), is_limited=False),
    "geo_mean": Mode(
        lambda s: slot(geometric_mean_per_token, **_clips(s)), aggregate=PER_COMPLETION, is_limited=False
    ),
    "dro": Mode(_dro, is_limited=False),
    "dppo_tv": Mode(lambda s: _dppo(s, dppo_tv_against_old), is_limited=False),
    "dppo_kl": Mode(lambda s: _dppo(s, dppo_kl_against_old), is_limited=False),
    "clip_cov": Mode(_clip_cov, is_limited=False),
    "kl_cov": Mode(_kl_cov, is_limited=False),
    "bypass_mode": Mode(_bypass),
}


def _build(s: Settings) -> Recipe:
    mode: Mode = _chosen(s, "loss_mode", MODES)
    average = _average(s, s.loss_agg_mode)
    is_forced = bool(mode.aggregate) and not (s.loss_mode == "gspo" and s.gspo_reads_loss_agg_mode)
    forced = _average(s, mode.aggregate) if is_forced else average
    return Recipe(
        reward=_reward(s),
        keep=slot(groups_with_a_std if s["filter_groups.enable"] else all_groups),
        advantage=_advantage(s),
        level=mode.level,
        surrogate=mode.surrogate(s),
        penalty=_penalty(s),
        kl_coef=_kl_coef(s),
        aggregate=forced,
        source=DIALECT.version,
        admit=admitted(s),
        corrections=corrections(s),
        log_ratio_limits=(-s.max_log_ratio, s.max_log_ratio) if mode.is_limited else (-inf, inf),
        penalty_aggregate=None if forced == average else average,
    )


def _chosen(s: Settings, key: str, known: Mapping[str, Any]) -> Any:
    """Return the entry of a table for the value of a key, without the entries that the release does not have."""
    return one_of(key, s[key], {name: each for name, each in known.items() if name not in s.not_yet})


def _average(s: Settings, mode: str) -> Slot:
    """Return the average of a loss_agg_mode.

    The engine divides by all rows of a mini-batch, including rows without a token. verl adds 1e-8 to the lengths,
    which has no effect: they are whole numbers, and the sum is in float32.
    """
    is_engine = s["trainer.use_legacy_worker_impl"] == "disable"
    rows = {} if is_engine or s.rows_without_tokens != "excluded" else {"count_empty": False}
    averages = {
        "token-mean": slot(token_mean),
        "token-sum": slot(token_sum),
        "seq-mean-token-sum": slot(sequence_mean_token_sum, **rows),
        "seq-mean-token-mean": slot(sequence_mean_token_mean, **rows),
        "seq-mean-token-sum-norm": slot(fixed_length, **rows)
        if s.sum_norm_divides_by_rows
        else slot(summed_over_rows),
    }
    known = {name: each for name, each in averages.items() if name not in s.not_yet}
    average: Slot = one_of("loss_agg_mode", mode, known)
    return average


def _kl_coef(s: Settings) -> float:
    if not s.use_kl_loss:
        return 0.0
    coef: float = -s.kl_loss_coef if s[SUBTRACTED] else s.kl_loss_coef
    return coef


def _reward(s: Settings) -> Slot:
    """Return the overlong penalty of the reward manager "dapo". The others do not read its keys."""
    if s.reward_manager != "dapo" or not s["overlong_buffer_cfg.enable"]:
        return slot(task_reward)
    if s.max_resp_len is None:
        raise ValueError("reward_kwargs.max_resp_len: the overlong penalty needs it, and it has no default")
    buffer, factor = s["overlong_buffer_cfg.len"], s["overlong_buffer_cfg.penalty_factor"]
    if not 0 < buffer <= s.max_resp_len:
        raise ValueError(f"overlong_buffer_cfg.len: expected 0 < len <= max_resp_len, got {buffer}")
    return slot(overlong_in_tokens, buffer=buffer, budget=s.max_resp_len, factor=factor)


def _penalty(s: Settings) -> Slot:
    """Return the penalty. verl reads kl_loss_type only if the loss has a penalty."""
    estimators = penalties(s.max_log_ratio)
    if not s.use_kl_loss:
        return estimators.get(s.kl_loss_type, estimators["low_var_kl"])
    estimator: Slot = _chosen(s, "kl_loss_type", estimators)
    return estimator


def _advantage(s: Settings) -> Slot:
    """Return the estimator, with the penalty in the reward. gdpo reads its components, without a penalty."""
    alone = _estimator(s)
    if not _has_penalty_in_reward(s):
        return alone
    penalty: Slot = _chosen(s, "kl_penalty", penalties(s.max_log_ratio))
    if s["kl_ctrl.type"] != "fixed":
        raise ValueError(
            f"kl_ctrl.type: expected 'fixed', got {s['kl_ctrl.type']!r}; the weight of an adaptive one"
            " follows the KL of the steps before and cannot be expressed here"
        )
    if s.kl_coef == 0.0 or s.adv_estimator == "gdpo":
        return alone
    if s.adv_estimator in OF_RETURNS:
        why = f"with adv_estimator={s.adv_estimator} each token has the penalties from there on"
        raise NotExpressed("use_kl_in_reward", s.use_kl_in_reward, why)
    if s.adv_estimator == "reinforce_plus_plus":
        return slot(returned_with_penalty, penalty=penalty, kl_coef=s.kl_coef, gamma=s.gamma)
    return slot(penalized, scores=alone, penalty=penalty, kl_coef=s.kl_coef)


def _has_penalty_in_reward(s: Settings) -> bool:
    """Return true if the penalty is in the reward.

    Before verl 0.4 there was no key for it (None here): the penalty was either in the reward or in the loss.
    """
    return bool(not s.use_kl_loss if s.use_kl_in_reward is None else s.use_kl_in_reward)


def _estimator(s: Settings) -> Slot:
    if s.adv_estimator in BEYOND_ESTIMATORS:
        raise NotExpressed("adv_estimator", s.adv_estimator, BEYOND_ESTIMATORS[s.adv_estimator])
    estimators = ESTIMATORS | {"reinforce_plus_plus": slot(discounted, gamma=s.gamma)}
    estimators |= {} if s.norm_adv_by_std_in_grpo else WITHOUT_STD
    advantage: Slot = _chosen(s, "adv_estimator", estimators)
    if "score_norms" in advantage.reads and corrections(s) and s.loss_mode != "bypass_mode":
        raise NotExpressed(
            "adv_estimator", s.adv_estimator, "the weights of rollout_is also weight its baseline"
        )
    return advantage


def _averages(s: Settings) -> Averages:
    """Return the set over which verl averages: the engine counts the tokens of the mini-batch, the legacy worker does not.

    `update_policy` of the legacy worker (dp_actor.py) multiplies the loss of a micro-batch by its share of the
    completions if use_dynamic_bsz is true, and divides it by the number of micro-batches otherwise.
    """
    if s["trainer.use_legacy_worker_impl"] == "disable":
        text = "a mini-batch (ppo_mini_batch_size prompts), all ranks and micro-batches together"
        return Averages(text, over="step")
    return BY_COMPLETIONS if s["actor.use_dynamic_bsz"] else EACH_MICRO_BATCH


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        averages=_averages,
        phrases=PHRASES,
        forms=FORMS,
    ),
    TRAPS,
)
