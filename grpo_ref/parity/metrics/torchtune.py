"""The metrics that torchtune's recipes log for a step: those that the loss returns, and `approx_policy_kl`."""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import BATCH, Array, Floats, masked_mean
from grpo_ref.explain.dialects.torchtune.keys import BATCH as OF_BATCH
from grpo_ref.explain.dialects.torchtune.keys import LINEAR, TOKEN
from grpo_ref.loss import policy_loss
from grpo_ref.parity.calls.common import OPTIONAL
from grpo_ref.parity.measured import Measured, Metric, Rounded
from grpo_ref.parity.metrics.common import log_ratio_of


def policy_gain(measured: Measured) -> Rounded:
    """Return the maximized objective without the penalty, `policy_loss`.

    Despite its name it has the sign of a gain.

    Log-probabilities are float32 in torchtune, and so is the sum, in which the advantages of a group cancel.
    """
    record = measured.record
    others = {name: value for name, value in vars(record).items() if name in OPTIONAL}
    recipe = replace(measured.recipe, kl_coef=0.0)
    result = policy_loss(record.log_probs, record.advantages, record.mask, recipe=recipe, **others)
    sizes = recipe.weights(record.mask) * abs(record.advantages[..., None])
    return Rounded(-result.loss, sizes.sum())


def kl_loss(measured: Measured) -> Floats:
    """Return the penalty without its weight, averaged as the loss is, `kl_loss`."""
    mask = measured.record.mask
    values = np.where(mask != 0.0, measured.recipe.penalty(measured.record).value, 0.0)
    mean: Floats = (measured.recipe.weights(mask) * values).sum()
    return mean


def ratios(measured: Measured) -> Floats | float:
    """Return the mean ratio, `ratios`; 1 without a ratio. GRPOLoss counts the padding as 1."""
    if _loss(measured) not in (TOKEN, OF_BATCH):
        return 1.0
    mask = measured.record.mask
    ratio = np.exp(measured.recipe.level(log_ratio_of(measured), mask))
    mean: Floats = ratio.mean() if _loss(measured) == TOKEN else ratio[mask != 0.0].mean()
    return mean


def clipfrac(measured: Measured) -> Floats | float:
    """Return the fraction of clipped tokens, or of clipped completions, `clipfrac`; 0 without a clip."""
    if _loss(measured) not in (TOKEN, OF_BATCH):
        return 0.0
    record, width = measured.record, measured.settings["loss.epsilon"]
    ratio = np.exp(measured.recipe.level(log_ratio_of(measured), record.mask))
    free = record.advantages[..., None] * ratio
    bound = record.advantages[..., None] * np.clip(ratio, min(1.0 - width, 1.0 + width), 1.0 + width)
    weights = measured.recipe.weights(record.mask)
    share: Floats = (weights * (bound < free)).sum()
    return share


def approx_policy_kl(measured: Measured) -> Array:
    """Return half the mean square of the log-ratio, `approx_policy_kl`.

    With LinearGRPOLoss, padding is excluded.
    """
    values, mask = 0.5 * log_ratio_of(measured) ** 2, measured.record.mask
    if _loss(measured) == LINEAR:
        return masked_mean(values, mask, axis=BATCH) if mask.any() else np.float64("nan")
    mean: Array = np.where(mask != 0.0, values, 0.0).mean()
    return mean


def _loss(measured: Measured) -> str:
    """Return the full name of the loss."""
    name: str = measured.settings["loss._component_"]
    return name


METRICS: dict[str, Metric] = {
    "policy_loss": policy_gain,
    "kl_loss": kl_loss,
    "ratios": ratios,
    "clipfrac": clipfrac,
    "approx_policy_kl": approx_policy_kl,
}
"""The metrics, by the name that is logged."""
