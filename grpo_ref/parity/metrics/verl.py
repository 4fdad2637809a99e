"""The metrics of verl's loss and of its rollout correction, computed from the arrays of a recorded case."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.arrays import BATCH, TOKENS, Floats, masked_mean
from grpo_ref.corrections import SMALLEST_MEAN
from grpo_ref.explain.dialects.verl.correction import OPTIONS, inner, rejection, window
from grpo_ref.explain.dialects.verl.kernels import (
    PENALTIES,
    SAFETY_BOUND,
    close_to_sampler,
)
from grpo_ref.explain.settings import Settings
from grpo_ref.levels import sequence_mean_level
from grpo_ref.loss import policy_loss
from grpo_ref.parity.calls.common import OPTIONAL
from grpo_ref.parity.calls.verl import as_actor, average, bypassed, of_none
from grpo_ref.parity.measured import Measured, Metric
from grpo_ref.recipes import Slot
from grpo_ref.surrogates import clip_cov_eligible

# ---- the actor -------------------------------------------------------------------------------------

LIMITED = ("vanilla", "sapo", "cispo", "dppo_tv", "dppo_kl")
"""The modes that limit log-ratios to ± 20."""


def _seen(m: Measured) -> SimpleNamespace:
    """Return the actor's quantities: recipe, record, log-ratio per token, ratio, advantages per token and mask."""
    recipe, record = as_actor(m.settings, m.recipe, m.record)
    log_ratio = record.log_probs - getattr(record, "old_log_probs", record.log_probs)
    advantages = record.advantages.reshape(*record.mask.shape[:2], -1)
    mask = record.mask
    if m.settings.loss_mode == "bypass_mode" and inner(m.settings)["rollout_rs"] is not None:
        bounds = rejection(inner(m.settings)["rollout_rs"], inner(m.settings)["rollout_rs_threshold"])
        mask = mask * close_to_sampler(record.log_probs, record.old_log_probs, mask, bounds=bounds)
    is_limited = m.settings.loss_mode in LIMITED or _clips_in_bypass(m.settings)
    bound = SAFETY_BOUND if is_limited else np.inf
    log_ratio = np.clip(log_ratio, -bound, bound)
    fields = {
        "log_ratio": log_ratio,
        "ratio": np.exp(log_ratio),
        "advantages": advantages + np.zeros(mask.shape),
    }
    return SimpleNamespace(**fields, recipe=recipe, record=record, mask=mask, settings=m.settings)


def _clips_in_bypass(settings: Settings) -> bool:
    return bool(settings.loss_mode == "bypass_mode" and inner(settings)["loss_type"] == "ppo_clip")


def _share(seen: SimpleNamespace, where: Any) -> float:
    return float(masked_mean(np.asarray(where, dtype=float), seen.mask, axis=BATCH))


def ppo_kl(m: Measured) -> float:
    """Return mean(-log r), k1 of the old policy to the new one; in kl_cov mean(|log r|)."""
    seen = _seen(m)
    moved = abs(seen.log_ratio) if m.settings.loss_mode == "kl_cov" else -seen.log_ratio
    return _share(seen, moved)


def pg_loss(m: Measured) -> float:
    """Return the loss without penalty and bonus."""
    seen = _seen(m)
    given = {name: value for name, value in vars(seen.record).items() if name in OPTIONAL}
    if m.settings.loss_mode == "clip_cov":
        return float(m.numbers["loss"] - _beside(m))
    record, recipe = seen.record, replace(seen.recipe, kl_coef=0.0)
    length = m.settings.loss_scale_factor
    result = policy_loss(
        record.log_probs, record.advantages, record.mask, recipe=recipe, max_length=length, **given
    )
    return float(result.loss + of_none(recipe.aggregate, record.mask))


def _beside(m: Measured) -> float:
    """Return the sum of penalty and bonus in the loss."""
    penalty = kl_loss(m) * m.settings.kl_loss_coef if m.settings.use_kl_loss else 0.0
    bonus = entropy_loss(m) * m.settings.entropy_coeff if hasattr(m.record, "entropies") else 0.0
    return penalty - bonus


def kl_loss(m: Measured) -> float:
    """Return the penalty without its weight."""
    seen = _seen(m)
    value = seen.recipe.penalty(seen.record).value
    return float(average(seen.recipe, value, seen.record.mask, m.settings.loss_scale_factor))


def entropy_loss(m: Measured) -> float:
    """Return the entropy of the policy, averaged as loss_agg_mode selects."""
    seen = _seen(m)
    return float(average(seen.recipe, seen.record.entropies, seen.record.mask, m.settings.loss_scale_factor))


def reward_kl_penalty(m: Measured) -> float:
    """Return the penalty in the reward: the mean over completions of the means over their tokens."""
    record = bypassed(m.record) if m.settings.bypass_mode else m.record
    cost = PENALTIES[m.settings.kl_penalty](
        log_probs=record.old_log_probs, ref_log_probs=record.ref_log_probs
    ).value
    return float(masked_mean(cost, record.mask, axis=TOKENS).mean())


def pg_clipfrac(m: Measured) -> float:
    """Return the fraction of tokens whose clipped branch is the smaller gain. Each mode counts its own."""
    seen = _seen(m)
    return _share(seen, CLIPPED[m.settings.loss_mode](seen))


def pg_clipfrac_lower(m: Measured) -> float:
    """Return the fraction of tokens that the dual clip limits, or that a DPPO caps.

    Each mode counts its own.
    """
    seen = _seen(m)
    return _share(seen, CLIPPED_LOWER[m.settings.loss_mode](seen))


def _branches(seen: SimpleNamespace, ratio: Floats) -> tuple[Floats, Floats]:
    """Return the losses of a token without the clip and with it."""
    low, high = _bounds(seen)
    return -seen.advantages * ratio, -seen.advantages * np.clip(ratio, 1.0 - low, 1.0 + high)


def _bounds(seen: SimpleNamespace) -> tuple[float, float]:
    s = seen.settings
    low = s.clip_ratio if s.clip_ratio_low is None else s.clip_ratio_low
    return low, s.clip_ratio if s.clip_ratio_high is None else s.clip_ratio_high


def _worse(seen: SimpleNamespace) -> Any:
    free, clipped = _branches(seen, seen.ratio)
    return clipped > free


def _worse_sequence(seen: SimpleNamespace) -> Any:
    level = sequence_mean_level(seen.log_ratio, seen.record.mask)
    free, clipped = _branches(seen, np.exp(np.clip(level, None, 10.0)))
    return clipped > free


def _weight_clipped(seen: SimpleNamespace) -> Any:
    low, high = _bounds(seen)
    return seen.ratio != np.clip(seen.ratio, 1.0 - low, 1.0 + high)


def _log_clipped(seen: SimpleNamespace, sign: float) -> Any:
    low, high = _bounds(seen)
    return (seen.log_ratio != np.clip(seen.log_ratio, -low, high)) & (sign * seen.advantages > 0.0)


def _left_out(seen: SimpleNamespace) -> Any:
    """Return true where a DPPO's weight is 0 for any advantage."""
    record = seen.record
    fields = {"log_ratio": record.log_probs - record.old_log_probs, "log_probs": record.log_probs}
    settings = {name: value for name, value in seen.recipe.surrogate.settings.items() if name != "max_ratio"}
    ones = np.where(seen.advantages > 0.0, 1.0, -1.0)
    kept = Slot(seen.recipe.surrogate.kernel, settings)(**fields, advantages=ones)
    return kept.direct == 0.0


def _chosen(seen: SimpleNamespace) -> Any:
    """Return as many of the tokens that clip_cov may choose as it chooses.

    The shuffle decides which ones it takes.
    """
    settings = dict(seen.recipe.surrogate.settings)
    most = max(int(settings.pop("share") * seen.mask.sum()), 1)
    arrays = (seen.log_ratio, seen.record.log_probs, seen.advantages, seen.mask)
    eligible = clip_cov_eligible(*arrays, **settings)
    return eligible & (np.cumsum(eligible).reshape(eligible.shape) <= most)


def _none(seen: SimpleNamespace) -> Any:
    return np.zeros(seen.mask.shape)


def _too_bad(seen: SimpleNamespace) -> Any:
    free, clipped = _branches(seen, seen.ratio)
    held = np.maximum(free, clipped) > -seen.advantages * seen.settings.clip_ratio_c
    return held & (seen.advantages < 0.0)


def _capped(seen: SimpleNamespace) -> Any:
    return (seen.ratio > seen.settings.clip_ratio_c) & ~_left_out(seen)


CLIPPED: dict[str, Callable[[SimpleNamespace], Any]] = {
    "vanilla": _worse,
    "bypass_mode": _worse,
    "gspo": _worse_sequence,
    "sapo": _none,
    "cispo": _weight_clipped,
    "geo_mean": partial(_log_clipped, sign=1.0),
    "dppo_tv": _left_out,
    "dppo_kl": _left_out,
    "clip_cov": _chosen,
}
CLIPPED_LOWER: dict[str, Callable[[SimpleNamespace], Any]] = {
    "vanilla": _too_bad,
    "bypass_mode": _too_bad,
    "gspo": _none,
    "sapo": _none,
    "cispo": _none,
    "geo_mean": partial(_log_clipped, sign=-1.0),
    "dppo_tv": _capped,
    "dppo_kl": _capped,
}


# ---- the rollout correction ------------------------------------------------------------------------


class Mismatch:
    """Learner and sampler on all completions of a batch, (B, T), before any token is rejected."""

    def __init__(self, learner: Floats, sampler: Floats, mask: Floats, settings: Mapping[str, Any]) -> None:
        length = mask.shape[-1]
        self.mask = mask.reshape(-1, length) != 0.0
        self.learner, self.sampler = (
            np.where(self.mask, x.reshape(-1, length), 0.0) for x in (learner, sampler)
        )
        self.log_ratio = self.learner - self.sampler
        self.settings = settings

    def over_tokens(self, values: Any) -> float:
        """Return the mean over the tokens of the batch, in the precision of the values."""
        values = np.where(self.mask, values, 0.0)
        return float(values.sum() / values.dtype.type(max(self.mask.sum(), 1)))

    def per_row(self, values: Any) -> Floats:
        """Return the mean over the tokens of each completion, (B,), in their precision; 0 if it is empty."""
        values = np.where(self.mask, values, 0.0)
        rows: Floats = values.sum(-1) / np.maximum(self.mask.sum(-1), 1).astype(values.dtype)
        return rows


def off_policy(batch: Mismatch) -> dict[str, float]:
    """Return the mismatch of learner and sampler. Means per completion count empty ones as 0 nats."""
    learner, sampler = batch.per_row(batch.learner), batch.per_row(batch.sampler)
    apart = sampler - learner
    near = np.clip(batch.log_ratio, -SAFETY_BOUND, SAFETY_BOUND)
    total = np.clip(batch.log_ratio.sum(-1), -SAFETY_BOUND, SAFETY_BOUND)
    return {
        "training_ppl": np.exp(-learner).mean(),
        "training_log_ppl": -learner.mean(),
        "kl": batch.over_tokens(-batch.log_ratio),
        "k3_kl": batch.over_tokens(np.exp(batch.log_ratio) - batch.log_ratio - 1.0),
        "rollout_ppl": np.exp(-sampler).mean(),
        "rollout_log_ppl": -sampler.mean(),
        "log_ppl_diff": apart.mean(),
        "log_ppl_abs_diff": abs(apart).mean(),
        "log_ppl_diff_max": apart.max(),
        "log_ppl_diff_min": apart.min(),
        "ppl_ratio": np.exp(apart).mean(),
        "chi2_token": batch.over_tokens(np.exp(2.0 * near)) - 1.0,
        "chi2_seq": np.exp(2.0 * total).mean() - 1.0,
    }


def weight_statistics(batch: Mismatch) -> dict[str, float]:
    """Return statistics of the weights, before they are divided by their mean."""
    low, high = window(batch.settings["rollout_is_threshold"])
    raw = _raw_weights(batch)
    weights = np.clip(raw, None, high) if low is None else np.where((raw >= low) & (raw <= high), raw, 0.0)
    floor = 1.0 / high if low is None else low
    rows, raw_rows = batch.per_row(weights), batch.per_row(raw)
    near = np.clip(weights, 0.0, high)
    mean, square = batch.over_tokens(near), batch.over_tokens(near**2)
    scale = mean + 1e-8
    numbers = _extremes(batch, raw, weights, floor, high) | {
        "rollout_is_mean": batch.over_tokens(weights),
        "rollout_is_std": float(np.sqrt(max(square - mean**2, 0.0))) if batch.mask.sum() > 1 else 0.0,
        "rollout_is_eff_sample_size": scale**2 / square,
        "rollout_is_seq_mean": rows.mean(),
        "rollout_is_seq_std": rows.std(ddof=1),
        "rollout_is_seq_max": rows.max(),
        "rollout_is_seq_min": rows.min(),
        "rollout_is_seq_max_deviation": abs(rows - 1.0).max(),
        "rollout_is_seq_fraction_high": (raw_rows > high).mean(),
        "rollout_is_seq_fraction_low": (raw_rows < floor).mean(),
        "rollout_is_oob_ratio": batch.over_tokens((raw < floor) | (raw > high)),
    }
    return numbers | {"rollout_is_batch_norm_factor": _norm(batch, weights)}


def _raw_weights(batch: Mismatch) -> Floats:
    """Return the ratios of learner to sampler, (B, T), 0 on padding."""
    logs = batch.log_ratio
    if batch.settings["rollout_is"] == "sequence":
        logs = logs.sum(-1, keepdims=True) + np.zeros(logs.shape)
    return np.where(batch.mask, np.exp(np.clip(logs, -SAFETY_BOUND, SAFETY_BOUND)), 0.0)


def _extremes(batch: Mismatch, raw: Floats, weights: Floats, low: float, high: float) -> dict[str, float]:
    """Return the extremes: per completion of the ratios, including empty ones; per token of the weights."""
    if batch.settings["rollout_is"] == "sequence":
        total = batch.log_ratio.sum(-1)
        outside = {"high": (total > np.log(high)).mean(), "low": (total < np.log(low)).mean()}
        extremes = {"max": np.exp(min(total.max(), SAFETY_BOUND)), "min": np.exp(total.min())}
    else:
        outside = {"high": batch.over_tokens(raw > high), "low": batch.over_tokens(raw < low)}
        extremes = {"max": weights[batch.mask].max(), "min": weights[batch.mask].min()}
    fractions = {f"rollout_is_ratio_fraction_{name}": value for name, value in outside.items()}
    return fractions | {f"rollout_is_{name}": value for name, value in extremes.items()}


def _norm(batch: Mismatch, weights: Floats) -> float:
    """Return the divisor of the weights; 1 if their mean is almost 0."""
    if batch.settings["rollout_is"] == "sequence":
        mean = float(batch.per_row(weights)[batch.mask.any(-1)].mean())
    else:
        mean = batch.over_tokens(weights)
    return mean if mean > SMALLEST_MEAN else 1.0


def _divergence(batch: Mismatch, option: str) -> Floats:
    """Return the divergence of sampler and learner, (P, G, T) per token or (P, G, 1) per completion."""
    v = np.where(batch.mask, np.clip(batch.sampler - batch.learner, -SAFETY_BOUND, SAFETY_BOUND), 0.0)
    over, _, estimator = option.rpartition("_")
    each: Floats = {"k1": v, "k2": 0.5 * v**2, "k3": np.exp(-v) - 1.0 + v}[estimator]
    if over == "token":
        return each
    if over == "seq_mean":
        mean: Floats = masked_mean(each, batch.mask, axis=TOKENS, keepdims=True)
        return mean
    total: Floats = (np.sum if over == "seq_sum" else np.max)(each, axis=TOKENS, keepdims=True)
    return total


def rejection_statistics(batch: Mismatch) -> dict[str, float]:
    """Return each option's statistic, and the fraction that it rejects."""
    numbers: dict[str, float] = {}
    kept = batch.mask
    for bound in rejection(batch.settings["rollout_rs"], batch.settings["rollout_rs_threshold"]):
        far = _divergence(batch, bound.option)
        numbers |= {
            f"rollout_rs_{bound.option}_{name}": value
            for name, value in _of_statistic(batch, far, bound.low, bound.high).items()
        }
        passed = (far >= bound.low) & (far <= bound.high) & batch.mask
        rejected = (batch.mask & ~passed).any(-1)[batch.mask.any(-1)]
        numbers[f"rollout_rs_{bound.option}_masked_fraction"] = batch.over_tokens(~passed)
        numbers[f"rollout_rs_{bound.option}_seq_masked_fraction"] = rejected.mean()
        kept = kept & passed
    numbers["rollout_rs_masked_fraction"] = batch.over_tokens(~kept)
    numbers["rollout_rs_seq_masked_fraction"] = (batch.mask & ~kept).any(-1).mean()
    return numbers


def _of_statistic(batch: Mismatch, far: Floats, low: float, high: float) -> dict[str, float]:
    """Summarize a statistic, (B, T) per token or (B, 1) per completion, over the completions that have tokens."""
    per_token = far.shape[-1] > 1
    tokens = far + np.zeros(batch.mask.shape)
    rows = (batch.per_row(tokens) if per_token else far[:, 0])[batch.mask.any(-1)]
    values = tokens[batch.mask] if per_token else rows
    near = np.clip(tokens, max(low, 0.0) if np.isinf(low) else low, high)
    variance = batch.over_tokens(near**2) - batch.over_tokens(near) ** 2
    return {
        "mean": batch.over_tokens(tokens),
        "max": values.max(),
        "min": values.min(),
        "fraction_high": (values > high).mean(),
        "fraction_low": (values < low).mean(),
        "std": float(np.sqrt(max(variance, 0.0))) if batch.mask.sum() > 1 else 0.0,
        "seq_mean": rows.mean(),
        "seq_std": rows.std(ddof=1) if rows.size > 1 else 0.0,
        "seq_max": rows.max(),
        "seq_min": rows.min(),
        "seq_max_deviation": abs(rows).max(),
        "seq_fraction_high": (rows > high).mean(),
        "seq_fraction_low": (rows < low).mean(),
    }


def _of_trainer(m: Measured, name: str, numbers: Callable[[Mismatch], dict[str, float]]) -> float:
    """Return a metric of the old policy and the sampler, computed once per batch."""
    record = m.record
    batch = Mismatch(record.old_log_probs, record.rollout_log_probs, record.mask, m.settings)
    return numbers(batch)[name]


def _of_actor(m: Measured, name: str, numbers: Callable[[Mismatch], dict[str, float]]) -> float:
    """Return a metric of the current policy and the old one, at each step of loss_mode=bypass_mode.

    A correction inside policy_loss without any given key weights sequences, at least for logging: that is the
    default of verl's class. If the group is given, an omitted key is None.
    """
    record = as_actor(m.settings, m.recipe, m.record)[1]
    settings = inner(m.settings)
    settings |= {"rollout_is": settings["rollout_is"] or "sequence"}
    batch = Mismatch(record.log_probs, record.old_log_probs, record.mask, settings)
    return numbers(batch)[name]


OFF_POLICY = """training_ppl training_log_ppl kl k3_kl rollout_ppl rollout_log_ppl log_ppl_diff log_ppl_abs_diff
log_ppl_diff_max log_ppl_diff_min ppl_ratio chi2_token chi2_seq""".split()
OF_WEIGHTS = """mean max min std eff_sample_size ratio_fraction_high ratio_fraction_low seq_mean seq_std seq_max seq_min
seq_max_deviation seq_fraction_high seq_fraction_low oob_ratio batch_norm_factor""".split()
OF_REJECTION = """mean max min fraction_high fraction_low std seq_mean seq_std seq_max seq_min seq_max_deviation
seq_fraction_high masked_fraction seq_masked_fraction""".split()


def _correction_metrics(prefix: str, of: Callable[..., float]) -> dict[str, Metric]:
    """Return all metrics of the rollout correction.

    k2 and k3 have no lower bound, and so no fraction below it per completion.
    """
    rejected = {f"rollout_rs_{option}_{name}" for option in OPTIONS for name in OF_REJECTION}
    rejected |= {f"rollout_rs_{option}_seq_fraction_low" for option in OPTIONS if option.endswith("k1")}
    rejected |= {"rollout_rs_masked_fraction", "rollout_rs_seq_masked_fraction"}
    groups = (
        (OFF_POLICY, off_policy),
        ([f"rollout_is_{name}" for name in OF_WEIGHTS], weight_statistics),
        (sorted(rejected), rejection_statistics),
    )
    return {
        prefix + name: partial(of, name=name, numbers=numbers) for names, numbers in groups for name in names
    }


METRICS: dict[str, Metric] = {
    "actor/pg_loss": pg_loss,
    "actor/pg_clipfrac": pg_clipfrac,
    "actor/pg_clipfrac_lower": pg_clipfrac_lower,
    "actor/ppo_kl": ppo_kl,
    "actor/kl_loss": kl_loss,
    "actor/kl_coef": lambda m: m.settings.kl_loss_coef,
    "actor/entropy_loss": entropy_loss,
    "actor/reward_kl_penalty": reward_kl_penalty,
    "actor/reward_kl_penalty_coeff": lambda m: m.settings.kl_coef,
    **_correction_metrics("rollout_corr/", _of_trainer),
    **_correction_metrics("actor/rollout_corr/", _of_actor),
}
"""The metrics, as they are logged: those of the actor begin with its name."""
