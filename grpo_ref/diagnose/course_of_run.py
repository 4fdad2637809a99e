"""Describe the course of a run: where its main quantities start and end."""

import math

import numpy as np

from grpo_ref.diagnose.log import Log

QUANTITIES = {
    "reward": "reward",
    "score.mean": "score",
    "length.mean": "length",
    "truncated": "cut off at the budget",
    "dead_share": "groups with equal rewards",
    "entropy": "entropy",
    "kl": "KL",
    "grad_norm": "gradient norm",
}
"""Quantities with their names in sentences."""
SHARES = ("truncated", "dead_share")
"""Quantities that are written in percent."""
FEWEST_ROWS = 10
"""Fewest rows for a mean at the start and one at the end."""


def course_of_run(log: Log) -> str:
    """Return the means of the main quantities over the first and over the last tenth of the rows, as a sentence.

    The largest running mean of the reward is added if it is neither of the two.

    Returns:
      The sentence, or "" if no quantity has enough rows.

    >>> rows = [{"step": step, "reward": 0.01 * step, "entropy": 1.0} for step in range(1, 21)]
    >>> from grpo_ref.diagnose.log import log_of
    >>> course_of_run(log_of(rows, "trl"))
    'Start to end: reward 0.015 to 0.195; entropy 1 to 1.'
    """
    parts = [_change(log, quantity, name) for quantity, name in QUANTITIES.items()]
    return f"Start to end: {'; '.join(filter(None, parts))}." if any(parts) else ""


def _change(log: Log, quantity: str, name: str) -> str:
    column = [(step, value) for step, value in log.column(quantity) if math.isfinite(value)]
    if len(column) < FEWEST_ROWS:
        return ""
    width = len(column) // 10
    means = np.convolve([value for _, value in column], np.ones(width) / width, "valid")
    best = int(np.argmax(means))
    form = "{:.0%}" if quantity in SHARES else "{:.3g}"
    peak = ""
    if name in ("reward", "score") and best not in (0, len(means) - 1):
        peak = f", best {means[best]:.3g} at steps {column[best][0]} to {column[best + width - 1][0]}"
    return f"{name} {form.format(means[0])} to {form.format(means[-1])}{peak}"
