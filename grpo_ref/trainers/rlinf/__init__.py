"""RLinf at a3816b59 (August 2026), the `algorithm` group of its YAML files."""

from math import inf
from types import SimpleNamespace
from typing import Any

from grpo_ref.kernels.advantages import group_normalized, normalized_twice, whitened
from grpo_ref.kernels.aggregation import (
    kept_token_mean,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
)
from grpo_ref.kernels.corrections import early_stop, masked, truncated
from grpo_ref.kernels.filters import all_groups
from grpo_ref.kernels.levels import token_level
from grpo_ref.kernels.penalties import absolute, k1, k2, k3
from grpo_ref.kernels.rewards import task_reward
from grpo_ref.kernels.surrogates import clipped, dual_clipped
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.trainers.dialect import Dialect, one_of
from grpo_ref.trainers.rlinf.keys import ABOUT, CONCEPTS, DEFAULTS, IGNORED, OTHERS
from grpo_ref.trainers.rlinf.quirks import CALLS, nan_where_empty
from grpo_ref.trainers.rlinf.traps import TRAPS

AGGREGATES = {
    "token-mean": slot(token_mean),
    "masked-mean": slot(token_mean),
    "seq-mean-token-sum": slot(sequence_mean_token_sum),
    "seq-mean-token-mean": slot(nan_where_empty),
}
PENALTIES = {
    "kl": slot(k1),
    "k1": slot(k1),
    "abs": slot(absolute),
    "mse": slot(k2),
    "k2": slot(k2),
    "low_var_kl": slot(k3, max_log_ratio=20.0, max_value=10.0),
    "k3": slot(k3, max_log_ratio=20.0, max_value=10.0),
}


def recipe(**config: Any) -> Recipe:
    """The recipe that RLinf computes.

    Args:
      config: keys of the group `algorithm`, with it or without.

    Raises:
      ValueError: if a key is unknown, or a value is one that RLinf would refuse.

    >>> print(recipe(ratio_clip_eps=0.1).surrogate)
    clipped(clip_low=0.1, clip_high=0.1)
    """
    return DIALECT.recipe(**config)


def _build(s: SimpleNamespace) -> Recipe:
    low = s.ratio_clip_eps if s.clip_ratio_low is None else s.clip_ratio_low
    high = s.ratio_clip_eps if s.clip_ratio_high is None else s.clip_ratio_high
    clips = {"clip_low": low, "clip_high": high}
    once = slot(clipped, **clips)
    twice = slot(normalized_twice, ddof=1, eps=1e-6, token_ddof=0, token_eps=1e-5)
    grpo = twice if s.normalize_advantages else slot(group_normalized, ddof=1, eps=1e-6)
    one_of("loss_type", s.loss_type, {"actor": 0, "decoupled_actor": 0})
    return Recipe(
        reward=slot(task_reward),
        keep=slot(all_groups),
        advantage=one_of("adv_type", s.adv_type, {"grpo": grpo, "reinpp": slot(whitened, ddof=0)}),
        level=token_level,
        surrogate=once if s.clip_ratio_c is None else slot(dual_clipped, **clips, max_ratio=s.clip_ratio_c),
        penalty=one_of("kl_penalty_type", s.kl_penalty_type, PENALTIES),
        kl_coef=s.kl_beta,
        aggregate=_aggregate(s),
        source=DIALECT.version,
        corrections=_corrections(s),
        log_ratio_limits=(
            -inf if s.clip_log_ratio_min is None else s.clip_log_ratio_min,
            inf if s.clip_log_ratio_max is None else s.clip_log_ratio_max,
        ),
    )


def _aggregate(s: SimpleNamespace) -> Slot:
    """Beside a threshold on the behaviour's weights, the denominator counts the tokens inside it."""
    if s.behave_weight_threshold is not None:
        return slot(kept_token_mean)
    kernel: Slot = one_of("loss_agg_func", s.loss_agg_func.replace("_", "-"), AGGREGATES)
    return kernel


def _corrections(s: SimpleNamespace) -> tuple[Slot, ...]:
    parts = []
    if s.importance_sampling_fix:
        parts.append(slot(truncated, max_ratio=s.importance_sampling_clip))
    if s.behave_weight_threshold is not None:
        parts.append(slot(masked, max_ratio=s.behave_weight_threshold))
    if s.early_stop_imp_ratio is not None:
        parts.append(slot(early_stop, max_ratio=s.early_stop_imp_ratio))
    return tuple(parts)


DIALECT = Dialect(
    name="rlinf",
    version="RLinf a3816b59 (2026-08-22)",
    defaults=DEFAULTS,
    build=_build,
    choices={
        "loss_agg_func": ("token-mean", "seq-mean-token-sum", "seq-mean-token-mean"),
        "kl_penalty_type": ("k1", "abs", "k2", "low_var_kl"),
        "normalize_advantages": (True, False),
        "importance_sampling_fix": (True, False),
        "adv_type": ("grpo", "reinpp"),
    },
    others=OTHERS,
    groups=frozenset({"algorithm"}),
    ignored=IGNORED,
    concepts=CONCEPTS,
    about=ABOUT,
    traps=TRAPS,
    forms={nan_where_empty: sequence_mean_token_mean},
    calls=CALLS,
)
