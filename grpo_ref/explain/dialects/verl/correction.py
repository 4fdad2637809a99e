"""Parse the thresholds of verl's rollout correction, and build the parts of a recipe from them."""

import math
from typing import Any

from grpo_ref.corrections import masked, truncated
from grpo_ref.explain.dialect import NotExpressed, one_of
from grpo_ref.explain.dialects.verl.kernels import (
    SAFETY_BOUND,
    Bound,
    afresh,
    close_to_sampler,
    geometric_mean_weight,
    share_of_kept,
)
from grpo_ref.explain.dialects.verl.keys import INNER
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_completions
from grpo_ref.levels import sequence_sum_level, token_level
from grpo_ref.recipes import Slot, slot

OPTIONS = (
    *("token_k1", "token_k2", "token_k3", "seq_sum_k1", "seq_sum_k2", "seq_sum_k3"),
    *("seq_mean_k1", "seq_mean_k2", "seq_mean_k3", "seq_max_k2", "seq_max_k3"),
)
"""Values of rollout_rs, which may be combined with commas."""


def corrections(s: Settings) -> tuple[Slot, ...]:
    """Return the weights for the sampler's mismatch. In bypass mode there are none."""
    if s.loss_mode == "bypass_mode":
        return _at_each_step(s.replaced(inner(s)))
    if not weighs(s) or s.bypass_mode:
        return ()
    weights = weights_of(s)
    return (slot(geometric_mean_weight, weights=weights) if s.loss_mode == "geo_mean" else weights,)


def admitted(s: Settings) -> Slot:
    """Return the filter of tokens."""
    if s.rollout_rs is None or s.bypass_mode:
        return slot(all_completions)
    if OPTIONS[0] in s.not_yet:
        raise NotExpressed(
            "rollout_rs", s.rollout_rs, "because verl before 0.7.1 has other rules of rejection"
        )
    return slot(close_to_sampler, bounds=rejection(s.rollout_rs, s.rollout_rs_threshold))


def inner(s: Settings) -> dict[str, Any]:
    """Return the settings of the correction inside policy_loss, by their short names."""
    begin = f"{INNER}."
    return {key.removeprefix(begin): value for key, value in s.items() if key.startswith(begin)}


def _at_each_step(s: Settings) -> tuple[Slot, ...]:
    """Return the weights of loss_mode=bypass_mode. ppo_clip only logs them; the rejection counts in both modes."""
    weights = [weights_of(s)] if weighs(s) else []
    parts = weights if s.loss_type == "reinforce" else []
    if s.rollout_rs is not None:
        bounds = rejection(s.rollout_rs, s.rollout_rs_threshold)
        per_length = s.loss_agg_mode == "seq-mean-token-mean"
        parts.append(slot(share_of_kept, bounds=bounds, per_length=per_length))
    return tuple(slot(afresh, part=part) for part in parts)


def weighs(s: Settings) -> bool:
    """Return true if there are weights at all. Without a threshold verl computes none."""
    return s.rollout_is is not None and s.rollout_is_threshold is not None


def weights_of(s: Settings) -> Slot:
    """Return the weights that `rollout_is`, its threshold and rollout_is_batch_normalize define."""
    levels = {"token": token_level, "sequence": sequence_sum_level}
    level = one_of("rollout_is", s.rollout_is, levels)
    low, high = window(s.rollout_is_threshold)
    common = {"level": level, "max_ratio": high, "max_log_ratio": SAFETY_BOUND, "unknown": math.nan}
    if s.rollout_is_batch_normalize:
        common["batch_normalize"] = True
    return slot(truncated, **common) if low is None else slot(masked, min_ratio=low, **common)


def window(threshold: Any) -> tuple[float | None, float]:
    """Parse 2.0 or "0.5_5.0" into a lower bound (None if there is none) and an upper one.

    Raises:
      ValueError: if the threshold has neither form, a bound is not positive, or the bounds are out of order.

    >>> window("0.5_5.0")
    (0.5, 5.0)
    """
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float, str)):
        raise ValueError(f"rollout_is_threshold: expected a number or 'low_high', got {threshold!r}")
    low, high = _bounds("rollout_is_threshold", str(threshold))
    if high <= 0.0 or (low is not None and not 0.0 < low <= high):
        raise ValueError(f"rollout_is_threshold: expected 0 < low <= high, got {threshold!r}")
    return low, high


def rejection(options: Any, thresholds: Any) -> tuple[Bound, ...]:
    """Return the bounds of each option of rollout_rs, each option once.

    Args:
      options: options, as in "token_k1,seq_mean_k3".
      thresholds: one threshold for each option, separated by commas, or one for all. For k1, "low_high" in
        ratios, or only high, with low = 1 / high. For k2 and k3, an upper bound in nats.

    Raises:
      ValueError: if an option is unknown, or a threshold is missing, has another form or is out of order.

    >>> rejection("token_k2", 0.5)
    (Bound(option='token_k2', low=-inf, high=0.5),)
    """
    if not isinstance(options, str) or thresholds is None or isinstance(thresholds, bool):
        raise ValueError("rollout_rs: expected options with commas between them, and rollout_rs_threshold")
    names = list(dict.fromkeys(name.strip() for name in options.split(",") if name.strip()))
    texts = [text.strip() for text in str(thresholds).split(",") if text.strip()]
    for name in names:
        one_of("rollout_rs", name, dict.fromkeys(OPTIONS))
    if not names or len(texts) not in (1, len(names)):
        raise ValueError(f"rollout_rs_threshold: expected one or {len(names)}, got {thresholds!r}")
    texts = texts * len(names) if len(texts) == 1 else texts
    return tuple(_bound(name, text) for name, text in zip(names, texts, strict=True))


def _bound(option: str, text: str) -> Bound:
    low, high = _bounds("rollout_rs_threshold", text)
    if option.endswith("k1"):
        low = 1.0 / high if low is None and high != 0.0 else low
        if low is None or not 0.0 < low <= high:
            raise ValueError(f"rollout_rs_threshold: {option} needs 0 < low <= high, got {text!r}")
        return Bound(option, math.log(low), math.log(high))
    if low is not None or high <= 0.0:
        raise ValueError(f"rollout_rs_threshold: {option} needs one bound > 0, got {text!r}")
    return Bound(option, -math.inf, high)


def _bounds(name: str, text: str) -> tuple[float | None, float]:
    low, between, high = text.strip().partition("_")
    try:
        return (float(low), float(high)) if between else (None, float(low))
    except ValueError as error:
        raise ValueError(f"{name}: expected a number or 'low_high', got {text!r}") from error
