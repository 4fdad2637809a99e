"""Draw value and slope of the KL estimators against the log-ratio."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from grpo_ref.arrays import Floats
from grpo_ref.plots.axes import label, legend_above, series
from grpo_ref.plots.style import figure_style, new_figure
from grpo_ref.recipes import Slot
from grpo_ref.types import Batch


def penalty_curve(part: Slot, log_ratios: Floats) -> tuple[Floats, Floats]:
    """Return value and slope of a penalty against log πθ - log πref, on tokens sampled from πθ.

    Args:
      part: the penalty, as in a recipe.
      log_ratios: (N,) in nats.

    Returns:
      Two (N,) arrays, in nats and in nats per nat.
    """
    log_probs = np.full((1, log_ratios.size, 1), -4.0)
    batch = Batch(
        log_probs=log_probs,
        old_log_probs=log_probs,
        ref_log_probs=log_probs - log_ratios[None, :, None],
        rollout_log_probs=log_probs,
        log_ratio=np.zeros_like(log_probs),
        advantages=np.zeros_like(log_probs),
        mask=np.ones_like(log_probs),
        max_length=1,
    )
    term = part(batch)
    slope = np.broadcast_to(term.slope + term.direct, log_probs.shape)
    return term.value[0, :, 0], slope[0, :, 0]


def penalty_figure(parts: Mapping[str, Slot], *, reach: float = 2.0) -> Figure:
    """Draw value and slope of several penalties against log πθ - log πref.

    Args:
      parts: label -> penalty, as in a recipe; at most eight.
      reach: the axis runs from -reach to reach nats. On the left, the policy gives less probability than the
        reference.

    Returns:
      The figure.
    """
    log_ratios = np.linspace(-reach, reach, 401)
    with figure_style():
        figure = new_figure(9.5, 3.8)
        left, right = figure.subplots(1, 2)
        for index, (name, part) in enumerate(parts.items()):
            value, slope = penalty_curve(part, log_ratios)
            style = series(index) | {"markevery": 50}
            left.plot(log_ratios, value, label=name, **style)
            right.plot(log_ratios, slope, label=name, **style)
        for axis, what in ((left, "value (nats)"), (right, "slope with respect to log πθ")):
            axis.axhline(0.0, color="black", linewidth=0.8)
            label(axis, "log πθ - log πref of the sampled token (nats)", what)
            legend_above(axis)
    return figure
