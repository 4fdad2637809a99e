"""What verl alone does: how its actor calls a loss, which tokens it rejects, and kernels of its own."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import (
    BATCH,
    MEMBERS,
    TOKENS,
    Array,
    Floats,
    array_namespace,
    is_set,
    masked_mean,
    where_mask,
)
from grpo_ref.kernels.advantages import discounted, normalized_then_whitened, whitened
from grpo_ref.kernels.aggregation import token_mean, token_sum_over
from grpo_ref.kernels.filters import all_completions, mixed_groups
from grpo_ref.kernels.levels import token_level
from grpo_ref.kernels.penalties import k3
from grpo_ref.kernels.rewards import soft_overlong
from grpo_ref.kernels.surrogates import clip_cov_eligible, geometric_mean_clipped
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import Recipe, Slot, slot
from grpo_ref.trainers.calls import OPTIONAL
from grpo_ref.trainers.calls import advantages as advantages_of
from grpo_ref.trainers.dialect import BONUS, Call, Dialect
from grpo_ref.types import Term

SAFETY_BOUND = 20.0
"""Log-ratios of learner to sampler are limited to this, in nats."""
SMALLEST_MEAN = 1e-8
"""Weights whose mean is smaller are not divided by it."""


# ---- kernels ---------------------------------------------------------------------------------------


def limited_k3(log_probs: Array, ref_log_probs: Array) -> Term:
    """k3 as verl has it: the log-ratio is limited to ± 20, and then the value to 10.

    Args:
      log_probs, ref_log_probs: (P, G, T) in nats.

    verl `kl_penalty_forward`.
    """
    return k3(log_probs, ref_log_probs, max_log_ratio=SAFETY_BOUND, max_value=10.0)


def geometric_mean_per_token(
    log_ratio: Array, advantages: Array, mask: Array, *, clip_low: float = 0.2, clip_high: float = 0.2
) -> Term:
    """GMPO's ratio times the mean of a completion's advantages; each token is clipped by the sign of its own.

        s = mean(A) exp(1/|o| Σₜ zₜ),   zₜ as in `geometric_mean_clipped`, and 0 where Aₜ = 0

    With one advantage per completion it is `geometric_mean_clipped`.

    Args:
      log_ratio, advantages, mask, clip_low, clip_high: as there; advantages may differ along a completion.

    verl `compute_policy_loss_geo_mean`.
    """
    xp = array_namespace(log_ratio, advantages, mask)
    good, bad = advantages > 0.0, advantages < 0.0
    idle = (advantages == 0.0) | (good & (log_ratio > clip_high)) | (bad & (log_ratio < -clip_low))
    held = xp.where(advantages == 0.0, 0.0, xp.clip(log_ratio, -clip_low, clip_high))
    mean = masked_mean(xp.where(idle, held, log_ratio), mask, axis=TOKENS, keepdims=True)
    scale = masked_mean(advantages, mask, axis=TOKENS, keepdims=True)
    value = xp.exp(mean) * scale + xp.zeros_like(log_ratio)
    return Term(value=value, slope=xp.where(idle, 0.0, value))


def overlong_in_tokens(
    rewards: Array, lengths: Array, *, buffer: int, budget: int, factor: float = 1.0
) -> Array:
    """The reward less a punishment that grows over the last tokens of the budget, and beyond it.

        r + min(0, factor ((L - B) - |o|) / B),    L = budget, B = buffer

    Args:
      rewards: (P, G).
      lengths: (P, G) tokens of each completion.
      buffer, budget: B and L in tokens, 0 < B <= L; budget is max_resp_len, which need not be the length that
        ends a completion.
      factor: the punishment of a completion of L tokens.

    Raises:
      ValueError: if buffer or budget is out of range.

    verl `DAPORewardManager`; DAPO, eq. 13, ends at -1.
    """
    if not 0 < buffer <= budget:
        raise ValueError(f"overlong_buffer: expected 0 < len <= max_resp_len, got {buffer} and {budget}")
    return rewards + array_namespace(rewards, lengths).clip(
        (budget - buffer - lengths) / buffer * factor, None, 0.0
    )


def groups_with_a_std(rewards: Array) -> Array:
    """Only groups whose standard deviation is not 0, as NumPy computes it: of three times 0.1 it is 1e-17.

        keep = std(r) ≠ 0

    Args:
      rewards: (P, G), one row per prompt.

    Returns:
      (P,) True where the group takes part; where rounding leaves nothing, it is `mixed_groups`.

    verl `replay_buffer.py`.
    """
    xp = array_namespace(rewards)
    deviation: Array = xp.std(rewards, axis=MEMBERS)
    return deviation != 0.0


class Bound(NamedTuple):
    """One condition of a rejection.

    Attributes:
      option: over what (token, seq_sum, seq_mean or seq_max), and the estimator, as in "seq_mean_k3".
      low, high: what is kept, both included; k1 is a log-ratio in nats.
    """

    option: str
    low: float
    high: float


def close_to_sampler(
    old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, bounds: tuple[Bound, ...]
) -> Array:
    """Only tokens, or completions, on which learner and sampler agree take part; the others leave the mask.

        kept where low <= D <= high for every bound,    D of v = log πrollout - log πold:
        k1 = v,  k2 = v² / 2,  k3 = e⁻ᵛ - 1 + v,   of the token, or its sum, mean or maximum over the completion

    Args:
      old_log_probs, rollout_log_probs: (P, G, T) in nats; a token that the sampler reports as NaN is not kept.
      mask: (P, G, T) 1 on completion tokens.
      bounds: all of them have to hold.

    Returns:
      (P, G, T) True where a token is kept.

    verl `compute_rollout_rejection_mask`.
    """
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    kept = is_set(mask)
    for bound in bounds:
        far = divergence(old_log_probs, rollout_log_probs, mask, option=bound.option)
        kept = kept & xp.broadcast_to((far >= bound.low) & (far <= bound.high), kept.shape)
    return kept


def divergence(old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, option: str) -> Array:
    """How far sampler and learner are apart, (P, G, T) per token or (P, G, 1) per completion."""
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    v = xp.clip(where_mask(mask, rollout_log_probs - old_log_probs), -SAFETY_BOUND, SAFETY_BOUND)
    over, _, estimator = option.rpartition("_")
    each = {"k1": v, "k2": 0.5 * v**2, "k3": xp.exp(-v) - 1.0 + v}[estimator]
    each = where_mask(mask, each)
    if over == "token":
        return each
    if over == "seq_mean":
        return masked_mean(each, mask, axis=TOKENS, keepdims=True)
    return (xp.sum if over == "seq_sum" else xp.max)(each, axis=TOKENS, keepdims=True)


def mean_one(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    weights: Slot,
    level: Callable[[Array, Array], Array] = token_level,
) -> Array:
    """Weights of the sampler's mismatch, divided by their mean over the batch.

        w / mean(w),    over the tokens, or over the completions that have any where each has one weight

    Args:
      old_log_probs, rollout_log_probs, mask: as in `truncated`.
      weights: `truncated` or `masked` with their settings.
      level: of the weights; `token_level` says that the mean is over tokens.

    Returns:
      (P, G, T) weights; they stay as they are where their mean is below 1e-8.

    verl `rollout_is_batch_normalize`.
    """
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    each = weights(old_log_probs=old_log_probs, rollout_log_probs=rollout_log_probs, mask=mask)
    if level is token_level:
        mean = masked_mean(each, mask, axis=BATCH, keepdims=True)
    else:
        alone = masked_mean(each, mask, axis=TOKENS, keepdims=True)
        present = xp.max(xp.astype(is_set(mask), each.dtype), axis=TOKENS, keepdims=True)
        mean = masked_mean(alone, present, axis=BATCH, keepdims=True)
    return each / xp.where(mean > SMALLEST_MEAN, mean, 1.0)


def geometric_mean_weight(
    old_log_probs: Array, rollout_log_probs: Array, mask: Array, *, weights: Slot
) -> Array:
    """One weight per completion: the geometric mean of its tokens' weights.

        exp(1/|o| Σₜ log(wₜ + 1e-10))

    A token that a window drops makes the weight of its completion 1e-10 to the power of its share; it does not
    make it 0.

    Args:
      old_log_probs, rollout_log_probs, mask: as in `truncated`.
      weights: the tokens' weights.

    Returns:
      (P, G, T) weights, constant over each completion.

    verl `compute_policy_loss_geo_mean`.
    """
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    each = weights(old_log_probs=old_log_probs, rollout_log_probs=rollout_log_probs, mask=mask)
    mean = masked_mean(xp.log(each + 1e-10), mask, axis=TOKENS, keepdims=True)
    return xp.exp(mean) + xp.zeros_like(each)


def afresh(log_probs: Array, old_log_probs: Array, mask: Array, *, part: Slot) -> Array:
    """Weights of how far the policy at hand, not the old one, is from the sampler, taken anew at each step.

    Args:
      log_probs: (P, G, T) of the policy that is trained, held constant, in the place of the learner's.
      old_log_probs: (P, G, T) in the place of the sampler's, which they are in bypass mode.
      mask: (P, G, T) 1 on completion tokens.
      part: a correction.

    verl `compute_policy_loss_bypass_mode`.
    """
    weights: Array = part(old_log_probs=log_probs, rollout_log_probs=old_log_probs, mask=mask)
    return weights


def share_of_kept(
    old_log_probs: Array,
    rollout_log_probs: Array,
    mask: Array,
    *,
    bounds: tuple[Bound, ...],
    per_length: bool = False,
) -> Array:
    """1 on the tokens that `close_to_sampler` keeps and 0 on the others; the penalty keeps them all.

    Args:
      old_log_probs, rollout_log_probs, mask, bounds: as there.
      per_length: whether an average per completion is meant, which divides by the tokens that are kept.

    verl `compute_policy_loss_bypass_mode`.
    """
    xp = array_namespace(old_log_probs, rollout_log_probs, mask)
    kept = close_to_sampler(old_log_probs, rollout_log_probs, mask, bounds=bounds)
    weights = xp.astype(kept, old_log_probs.dtype)
    if not per_length:
        return weights
    share = masked_mean(weights, mask, axis=TOKENS, keepdims=True)
    return weights / xp.where(share > 0.0, share, 1.0)


def known(mask: Array, *, weights: Array) -> Array:
    """Weights that are known already; 0 on padding."""
    return where_mask(mask, weights)


FORMS: dict[Callable[..., Any], Callable[..., Any]] = {
    geometric_mean_per_token: geometric_mean_clipped,
    overlong_in_tokens: soft_overlong,
    groups_with_a_std: mixed_groups,
}
"""verl's own kernels, with the common ones that they are forms of."""


# ---- the actor -------------------------------------------------------------------------------------


def as_actor(
    settings: SimpleNamespace, recipe: Recipe, record: SimpleNamespace
) -> tuple[Recipe, SimpleNamespace]:
    """What verl's actor is given: after bypass mode, weights and rejection.

    The weights are of the tokens that were drawn; rejected tokens are masked out after that, for the penalty and
    the advantages too. verl's V1 trainer counts the tokens for token-mean before the rejection, its legacy trainer
    after it.

    Args:
      settings: every key with its value.
      recipe: the configuration's.
      record: the arrays of a recorded case.

    Returns:
      The recipe with weights that are known, and the record with the mask that is left.

    Raises:
      ValueError: if there is no token to correct.
    """
    if not hasattr(record, "rollout_log_probs"):
        return recipe, record
    if settings.bypass_mode:
        bypassed = {name: value for name, value in vars(record).items() if name != "rollout_log_probs"}
        return recipe, SimpleNamespace(**bypassed | {"old_log_probs": record.rollout_log_probs})
    if not np.any(record.mask):
        raise ValueError("mask: verl's rollout correction needs at least one token")
    drawn, tokens = record, record.mask.sum()
    if recipe.admit.kernel is not all_completions:
        record = SimpleNamespace(**vars(record) | {"mask": record.mask * recipe.admit(record)})
        if vars(settings)["trainer.use_v1"]:
            recipe = _over(recipe, tokens)
    anew = settings.loss_mode == "bypass_mode"
    weights = recipe.corrections if anew else tuple(_known(part, drawn) for part in recipe.corrections)
    return replace(recipe, corrections=weights), record


def _known(part: Slot, drawn: SimpleNamespace) -> Slot:
    """The weights that a part gives the tokens that were drawn; GMPO's mean is over those that are left."""
    if part.kernel is geometric_mean_weight:
        return slot(geometric_mean_weight, weights=_known(part.settings["weights"], drawn))
    return slot(known, weights=part(drawn))


def _over(recipe: Recipe, tokens: float) -> Recipe:
    """The recipe with means over this number of tokens, in place of those that are left."""
    fixed = slot(token_sum_over, tokens=float(tokens))
    if recipe.aggregate.kernel is token_mean:
        recipe = replace(recipe, aggregate=fixed)
    if recipe.penalty_aggregate is not None and recipe.penalty_aggregate.kernel is token_mean:
        recipe = replace(recipe, penalty_aggregate=fixed)
    return recipe


def _loss(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """The loss, its gradient and its metrics; the entropy bonus is averaged as the penalty is."""
    recipe, record = as_actor(dialect.settings(config), dialect.recipe(**config), record)
    length = next(iter(dialect.budget(config).values()), None)
    given = {name: value for name, value in vars(record).items() if name in OPTIONAL}
    result = policy_loss(
        record.log_probs, record.advantages, record.mask, recipe=recipe, max_length=length, **given
    )
    loss, bonus = result.loss, dialect.concept(BONUS, config, 0.0)
    if bonus:
        loss = loss - bonus * average(recipe, record.entropies, record.mask, length)
    return {"loss": loss, "grad_logp": result.gradient, "metrics": result.metrics}


def average(recipe: Recipe, values: Floats, mask: Floats, length: int | None) -> Any:
    """The sum of values with the weights of the penalty: the average that loss_agg_mode says."""
    weighing = replace(recipe, aggregate=recipe.penalty_aggregate or recipe.aggregate)
    return (weighing.weights(mask, max_length=length) * where_mask(mask, values)).sum()


def _alone(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """The loss of `agg_loss` without a batch size, as no actor calls it: empty completions are not counted."""
    recipe = dialect.recipe(**config)
    present = record.mask.max(-1, initial=0.0)
    scale = present.size / present.sum() if "seq-mean" in dialect.settings(config).loss_agg_mode else 1.0
    numbers = _loss(dialect, config, record)
    assert recipe.corrections == ()
    return numbers | {name: numbers[name] * scale for name in ("loss", "grad_logp")}


def _shuffled_loss(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """The loss after torch.manual_seed(record.seed)."""
    recipe = dialect.recipe(**config)
    _, left = as_actor(dialect.settings(config), recipe, record)
    return _loss(dialect, config, SimpleNamespace(**vars(record) | {"noise": _torch_noise(recipe, left)}))


def _torch_noise(recipe: Recipe, record: SimpleNamespace) -> Floats:
    """Noise that lets clip-cov choose what torch.randperm chooses: the first of the shuffle have the least."""
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
    """torch.randperm(size) on the CPU: a shuffle by the raw 32-bit numbers of a Mersenne twister."""
    draws = np.random.RandomState(seed).randint(0, 2**32, size=size, dtype=np.uint32)
    order = list(range(size))
    for place in range(size - 1):
        other = place + int(draws[place]) % (size - place)
        order[place], order[other] = order[other], order[place]
    return order


def _advantages(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """The advantages; verl refuses to whiten fewer than two tokens."""
    kernel = dialect.recipe(**config).advantage.kernel
    if kernel in (whitened, discounted, normalized_then_whitened) and record.mask.sum() < 2:
        raise ValueError("mask: verl's masked_whiten needs at least two tokens")
    return advantages_of(dialect, config, record)


def _rewards(dialect: Dialect, config: Mapping[str, Any], record: SimpleNamespace) -> dict[str, Any]:
    """The rewards after the reward manager, from rewards (P, G) and mask (P, G, T), as "value"."""
    shaped = SimpleNamespace(rewards=record.rewards, lengths=record.mask.sum(-1))
    return {"value": dialect.recipe(**config).reward(shaped)}


CALLS: dict[str, Call] = {
    "loss": _loss,
    "loss with torch's shuffle": _shuffled_loss,
    "loss of agg_loss alone": _alone,
    "advantages": _advantages,
    "rewards": _rewards,
}
"""What verl's recorded cases hold, in place of the common calls of these names or beside them."""
