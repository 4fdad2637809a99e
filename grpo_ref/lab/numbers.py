"""Print differences and their intervals with as many digits as the interval supports."""

from collections.abc import Mapping
from math import floor, log10
from typing import Any

from grpo_ref.lab.framework.summary import ROUNDING

MINUS = "\N{MINUS SIGN}"
MOST = 6
"""Maximum number of decimals."""


def decimals_of(finding: Mapping[str, Any]) -> int | None:
    """Return the number of decimals that leaves two digits of the interval's half-width.

    It is None if the half-width is 0, or so small that two digits need more than `MOST` decimals.

    >>> decimals_of({"low": -0.041, "high": 0.007}), decimals_of({"low": 1.0, "high": 1.0})
    (3, None)
    """
    half = (finding["high"] - finding["low"]) / 2.0
    decimals = max(1 - floor(log10(half)), 0) if half >= ROUNDING else MOST + 1
    return decimals if decimals <= MOST else None


def signed(value: float, decimals: int | None) -> str:
    """Return a number with its sign. Rounding errors are printed as 0.

    Args:
      value: the number.
      decimals: number of decimals, or None for three significant digits.

    >>> signed(-0.0168, 3), signed(0.0, None), signed(1.0, None)
    ('−0.017', '0', '+1')
    """
    if abs(value) < ROUNDING:
        return "0"
    sign, text = (MINUS if value < 0.0 else "+"), abs(value)
    return f"{sign}{text:.3g}" if decimals is None else f"{sign}{text:.{decimals}f}"


def interval_text(finding: Mapping[str, Any]) -> str:
    """Return a mean difference with its interval, or without it if all pairs agree exactly.

    >>> interval_text({"mean": -0.0168, "low": -0.041, "high": 0.0071})
    '−0.017 [−0.041, +0.007]'
    >>> interval_text({"mean": 2e-7, "low": -1e-7, "high": 5e-7})
    '+2e-07 [−1e-07, +5e-07]'
    """
    decimals = decimals_of(finding)
    mean, low, high = (signed(finding[key], decimals) for key in ("mean", "low", "high"))
    return mean if finding["high"] - finding["low"] < 2.0 * ROUNDING else f"{mean} [{low}, {high}]"


def at_equal_text(finding: Mapping[str, Any], value: str) -> str:
    """Return the difference, with its interval, of two arms at the same value of their setting.

    Raises:
      ValueError: if the arms were not both tried at this value.

    >>> at_equal_text({"at_equal": {"0.1": [0.5, 0.4, 0.6]}}, "0.1")
    '+0.50 [+0.40, +0.60]'
    """
    if value not in finding["at_equal"]:
        tried = ", ".join(finding["at_equal"]) or "none"
        raise ValueError(f"expected a value at which both arms were tried ({tried}), got {value}")
    mean, low, high = finding["at_equal"][value]
    return interval_text({"mean": mean, "low": low, "high": high})
