"""The metrics of Open Instruct's loss, from the arrays of one batch.

Each metric is a mean over the tokens of a micro-batch in float32, then over micro-batches, weighted by their
tokens. Unless stated otherwise, and unless float32 overflows, that is the mean over all tokens. A micro-batch
is `per_device_train_batch_size` packs; here a pack is one completion, unless the call says otherwise. Metrics
that are not computed are logged as 0: ρ without `use_rho_correction`, the KL without a reference.
"""

from collections.abc import Callable
from math import inf

import numpy as np

from grpo_ref.arrays import BATCH, Array, Floats, masked_mean
from grpo_ref.explain.dialects.open_instruct.kernels import divergence, known, moves_away, rho_clamp
from grpo_ref.levels import sequence_mean_level, token_level
from grpo_ref.loss import Differentiated, batch_of, differentiate
from grpo_ref.parity.calls.open_instruct import against_the_sampler, open_instruct_kl
from grpo_ref.parity.measured import FLOAT32, Measured, Metric, Rounded

OPTIONAL = ("old_log_probs", "ref_log_probs", "rollout_log_probs")


def _judged(measured: Measured) -> Differentiated:
    """Return the batch of the case, differentiated."""
    record = measured.record
    record = against_the_sampler(record) if measured.settings.use_vllm_logprobs else record
    given = {name: getattr(record, name) for name in OPTIONAL if hasattr(record, name)}
    return differentiate(batch_of(record.log_probs, record.advantages, record.mask, **given), measured.recipe)


def _mean(values: Callable[[Measured, Differentiated], Floats]) -> Metric:
    """Return a metric: the mean over all tokens, computed from the micro-batches' means."""

    def metric(measured: Measured) -> Rounded:
        judged = _judged(measured)
        found, mask = values(measured, judged), judged.batch.mask
        means = _means(measured, found, mask)
        return Rounded(_weighed(measured, mask, means), float(masked_mean(abs(found), mask, axis=BATCH)))

    return metric


def _ratio(measured: Measured, judged: Differentiated) -> Floats:
    ratio: Floats = np.exp(judged.batch.log_ratio)
    return ratio


def _policy(measured: Measured, judged: Differentiated) -> Floats:
    """Return the loss of each token, corrected, without the penalty and before any division."""
    loss: Floats = -judged.gain.value * judged.batch.correction
    return loss


def _clipped(measured: Measured, judged: Differentiated) -> Floats:
    """Return 1 where the clip changes the loss (dapo), or the ratio exceeds the cap (cispo), and ρ counts."""
    s, ratio = measured.settings, _ratio(measured, judged)
    above, below = ratio > 1.0 + s.clip_higher, ratio < 1.0 - s.clip_lower
    advantages = judged.batch.advantages
    held = (above & (advantages > 0.0)) | (below & (advantages < 0.0)) if s.loss_fn == "dapo" else above
    return np.asarray(held & (judged.batch.correction != 0.0), dtype=float)


def _penalty(estimator: int) -> Callable[[Measured, Differentiated], Floats]:
    """Return a function for the KL penalty of each token, by the number of its estimator; 0 without a reference."""

    def values(measured: Measured, judged: Differentiated) -> Floats:
        batch = judged.batch
        loaded = measured.settings.load_ref_policy and hasattr(measured.record, "ref_log_probs")
        arrays = batch.log_probs, batch.ref_log_probs, batch.log_ratio
        value: Floats = open_instruct_kl(*arrays, estimator=estimator).value
        return value if loaded else np.zeros_like(value)

    return values


def _weighted_penalty(measured: Measured, judged: Differentiated) -> Floats:
    s = measured.settings
    values: Floats = s.beta * _penalty(s.kl_estimator)(measured, judged)
    return values


def _entropy(measured: Measured, judged: Differentiated) -> Floats:
    entropies: Floats = measured.record.entropies
    return entropies


# ---- ρ -----------------------------------------------------------------------------------------------


def _weight(measured: Measured, judged: Differentiated) -> Floats:
    on = measured.settings.use_rho_correction
    weight: Floats = judged.batch.correction if on else np.zeros_like(judged.batch.mask)
    return weight


def _rho(measured: Measured, judged: Differentiated) -> Floats:
    """Return ρ at its level, before clamp and mask."""
    batch = judged.batch
    level = sequence_mean_level if measured.settings.rho_mask_sequence_level else token_level
    rho: Floats = rho_clamp(
        batch.old_log_probs, batch.rollout_log_probs, batch.mask, level=level, max_ratio=inf
    )
    return rho


def _clamped(measured: Measured, judged: Differentiated) -> Floats:
    """Return 1 where the clamp changes ρ, even if the mask drops the token."""
    s, rho = measured.settings, _rho(measured, judged)
    below = (s.rho_clamp_lower_bound > 0.0) & (rho < s.rho_clamp_lower_bound)
    above = (s.rho_clamp_upper_bound > 0.0) & (rho > s.rho_clamp_upper_bound)
    return np.asarray((below | above) & s.use_rho_correction, dtype=float)


def _dropped(*sides: str) -> Callable[[Measured, Differentiated], Floats]:
    """Return a function that is 1 where the mask drops a token for one of these sides: "low", "high"."""

    def values(measured: Measured, judged: Differentiated) -> Floats:
        s, batch = measured.settings, judged.batch
        arrays = batch.old_log_probs, batch.rollout_log_probs, batch.mask
        seen, may_be = _rho(measured, judged), np.ones(batch.mask.shape, dtype=bool)
        if s.rho_mask_tv_divergence:
            seen, may_be = divergence(*arrays), moves_away(*arrays, batch.advantages)
        found = {
            "low": (s.rho_mask_lower_bound > 0.0) & (seen < s.rho_mask_lower_bound),
            "high": (s.rho_mask_upper_bound > 0.0) & (seen > s.rho_mask_upper_bound),
        }
        dropped = np.logical_or.reduce([found[side] for side in sides])
        return np.asarray(dropped & may_be & s.use_rho_correction, dtype=float)

    return values


# ---- what depends on how the batch is cut -------------------------------------------------------------


def _micro_batches(measured: Measured, values: Floats) -> list[Floats]:
    """Return the rows of each micro-batch, (N, T)."""
    rows = values.reshape(-1, values.shape[-1])
    size = measured.settings.per_device_train_batch_size
    return [rows[begin : begin + size] for begin in range(0, len(rows), size)]


def _means(measured: Measured, values: Floats, mask: Floats) -> Floats:
    """Return the mean over the tokens of each micro-batch; 0 without tokens."""
    parts = zip(_micro_batches(measured, values), _micro_batches(measured, mask), strict=True)
    return np.array([float(masked_mean(each, counts, axis=(-2, -1))) for each, counts in parts])


def _weighed(measured: Measured, mask: Floats, numbers: Array) -> float:
    """Average a number over the micro-batches, weighted by their tokens, in float32; 0 without tokens."""
    tokens = np.array([part.sum() for part in _micro_batches(measured, mask)])
    shares = tokens / max(tokens.sum(), 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        return float((shares.astype(np.float32) * numbers.astype(np.float32)).sum())


def _total(measured: Measured) -> Rounded:
    """Return the mean of the micro-batches' losses.

    For n equal micro-batches, this is the loss divided by n.
    """
    judged = _judged(measured)
    parts = (_micro_batches(measured, values) for values in (judged.losses, abs(judged.losses)))
    sums = (np.array([part.sum() for part in each]) for each in parts)
    return Rounded(*(_weighed(measured, judged.batch.mask, each) for each in sums))


def _ratio_variance(measured: Measured) -> Rounded:
    """Return the variance between the micro-batches' mean ratios, not between tokens.

    An error δ = ε m of a mean m in float32 changes the variance by at most 2 σ δ + δ².
    """
    judged = _judged(measured)
    mask = judged.batch.mask
    means = _means(measured, _ratio(measured, judged), mask).astype(np.float32)
    center = _weighed(measured, mask, means)
    with np.errstate(over="ignore", invalid="ignore"):
        variance = _weighed(measured, mask, (means - np.float32(center)) ** 2)
    size = center * (2.0 * abs(variance) ** 0.5 + FLOAT32 * center)
    return Rounded(variance, size if np.isfinite(size) else 0.0)


def _mismatch(measure: Callable[[Floats, Floats], float]) -> Metric:
    """Return a metric of the policy and the sampler in the last micro-batch; 0 without tokens."""

    def metric(measured: Measured) -> float:
        record = measured.record
        arrays = (record.log_probs, known(record.rollout_log_probs), record.mask)
        ours, sampler, mask = (_micro_batches(measured, values)[-1] for values in arrays)
        return float(measure(ours[mask != 0.0], sampler[mask != 0.0])) if mask.any() else 0.0

    return metric


def _spread(ours: Floats, sampler: Floats) -> float:
    """Return the sample standard deviation of the differences in float64; 0 for a single one.

    The mean is in the precision of the differences. PyTorch's `std` on the CPU does the same, which shows if
    a square is too large for float32.
    """
    apart = abs(ours - sampler)
    squares = (apart.astype(np.float64) - float(apart.mean())) ** 2 if ours.size > 1 else np.zeros(1)
    return float(np.sqrt(squares.sum() / max(ours.size - 1, 1)))


METRICS: dict[str, Metric] = {
    "clipfrac": _mean(_clipped),
    "policy/clipfrac_avg": _mean(_clipped),
    "policy/entropy_avg": _mean(_entropy),
    "loss/policy_avg": _mean(_policy),
    "loss/kl_avg": _mean(_weighted_penalty),
    "loss/total_avg": _total,
    **{f"objective/kl{number}_avg": _mean(_penalty(number)) for number in range(4)},
    "val/ratio": _mean(_ratio),
    "val/ratio_var": _ratio_variance,
    "val/rho_weight": _mean(_weight),
    "val/rho_clipfrac": _mean(_clamped),
    "val/rho_drop_frac": _mean(_dropped("low", "high")),
    "val/rho_drop_low_frac": _mean(_dropped("low")),
    "val/rho_drop_high_frac": _mean(_dropped("high")),
    "debug/vllm_vs_local_logprob_diff_mean": _mismatch(lambda ours, sampler: abs(ours - sampler).mean()),
    "debug/vllm_vs_local_logprob_diff_max": _mismatch(lambda ours, sampler: abs(ours - sampler).max()),
    "debug/vllm_vs_local_logprob_diff_std": _mismatch(_spread),
    "debug/vllm_local_reverse_kl": _mismatch(
        lambda ours, sampler: (np.exp(sampler) * (sampler - ours)).mean()
    ),
    "scores": lambda measured: measured.record.rewards.mean(),
    "val/advantages_mean": lambda measured: measured.numbers["value"].mean(),
    "val/advantages_min": lambda measured: measured.numbers["value"].min(),
    "val/advantages_max": lambda measured: measured.numbers["value"].max(),
}
"""The metrics, by the name that Open Instruct logs. "clipfrac" is the name inside its loss."""
