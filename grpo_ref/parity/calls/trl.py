"""Compute the recorded cases of TRL: micro-batches, the bonus, unscored completions, fixed bugs, and DPPO's mask."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.advantages import normalized_then_summed
from grpo_ref.arrays import BATCH, TOKENS, Array, masked_sum
from grpo_ref.check.mistakes.released import luspo_before_6654
from grpo_ref.explain.dialect import Dialect
from grpo_ref.explain.dialects.trl.kernels import top_entropy_in_float32
from grpo_ref.explain.dialects.trl.keys import GMPO, WINDOW_LOSSES
from grpo_ref.explain.settings import Settings
from grpo_ref.loss import policy_loss
from grpo_ref.parity.calls import common
from grpo_ref.parity.calls.trl_scores import SCORED, scored_sum, scored_then_summed
from grpo_ref.parity.measured import Call
from grpo_ref.recipes import slot
from grpo_ref.surrogates import dppo_kl, dppo_top_kl, dppo_top_tv, dppo_tv, gspo_token
from grpo_ref.types import Term


def loss(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss of a generation batch before any step, in one piece.

    The bonus is a constant without gradient.

        (loss - bonus) steps / accumulated

    The micro-batches add up to this, except for losses that depend on the split: a mean over the tokens of
    each.

    Args:
      dialect: dialect of TRL.
      config: configuration in its keys.
      record: as in `grpo_ref.parity.calls.common.loss`.

    Returns:
      "loss", "grad_logp", "metrics", "policy_loss" without the bonus, and "entropy_coef" after the step.
    """
    settings = dialect.settings(config)
    _check_groups(dialect, config, record)
    numbers = _in_one_piece(dialect, config, record, _coefficient(settings))
    entropy = _entropy(settings, record) if settings.use_adaptive_entropy else 0.0
    return numbers | {"entropy_coef": _next(settings, entropy)}


def _check_groups(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> None:
    """Raise a ValueError if num_generations is given and does not divide the generation batch."""
    size, completions = dialect.settings(config).num_generations, int(np.prod(record.mask.shape[:2]))
    if "num_generations" in dialect.given(config) and completions % size:
        raise ValueError(
            f"num_generations={size} does not divide the generation batch of {completions} completions."
        )


def loss_of_the_next_step(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace
) -> dict[str, Any]:
    """Return `loss` after a step on the same batch that only changed the coefficient of the bonus."""
    settings = dialect.settings(config)
    entropy = _entropy(settings, record)
    coefficient = _next(settings, entropy)
    applied = coefficient if entropy <= settings.entropy_target else 0.0
    later = settings.replaced(entropy_coef=coefficient)
    return _in_one_piece(dialect, config, record, applied) | {"entropy_coef": _next(later, entropy)}


def loss_of_a_generation_batch(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace
) -> dict[str, Any]:
    """Sum the losses of a generation batch's micro-batches before any step, split in the order of the completions.

    Args:
      dialect: dialect of TRL.
      config: configuration in its keys.
      record: as in `loss`.

    Returns:
      "loss", "grad_logp", and "micro_batches", each with its numbers, over which TRL averages its metrics;
      "entropy_coef" as in `_after`.

    Raises:
      ValueError: if the completions cannot be split into micro-batches of equal size, or into groups.
    """
    _check_groups(dialect, config, record)
    settings, items = dialect.settings(config), record.mask.sum()
    parts = _micro_batches(record, _steps(settings))
    done = [_accumulated(dialect, config, part, items) for part in parts]
    gradient = np.concatenate([numbers["grad_logp"] for numbers in done])
    return {
        "loss": sum(numbers["loss"] for numbers in done),
        "grad_logp": gradient.reshape(record.log_probs.shape),
        "micro_batches": list(zip(parts, done, strict=True)),
    } | _after(settings, parts)


def loss_of_a_micro_batch(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace
) -> dict[str, Any]:
    """Return the contribution of one micro-batch to the loss of its step, as TRL's `_compute_loss` does in training.

    Args:
      dialect: dialect of TRL.
      config: configuration in its keys.
      record: as in `loss`, for the micro-batch alone; and num_items_in_batch, the number of tokens of its
        generation batch divided by the number of processes. Without it, the generation batch has no other
        tokens.

    Returns:
      "loss", "grad_logp", "metrics", "policy_loss"; "entropy_coef" as in `_after`.
    """
    items = getattr(record, "num_items_in_batch", record.mask.sum())
    return _accumulated(dialect, config, record, items) | _after(dialect.settings(config), [record])


def loss_in_evaluation(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace
) -> dict[str, Any]:
    """Return the loss of a batch in an evaluation, which is neither split nor accumulated."""
    apart = {"gradient_accumulation_steps": 1, "steps_per_generation": None}
    return loss_of_a_micro_batch(dialect, {**config, **apart}, record)


def _coefficient(settings: Settings) -> float:
    """Return the coefficient of the bonus in the first step."""
    return 0.0 if settings.use_adaptive_entropy else float(settings.entropy_coef)


def _in_one_piece(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace, coefficient: Any
) -> dict[str, Any]:
    settings = dialect.settings(config)
    scale = _steps(settings) / settings.gradient_accumulation_steps
    numbers, bonus = _without_bonus(dialect, config, record), 0.0
    if coefficient and settings.trainer != GMPO:
        bonus = coefficient * _entropy(settings, record)
    value, gradient = numbers["loss"], scale * numbers["grad_logp"]
    logged = scale * value if settings.loss_type in WINDOW_LOSSES else value
    return numbers | {"loss": scale * (value - bonus), "grad_logp": gradient, "policy_loss": logged}


def _accumulated(
    dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace, items: Any
) -> dict[str, Any]:
    """Return the contribution of a micro-batch to the loss of its step.

        (share loss - bonus) / accumulated,    share = steps tokens / items  for the losses of `WINDOW_LOSSES`, else 1

    `accumulated` is gradient_accumulation_steps, `steps` the number of micro-batches of the generation batch,
    `items` its number of tokens, and `tokens` the number of tokens of the micro-batch, over which the loss is
    a mean.
    """
    settings = dialect.settings(config)
    accumulated, windowed = settings.gradient_accumulation_steps, False
    numbers, bonus = _without_bonus(dialect, config, record), 0.0
    if settings.trainer != GMPO:
        windowed = settings.loss_type in WINDOW_LOSSES
        coefficient = _coefficient(settings)
        bonus = coefficient * _entropy(settings, record) if coefficient else 0.0
    share = _steps(settings) * max(record.mask.sum(), 1.0) / max(items, 1.0) if windowed else 1.0
    value, gradient = share * numbers["loss"], share * numbers["grad_logp"]
    return numbers | {
        "loss": (value - bonus) / accumulated,
        "grad_logp": gradient / accumulated,
        "policy_loss": value / accumulated if windowed else value,
    }


def _without_bonus(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    numbers = common.loss(dialect, {**config, "entropy_coef": 0.0}, record)
    if dialect.settings(config).trainer != GMPO:
        return numbers
    return numbers | {"loss": numbers["loss"] - _empty_at_one(record)}


def _steps(settings: Settings) -> int:
    """Return the number of micro-batches of a generation batch."""
    steps: int | None = settings.steps_per_generation
    return int(settings.gradient_accumulation_steps if steps is None else steps)


def _micro_batches(record: SimpleNamespace, steps: int) -> list[SimpleNamespace]:
    """Split the completions, in order, into parts of equal size.

    Each part is one row of (1, size, ...) arrays.
    """
    if steps == 1:
        return [record]
    completions = record.mask.shape[0] * record.mask.shape[1]
    if completions % steps:
        raise ValueError(
            f"steps_per_generation: {completions} completions cannot be split into {steps} equal micro-batches"
        )
    parts = {
        name: array.reshape(steps, 1, completions // steps, *array.shape[2:])
        for name, array in vars(record).items()
        if np.ndim(array) > 1
    }
    return [
        SimpleNamespace(**{name: array[place] for name, array in parts.items()}) for place in range(steps)
    ]


def _empty_at_one(record: SimpleNamespace) -> Any:
    """Return GMPO's term for completions without tokens: their ratio is 1, without a gradient."""
    empty = record.mask.sum(TOKENS) == 0.0
    return np.sum(record.advantages * empty) / empty.size


def _entropy(settings: Settings, *parts: SimpleNamespace) -> Any:
    """Return the mean entropy of the tokens in the loss of these micro-batches."""
    masks = [acted_on(settings, part) for part in parts]
    total = sum(masked_sum(part.entropies, mask, axis=BATCH) for part, mask in zip(parts, masks, strict=True))
    return total / max(sum(mask.sum() for mask in masks), 1.0)


def acted_on(settings: Settings, record: SimpleNamespace) -> Array:
    """Return the mask without the tokens that top_entropy_quantile excludes from a micro-batch."""
    if settings.top_entropy_quantile == 1.0:
        return record.mask
    return record.mask * top_entropy_in_float32(
        record.entropies, record.mask, share=settings.top_entropy_quantile
    )


def _after(settings: Settings, parts: list[SimpleNamespace]) -> dict[str, Any]:
    """Return "entropy_coef", the coefficient of the bonus after a step.

    An adaptive one needs parts that form a step.
    """
    if not settings.use_adaptive_entropy:
        return {"entropy_coef": settings.entropy_coef}
    is_step = len(parts) == settings.gradient_accumulation_steps
    return {"entropy_coef": _next(settings, _entropy(settings, *parts))} if is_step else {}


def _next(settings: Settings, entropy: Any) -> Any:
    """Return the coefficient of the bonus after a step with this mean entropy."""
    coefficient = settings.entropy_coef
    if not settings.use_adaptive_entropy:
        return coefficient
    if entropy <= settings.entropy_target:
        return min(coefficient + settings.entropy_coef_delta, settings.entropy_coef_max)
    return max(coefficient - settings.entropy_coef_delta, settings.entropy_coef_min)


def advantages(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the advantages. Completions and rewards of None (here NaN) are excluded from every mean.

    Args:
      dialect: dialect of TRL.
      config: configuration in its keys.
      record: rewards (P, G), or components (P, G, C) with weights (C,); mask (P, G, T).

    Returns:
      "value" (P, G).

    Raises:
      ValueError: if the number of reward_weights differs from the number of reward functions.
    """
    components, weights = functions(record)
    if given := dialect.settings(config).reward_weights:
        if len(given) != components.shape[-1]:
            raise ValueError(
                f"reward_weights: {len(given)} weights for {components.shape[-1]} reward functions"
            )
    part = dialect.recipe(**config).advantage
    if not np.isnan(components).any():
        return common.advantages(dialect, config, SimpleNamespace(**vars(record) | _as_functions(record)))
    if part.kernel is normalized_then_summed:
        return {"value": scored_then_summed(components, weights, **part.settings)}
    return {"value": SCORED[part.kernel](scored_sum(components * weights), **part.settings)}


def functions(record: SimpleNamespace) -> tuple[Array, Array]:
    """Return the score of each reward function, (P, G, C), and its weight, (C,).

    A plain sum counts as one function.
    """
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
    """Return 1 where DPPO keeps a token. The configuration is that of the experimental DPPO trainer."""
    kernel = DIVERGENCES[config["divergence_type"]]
    tops = (record.top_log_probs, record.top_rollout_log_probs) if "topk" in config["divergence_type"] else ()
    # TRL's old log-probabilities are those of the sampler in this trainer
    arrays = (record.log_probs, record.old_log_probs, *tops, record.advantages[..., None])
    kept = kernel(*arrays, low=config["epsilon_low"], high=config["epsilon_high"]).direct != 0.0
    return {"value": kept * record.mask}


def _gspo_token(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss of the experimental trainer for GSPO-token, with level "sequence_token".

    TRL 1.16.0 removed it.
    """
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
    """Return the loss of versions that did not compensate for gradient accumulation."""
    forgotten = ("gradient_accumulation_steps", "steps_per_generation")
    return loss(dialect, {key: value for key, value in config.items() if key not in forgotten}, record)


CALLS: dict[str, Call] = {
    "loss": loss,
    "loss of the next step": loss_of_the_next_step,
    "loss of a generation batch": loss_of_a_generation_batch,
    "loss of a micro-batch": loss_of_a_micro_batch,
    "loss in evaluation": loss_in_evaluation,
    "advantages": advantages,
    "advantages of partly scored groups": advantages,
    "divergence mask": _divergence_mask,
    "loss of GSPO-token": _gspo_token,
    "loss before PR #6024": _loss_before_6024,
    "loss before PR #6654": _luspo_before_6654,
}
"""Calls of TRL's recorded cases that other trainers' cases do not have, or that differ there."""
