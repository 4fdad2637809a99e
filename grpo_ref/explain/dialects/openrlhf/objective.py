"""The objective of OpenRLHF: the meaning of its keys, and the recipe that they give."""

from math import inf, nan, sqrt
from typing import Any

from grpo_ref.advantages import (
    group_centered,
    group_normalized,
    leave_one_out,
    raw_rewards,
    whitened,
)
from grpo_ref.aggregation import sequence_mean_token_mean, token_mean
from grpo_ref.corrections import indicator, masked, truncated
from grpo_ref.explain.dialect import NO_CLIP_LOW, Objective, one_of
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.common.averages import WHOLE_STEP
from grpo_ref.explain.dialects.openrlhf.kernels import (
    clipped_against_sampler,
    clipped_anywhere,
    less_batch_mean,
    limited,
    mean_between,
    ratio_below_divergence,
    ratio_inside,
    returned,
    returned_with_penalty,
    shaped_reward,
    the_same,
    unbiased_gradient,
    window_times_ratio,
)
from grpo_ref.explain.dialects.openrlhf.keys import (
    NOT_SET,
    Behaviour,
    behaviour_of,
    correction_of,
)
from grpo_ref.explain.dialects.openrlhf.phrases import PHRASES
from grpo_ref.explain.dialects.openrlhf.refusals import check, check_run
from grpo_ref.explain.dialects.openrlhf.traps import TRAPS
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_groups, mixed_groups
from grpo_ref.levels import sequence_mean_level, token_level
from grpo_ref.penalties import k1, k2, k3, weighted_k3
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import soft_overlong, task_reward
from grpo_ref.surrogates import clipped, dual_clipped

SCORES = {
    "group_norm": slot(group_normalized, ddof=1, eps=1e-9),
    "dr_grpo": slot(group_centered),
    "rloo": slot(leave_one_out),
    "flash_reinforce": slot(less_batch_mean),
}
"""Advantages by estimator, if nothing is whitened."""
WHITENED = {"reinforce_baseline": group_centered, "reinforce": raw_rewards, "rloo": leave_one_out}
"""Baselines by estimator, if the advantages are whitened."""


def penalties(limit: float = Behaviour().max_penalty) -> dict[str, Slot]:
    """Return each estimator with its value limited. For k2, this is a limit of its log-ratio."""
    return {
        "k1": slot(k1, max_log_ratio=limit),
        "k2": slot(k2, max_log_ratio=sqrt(2.0 * limit)),
        "k3": slot(k3, max_value=limit),
    }


def recipe(**config: Any) -> Recipe:
    """Return the recipe that OpenRLHF computes.

    Args:
      config: flags of `train_ppo_ray`, in groups or not, or those from before April 2026. OpenRLHF's own
        default of algo.advantage.estimator is "gae", here it is "group_norm". Its default of
        rollout.n_samples_per_prompt is 1, here it is 8.

    Raises:
      ValueError: if a key is unknown, or if OpenRLHF would refuse a value.

    >>> recipe(actor={"policy_loss_type": "gspo"}).level.__name__
    'sequence_mean_level'
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    settings = s
    check(settings)
    behaviour = behaviour_of(settings)
    sequence = settings["actor.policy_loss_type"] == "gspo"
    by_token = settings["token_level_loss"] and settings["actor.loss_agg_mode"] == "token-mean"
    by_token = by_token and (behaviour.gspo_by_token or not sequence)
    per_completion = slot(sequence_mean_token_mean, count_empty=False)
    in_loss = settings["algo.kl.use_loss"] and settings["algo.kl.init_coef"] > 0.0
    apart = in_loss and behaviour.penalty_by_token and not by_token
    limit = inf if sequence else behaviour.max_log_ratio
    return Recipe(
        reward=_reward(settings),
        keep=_keep(settings),
        advantage=_advantage(settings),
        level=sequence_mean_level if sequence else token_level,
        surrogate=_surrogate(settings),
        penalty=_penalty_in_loss(settings) if in_loss else _penalty(settings),
        kl_coef=settings["algo.kl.init_coef"] if in_loss else 0.0,
        aggregate=slot(token_mean) if by_token else per_completion,
        source=DIALECT.version,
        corrections=() if sequence and behaviour.gspo_against_sampler else _corrections(settings),
        log_ratio_limits=(-limit, limit),
        penalty_aggregate=slot(token_mean) if apart else None,
    )


def _penalty(settings: Settings) -> Slot:
    known = penalties(behaviour_of(settings).max_penalty)
    estimator: Slot = one_of("algo.kl.estimator", settings["algo.kl.estimator"], known)
    return estimator


def _penalty_in_loss(settings: Settings) -> Slot:
    if not settings["algo.kl.unbiased_gradient"]:
        return _penalty(settings)
    return slot(unbiased_gradient, estimator=settings["algo.kl.estimator"])


def _reward(settings: Settings) -> Slot:
    stop, factor = settings["reward.stop_properly_penalty_coef"], settings["reward.overlong_penalty_factor"]
    budget = settings["rollout.max_new_tokens"] or settings["data.max_len"]
    buffer = (settings["reward.overlong_buffer_len"] or 0.0) / budget
    if stop is not None or (buffer and factor != 1.0):
        return slot(shaped_reward, buffer=buffer or None, factor=factor, stop=stop)
    return slot(soft_overlong, buffer=buffer) if buffer else slot(task_reward)


def _keep(settings: Settings) -> Slot:
    if not settings["algo.dynamic_filtering_enable"]:
        return slot(all_groups)
    low, high = settings["algo.dynamic_filtering_range"]
    return slot(mean_between) if (low, high) == (0.0, 1.0) else slot(mean_between, low=low, high=high)


def _advantage(settings: Settings) -> Slot:
    """Return the advantage from the reward alone, with the penalty around it if the penalty is not in the loss."""
    alone, coef = _alone(settings), settings["algo.kl.init_coef"]
    if settings["algo.kl.use_loss"] or not coef > 0.0:
        return alone
    return slot(returned_with_penalty, alone=alone, penalty=_penalty(settings), kl_coef=coef)


def _alone(settings: Settings) -> Slot:
    """Return the baseline, its limits, and for some estimators the whitening."""
    estimator = settings["algo.advantage.estimator"]
    low, high = settings["reward.clip_range"]
    if estimator in behaviour_of(settings).whitened:
        gamma = settings["algo.advantage.gamma"] if estimator == "reinforce" else 1.0
        divided = not settings["algo.advantage.no_std_norm"]
        scores = WHITENED[estimator]
        return slot(returned, scores=scores, limits=(low, high), gamma=gamma, divided=divided)
    alone = SCORES[estimator]
    return slot(limited, scores=alone, limits=(low, high)) if _binds(settings, estimator) else alone


def _binds(settings: Settings, estimator: str) -> bool:
    """Return true if the limits can change an advantage. Standardized advantages are at most (n - 1) / √n."""
    low, high = settings["reward.clip_range"]
    count = settings["rollout.n_samples_per_prompt"]
    largest = (count - 1) / sqrt(count) if estimator == "group_norm" else inf
    return bool(min(-low, high) < largest)


def _surrogate(settings: Settings) -> Slot:
    eps, both = settings["actor.eps_clip"], settings["actor.eps_clip_low_high"]
    low, high = both or (eps, eps)
    clips = {
        "clip_low": low if settings["clip_eps_low"] == NOT_SET else settings["clip_eps_low"],
        "clip_high": high if settings["clip_eps_high"] == NOT_SET else settings["clip_eps_high"],
    }
    clips["clip_low"] = min(clips["clip_low"], NO_CLIP_LOW)
    dual = {} if settings["actor.dual_clip"] is None else {"max_ratio": settings["actor.dual_clip"]}
    corrected = correction_of(settings) is not None
    against_sampler = behaviour_of(settings).gspo_against_sampler
    if corrected and against_sampler and settings["actor.policy_loss_type"] == "gspo":
        return slot(clipped_against_sampler, **clips, **dual)
    if min(clips["clip_low"], clips["clip_high"]) < 0.0:
        return slot(clipped_anywhere, **clips, **dual)
    return slot(dual_clipped if dual else clipped, **clips, **dual)


def _corrections(settings: Settings) -> tuple[Slot, ...]:
    """Return the weights for the mismatch with the sampler. A threshold that is one number is an upper bound."""
    correction, threshold = correction_of(settings), settings["algo.advantage.is_correction_threshold"]
    if correction is None:
        return ()
    bounds = threshold if isinstance(threshold, list) else [threshold]
    low, high = [0.0, *bounds][-2:]
    if correction.gating != "ratio":
        gate = {"statistic": correction.gating, "level": correction.level, "max_value": high}
        return (slot(ratio_below_divergence, **gate),)
    window = {"min_ratio": max(low, 0.0), "max_ratio": high}
    is_empty = high < window["min_ratio"]
    if correction.mode == "clip":
        limits = slot(truncated, **window, unknown=nan)
        return (slot(the_same, weight=high) if is_empty else limits,)
    if not settings["algo.advantage.is_correction_enable"]:  # the flags of 0.11.2, which drop NaN as well
        return (slot(ratio_inside, level=correction.level, **window),)
    if correction.level == "token":
        return (slot(window_times_ratio, **window),)
    inside = slot(indicator, level=sequence_mean_level, **window, unknown=nan)
    return (
        slot(the_same, weight=0.0) if is_empty else inside,
        slot(truncated, max_ratio=inf, unknown=nan),
    )


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        check_run=check_run,
        averages=lambda s: WHOLE_STEP,
        phrases=PHRASES,
        forms={
            returned: whitened,
            mean_between: mixed_groups,
            clipped_against_sampler: clipped,
            clipped_anywhere: clipped,
            the_same: truncated,
            window_times_ratio: masked,
            ratio_below_divergence: masked,
            less_batch_mean: group_centered,
            unbiased_gradient: weighted_k3,
        },
    ),
    TRAPS,
)
