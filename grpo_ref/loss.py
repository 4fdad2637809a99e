"""Loss and gradient of every recipe, in one formula.

The surrogate and the penalty are two Terms, each with a value, a slope and a direct part. Call them gain and
penalty. The same weighted difference combines all three parts:

    weighted(x) = W c gain.x - V kl_coef penalty.x        for x = value, slope, direct

    loss        = -Σ weighted(value)
    gradient    = -(level(weighted(slope)) + weighted(direct))        with respect to log_probs

W are the weights of the aggregation, c is the product of the corrections, and V are the weights of the
penalty, in most recipes the same as W. The level is a symmetric matrix, so the backward pass calls the same
function as the forward pass. The sign changes only here: recipes maximize Σ weighted(value), and
optimizers minimize the loss.

`policy_loss` starts from advantages, `policy_loss_from_rewards` from rewards. Both check their arguments and
measure the metrics. `differentiate` is the mathematics.
"""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import (
    BATCH,
    TOKENS,
    Array,
    array_namespace,
    batch_sum,
    check_same_shape,
    is_set,
    masked_mean,
    where_mask,
)
from grpo_ref.filters import trained_tokens
from grpo_ref.listing import unknown
from grpo_ref.metrics import approx_kl, clip_fractions, effective_sample_size, ratio_extremes
from grpo_ref.recipes import Recipe
from grpo_ref.types import Batch, Term
from grpo_ref.validation import (
    check_arrays,
    check_reference,
    check_shapes,
    check_teacher,
    check_term,
    check_values,
    recipe_of,
)


class PolicyLoss(NamedTuple):
    """The loss of a batch, its gradient and its metrics.

    Attributes:
      loss: (...,) one number per run, to be minimized.
      gradient: of the shape of log_probs, ∂loss/∂log_probs, exactly 0 on padding.
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
    recipe: Recipe | str,
    old_log_probs: Array | None = None,
    ref_log_probs: Array | None = None,
    rollout_log_probs: Array | None = None,
    entropies: Array | None = None,
    noise: Array | None = None,
    top_log_probs: Array | None = None,
    top_rollout_log_probs: Array | None = None,
    teacher_log_probs: Array | None = None,
    max_length: int | None = None,
    group_size: int | None = None,
    validate: bool = False,
    metrics: Collection[str] | None = None,
) -> PolicyLoss:
    """Return the loss of a recipe on one batch, with its gradient written by hand.

        loss = -Σ W (c surrogate(log πθ - log πold, A) - kl_coef penalty(log πθ, log πref))

    This function starts from advantages. It ignores the parts of the recipe that come before them: the
    reward, the advantage and both filters (`reward`, `advantage`, `keep`, `admit`).
    `policy_loss_from_rewards` applies these as well.

    Args:
      log_probs: (..., P, G, T) log πθ of the sampled tokens, in nats; or (N, T) with `group_size`. Padding
        (mask 0) may have any value, NaN included.
      advantages: (..., P, G) one per completion, or (..., P, G, T) one per token. They are constant: no
        gradient flows through them. With `group_size`: (N,) or (N, T).
      mask: of the shape of log_probs, 1 on completion tokens, the end-of-sequence token included; bool or
        0/1.
      recipe: the algorithm, or its name in `RECIPES`, as in "dapo".
      old_log_probs: of the same shape, under the policy at the start of the update. If omitted, the data is
        on-policy and every ratio is 1.
      ref_log_probs: of the same shape, under the reference policy; needed if the recipe's kl_coef is not 0.
      rollout_log_probs: of the same shape, as the sampler reported them. Default: the old ones.
      entropies: of the same shape, the entropy of the current policy at each token, in nats; few recipes read
        them.
      noise: of the same shape, random numbers in [0, 1); few recipes read them.
      top_log_probs, top_rollout_log_probs: (..., P, G, T, K) log-probabilities of the K most likely tokens,
        under the current policy and under the sampler; few recipes read them.
      teacher_log_probs: of the shape of log_probs, log-probabilities of the same tokens under a teacher;
        needed if the recipe distills from one, as "opd" does.
      max_length: the generation budget in tokens, for a constant denominator. Default: T.
      group_size: G, if the arrays are flat: N completions, those of a group one after another.
      validate: if true, also check values: no NaN on completion tokens (mask 1), no log-probability above 0,
        no probabilities where logarithms are expected, a mask of 0 and 1 only. This reads every array again
        and synchronizes with a GPU, so use it on the first batch only.
      metrics: names of the metrics to compute. Default: all. All together take as long as the loss, so name
        only those you need.

    Arguments may be nested lists, but then all of them must be.

    Returns:
      PolicyLoss(loss, gradient, metrics), with these metrics:

      | metric                   | meaning                                                                |
      |--------------------------|------------------------------------------------------------------------|
      | `clip_low`, `clip_high`  | share of all tokens that are clipped with a ratio below 1 / above 1    |
      | `approx_kl`              | KL between old and current policy, estimated in nats per token         |
      | `ess`                    | effective sample size, as a share of the tokens                        |
      | `ratio_min`, `ratio_max` | the extreme ratios after the level                                     |
      | `kl`                     | mean of the penalty, in nats per token; only with its reference        |

    Raises:
      ValueError: if a shape does not fit, the recipe needs a reference or another field that is missing, the
        recipe or a metric is unknown, or with `validate` a value is impossible.
      TypeError: if an argument is not an array, the arrays are of different libraries, the recipe is not a
        `Recipe`, or a part of the recipe does not return a `Term`.

    >>> from grpo_ref import policy_loss
    >>> log_probs = [[[-0.7, -0.9], [-1.2, -0.1]]]              # one prompt, two completions
    >>> mask = [[[1, 1], [1, 0]]]                               # the second one is one token long
    >>> result = policy_loss(log_probs, [[0.5, -0.5]], mask, recipe="dr_grpo")
    >>> float(result.loss)
    -0.125
    >>> result.gradient
    array([[[-0.125, -0.125],
            [ 0.125,  0.   ]]])
    """
    recipe = recipe_of(recipe)
    compared_with = teacher_log_probs if "teacher_log_probs" in recipe.penalty.reads else ref_log_probs
    names = _metrics_to_measure(metrics, has_reference=compared_with is not None)
    check_reference(recipe, ref_log_probs)
    check_teacher(recipe, teacher_log_probs)
    arrays = as_arrays(
        log_probs=log_probs,
        advantages=advantages,
        mask=mask,
        old_log_probs=old_log_probs,
        ref_log_probs=ref_log_probs,
        rollout_log_probs=rollout_log_probs,
        entropies=entropies,
        noise=noise,
        top_log_probs=top_log_probs,
        top_rollout_log_probs=top_rollout_log_probs,
        teacher_log_probs=teacher_log_probs,
    )
    if group_size is not None:
        arrays = in_groups(arrays, group_size)
    batch = batch_of(**arrays, max_length=max_length)
    if validate:
        check_values(batch, arrays["mask"])
    result = differentiate(batch, recipe, measures_penalty="kl" in names)
    measured: dict[str, Array] = {}
    for metric_names, measure in MEASURES.items():
        if not set(names).isdisjoint(metric_names):
            measured |= zip(metric_names, measure(result), strict=True)
    gradient = result.gradient
    if group_size is not None:
        gradient = gradient.reshape(-1, gradient.shape[-1])
    return PolicyLoss(batch_sum(result.losses), gradient, {name: measured[name] for name in names})


def policy_loss_from_rewards(
    log_probs: Array,
    rewards: Array,
    mask: Array,
    *,
    recipe: Recipe | str,
    max_length: int | None = None,
    group_size: int | None = None,
    ended: Array | None = None,
    tokens: Array | None = None,
    components: Array | None = None,
    weights: Array | None = None,
    step_rewards: Array | None = None,
    step_ends: Array | None = None,
    greedy_rewards: Array | None = None,
    score_norms: Array | None = None,
    turn_ids: Array | None = None,
    turn_rewards: Array | None = None,
    anchor_states: Array | None = None,
    group_ids: Array | None = None,
    **inputs: Any,
) -> PolicyLoss:
    """Apply a whole recipe: from the rewards of a batch to the loss and its gradient.

    The order is that of training: the filters choose groups and completions, the reward is shaped, the
    advantages are computed, and `policy_loss` does the rest. `train` replaces rejected groups by new samples.
    This function cannot, so it only masks them out.

    Args:
      log_probs, mask, recipe, max_length, group_size: as in `policy_loss`.
      rewards: (..., P, G) one per completion, as the verifier gave them.
      ended: (..., P, G) true where a completion ended by itself. Default: where it is shorter than
        max_length; a completion that ends exactly there counts as cut off; pass `ended` to avoid this.
      tokens: (..., P, G, T) token ids; a recipe that rejects duplicates reads them.
      components, weights: (..., P, G, C) rewards per criterion and their (C,) weights, for GDPO.
      step_rewards, step_ends: (..., P, G, T) rewards of steps and where steps end, for process supervision.
      greedy_rewards: (..., P, G) reward of the greedy completion of the same prompt, for ReMax.
      score_norms: (..., P, G, T) squared norm of each token's score, 1 - 2 π + Σₐ πₐ², for OTB.
      turn_ids: (..., P, G, T) for completions of several turns: the number of the policy's turn from 0, and
        -1 on tokens that the environment wrote and on padding. The environment's tokens are masked out of
        the loss in every recipe, but they count in the length that the reward and `ended` see.
      turn_rewards, anchor_states: (..., P, G, K) the reward after each turn, and an integer for the state in
        which it began, for GiGPO and MT-GRPO.
      group_ids: (..., P, G) integers for advantages that compare by id, such as `normalized_by_id`.
      inputs: further arguments of `policy_loss`: old_log_probs, ref_log_probs and so on.

    Returns:
      PolicyLoss(loss, gradient, metrics), as `policy_loss`.

    Raises:
      ValueError, TypeError: as `policy_loss`; also if the recipe reads an input that is missing.

    >>> from grpo_ref import policy_loss_from_rewards
    >>> log_probs = [[[-0.7, -0.9], [-1.2, -0.1]]]
    >>> result = policy_loss_from_rewards(log_probs, [[1.0, 0.0]], [[[1, 1], [1, 0]]], recipe="dr_grpo")
    >>> float(result.loss)
    -0.125
    """
    recipe = recipe_of(recipe)
    given = {"ended": ended, "tokens": tokens, "components": components, "weights": weights}
    given |= {"step_rewards": step_rewards, "step_ends": step_ends, "turn_ids": turn_ids}
    given |= {"greedy_rewards": greedy_rewards, "score_norms": score_norms}
    given |= {"turn_rewards": turn_rewards, "anchor_states": anchor_states, "group_ids": group_ids}
    arrays = as_arrays(log_probs=log_probs, rewards=rewards, mask=mask, **given)
    extra = as_arrays(**{name: x for name, x in inputs.items() if name not in ("metrics", "validate")})
    if group_size is not None:
        weights = arrays.pop("weights")
        arrays, extra = in_groups(arrays, group_size), in_groups(extra, group_size)
        arrays["weights"] = weights
    check_arrays(log_probs=arrays["log_probs"], rewards=arrays["rewards"], mask=arrays["mask"])
    xp = array_namespace(arrays["log_probs"])
    present = is_set(arrays["mask"])
    lengths = xp.sum(xp.astype(present, xp.int64), axis=TOKENS)
    budget = arrays["mask"].shape[TOKENS] if max_length is None else max_length
    if arrays["ended"] is None:
        arrays["ended"] = lengths < budget
    if arrays["turn_ids"] is not None:  # what the environment wrote is not trained on
        check_same_shape(turn_ids=arrays["turn_ids"], mask=present)
        present = trained_tokens(arrays["turn_ids"], present)
    batch = SimpleNamespace(**arrays | {"mask": present}, lengths=lengths, max_length=budget)

    # 1. Which groups take part, and which completions (or tokens) of these?
    admitted = recipe.admit(batch)
    if admitted.ndim < present.ndim:  # per completion
        admitted = admitted[..., None]
    taking_part = present & recipe.keep(batch)[..., None, None] & admitted

    # 2. Shape the reward, then compare the completions of a group.
    batch.rewards = recipe.reward(batch)
    advantages = recipe.advantage(batch)

    # 3. The loss over the tokens that take part.
    settings = {name: inputs[name] for name in ("metrics", "validate") if name in inputs}
    result = policy_loss(
        arrays["log_probs"],
        advantages,
        taking_part,
        recipe=recipe,
        max_length=max_length,
        **extra,
        **settings,
    )
    if group_size is None:
        return result
    return result._replace(gradient=result.gradient.reshape(-1, result.gradient.shape[-1]))


# ---- the mathematics -------------------------------------------------------------------------------


class Differentiated(NamedTuple):
    """The loss of each token, the gradient, and the values that the metrics are computed from.

    Attributes:
      losses: (..., P, G, T) the terms whose sum is the loss.
      gradient: (..., P, G, T) ∂loss/∂log_probs, exactly 0 on padding.
      batch: with the log-ratio after the level, the corrections, and the advantages that the surrogate read.
      gain: the Term of the surrogate.
      penalty: the Term of the penalty; 0 if it was not computed.
    """

    losses: Array
    gradient: Array
    batch: Batch
    gain: Term
    penalty: Term


def differentiate(
    batch: Batch, recipe: Recipe, *, measures_penalty: bool = True, weights: Array | None = None
) -> Differentiated:
    """Return the losses and the gradient of a batch, without the checks and metrics of `policy_loss`.

        weighted(x) = W c gain.x - V kl_coef penalty.x        for x = value, slope, direct
        losses      = -weighted(value)
        gradient    = -(level(weighted(slope)) + weighted(direct))        with respect to log_probs

    Args:
      batch: (..., P, G, T) arrays with cleared padding, as `batch_of` makes them.
      recipe: the algorithm.
      measures_penalty: if true, compute the penalty even where kl_coef is 0, for the metric `kl`.
      weights: W, (..., P, G, T). Default: the recipe's aggregation of the batch. Some tokens of a larger
        batch need the weights that the aggregation of the larger batch gives them.

    Returns:
      Differentiated(losses, gradient, batch, gain, penalty).

    Raises:
      ValueError: if a part of the recipe reads a field that the batch does not have.
    """
    # The log-ratio: of each token, or one for the whole completion (GSPO). Some recipes limit it. Outside the
    # limits the slope is 0. Exactly at a limit it is not, as in PyTorch's clamp.
    log_ratio = recipe.level(batch.log_ratio, batch.mask)
    xp = array_namespace(log_ratio)
    inside_limits: Array | float = 1.0
    low, high = recipe.log_ratio_limits
    if (low, high) != (-math.inf, math.inf):
        inside_limits = xp.astype((log_ratio >= low) & (log_ratio <= high), log_ratio.dtype)
        log_ratio = xp.clip(log_ratio, low, high)
    batch = replace(batch, log_ratio=log_ratio)

    # On-policy distillation adds the teacher's share to the advantages of each token.
    if recipe.distill is not None:
        batch = replace(batch, advantages=recipe.distill(batch))

    # The corrections are constant weights (truncated importance sampling and the like). They multiply the
    # surrogate and not the penalty, as in TRL. A surrogate that reads the correction has applied it itself.
    correction = xp.ones_like(log_ratio)
    for part in recipe.corrections:
        correction = correction * part(batch)
    batch = replace(batch, correction=correction)
    applies_correction = bool(recipe.corrections) and "correction" not in recipe.surrogate.reads

    # The Terms of the surrogate (gain) and of the penalty. If kl_coef is 0, the penalty must not be added: it
    # may be infinite, and 0 times infinity is NaN.
    gain = recipe.surrogate(batch)
    check_term("surrogate", recipe.surrogate, gain)
    penalty = Term(0.0 * batch.mask, 0.0 * batch.mask)
    if measures_penalty or recipe.kl_coef != 0.0:
        penalty = recipe.penalty(batch)
        check_term("penalty", recipe.penalty, penalty)
    W = recipe.aggregate(batch) if weights is None else weights
    V = W if recipe.penalty_aggregate is None or recipe.kl_coef == 0.0 else recipe.penalty_aggregate(batch)

    def weighted(of_gain: Array | float, of_penalty: Array | float) -> Array:
        """Return W c gain - V kl_coef penalty, for the value, the slope or the direct part."""
        difference = W * (of_gain * correction if applies_correction else of_gain)
        return difference - recipe.kl_coef * V * of_penalty if recipe.kl_coef != 0.0 else difference

    # Loss and gradient of every recipe in four lines: losses, slope, direct, gradient. The level's matrix is
    # symmetric, so the level itself passes the slope back to the tokens.
    losses = -weighted(gain.value, penalty.value)
    slope = weighted(gain.slope, penalty.slope)
    direct = weighted(gain.direct, penalty.direct)
    gradient = -(recipe.level(slope * inside_limits, batch.mask) + direct)
    return Differentiated(losses, where_mask(batch.mask, gradient), batch, gain, penalty)


# ---- the arguments ---------------------------------------------------------------------------------


def batch_of(
    log_probs: Array,
    advantages: Array,
    mask: Array,
    *,
    old_log_probs: Array | None = None,
    ref_log_probs: Array | None = None,
    rollout_log_probs: Array | None = None,
    entropies: Array | None = None,
    noise: Array | None = None,
    top_log_probs: Array | None = None,
    top_rollout_log_probs: Array | None = None,
    teacher_log_probs: Array | None = None,
    max_length: int | None = None,
) -> Batch:
    """Check the shapes, fill in omitted arrays, and clear the padding, once for all parts of the recipe.

    Args: as in `policy_loss`, log-probabilities in nats.

    Returns:
      Batch of (..., P, G, T) arrays. The five log-probabilities and the advantages are 0 on padding. The
      other optional arrays (entropies, noise, top_log_probs and top_rollout_log_probs) are passed on
      unchanged.

    Raises:
      ValueError: if a shape does not fit, or there are fewer than three axes.
      TypeError: if an argument is not an array, or the arrays are of different libraries.
    """
    optional = {"entropies": entropies, "noise": noise}
    optional |= {"top_log_probs": top_log_probs, "top_rollout_log_probs": top_rollout_log_probs}
    optional["teacher_log_probs"] = teacher_log_probs
    optional = {name: array for name, array in optional.items() if array is not None}
    old = log_probs if old_log_probs is None else old_log_probs
    ref = log_probs if ref_log_probs is None else ref_log_probs
    rollout = old if rollout_log_probs is None else rollout_log_probs
    alike = {"mask": mask, "old_log_probs": old, "ref_log_probs": ref, "rollout_log_probs": rollout}
    check_arrays(log_probs=log_probs, advantages=advantages, **alike, **optional)
    check_shapes(log_probs, advantages, optional, **alike)
    if len(advantages.shape) < len(log_probs.shape):
        advantages = advantages[..., None] + array_namespace(log_probs).zeros_like(log_probs)
    # Padding may be NaN, and 0 * NaN is NaN. So the padding is set to 0 here, once for all kernels.
    present = is_set(mask)
    log_probs, old, ref, rollout = (where_mask(present, x) for x in (log_probs, old, ref, rollout))
    if "teacher_log_probs" in optional:
        optional["teacher_log_probs"] = where_mask(present, optional["teacher_log_probs"])
    return Batch(
        log_probs=log_probs,
        old_log_probs=old,
        ref_log_probs=ref,
        rollout_log_probs=rollout,
        log_ratio=log_probs - old,
        advantages=where_mask(present, advantages),
        mask=array_namespace(log_probs, mask).astype(present, log_probs.dtype),
        max_length=log_probs.shape[-1] if max_length is None else max_length,
        **optional,
    )


def as_arrays(**given: Any) -> dict[str, Array]:
    """Return the arguments by name; if all of them are nested lists, as NumPy arrays."""
    present = [value for value in given.values() if value is not None]
    if not all(isinstance(value, list | tuple) for value in present):
        return given
    return {name: None if value is None else np.asarray(value) for name, value in given.items()}


def in_groups(arrays: Mapping[str, Array], group_size: int) -> dict[str, Array]:
    """Return flat arrays (N, ...) as (P, G, ...), where the completions of a group follow one another.

    Raises:
      ValueError: if group_size is not a positive divisor of N.

    >>> in_groups({"rewards": np.arange(4.0)}, 2)["rewards"]
    array([[0., 1.],
           [2., 3.]])
    """
    grouped: dict[str, Array] = {}
    for name, array in arrays.items():
        if array is not None:
            count = array.shape[0]
            if group_size < 1 or count % group_size:
                raise ValueError(f"group_size={group_size} does not divide the {count} completions of {name}")
            array = array.reshape(count // group_size, group_size, *array.shape[1:])
        grouped[name] = array
    return grouped


# ---- the metrics -----------------------------------------------------------------------------------


MEASURES: dict[tuple[str, ...], Callable[[Differentiated], tuple[Array, ...]]] = {
    ("clip_low", "clip_high"): lambda result: clip_fractions(
        result.gain, result.batch.log_ratio, result.batch.advantages, result.batch.mask
    ),
    ("approx_kl",): lambda result: (approx_kl(result.batch.log_ratio, result.batch.mask),),
    ("ess",): lambda result: (effective_sample_size(result.batch.log_ratio, result.batch.mask),),
    ("ratio_min", "ratio_max"): lambda result: ratio_extremes(result.batch.log_ratio, result.batch.mask),
    ("kl",): lambda result: (masked_mean(result.penalty.value, result.batch.mask, axis=BATCH),),
}
"""Names of metrics -> the function that measures them together."""

LOSS_METRICS = tuple(name for names in MEASURES for name in names)
"""The names of the metrics of `policy_loss`."""


def _metrics_to_measure(metrics: Collection[str] | None, *, has_reference: bool) -> tuple[str, ...]:
    """Return the requested names. Without a reference there is no KL."""
    if metrics is None:
        return LOSS_METRICS if has_reference else tuple(name for name in LOSS_METRICS if name != "kl")
    for name in metrics:
        if name not in LOSS_METRICS:
            raise ValueError(f"metrics: {unknown('metric', name, LOSS_METRICS)}")
    if "kl" in metrics and not has_reference:
        raise ValueError("metrics: kl needs ref_log_probs")
    return tuple(metrics)
