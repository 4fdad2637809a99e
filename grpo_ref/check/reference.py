"""Compute the recipe's loss and gradient on a generated batch, and compare two results."""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.check.batches import Trial
from grpo_ref.check.frameworks import Answer, central_differences
from grpo_ref.loss import batch_of, differentiate
from grpo_ref.recipes import Recipe

ROUNDINGS = 64
"""Tolerance of a comparison in single precision, as a multiple of the machine epsilon."""


def reference(recipe: Recipe, trial: Trial, max_length: int | None) -> Answer:
    """Return the recipe's loss and hand-derived gradient, with all completions in one group.

    One group is enough because the advantages are given.

    Args:
      recipe: the recipe.
      trial: the batch.
      max_length: the generation budget in tokens, or None for the padded length.
    """
    group = (1, *trial.mask.shape)
    batch = batch_of(
        trial.log_probs.reshape(group),
        trial.advantages.reshape(1, -1),
        trial.mask.reshape(group),
        old_log_probs=trial.old_log_probs.reshape(group),
        ref_log_probs=trial.ref_log_probs.reshape(group),
        rollout_log_probs=trial.rollout_log_probs.reshape(group),
        teacher_log_probs=trial.teacher_log_probs.reshape(group),
        max_length=max_length,
    )
    result = differentiate(batch, recipe)
    terms = abs(recipe.aggregate(result.batch) * result.gain.value)
    return Answer(float(result.losses.sum()), result.gradient[0], scale=float(terms.sum()))


def weights_of(recipe: Recipe, trial: Trial, max_length: int | None) -> Floats:
    """Return (N, T) the weight of each token in the recipe's average."""
    weights: Floats = np.asarray(recipe.weights(trial.mask[None], max_length=max_length))[0]
    return weights


def has_derivative(recipe: Recipe, trial: Trial, max_length: int | None) -> bool:
    """Return whether the recipe's gradient is the derivative of its loss; CISPO's is not, as it detaches."""
    ours = reference(recipe, trial, max_length)
    return not difference(ours, undetached(recipe, trial, max_length), 1e-6)


def undetached(recipe: Recipe, trial: Trial, max_length: int | None) -> Answer:
    """Return the recipe's loss and, by central differences, its derivative with nothing detached."""

    def value(log_probs: Floats) -> float:
        return reference(recipe, replace(trial, log_probs=log_probs), max_length).loss

    return Answer(value(trial.log_probs), central_differences(value, trial), numerical=True)


def same_loss(ours: Answer, theirs: Answer, rtol: float) -> bool:
    """Return whether the losses agree; NaN agrees with NaN.

    The tolerance is relative to the sum of the magnitudes of the terms. The terms may cancel, so that the
    loss itself is mostly rounding error.
    """
    if not np.isfinite(ours.loss) or not np.isfinite(theirs.loss):
        return bool(np.array_equal(ours.loss, theirs.loss, equal_nan=True))
    return abs(ours.loss - theirs.loss) <= rtol * max(abs(ours.loss), ours.scale) + 1e-12


def difference(ours: Answer, theirs: Answer, rtol: float) -> str:
    """Describe the first difference between two results, or return "".

    Args:
      ours: the recipe's result.
      theirs: the function's result.
      rtol: tolerance, relative to the sum of the magnitudes of the loss's terms and to the largest entry of
        the gradient. It is at least 1e-4 for central differences, and at least `ROUNDINGS` machine epsilons
        of the function's precision.
    """
    rtol = max(rtol, ROUNDINGS * theirs.precision)
    if not same_loss(ours, theirs, rtol):
        return f"your loss is {theirs.loss:.8g}, the recipe's {ours.loss:.8g}"
    if theirs.gradient is None or ours.gradient is None or np.isnan(ours.loss):
        return ""
    if not theirs.numerical and np.isnan(theirs.gradient).any():
        return "the loss agrees, but your gradient holds NaN"
    # Central differences are NaN at kinks and on padding, and nothing is compared there. Any other NaN
    # differs.
    known = np.ones(theirs.gradient.shape, dtype=bool)
    for gradient, numerical in ((ours.gradient, ours.numerical), (theirs.gradient, theirs.numerical)):
        known &= ~np.isnan(gradient) if numerical else known
    numerical = ours.numerical or theirs.numerical
    scale = np.abs(np.where(known, ours.gradient, 0.0)).max(initial=1e-6)
    apart = np.where(known, np.abs(theirs.gradient - ours.gradient), 0.0)
    worst = np.unravel_index(int(np.argmax(apart)), apart.shape)
    if apart[worst] <= (max(rtol, 1e-4) if numerical else rtol) * scale:
        return ""
    return (
        f"the loss agrees, the gradient does not: at {[int(i) for i in worst]} yours is"
        f" {theirs.gradient[worst]:.8g}, the recipe's {ours.gradient[worst]:.8g}"
    )
