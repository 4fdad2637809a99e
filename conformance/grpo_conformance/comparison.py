"""Compare what a function computed with what a trainer computed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grpo_conformance.frameworks import DOUBLE, Result
from grpo_conformance.vector import Floats, Vector

ROUNDINGS = 200
"""Tolerance of a result in single precision, as a multiple of the machine epsilon: 2.4e-5."""
NUMERICAL = 1e-4
"""Tolerance of a gradient that was computed by central differences."""


@dataclass(frozen=True)
class Outcome:
    """The result of a function on one vector.

    Attributes:
      vector: the vector.
      result: what the function computed; None if it failed or was not called.
      what: what differs: "loss", "gradient", "value" or "error"; "" if nothing does.
      size: the difference, relative to the largest number; the same relative size as `rtol`.
      rtol: the tolerance.
      problem: an error of the function, as a sentence, or the reason why the vector was skipped.
      skipped: true if the function could not be called on this vector.
      given: what the function got: name of its parameter -> value.
    """

    vector: Vector
    result: Result | None = None
    what: str = ""
    size: float = 0.0
    rtol: float = 0.0
    problem: str = ""
    skipped: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """True if the function was called, and its numbers are the expected ones."""
        return not self.what and not self.skipped


def compared(vector: Vector, result: Result) -> Outcome:
    """Compare a result with the numbers of a vector: the loss or the value first, then the gradient."""
    rtol = max(vector.rtol, ROUNDINGS * result.precision if result.precision > DOUBLE else 0.0)
    if "value" in vector.expected:
        assert result.value is not None  # a vector with a value has asked for an array
        what, size = "value", value_difference(vector, result.value)
    else:
        # The terms of a loss may cancel; the sum of the magnitudes of the gradient stands for their size.
        scale = max(abs(vector.expected["loss"]), float(np.abs(vector.expected["gradient"]).sum()), 1e-9)
        what, size = "loss", _apart(result.loss, vector.expected["loss"]) / scale
    if size > rtol:
        return Outcome(vector, result, what, size, rtol)
    if result.gradient is None or "gradient" not in vector.expected:
        return Outcome(vector, result, "", size, rtol)
    gradient = vector.expected["gradient"]
    rtol = max(rtol, NUMERICAL) if result.numerical else rtol
    known = ~np.isnan(result.gradient) if result.numerical else np.ones(gradient.shape, dtype=bool)
    apart = np.where(known, np.abs(result.gradient - gradient), 0.0)
    apart = np.where(np.isnan(apart), np.inf, apart)
    steepness = float(apart.max(initial=0.0)) / max(float(np.abs(gradient).max(initial=0.0)), 1e-6)
    if steepness > rtol:
        return Outcome(vector, result, "gradient", steepness, rtol)
    return Outcome(vector, result, "", max(size, 0.0 if result.numerical else steepness), rtol)


def value_difference(vector: Vector, value: Floats) -> float:
    """Return the largest difference of an array, relative to its largest number; padding is not compared.

    Args:
      vector: the vector.
      value: the array, in a shape that `grpo_conformance.frameworks.fitted` returns.
    """
    wanted = vector.expected["value"]
    mask = (
        vector.inputs["mask"] > 0
        if "mask" in vector.inputs and wanted.ndim == 2
        else np.ones(wanted.shape, bool)
    )
    if wanted.ndim == 1 and value.shape != wanted.shape:  # the same number for all tokens of a completion
        mask = vector.inputs["mask"] > 0
        wanted = np.broadcast_to(wanted[:, None], value.shape)
    ours, theirs = value[mask], wanted[mask]
    odd = ~np.isfinite(theirs)
    if not np.array_equal(ours[odd], theirs[odd], equal_nan=True) or not np.isfinite(ours[~odd]).all():
        return float("inf")
    apart = float(np.abs(ours[~odd] - theirs[~odd]).max(initial=0.0))
    return apart / max(float(np.abs(theirs[~odd]).max(initial=0.0)), 1e-6)


def _apart(first: float, second: float) -> float:
    if not np.isfinite(first) or not np.isfinite(second):
        return 0.0 if np.array_equal(first, second, equal_nan=True) else float("inf")
    return abs(first - second)
