"""Compute a surrogate as a function of the ratio, on completions of one token each, without drawing."""

from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.recipes import Slot
from grpo_ref.types import Batch


class SurrogateCurve(NamedTuple):
    """A surrogate as a function of the ratio.

    Attributes:
      ratios: (N,) πθ/πold.
      value: (N,) contribution of one token to the objective.
      slope: (N,) derivative with respect to the token's log-probability, from both parts of the Term.
    """

    ratios: Floats
    value: Floats
    slope: Floats


def surrogate_curve(
    part: Slot, advantage: float, *, old_prob: float = 0.2, between: tuple[float, float] = (0.01, 3.0)
) -> SurrogateCurve:
    """Return a surrogate on a grid of ratios, for completions of one token each.

    With one token per completion, the ratio of a sequence is that of its token. The vocabulary has two
    tokens: this token and "any other".

    Args:
      part: the surrogate, as in a recipe.
      advantage: advantage of all tokens.
      old_prob: πold of the token. It matters for surrogates that depend on probabilities.
      between: smallest and largest ratio; 3.0 at πold = 0.2 is a probability of 0.6.

    Raises:
      ValueError: if a ratio is not positive, or so large that the token's probability would be 1 or more.
    """
    lowest, highest = between
    if not 0.0 < lowest < highest < 1.0 / old_prob:
        raise ValueError(f"between: expected ratios from above 0 to below 1/{old_prob:g}, got {between}")
    return surrogate_at(part, np.linspace(lowest, highest, 600), advantage, old_prob=old_prob)


def surrogate_at(part: Slot, ratios: Floats, advantage: float, *, old_prob: float = 0.2) -> SurrogateCurve:
    """Return a surrogate at the given ratios, for completions of one token each.

    Args:
      part: the surrogate, as in a recipe.
      ratios: (N,) above 0 and below 1/old_prob.
      advantage, old_prob: as in `surrogate_curve`.
    """
    term = part(_one_token_each(ratios, advantage, old_prob))
    shape = (1, ratios.size, 1)
    value, slope = (np.broadcast_to(x, shape).reshape(-1) for x in (term.value, term.slope + term.direct))
    return SurrogateCurve(ratios, value, slope)


def _one_token_each(ratios: Floats, advantage: float, old_prob: float) -> Batch:
    probs = (ratios * old_prob)[None, :, None]
    old = np.full_like(probs, old_prob)
    ones = np.ones_like(probs)
    return Batch(
        log_probs=np.log(probs),
        old_log_probs=np.log(old),
        ref_log_probs=np.log(old),
        rollout_log_probs=np.log(old),
        log_ratio=np.log(probs / old),
        advantages=advantage * ones,
        mask=ones,
        max_length=1,
        noise=0.0 * ones,
        top_log_probs=np.log(np.stack([probs, 1.0 - probs], axis=-1)),
        top_rollout_log_probs=np.log(np.stack([old, 1.0 - old], axis=-1)),
        correction=ones,
    )
