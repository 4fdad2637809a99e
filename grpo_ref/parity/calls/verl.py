"""Compute verl's recorded cases: the trainer's inputs to the actor, and the actor's calls of a loss."""

import math
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from grpo_ref.advantages import discounted, normalized_then_whitened, whitened
from grpo_ref.aggregation import token_mean, token_sum_over
from grpo_ref.arrays import Array, Floats, where_mask
from grpo_ref.explain.dialect import BONUS, Dialect
from grpo_ref.explain.dialects.verl.correction import inner, weighs, weights_of
from grpo_ref.explain.dialects.verl.kernels import geometric_mean_weight, returned_with_penalty
from grpo_ref.explain.penalty_in_reward import penalized
from grpo_ref.explain.settings import Settings
from grpo_ref.filters import all_completions
from grpo_ref.loss import policy_loss
from grpo_ref.parity.calls.common import OPTIONAL
from grpo_ref.parity.calls.common import advantages as advantages_of
from grpo_ref.parity.calls.common import correction as correction_of
from grpo_ref.parity.measured import Call
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.surrogates import clip_cov_eligible, kl_cov


def as_actor(settings: Settings, recipe: Recipe, record: SimpleNamespace) -> tuple[Recipe, SimpleNamespace]:
    """Return the recipe and record that verl's actor is given, after bypass mode, weights and rejection.

    The weights are those of the sampled tokens. Rejected tokens are masked out after that, also for the
    penalty and the advantages. verl's V1 trainer counts the tokens for token-mean before the rejection, its
    legacy trainer after it.

    Args:
      settings: every key with its value.
      recipe: recipe of the configuration.
      record: the arrays of a recorded case.

    Returns:
      The recipe with known weights, and the record with the remaining mask.

    Raises:
      ValueError: if there is no token to correct, or none has a weight.
    """
    recipe, record = _after_trainer(settings, recipe, record)
    if settings.loss_mode == "bypass_mode":
        learner = record.log_probs
        sampler = getattr(record, "old_log_probs", learner)
        _check_weights(Settings(inner(settings)), learner, sampler, record.mask)
    return recipe, record


def _after_trainer(
    settings: Settings, recipe: Recipe, record: SimpleNamespace
) -> tuple[Recipe, SimpleNamespace]:
    if not hasattr(record, "rollout_log_probs"):
        return recipe, record
    if settings.bypass_mode:
        return recipe, bypassed(record)
    _check_weights(settings, record.old_log_probs, record.rollout_log_probs, record.mask)
    drawn, tokens = record, record.mask.sum()
    if recipe.admit.kernel is not all_completions:
        record = SimpleNamespace(**vars(record) | {"mask": record.mask * recipe.admit(record)})
        if settings["trainer.use_v1"]:
            recipe = _over(recipe, tokens)
    anew = settings.loss_mode == "bypass_mode"
    weights = recipe.corrections if anew else tuple(_known(part, drawn) for part in recipe.corrections)
    return replace(recipe, corrections=weights), record


def bypassed(record: SimpleNamespace) -> SimpleNamespace:
    """Return the record with the sampler's log-probabilities, if there are any, instead of the old ones."""
    fields = dict(vars(record))
    if "rollout_log_probs" in fields:
        fields["old_log_probs"] = fields.pop("rollout_log_probs")
    return SimpleNamespace(**fields)


def _check_weights(settings: Settings, learner: Array, sampler: Array, mask: Array) -> None:
    """Raise a ValueError if there are no tokens, or if no token has a weight."""
    if not np.any(mask):
        raise ValueError("mask: verl's rollout correction needs at least one token")
    if not weighs(settings):
        return
    weights = weights_of(settings)(old_log_probs=learner, rollout_log_probs=sampler, mask=mask)
    if not np.any(where_mask(mask, weights)):
        raise ValueError(
            f"rollout_is_threshold: no token is inside {settings.rollout_is_threshold!r}; verl logs the effective"
            " sample size of the weights, divides by 0 and stops"
        )


def known(mask: Array, *, weights: Array) -> Array:
    """Return weights that are already known; 0 on padding."""
    return where_mask(mask, weights)


def _known(part: Slot, drawn: SimpleNamespace) -> Slot:
    """Return a part with the weights of the sampled tokens. GMPO's mean is over the remaining ones."""
    if part.kernel is geometric_mean_weight:
        return slot(geometric_mean_weight, weights=_known(part.settings["weights"], drawn))
    return slot(known, weights=part(drawn))


def _over(recipe: Recipe, tokens: float) -> Recipe:
    """Return the recipe with means over this number of tokens instead of the remaining ones."""
    fixed = slot(token_sum_over, tokens=float(tokens))
    if recipe.aggregate.kernel is token_mean:
        recipe = replace(recipe, aggregate=fixed)
    if recipe.penalty_aggregate is not None and recipe.penalty_aggregate.kernel is token_mean:
        recipe = replace(recipe, penalty_aggregate=fixed)
    return recipe


def _loss(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss, its gradient and its metrics. The entropy bonus is averaged as the penalty is."""
    recipe, record = as_actor(dialect.settings(config), dialect.recipe(**config), record)
    _check_choice(recipe, record.mask)
    length = next(iter(dialect.budget(config).values()), None)
    given = {name: value for name, value in vars(record).items() if name in OPTIONAL}
    result = policy_loss(
        record.log_probs, record.advantages, record.mask, recipe=recipe, max_length=length, **given
    )
    loss, bonus = result.loss + of_none(recipe.aggregate, record.mask), dialect.concept(BONUS, config, 0.0)
    if recipe.kl_coef:
        loss = loss + of_none(recipe.penalty_aggregate or recipe.aggregate, record.mask)
    if bonus:
        loss = loss - bonus * average(recipe, record.entropies, record.mask, length)
    return {"loss": loss, "grad_logp": result.gradient, "metrics": result.metrics}


def _check_choice(recipe: Recipe, mask: Array) -> None:
    """Raise a ValueError if KL-Cov would choose more tokens than there are."""
    share, tokens = recipe.surrogate.settings.get("share", 0.0), int(np.sum(mask))
    if recipe.surrogate.kernel is kl_cov and tokens and int(tokens * share) > tokens:
        raise ValueError(
            f"kl_cov_ratio: {share} of {tokens} tokens are more than there are; verl's topk fails"
        )


def average(recipe: Recipe, values: Floats, mask: Floats, length: int | None) -> Any:
    """Sum values with the weights of the penalty: the average that loss_agg_mode selects."""
    weighing = replace(recipe, aggregate=recipe.penalty_aggregate or recipe.aggregate)
    total = (weighing.weights(mask, max_length=length) * where_mask(mask, values)).sum()
    return total + of_none(weighing.aggregate, mask)


def of_none(aggregate: Slot, mask: Floats) -> float:
    """Return NaN if a mean over tokens has none to divide by, else 0. verl's gradient is 0 there."""
    return math.nan if aggregate.kernel is token_mean and not np.any(mask) else 0.0


def _alone(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss of `agg_loss` without a batch size, as no actor calls it.

    Empty completions are not counted.
    """
    recipe = dialect.recipe(**config)
    present = record.mask.max(-1, initial=0.0)
    scale = present.size / present.sum() if "seq-mean" in dialect.settings(config).loss_agg_mode else 1.0
    numbers = _loss(dialect, config, record)
    assert recipe.corrections == ()
    return numbers | {name: numbers[name] * scale for name in ("loss", "grad_logp")}


def _shuffled_loss(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the loss after torch.manual_seed(record.seed)."""
    recipe = dialect.recipe(**config)
    _, left = as_actor(dialect.settings(config), recipe, record)
    return _loss(dialect, config, SimpleNamespace(**vars(record) | {"noise": torch_noise(recipe, left)}))


def torch_noise(recipe: Recipe, record: SimpleNamespace) -> Floats:
    """Return noise that makes clip-cov choose as torch.randperm does: the first tokens get the least noise."""
    settings = {name: value for name, value in recipe.surrogate.settings.items() if name != "share"}
    log_ratio = record.log_probs - record.old_log_probs
    advantages = np.broadcast_to(record.advantages.reshape(*record.mask.shape[:2], -1), record.mask.shape)
    places = np.flatnonzero(
        clip_cov_eligible(log_ratio, record.log_probs, advantages, record.mask, **settings)
    )
    noise = np.ones(record.mask.size)
    noise[places[torch_permutation(len(places), record.seed)]] = np.arange(len(places)) / max(len(places), 1)
    return noise.reshape(record.mask.shape)


def torch_permutation(size: int, seed: int) -> list[int]:
    """Compute torch.randperm(size) on the CPU: a shuffle by the raw 32-bit numbers of a Mersenne twister."""
    draws = np.random.RandomState(seed).randint(0, 2**32, size=size, dtype=np.uint32)
    order = list(range(size))
    for place in range(size - 1):
        other = place + int(draws[place]) % (size - place)
        order[place], order[other] = order[other], order[place]
    return order


def _advantages(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the advantages.

    verl refuses to whiten fewer than two tokens. In bypass mode the sampler is the old policy.
    """
    if _whitens(dialect.recipe(**config).advantage) and record.mask.sum() < 2:
        raise ValueError("mask: verl's masked_whiten needs at least two tokens")
    if dialect.settings(config).bypass_mode:
        record = bypassed(record)
    return advantages_of(dialect, config, record)


def _whitens(advantage: Slot) -> bool:
    part = advantage.settings["scores"] if advantage.kernel is penalized else advantage
    return part.kernel in (whitened, discounted, normalized_then_whitened, returned_with_penalty)


def _correction(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the weights for the sampler's mismatch. At least one must be above 0."""
    _check_weights(dialect.settings(config), record.old_log_probs, record.rollout_log_probs, record.mask)
    return correction_of(dialect, config, record)


def _rewards(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """Return the rewards after the reward manager, from rewards (P, G) and mask (P, G, T), as "value"."""
    shaped = SimpleNamespace(rewards=record.rewards, lengths=record.mask.sum(-1))
    return {"value": dialect.recipe(**config).reward(shaped)}


CALLS: dict[str, Call] = {
    "loss": _loss,
    "loss with torch's shuffle": _shuffled_loss,
    "loss of agg_loss alone": _alone,
    "advantages": _advantages,
    "correction": _correction,
    "rewards": _rewards,
}
"""Calls of verl's recorded cases. They replace the common calls of these names, or are added to them."""
