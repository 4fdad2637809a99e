"""What the recipe answers on a generated batch, and in what two answers differ."""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.check.batches import Trial
from grpo_ref.check.frameworks import Answer, central_differences
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import Recipe


def reference(recipe: Recipe, trial: Trial, max_length: int | None) -> Answer:
    """The recipe's loss and manual gradient, with all completions as one group.

    Args:
      recipe: the algorithm.
      trial: the batch.
      max_length: the generation budget in tokens, or None for the padded length.
    """
    group = (1, *trial.mask.shape)
    result = policy_loss(
        trial.log_probs.reshape(group),
        trial.advantages.reshape(1, -1),
        trial.mask.reshape(group),
        recipe=recipe,
        old_log_probs=trial.old_log_probs.reshape(group),
        ref_log_probs=trial.ref_log_probs.reshape(group),
        rollout_log_probs=trial.rollout_log_probs.reshape(group),
        max_length=max_length,
    )
    return Answer(float(result.loss), result.gradient[0])


def has_derivative(recipe: Recipe, trial: Trial, max_length: int | None) -> bool:
    """Whether the gradient is that of the loss: not where a weight is detached, as in CISPO."""

    def value(log_probs: Floats, **others: Floats) -> float:
        return reference(recipe, replace(trial, log_probs=log_probs), max_length).loss

    ours = reference(recipe, trial, max_length)
    return not difference(ours, Answer(ours.loss, central_differences(value, trial), numerical=True), 1e-6)


def difference(ours: Answer, theirs: Answer, rtol: float) -> str:
    """What is different about their answer, in words; empty if nothing is.

    Args:
      ours: the recipe's.
      theirs: the function's.
      rtol: tolerance relative to the loss, and to the largest entry of the gradient; a numerical gradient is
        given 1e-4 at least.
    """
    if not np.isclose(theirs.loss, ours.loss, rtol=rtol, atol=1e-9):
        return f"your loss is {theirs.loss:.8g}, the recipe's {ours.loss:.8g}"
    if theirs.gradient is None or ours.gradient is None:
        return ""
    known = ~np.isnan(theirs.gradient) if theirs.numerical else np.ones(theirs.gradient.shape, dtype=bool)
    scale = np.abs(ours.gradient).max(initial=1e-6)
    apart = np.where(known, np.abs(theirs.gradient - ours.gradient), 0.0)
    worst = np.unravel_index(int(np.argmax(apart)), apart.shape)
    if apart[worst] <= (max(rtol, 1e-4) if theirs.numerical else rtol) * scale:
        return ""
    return (
        f"the loss agrees, the gradient does not: at {[int(i) for i in worst]} yours is"
        f" {theirs.gradient[worst]:.8g}, the recipe's {ours.gradient[worst]:.8g}"
    )
