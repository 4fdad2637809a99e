"""verl at 1dda039b (August 2026), actor, algorithm and rollout-correction settings."""

from collections.abc import Callable
from math import inf
from types import SimpleNamespace
from typing import Any, NamedTuple

from grpo_ref.arrays import Array
from grpo_ref.kernels.advantages import (
    best_of_group,
    discounted,
    gpg,
    group_centered,
    group_normalized,
    leave_one_out,
    length_weighted,
    normalized_then_whitened,
    whitened,
)
from grpo_ref.kernels.aggregation import (
    fixed_length,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
    token_sum,
)
from grpo_ref.kernels.corrections import masked, truncated
from grpo_ref.kernels.filters import all_groups, mixed_groups
from grpo_ref.kernels.levels import sequence_mean_level, sequence_sum_level, token_level
from grpo_ref.kernels.penalties import absolute, k1, k2, k3, straight_through
from grpo_ref.kernels.rewards import soft_overlong, task_reward
from grpo_ref.kernels.surrogates import (
    cispo,
    clip_cov,
    dppo_kl,
    dppo_tv,
    dual_clipped,
    geometric_mean_clipped,
    gspo_token,
    kl_cov,
    reinforce,
    sapo,
    squared_ratio,
)
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.trainers.dialect import Dialect, one_of
from grpo_ref.trainers.verl.keys import (
    ABOUT,
    ALIASES,
    BEYOND,
    CONCEPTS,
    DEFAULTS,
    GROUPS,
    IGNORED,
    OF_ROLLOUT,
    OTHERS,
)
from grpo_ref.trainers.verl.quirks import CALLS
from grpo_ref.trainers.verl.traps import TRAPS
from grpo_ref.types import Term

AGGREGATES = {
    "token-mean": slot(token_mean),
    "token-sum": slot(token_sum),
    "seq-mean-token-sum": slot(sequence_mean_token_sum, count_empty=False),
    "seq-mean-token-mean": slot(sequence_mean_token_mean, count_empty=False, eps=1e-8),
    "seq-mean-token-sum-norm": slot(fixed_length, count_empty=False),
}
PENALTIES = {
    "kl": slot(k1),
    "k1": slot(k1),
    "abs": slot(absolute),
    "mse": slot(k2),
    "k2": slot(k2),
    "low_var_kl": slot(k3, max_log_ratio=20.0, max_value=10.0),
    "k3": slot(k3, max_log_ratio=20.0, max_value=10.0),
    "k1+": slot(straight_through, estimator=k1),
    "abs+": slot(straight_through, estimator=absolute),
    "k3+": slot(straight_through, estimator=k3),
}
ESTIMATORS = {
    "grpo": slot(group_normalized, ddof=1, eps=1e-6, keep_singletons=True),
    "grpo_vectorized": slot(group_normalized, ddof=1, eps=1e-6),
    "grpo_passk": slot(best_of_group, ddof=1, eps=1e-6),
    "reinforce_plus_plus": slot(discounted, gamma=1.0),
    "reinforce_plus_plus_baseline": slot(whitened),
    "rloo": slot(leave_one_out, keep_singletons=True),
    "rloo_vectorized": slot(leave_one_out),
    "opo": slot(length_weighted),
    "gpg": slot(gpg, count_rewarded=True),
    "gdpo": slot(normalized_then_whitened, ddof=1, eps=1e-6),
}
NO_DUAL_CLIP = 1e6
"""A bound of the ratio that nothing reaches; the dual clip has no switch."""


def recipe(**config: Any) -> Recipe:
    """The recipe that verl computes.

    Args:
      config: keys of `actor_rollout_ref.actor`, its `policy_loss`, `algorithm` and `rollout_correction`, with
        their groups or without; verl's own default of adv_estimator is "gae", here it is "grpo".

    Raises:
      ValueError: if a key is unknown, or a value is one that verl would refuse.

    >>> recipe(loss_mode="gspo").surrogate.kernel.__name__
    'gspo_token'
    """
    return DIALECT.recipe(**config)


def _clips(s: SimpleNamespace) -> dict[str, float]:
    """The bounds below and above 1; clip_ratio counts where one of the two is None."""
    return {
        "clip_low": s.clip_ratio if s.clip_ratio_low is None else s.clip_ratio_low,
        "clip_high": s.clip_ratio if s.clip_ratio_high is None else s.clip_ratio_high,
    }


def _cispo(s: SimpleNamespace) -> Slot:
    clips = _clips(s)
    return slot(cispo, min_ratio=1.0 - clips["clip_low"], max_ratio=1.0 + clips["clip_high"])


def _dro(s: SimpleNamespace) -> Slot:
    if s.dro_beta is None:
        raise ValueError("dro_beta: verl has no default for it; give a number")
    return slot(squared_ratio, beta=s.dro_beta)


def _dppo(s: SimpleNamespace, kernel: Callable[..., Term], **settings: float) -> Slot:
    clips = _clips(s)
    bounds = {"low": clips["clip_low"], "high": clips["clip_high"]}
    return slot(kernel, **bounds, max_ratio=s.clip_ratio_c, **settings)


def _clip_cov(s: SimpleNamespace) -> Slot:
    covariance = {"share": s.clip_cov_ratio, "cov_low": s.clip_cov_lb, "cov_high": s.clip_cov_ub}
    return slot(clip_cov, **covariance, **_clips(s))


class Mode(NamedTuple):
    """What a loss_mode decides.

    Attributes:
      surrogate: from all settings.
      level: over what stretch the ratio is taken.
      aggregate: the average that it forces, or None where loss_agg_mode decides.
      limits: of the levelled log-ratio, in nats.
    """

    surrogate: Callable[[SimpleNamespace], Slot]
    level: Callable[[Array, Array], Array] = token_level
    aggregate: Slot | None = None
    limits: tuple[float, float] = (-20.0, 20.0)


PER_COMPLETION = AGGREGATES["seq-mean-token-mean"]
EVERY_COMPLETION = slot(sequence_mean_token_mean, eps=1e-8)
FREE = (-inf, inf)
MODES = {
    "vanilla": Mode(lambda s: slot(dual_clipped, **_clips(s), max_ratio=s.clip_ratio_c)),
    "gspo": Mode(
        lambda s: slot(gspo_token, **_clips(s)), sequence_mean_level, PER_COMPLETION, limits=(-inf, 10.0)
    ),
    "sapo": Mode(
        lambda s: slot(sapo, tau_positive=s.tau_pos, tau_negative=s.tau_neg), aggregate=PER_COMPLETION
    ),
    "cispo": Mode(_cispo),
    "gpg": Mode(lambda s: slot(reinforce), limits=FREE),
    "geo_mean": Mode(lambda s: slot(geometric_mean_clipped, **_clips(s)), aggregate=EVERY_COMPLETION),
    "dro": Mode(_dro, limits=FREE),
    "dppo_tv": Mode(lambda s: _dppo(s, dppo_tv)),
    "dppo_kl": Mode(lambda s: _dppo(s, dppo_kl, eps=1e-8)),
    "clip_cov": Mode(_clip_cov, limits=FREE),
    "kl_cov": Mode(lambda s: slot(kl_cov, share=s.kl_cov_ratio, coef=s.ppo_kl_coef), limits=FREE),
}


def _build(s: SimpleNamespace) -> Recipe:
    mode: Mode = one_of("loss_mode", s.loss_mode, MODES)
    settings = vars(s)
    overlong = slot(soft_overlong, buffer=settings["overlong_buffer_cfg.len"] / s.max_response_length)
    return Recipe(
        reward=overlong if settings["overlong_buffer_cfg.enable"] else slot(task_reward),
        keep=slot(mixed_groups if settings["filter_groups.enable"] else all_groups),
        advantage=_advantage(s),
        level=mode.level,
        surrogate=mode.surrogate(s),
        penalty=one_of("kl_loss_type", s.kl_loss_type, PENALTIES),
        kl_coef=s.kl_loss_coef if s.use_kl_loss else 0.0,
        aggregate=mode.aggregate or one_of("loss_agg_mode", s.loss_agg_mode, AGGREGATES),
        source=DIALECT.version,
        corrections=_corrections(s),
        log_ratio_limits=mode.limits,
    )


def _advantage(s: SimpleNamespace) -> Slot:
    estimators = ESTIMATORS | {"reinforce_plus_plus": slot(discounted, gamma=s.gamma)}
    advantage: Slot = one_of("adv_estimator", s.adv_estimator, estimators)
    without_std = not s.norm_adv_by_std_in_grpo and s.adv_estimator in ("grpo", "grpo_vectorized")
    return slot(group_centered) if without_std else advantage


def _corrections(s: SimpleNamespace) -> tuple[Slot, ...]:
    if s.rollout_is is None:
        return ()
    level = one_of("rollout_is", s.rollout_is, {"token": token_level, "sequence": sequence_sum_level})
    if isinstance(s.rollout_is_threshold, str):
        low, high = map(float, s.rollout_is_threshold.split("_"))
        return (slot(masked, level=level, min_ratio=low, max_ratio=high, max_log_ratio=20.0),)
    return (slot(truncated, level=level, max_ratio=s.rollout_is_threshold, max_log_ratio=20.0),)


DIALECT = Dialect(
    name="verl",
    version="verl 1dda039b (2026-08-22)",
    defaults=DEFAULTS,
    build=_build,
    choices={
        "adv_estimator": tuple(ESTIMATORS),
        "norm_adv_by_std_in_grpo": (True, False),
        "clip_ratio_c": (3.0, NO_DUAL_CLIP),
        "loss_mode": tuple(mode for mode in MODES if mode != "dro"),  # whose beta has no default
        "loss_agg_mode": tuple(AGGREGATES),
        "use_kl_loss": (True, False),
        "kl_loss_type": ("k1", "abs", "k2", "low_var_kl", "k1+", "abs+", "k3+"),
        "rollout_is": (None, "token", "sequence"),
        "filter_groups.enable": (True, False),
    },
    others=OTHERS | OF_ROLLOUT,
    beyond=BEYOND,
    aliases=ALIASES,
    groups=GROUPS,
    ignored=IGNORED,
    always=("adv_estimator",),
    concepts=CONCEPTS,
    about=ABOUT,
    traps=TRAPS,
    calls=CALLS,
)
