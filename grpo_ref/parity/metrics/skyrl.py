"""The metrics of SkyRL's worker, for a mini-batch of one micro-batch."""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import BATCH, TOKENS, Array, Floats, masked_mean
from grpo_ref.loss import policy_loss as loss_of
from grpo_ref.parity.calls.common import OPTIONAL
from grpo_ref.parity.measured import Measured, Metric


def policy_loss(measured: Measured) -> Array:
    """Return the loss without penalty and bonus, `policy_loss`."""
    record, length = measured.record, measured.settings.max_seq_len
    others = {name: value for name, value in vars(record).items() if name in OPTIONAL}
    recipe = replace(measured.recipe, kl_coef=0.0)
    return loss_of(
        record.log_probs, record.advantages, _mask(measured), recipe=recipe, max_length=length, **others
    ).loss


def policy_kl(measured: Measured) -> Floats:
    """Return the penalty without its weight, `policy_kl`: the mean over completions of their means."""
    values = measured.recipe.penalty(measured.record).value
    mean: Floats = masked_mean(values, _mask(measured), axis=TOKENS).mean()
    return mean


def clip_ratio(measured: Measured) -> Array:
    """Return the fraction of tokens whose clipped branch is the smaller one, `loss_metrics/clip_ratio`."""
    record, surrogate = measured.record, measured.recipe.surrogate.settings
    old = getattr(record, "old_log_probs", record.log_probs)
    levelled = measured.recipe.level(record.log_probs - old, _mask(measured))
    limits = (-20.0, 20.0) if measured.settings.policy_loss_type != "gspo" else (-np.inf, 10.0)
    ratio = np.exp(np.clip(levelled, *limits))
    bound = np.clip(ratio, 1.0 - surrogate["clip_low"], 1.0 + surrogate["clip_high"])
    advantages = record.advantages
    if advantages.ndim < record.mask.ndim:
        advantages = advantages[..., None]
    held = (bound * advantages < ratio * advantages).astype(ratio.dtype)
    return masked_mean(held, _mask(measured), axis=BATCH)


def _mask(measured: Measured) -> Floats:
    """Return the tokens of the completions that count, (P, G, T)."""
    mask: Floats = measured.numbers["admitted"]
    return mask


METRICS: dict[str, Metric] = {
    "final_loss": lambda measured: measured.numbers["loss"],
    "policy_loss": policy_loss,
    "policy_kl": policy_kl,
    "policy_entropy": lambda measured: masked_mean(measured.record.entropies, _mask(measured), axis=BATCH),
    "loss_metrics/clip_ratio": clip_ratio,
}
"""The metrics, by the name that is logged."""
