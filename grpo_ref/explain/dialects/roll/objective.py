"""The objective of ROLL: the meaning of its keys, and the recipe that they give."""

import math
from typing import Any

from grpo_ref.advantages import (
    batch_normalized,
    batch_scaled,
    gigpo_over_turns,
    group_centered,
    group_normalized,
    raw_rewards,
    turn_returns,
    whitened,
)
from grpo_ref.aggregation import (
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
    token_sum_over,
)
from grpo_ref.corrections import truncated
from grpo_ref.explain.dialect import NO_CLIP_LOW, Objective
from grpo_ref.explain.dialect_files import dialect_of
from grpo_ref.explain.dialects.common.averages import WHOLE_STEP
from grpo_ref.explain.dialects.common.kernels import turn_token_mean, turn_token_sum
from grpo_ref.explain.dialects.roll.kernels import (
    EPS,
    admitted,
    limited_turns,
    mean_inside,
    over_batch,
    over_width,
    scaled_by,
    segment_mean_level,
    short_first,
    spread_above,
    token_returns,
    token_returns_with_penalty,
    turn_scores,
)
from grpo_ref.explain.dialects.roll.phrases import PHRASES
from grpo_ref.explain.dialects.roll.refusals import (
    check,
    check_run,
    is_agentic,
    is_filtered,
    is_variant,
    norms,
    turn_norms,
)
from grpo_ref.explain.dialects.roll.traps import TRAPS
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_completions, all_groups, mixed_groups
from grpo_ref.levels import sequence_mean_level, sequence_sum_level, token_level
from grpo_ref.penalties import absolute, k1, k2, k3
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.rewards import task_reward
from grpo_ref.surrogates import cispo, clipped, dual_clipped, reinforce, squared_ratio

SCORES = {
    (None, None): slot(raw_rewards),
    ("group", None): slot(group_centered),
    ("batch", None): slot(over_batch, divided=False),
    (None, "batch"): slot(over_batch, centered=False),
    ("group", "group"): slot(group_normalized, ddof=1, eps=EPS),
    ("group", "batch"): slot(batch_scaled, ddof=1, eps=EPS),
    ("batch", "batch"): slot(batch_normalized, ddof=1, eps=EPS),
}
"""Advantages by norm_mean_type and norm_std_type."""
PENALTIES = {"kl": slot(k1), "abs": slot(absolute), "mse": slot(k2)}
SURROGATES = {
    "vanilla": slot(reinforce),
    "tis": slot(cispo, min_ratio=0.0, max_ratio=1.0),
    "cispo": slot(cispo, min_ratio=1.0 - 0.1, max_ratio=1.0 + 0.1),
    "kimi15": slot(squared_ratio, beta=0.1),
}
"""The variants that do not clip. ROLL reads no key for their bounds."""
LEVELS = {
    "token": token_level,
    "segment": segment_mean_level,
    "geometric": sequence_mean_level,
    "sequence": sequence_sum_level,
}
"""Levels of the weight for the sampler's mismatch."""


def recipe(**config: Any) -> Recipe:
    """Return the recipe of ROLL's RLVR pipeline.

    Args:
      config: keys of `RLVRConfig`, in groups or not. ROLL's own default of adv_estimator is "gae", here it is
        "grpo". Its default of num_return_sequences_in_group is 1, here it is 8.

    Raises:
      ValueError: if a key is unknown, or if ROLL would refuse a value.

    >>> print(recipe(loss_agg_mode="token-mean").advantage)
    group_normalized(ddof=1, eps=1e-06)
    """
    return DIALECT.recipe(**config)


def _build(s: Settings) -> Recipe:
    settings = s
    check(settings)
    if is_agentic(settings):
        return _of_turns(settings)
    by_completion = settings["importance_sampling"] == "seq" and not is_variant(settings)
    return Recipe(
        reward=slot(task_reward),
        keep=_keep(settings),
        advantage=_advantage(settings),
        level=sequence_mean_level if by_completion else token_level,
        surrogate=_surrogate(settings),
        penalty=slot(k3, max_value=10.0),
        kl_coef=settings["kl_loss_coef"] if settings["use_kl_loss"] else 0.0,
        aggregate=_aggregate(settings),
        source=DIALECT.version,
        admit=_admit(settings),
        corrections=_corrections(settings),
    )


def _of_turns(settings: Settings) -> Recipe:
    """Return the recipe of gigpo and step_reinforce, in which every turn is a sample.

    The agentic pipeline has other filters and weights than the RLVR pipeline; it does not read the latter's keys.
    """
    per_turn = {
        "token-mean": slot(token_mean),
        "seq-mean-token-sum": slot(turn_token_sum),
        "seq-mean-token-mean": slot(turn_token_mean),
    }
    mode = settings["loss_agg_mode"]
    scores = _turn_scores(settings)
    after = {
        "limit": settings["reward_clip"] or None,
        "gamma": settings["gamma"],
        "whiten_rewards": settings["whiten_rewards"],
        "whiten_advantages": settings["whiten_advantages"],
        "clip": settings["advantage_clip"],
    }
    usual = {"limit": None, "gamma": 1.0, "whiten_rewards": False, "whiten_advantages": False, "clip": None}
    changed = {name: value for name, value in after.items() if value != usual[name]}
    return Recipe(
        reward=slot(task_reward),
        keep=slot(all_groups),
        advantage=slot(limited_turns, scores=scores, **changed) if changed else scores,
        level=token_level,
        surrogate=_surrogate(settings),
        penalty=slot(k3, max_value=10.0),
        kl_coef=settings["kl_loss_coef"] if settings["use_kl_loss"] else 0.0,
        aggregate=per_turn[mode] if mode in per_turn else _over_width(settings),
        source=DIALECT.version,
        corrections=_sampler_weights(settings),
    )


def _turn_scores(settings: Settings) -> Slot:
    """Return the normalized scores of the turns."""
    episode, step = turn_norms(settings)
    gamma = settings["step_reward_gamma"]
    if settings["adv_estimator"] == "step_reinforce":
        if episode == (None, None):
            return slot(turn_scores, episode=episode, step=episode, episode_weight=0.0, gamma=gamma)
        over_batch = {"across_prompts": True} if episode[0] == "batch" else {}
        return slot(turn_returns, gamma=gamma, scale=episode[1] is not None, **over_batch)
    weights = {
        "episode_weight": settings["episode_reward_weight"],
        "step_weight": settings["step_reward_weight"],
    }
    if episode == step != (None, None):
        scale = step[1] is not None
        return slot(gigpo_over_turns, **weights, gamma=gamma, scale=scale, across_prompts=True)
    return slot(turn_scores, episode=episode, step=step, **weights, gamma=gamma)


def _keep(settings: Settings) -> Slot:
    prefix = "query_filter_config.filter_args."
    if settings["query_filter_config.type"] == "mean_filter":
        low, high = settings[f"{prefix}threshold_down"], settings[f"{prefix}threshold_up"]
        return slot(mean_inside, low=low, high=high)
    if settings["query_filter_config.type"] == "std_filter":
        return slot(spread_above, threshold=settings[f"{prefix}std_threshold"])
    return slot(all_groups)


def _admit(settings: Settings) -> Slot:
    if not is_filtered(settings):
        return slot(all_completions)
    thresholds = settings["difficulty_low_threshold"], settings["difficulty_high_threshold"]
    errors = settings["error_max_len_threshold"] if settings["error_max_len_clip"] else None
    return slot(
        admitted,
        below_budget=settings["max_len_mask"],
        between=thresholds if settings["difficulty_mask"] else None,
        longest_error=errors,
    )


def _advantage(settings: Settings) -> Slot:
    """Return the normalized rewards, with the steps per token around them, if there are any."""
    scores, after = SCORES[norms(settings)], _after(settings)
    coef = settings["init_kl_coef"] if settings["add_token_level_kl"] else 0.0
    referred = settings["enable_reference"] or settings["use_kl_loss"] or settings["init_kl_coef"] > 0.0
    if coef and referred:
        penalty = PENALTIES[settings["kl_penalty"]]
        return slot(token_returns_with_penalty, scores=scores, penalty=penalty, kl_coef=coef, **after)
    return slot(token_returns, scores=scores, **after) if after else scores


def _after(settings: Settings) -> dict[str, Any]:
    """Return the steps per token that have an effect. A limit that is never reached has none."""
    usual = {"limit": None, "gamma": 1.0, "whiten_rewards": False, "whiten_advantages": False, "clip": None}
    count = settings["num_return_sequences_in_group"]
    largest = (count - 1) / math.sqrt(count) if norms(settings) == ("group", "group") else math.inf
    plain = not settings["add_token_level_kl"]
    limit, bound = settings["reward_clip"] or None, settings["advantage_clip"]
    raw = plain and not settings["whiten_advantages"] and not settings["whiten_rewards"]
    chosen = {
        "limit": None if plain and limit is not None and limit >= largest else limit,
        "gamma": settings["gamma"],
        "whiten_rewards": settings["whiten_rewards"],
        "whiten_advantages": settings["whiten_advantages"],
        "clip": None if raw and bound is not None and bound >= largest else bound,
    }
    return {name: value for name, value in chosen.items() if value != usual[name]}


def _surrogate(settings: Settings) -> Slot:
    if is_variant(settings) and settings["actor_train.pg_variant"] != "ppo":
        return SURROGATES[settings["actor_train.pg_variant"]]
    width = settings["pg_clip"]
    low, high = (width, width)
    if settings["use_pg_clip_range"]:
        low, high = settings["pg_clip_low"], settings["pg_clip_high"]
    clips = {"clip_low": min(low, NO_CLIP_LOW), "clip_high": high}
    return (
        slot(dual_clipped, max_ratio=1.0 + 2.0 * width, **clips)
        if settings["dual_clip_loss"]
        else slot(clipped, **clips)
    )


def _corrections(settings: Settings) -> tuple[Slot, ...]:
    """Return the weights for length, and for the sampler's mismatch."""
    short = (slot(short_first),) if settings["length_loss_weight"] else ()
    return (*_sampler_weights(settings), *short)


def _sampler_weights(settings: Settings) -> tuple[Slot, ...]:
    """Return the weights for the sampler's mismatch, if its log-probabilities are kept."""
    prefix = "train_infer_correction.is_weight."
    sampled = settings["async_generation_ratio"] or settings["actor_infer.generating_args.logprobs"]
    bound = settings[f"{prefix}upper_bound"]
    weights = slot(
        truncated,
        level=LEVELS[settings[f"{prefix}weight_type"]],
        max_ratio=math.inf if bound is None else bound,
        unknown=math.nan,
    )
    return (weights,) if settings[f"{prefix}enabled"] and sampled else ()


def _over_width(settings: Settings) -> Slot:
    """Return the average of seq-mean-token-sum-norm."""
    length, response = settings["sequence_length"], settings["response_length"]
    if length is None and response is not None:
        length = response + settings["prompt_length"]
    return slot(over_width) if length is None else slot(token_sum_over, tokens=float(length - 1))


def _aggregate(settings: Settings) -> Slot:
    kernels = {
        "token-mean": slot(token_mean),
        "seq-mean-token-sum": slot(
            sequence_mean_token_mean if settings["token_sum_is_a_mean"] else sequence_mean_token_sum,
            count_empty=False,
        ),
        "seq-mean-token-mean": slot(sequence_mean_token_mean, count_empty=False),
        "seq-mean-token-sum-norm": _over_width(settings),
    }
    found, factor = kernels[settings["loss_agg_mode"]], settings["rl_loss_coef"]
    return found if factor == 1.0 else slot(scaled_by, aggregate=found, factor=factor)


DIALECT = dialect_of(
    __package__,
    Objective(
        build=_build,
        check_run=check_run,
        averages=lambda s: WHOLE_STEP,
        phrases=PHRASES,
        forms={token_returns: whitened, spread_above: mixed_groups, mean_inside: mixed_groups},
    ),
    TRAPS,
)
