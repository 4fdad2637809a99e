"""Check the slope of a surrogate or a penalty against central differences of its value.

A part returns a value per token and its derivative in two terms (see `Term`): `slope` is the derivative with
respect to the log-ratio, after the level, with the log-probabilities held constant; `direct` is the
derivative with respect to the log-probabilities with the log-ratio held constant. Each is compared, entry by
entry, with the central difference of the sum of all values. The sum matters for a part whose value at one
token depends on other tokens of the completion.

A detached part holds its ratio constant (a stop-gradient), so its slope is deliberately not the derivative of
its value. With `detached=True`, two weaker properties are checked: `slope` must be 0, and `direct` must be
the derivative of the value, either with the log-ratio held constant (CISPO, VESPO) or with the log-ratio
moving by as much as the token's log-probability (GSPO-token). The slope of the straight-through penalty
belongs to another value altogether; check the part that has this value instead.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.check.frameworks import STEP, is_smooth
from grpo_ref.loss import batch_of
from grpo_ref.recipes import Recipe, Slot
from grpo_ref.types import Batch, Term

SHAPE = (2, 3, 5)
"""P, G and T of the test batches."""
SPREADS = (0.1, 0.5, 2.0)
"""Spread of old policy, reference and sampler around the policy, in nats; one batch for each spread."""

DERIVATIVE = "the slope is the derivative of the value"
RATIO_CONSTANT = "direct is the derivative of the value with the log-ratio held constant"
RATIO_MOVING = (
    "direct is the derivative of the value with the log-ratio moving as the token's log-probability does"
)


@dataclass(frozen=True)
class SlopeCheck:
    """Result of `check_slope`.

    Attributes:
      part: name of the surrogate or penalty.
      entries: number of derivatives compared; kinks of the value are excluded.
      first: description of the first difference: its place, the expected and the received number; or "".
      meaning: the derivative that the slope is, in words; "" if it is none.
    """

    part: str
    entries: int
    first: str
    meaning: str

    @property
    def agrees(self) -> bool:
        """True if all derivatives agree."""
        return not self.first

    def __str__(self) -> str:
        result = f"{self.entries} derivatives agree; {self.meaning}" if self.agrees else self.first
        return f"{self.part}: {result}"


class _Derivatives(NamedTuple):
    """The two terms of a derivative, (P, G, T) each. Central differences are NaN at kinks and on padding."""

    slope: Floats
    direct: Floats


def check_slope(
    part: Slot | Callable[..., Term], *, detached: bool = False, rtol: float = 1e-5, seed: int = 0
) -> SlopeCheck:
    """Compare the slope that a surrogate or a penalty returns with central differences of its value.

    Args:
      part: a kernel that returns `Term`, or `slot(kernel, setting=...)`. Its positional parameters are fields
        of `Batch`.
      detached: true if the part is meant to hold its ratio constant. Then `slope` must be 0, and `direct` the
        derivative of the value, with the log-ratio held constant or moving as the token's log-probability
        does.
      rtol: tolerance, relative to the largest derivative of a batch.
      seed: seed of the batches.

    Returns:
      SlopeCheck. `agrees` is the verdict; `str` of the result describes the first difference.

    Raises:
      TypeError: if the part is not a kernel, or does not return a `Term`.
      ValueError: if the part reads a field that a batch does not have, lacks a setting, or returns a wrong
        shape.

    >>> from grpo_ref.surrogates import clipped
    >>> result = check_slope(clipped)
    >>> result.agrees, result.meaning
    (True, 'the slope is the derivative of the value')
    """
    part = _as_slot(part)
    batches = list(_batches(seed))
    given = [_given(part, batch) for batch in batches]
    measured = [
        _Derivatives(_differences(part, batch, "log_ratio"), _differences(part, batch, "log_probs"))
        for batch in batches
    ]
    firsts = {
        meaning: _first_difference(given, [expected(each) for each in measured], rtol)
        for meaning, expected in _meanings(detached).items()
    }
    meaning = next((name for name, first in firsts.items() if not first), "")
    first = "" if meaning else next(iter(firsts.values())) + _advice(given, measured, rtol)
    entries = sum(int(np.isfinite(array).sum()) for each in measured for array in each)
    return SlopeCheck(part.kernel.__name__, entries, first, meaning)


def _meanings(detached: bool) -> dict[str, Callable[[_Derivatives], _Derivatives]]:
    """Return the derivatives that the part may return, as functions of the derivatives of its value."""
    if not detached:
        return {DERIVATIVE: lambda measured: measured}
    return {
        RATIO_CONSTANT: lambda measured: _Derivatives(np.zeros(SHAPE), measured.direct),
        RATIO_MOVING: lambda measured: _Derivatives(np.zeros(SHAPE), measured.slope + measured.direct),
    }


def _first_difference(given: list[_Derivatives], expected: list[_Derivatives], rtol: float) -> str:
    """Describe the first place where a returned derivative is not the expected one, or return ""."""
    for number, (ours, theirs) in enumerate(zip(given, expected, strict=True), start=1):
        scale = max(np.nanmax(np.abs(array), initial=1e-6) for array in theirs)
        for name, returned, right in zip(ours._fields, ours, theirs, strict=True):
            wrong = ~np.isnan(right) & ~(np.abs(returned - right) <= rtol * scale)
            if wrong.any():
                place = tuple(np.argwhere(wrong)[0])
                return (
                    f"{name} at {[int(i) for i in place]} of batch {number}:"
                    f" expected {right[place]:.6g}, got {returned[place]:.6g}"
                )
    return ""


def _advice(given: list[_Derivatives], measured: list[_Derivatives], rtol: float) -> str:
    """Suggest what the author may have meant, if the slope is another derivative than the expected one."""
    if not any(np.any(each.slope) for each in given) and any(
        not _first_difference(given, [expected(each) for each in measured], rtol)
        for expected in _meanings(detached=True).values()
    ):
        return "; if its ratio is meant to be held constant, pass detached=True"
    swapped = [_Derivatives(each.direct, each.slope) for each in given]
    if not _first_difference(swapped, measured, rtol):
        return "; slope is with respect to log_ratio and direct to log_probs: here they are exchanged"
    return ""


# ---- the part ------------------------------------------------------------------------------------


def _as_slot(part: Any) -> Slot:
    """Return the part as a slot, or raise an error that names what is missing."""
    if isinstance(part, Recipe):
        raise TypeError("part: expected a surrogate or a penalty, got a recipe; pass recipe.surrogate")
    if not isinstance(part, Slot) and not callable(part):
        raise TypeError(f"part: expected a kernel or a slot, got {type(part).__name__}")
    slot: Slot = part if isinstance(part, Slot) else Slot(part)
    name, known = slot.kernel.__name__, [field.name for field in fields(Batch)]
    if strange := [field for field in slot.reads if field not in known]:
        raise ValueError(f"{name} reads {strange[0]}, but a batch has only {', '.join(known)}")
    for parameter in signature(slot.kernel).parameters.values():
        required = parameter.kind is Parameter.KEYWORD_ONLY and parameter.default is Parameter.empty
        if required and parameter.name not in slot.settings:
            raise ValueError(f"{name} needs a setting: pass slot({name}, {parameter.name}=...)")
    return slot


def _term(part: Slot, batch: Batch) -> Term:
    """Call the part and check that it returns a term of the right shapes."""
    term, name = part(batch), part.kernel.__name__
    if not isinstance(term, Term):
        what = f"an array of shape {term.shape}" if isinstance(term, np.ndarray) else type(term).__name__
        raise TypeError(f"{name}: expected Term(value, slope=..., direct=...), got {what}")
    if np.shape(term.value) != SHAPE:
        raise ValueError(f"{name}: expected a value per token, of shape {SHAPE}, got {np.shape(term.value)}")
    for field, array in zip(("slope", "direct"), term[1:], strict=True):
        if np.shape(array) not in ((), SHAPE):
            raise ValueError(f"{name}: expected {field} of shape {SHAPE} or a number, got {np.shape(array)}")
    return term


def _given(part: Slot, batch: Batch) -> _Derivatives:
    """Return the derivative that the part returns, as (P, G, T) arrays."""
    term = _term(part, batch)
    slope, direct = (np.broadcast_to(np.asarray(array, dtype=float), SHAPE) for array in term[1:])
    return _Derivatives(slope, direct)


def _differences(part: Slot, batch: Batch, field: str) -> Floats:
    """Return the derivative of the sum of the values with respect to one field, by central differences.

    The other fields are held constant. The derivative is NaN at kinks and on padding.
    """

    def total(array: Floats) -> float:
        moved: dict[str, Any] = {field: array}
        return float((_term(part, replace(batch, **moved)).value * batch.mask).sum())

    base, derivative = getattr(batch, field), np.full(SHAPE, np.nan)
    middle = total(base)
    for index in zip(*np.nonzero(batch.mask), strict=True):
        up, down = base.copy(), base.copy()
        up[index], down[index] = up[index] + STEP, down[index] - STEP
        right, left = (total(up) - middle) / STEP, (middle - total(down)) / STEP
        if is_smooth(right, left):
            derivative[index] = (right + left) / 2
    return derivative


def _batches(seed: int) -> Iterator[Batch]:
    """Generate ragged batches with all fields that a part may read, each with policies further apart."""
    for number, spread in enumerate(SPREADS):
        rng = np.random.default_rng([seed, number])
        log_probs = np.log(rng.uniform(0.05, 0.9, SHAPE))
        old, ref, rollout = (np.minimum(log_probs + spread * rng.normal(size=SHAPE), -1e-3) for _ in range(3))
        top, top_old = (np.log(rng.dirichlet(np.ones(4), SHAPE)[..., :3]) for _ in range(2))
        batch = batch_of(
            log_probs,
            rng.normal(size=SHAPE[:-1]),
            np.arange(SHAPE[-1]) < rng.integers(1, SHAPE[-1] + 1, SHAPE[:-1])[..., None],
            old_log_probs=old,
            ref_log_probs=ref,
            rollout_log_probs=rollout,
            entropies=rng.uniform(0.1, 2.0, SHAPE),
            noise=rng.random(SHAPE),
            top_log_probs=top,
            top_rollout_log_probs=top_old,
        )
        correction = rng.uniform(0.5, 1.5, SHAPE)
        teacher = np.minimum(log_probs + spread * rng.normal(size=SHAPE), -1e-3)
        yield replace(batch, correction=correction, teacher_log_probs=teacher)
