"""The loss: four lines that give the value and the manual gradient of every recipe.

    loss     = -Σ (W c surrogate.value - V kl_coef penalty.value)
    gradient = -[ level(slope) + direct ]            with respect to log_probs

W are the weights of the aggregation, V those of the penalty (in most recipes the same), c the product of
the corrections; slope and direct are those of the whole bracket. The level is its own transpose, so the
backward pass calls the same function as the forward pass. The one minus sign of the library is here:
surrogates are gains, the loss is what an optimizer minimizes.
"""

import math
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NamedTuple

from grpo_ref.arrays import (
    BATCH,
    Array,
    array_namespace,
    batch_sum,
    is_set,
    keep_freed_memory,
    masked_mean,
    where_mask,
)
from grpo_ref.kernels.metrics import approx_kl, clip_fractions, effective_sample_size, ratio_extremes
from grpo_ref.listing import unknown
from grpo_ref.recipes import Recipe
from grpo_ref.types import Batch, Term
from grpo_ref.validation import (
    check_arrays,
    check_others,
    check_recipe,
    check_reference,
    check_shapes,
    check_term,
    check_values,
)


class PolicyLoss(NamedTuple):
    """What `policy_loss` returns.

    Attributes:
      loss: (...,) one number per run, to be minimized.
      gradient: (..., P, G, T) ∂loss/∂log_probs, exactly 0 on padding.
      metrics: name -> (...,) one number per run.
    """

    loss: Array
    gradient: Array
    metrics: dict[str, Array]


def policy_loss(
    log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    recipe: Recipe,
    old_log_probs: Array | None = None,
    ref_log_probs: Array | None = None,
    rollout_log_probs: Array | None = None,
    max_length: int | None = None,
    validate: bool = False,
    metrics: Collection[str] | None = None,
    **others: Array,
) -> PolicyLoss:
    """The loss of a recipe on one batch, with its gradient written by hand.

        loss = -Σ W (c surrogate(log πθ - log πold, A) - kl_coef penalty(log πθ, log πref))

    Args:
      log_probs: (..., P, G, T) log πθ of the sampled tokens, in nats. What the padding holds never matters.
      advantages: (..., P, G) one per completion, or (..., P, G, T) one per token; constants of
        differentiation.
      mask: (..., P, G, T) 1 on completion tokens, the end-of-sequence token included; bool or 0/1.
      recipe: the algorithm; its reward, filter and advantage parts come before this function.
      old_log_probs: (..., P, G, T) the same under the policy at the start of the update; left out, the data
        is on-policy and every ratio is 1.
      ref_log_probs: (..., P, G, T) the same under the reference policy; needed if the recipe's kl_coef is not
        0.
      rollout_log_probs: (..., P, G, T) the same as the sampler reported it; left out, the old ones.
      max_length: the generation budget in tokens, for a constant denominator; left out, T.
      validate: whether values are looked at too: NaN in a token that the mask counts, log-probabilities above
        0, probabilities given for their logarithms, a mask of anything but 0 and 1. It reads every array once
        more, and waits for the GPU; so it is for the first batch, not for every one.
      metrics: names of those that are wanted, since they take as long as the loss; left out, all of them.
      others: what few recipes read: entropies and noise (..., P, G, T), top_log_probs and top_old_log_probs
        (..., P, G, T, K); see `Batch`.

    Returns:
      PolicyLoss(loss, gradient, metrics), with these metrics:

      | metric                   | what it is                                                             |
      |--------------------------|------------------------------------------------------------------------|
      | `clip_low`, `clip_high`  | shares of the tokens that the surrogate holds, below and above ratio 1 |
      | `approx_kl`              | how far the policy has moved from the old one, in nats per token       |
      | `ess`                    | effective sample size, as a share of the tokens                        |
      | `ratio_min`, `ratio_max` | the extreme ratios after the level                                     |
      | `kl`                     | mean of the penalty, in nats per token; only if a reference was given  |

    Raises:
      ValueError: if a shape does not fit, the recipe needs a reference or another field and none was given,
        there is no metric of a name, or with `validate` a value cannot be meant.
      TypeError: if something is no array, the arrays are of different libraries, the recipe is no `Recipe`,
        there is no argument of a name, or a part of the recipe returns no `Term`.

    >>> import numpy as np
    >>> from grpo_ref import DR_GRPO
    >>> log_probs = np.log(np.array([[[0.5, 0.4], [0.3, 0.9]]]))    # one prompt, two completions
    >>> mask = np.array([[[1, 1], [1, 0]]])                               # the second one is one token long
    >>> result = policy_loss(log_probs, np.array([[0.5, -0.5]]), mask, recipe=DR_GRPO)
    >>> float(result.loss)
    -0.125
    >>> result.gradient
    array([[[-0.125, -0.125],
            [ 0.125,  0.   ]]])
    """
    keep_freed_memory()
    check_recipe(recipe)
    wanted = _wanted(metrics, reference=ref_log_probs is not None)
    check_reference(recipe, ref_log_probs)
    batch = batch_of(
        log_probs,
        advantages,
        mask,
        old_log_probs=old_log_probs,
        ref_log_probs=ref_log_probs,
        rollout_log_probs=rollout_log_probs,
        max_length=max_length,
        **others,
    )
    if validate:
        check_values(batch, mask)
    judged = differentiate(batch, recipe, measures_penalty="kl" in wanted)
    measured: dict[str, Array] = {}
    for names, measure in MEASURES.items():
        if not set(wanted).isdisjoint(names):
            measured |= zip(names, measure(judged), strict=True)
    return PolicyLoss(batch_sum(judged.losses), judged.gradient, {name: measured[name] for name in wanted})


class Differentiated(NamedTuple):
    """What `differentiate` returns.

    Attributes:
      losses: (..., P, G, T) the terms whose sum is the loss.
      gradient: (..., P, G, T) ∂loss/∂log_probs, exactly 0 on padding.
      batch: with the levelled log-ratio and the corrections.
      gain, penalty: what the recipe's surrogate and penalty said; a penalty nobody asked for is 0.
    """

    losses: Array
    gradient: Array
    batch: Batch
    gain: Term
    penalty: Term


def differentiate(batch: Batch, recipe: Recipe, *, measures_penalty: bool = True) -> Differentiated:
    """Losses and gradient of a batch, without the checks and metrics of `policy_loss`.

        losses = -(W c surrogate.value - V kl_coef penalty.value)
        gradient = -[ level(slope) + direct ]        with respect to log_probs

    Args:
      batch: (..., P, G, T) arrays with cleared padding, as `batch_of` makes them.
      recipe: the algorithm.
      measures_penalty: whether the penalty is asked for even where kl_coef is 0.

    Returns:
      Differentiated(losses, gradient, batch, gain, penalty).

    Raises:
      ValueError: if a part of the recipe reads a field that the batch does not have.
    """
    batch, passes = _levelled(batch, recipe)
    gain, penalty = recipe.surrogate(batch), Term(0.0 * batch.mask, 0.0 * batch.mask)
    if measures_penalty or recipe.kl_coef != 0.0:
        penalty = recipe.penalty(batch)
    check_term("surrogate", recipe.surrogate, gain)
    check_term("penalty", recipe.penalty, penalty)
    total = _weighed(_corrected(gain, batch, recipe), penalty, batch, recipe)
    gradient = -(recipe.level(total.slope * passes, batch.mask) + total.direct)
    return Differentiated(-total.value, where_mask(batch.mask, gradient), batch, gain, penalty)


def batch_of(
    log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    old_log_probs: Array | None = None,
    ref_log_probs: Array | None = None,
    rollout_log_probs: Array | None = None,
    max_length: int | None = None,
    **others: Array,
) -> Batch:
    """Check the shapes, fill in what was left out, and clear the padding, once for all slots.

    Args:
      log_probs, advantages, mask, and the others: as in `policy_loss`, log-probabilities in nats.

    Returns:
      Batch of (..., P, G, T) arrays, 0 on padding.

    Raises:
      ValueError: if a shape does not fit, or there are fewer than three axes.
      TypeError: if something is no array, or the arrays are of different libraries.
    """
    check_others(others)
    others = {name: array for name, array in others.items() if array is not None}
    old = log_probs if old_log_probs is None else old_log_probs
    ref = log_probs if ref_log_probs is None else ref_log_probs
    rollout = old if rollout_log_probs is None else rollout_log_probs
    alike = {"mask": mask, "old_log_probs": old, "ref_log_probs": ref, "rollout_log_probs": rollout}
    check_arrays(log_probs=log_probs, advantages=advantages, **alike, **others)
    check_shapes(log_probs, advantages, others, **alike)
    if len(advantages.shape) < len(log_probs.shape):
        advantages = advantages[..., None] + array_namespace(log_probs).zeros_like(log_probs)
    xp = array_namespace(log_probs, mask)
    present = is_set(mask)
    log_probs, old, ref, rollout = (where_mask(present, x) for x in (log_probs, old, ref, rollout))
    return Batch(
        log_probs=log_probs,
        old_log_probs=old,
        ref_log_probs=ref,
        rollout_log_probs=rollout,
        log_ratio=log_probs - old,
        advantages=where_mask(present, advantages),
        mask=xp.astype(present, log_probs.dtype),
        max_length=log_probs.shape[-1] if max_length is None else max_length,
        **others,
    )


def _levelled(batch: Batch, recipe: Recipe) -> tuple[Batch, Array | float]:
    """The batch with its levelled, limited log-ratio and its corrections, and where slopes pass."""
    log_ratio, passes = recipe.level(batch.log_ratio, batch.mask), 1.0
    low, high = recipe.log_ratio_limits
    if (low, high) != (-math.inf, math.inf):
        xp = array_namespace(log_ratio)
        passes = xp.astype((log_ratio >= low) & (log_ratio <= high), log_ratio.dtype)
        log_ratio = xp.clip(log_ratio, low, high)
    batch = replace(batch, log_ratio=log_ratio)
    correction = array_namespace(log_ratio).ones_like(log_ratio)
    for part in recipe.corrections:
        correction = correction * part(batch)
    return replace(batch, correction=correction), passes


def _corrected(gain: Term, batch: Batch, recipe: Recipe) -> Term:
    """The surrogate times the corrections, unless it has used them itself."""
    if not recipe.corrections or "correction" in recipe.surrogate.reads:
        return gain
    return Term(*(part * batch.correction for part in gain))


def _weighed(gain: Term, penalty: Term, batch: Batch, recipe: Recipe) -> Term:
    """W gain - V kl_coef penalty; a penalty without kl_coef stays out even where it is infinite."""
    weights = recipe.aggregate(batch)
    total = Term(*(weights * part for part in gain))
    if recipe.kl_coef == 0.0:
        return total
    others = weights if recipe.penalty_aggregate is None else recipe.penalty_aggregate(batch)
    costs = (recipe.kl_coef * others * part for part in penalty)
    return Term(*(ours - cost for ours, cost in zip(total, costs, strict=True)))


MEASURES: dict[tuple[str, ...], Callable[[Differentiated], tuple[Array, ...]]] = {
    ("clip_low", "clip_high"): lambda judged: clip_fractions(
        judged.gain, judged.batch.log_ratio, judged.batch.advantages, judged.batch.mask
    ),
    ("approx_kl",): lambda judged: (approx_kl(judged.batch.log_ratio, judged.batch.mask),),
    ("ess",): lambda judged: (effective_sample_size(judged.batch.log_ratio, judged.batch.mask),),
    ("ratio_min", "ratio_max"): lambda judged: ratio_extremes(judged.batch.log_ratio, judged.batch.mask),
    ("kl",): lambda judged: (masked_mean(judged.penalty.value, judged.batch.mask, axis=BATCH),),
}
"""What is measured beside the loss: the names of metrics, and what gives their numbers together."""

LOSS_METRICS = tuple(name for names in MEASURES for name in names)
"""The names of the metrics of `policy_loss`."""


def _wanted(metrics: Collection[str] | None, *, reference: bool) -> tuple[str, ...]:
    """The names of the metrics to measure; without a reference there is no KL."""
    if metrics is None:
        return LOSS_METRICS if reference else tuple(name for name in LOSS_METRICS if name != "kl")
    for name in metrics:
        if name not in LOSS_METRICS:
            raise ValueError(f"metrics: {unknown('metric', name, LOSS_METRICS)}")
    if "kl" in metrics and not reference:
        raise ValueError("metrics: kl needs ref_log_probs")
    return tuple(metrics)
