"""What recorded cases of TRL hold: the entropy bonus, unscored completions, two mended bugs, and DPPO's mask."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.arrays import BATCH, TOKENS, Array, masked_mean
from grpo_ref.kernels.advantages import normalized_then_summed
from grpo_ref.kernels.surrogates import dppo_kl, dppo_top_kl, dppo_top_tv, dppo_tv, gspo_token
from grpo_ref.loss import policy_loss
from grpo_ref.mistakes.released import luspo_before_6654
from grpo_ref.recipes import slot
from grpo_ref.trainers import calls
from grpo_ref.trainers.dialect import Call, Dialect
from grpo_ref.trainers.trl.keys import GMPO
from grpo_ref.trainers.trl.quirks import top_entropy_in_float32
from grpo_ref.trainers.trl.scores import SCORED, scored_sum, scored_then_summed
from grpo_ref.types import Term


def loss(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """The loss of the first step, with its gradient; the entropy bonus is a constant, which has no gradient here.

    Args:
      dialect: TRL's.
      config: its keys.
      record: as in `grpo_ref.trainers.calls.loss`.

    Returns:
      "loss", "grad_logp", "metrics", "policy_loss" without the bonus, and "entropy_coef" after the step.
    """
    settings = dialect.settings(config)
    coefficient = 0.0 if settings.use_adaptive_entropy else settings.entropy_coef
    return _with_bonus(dialect, config, record, coefficient) | {"entropy_coef": _next(settings, record)}


def loss_of_the_next_step(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace
) -> dict[str, Any]:
    """The same after a step on the same batch, which has moved the coefficient of the bonus and nothing else."""
    settings = dialect.settings(config)
    coefficient = _next(settings, record)
    applied = coefficient if _entropy(settings, record) <= settings.entropy_target else 0.0
    later = SimpleNamespace(**vars(settings) | {"entropy_coef": coefficient})
    return _with_bonus(dialect, config, record, applied) | {"entropy_coef": _next(later, record)}


def _with_bonus(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace, coefficient: Any
) -> dict[str, Any]:
    settings = dialect.settings(config)
    numbers = calls.loss(dialect, {**config, "entropy_coef": 0.0}, record)
    if settings.trainer == GMPO:
        return numbers | {"loss": numbers["loss"] - _empty_at_one(record)}
    value = numbers["loss"]
    bonus = coefficient * _entropy(settings, record) if coefficient else 0.0
    return numbers | {"loss": value - bonus, "policy_loss": value}


def _empty_at_one(record: SimpleNamespace) -> Any:
    """What GMPO counts for completions without a token: a ratio of 1, which nothing moves."""
    empty = record.mask.sum(TOKENS) == 0.0
    return np.sum(record.advantages * empty) / empty.size


def _entropy(settings: SimpleNamespace, record: SimpleNamespace) -> Any:
    """The mean entropy of the tokens that the loss is about."""
    mask = record.mask
    if settings.top_entropy_quantile < 1.0:
        mask = mask * top_entropy_in_float32(record.entropies, mask, share=settings.top_entropy_quantile)
    return masked_mean(record.entropies, mask, axis=BATCH)


def _next(settings: SimpleNamespace, record: SimpleNamespace) -> Any:
    """The coefficient of the bonus after a step."""
    coefficient = settings.entropy_coef
    if not settings.use_adaptive_entropy:
        return coefficient
    if _entropy(settings, record) <= settings.entropy_target:
        return min(coefficient + settings.entropy_coef_delta, settings.entropy_coef_max)
    return max(coefficient - settings.entropy_coef_delta, settings.entropy_coef_min)


def advantages(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """The advantages; completions and rewards of None, which are NaN here, are left out of every mean.

    Args:
      dialect: TRL's.
      config: its keys.
      record: rewards (P, G), or components (P, G, K) with weights (K,); mask (P, G, T).

    Returns:
      "value" (P, G).

    Raises:
      ValueError: if there are not as many reward_weights as reward functions.
    """
    components, weights = functions(record)
    if given := dialect.settings(config).reward_weights:
        if len(given) != components.shape[-1]:
            raise ValueError(
                f"reward_weights: {len(given)} weights for {components.shape[-1]} reward functions"
            )
    part = dialect.recipe(**config).advantage
    if not np.isnan(components).any():
        return calls.advantages(dialect, config, SimpleNamespace(**vars(record) | _as_functions(record)))
    if part.kernel is normalized_then_summed:
        return {"value": scored_then_summed(components, weights, **part.settings)}
    return {"value": SCORED[part.kernel](scored_sum(components * weights), **part.settings)}


def functions(record: SimpleNamespace) -> tuple[Array, Array]:
    """(P, G, K) what each reward function says, and (K,) its weight; one function where only sums are given."""
    found = _as_functions(record)
    return found["components"], found["weights"]


def _as_functions(record: SimpleNamespace) -> dict[str, Array]:
    if hasattr(record, "components"):
        return {"components": record.components, "weights": record.weights}
    return {"components": record.rewards[..., None], "weights": np.ones(1, dtype=record.rewards.dtype)}


DIVERGENCES: dict[str, Callable[..., Term]] = {
    "binary_tv": dppo_tv,
    "binary_kl": dppo_kl,
    "topk_tv": dppo_top_tv,
    "topk_kl": dppo_top_kl,
}
"""The values of `divergence_type` in TRL's experimental DPPO trainer."""


def _divergence_mask(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """1 where DPPO keeps a token; the configuration is that of the experimental DPPO trainer."""
    kernel = DIVERGENCES[config["divergence_type"]]
    tops = (record.top_log_probs, record.top_old_log_probs) if "topk" in config["divergence_type"] else ()
    arrays = (record.log_probs - record.old_log_probs, record.log_probs, *tops, record.advantages[..., None])
    kept = kernel(*arrays, low=config["epsilon_low"], high=config["epsilon_high"]).direct != 0.0
    return {"value": kept * record.mask}


def _gspo_token(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """The experimental trainer of GSPO-token, which 1.16.0 has no more; its level was "sequence_token"."""
    recipe = dialect.recipe(**{**config, "importance_sampling_level": "sequence"})
    recipe = replace(recipe, surrogate=slot(gspo_token, **recipe.surrogate.settings))
    arrays = (record.log_probs, record.advantages, record.mask)
    result = policy_loss(*arrays, recipe=recipe, old_log_probs=record.old_log_probs)
    return {"loss": result.loss, "grad_logp": result.gradient}


def _luspo_before_6654(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace
) -> dict[str, Any]:
    clips = dialect.recipe(**config).surrogate.settings
    arrays = (record.log_probs, record.old_log_probs, record.advantages[..., None], record.mask)
    return dict(zip(("loss", "grad_logp"), luspo_before_6654(*arrays, **clips), strict=True))


def _loss_before_6024(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Gradient accumulation was not made up for."""
    forgotten = ("gradient_accumulation_steps", "steps_per_generation")
    return loss(dialect, {key: value for key, value in config.items() if key not in forgotten}, record)


CALLS: dict[str, Call] = {
    "loss": loss,
    "loss of the next step": loss_of_the_next_step,
    "advantages": advantages,
    "advantages of partly scored groups": advantages,
    "divergence mask": _divergence_mask,
    "loss of GSPO-token": _gspo_token,
    "loss before PR #6024": _loss_before_6024,
    "loss before PR #6654": _luspo_before_6654,
}
"""What TRL's recorded cases hold, and other trainers' do not or otherwise."""
