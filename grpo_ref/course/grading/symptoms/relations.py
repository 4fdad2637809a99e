"""Relations between wrong values and right ones that are the same in all wrong calls."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from grpo_ref.arrays import Bools, Floats
from grpo_ref.course.grading.symptoms.features import Given

FEWEST = 3
"""Smallest number of wrong calls in which a relation must be true."""
SAME = 1e-6
"""Relative deviation up to which two numbers count as equal."""
EXACTLY = 1e-10
"""Relative deviation up to which a number counts as the same number at another index."""
ROUGHLY = 1e-3
"""Relative deviation up to which two factors count as equal. A small number added to the divisor can make
them differ.
"""
LEAST, NEARLY = 1e-9, 1e-4
"""If the largest error is below the second fraction of the largest value, the value is nearly right. If it is
below the first fraction, only small entries are wrong.
"""
MOST_DIGITS = 15
ROUND = 1024.0
"""A number is round if this multiple of it is whole."""
SINGLE = "Every returned number is a number of single precision (float32)."


def relation(wrong: Sequence[tuple[Given, Any, Any]]) -> str:
    """Return a sentence for the factor or the order by which all wrong values differ from the right ones, or
    "".

    Args:
      wrong: for each call: its arguments, the returned value and the right value.
    """
    telling = [(given, *arrays) for given, got, due in wrong if (arrays := _arrays(got, due)) is not None]
    if len(telling) < max(FEWEST, len(wrong)):
        return ""
    factors = [_factor(got, due) for _, got, due in telling]
    if all(factors) and not _all_same([factor or 0.0 for factor in factors], [1.0] * len(factors)):
        found = _name([given for given, _, _ in telling], factors)
        if found:
            return f"The returned value is {found} times the right value, or nearly so."
    if all(_is_reordered(got, due) for _, got, due in telling):
        return "The right numbers are returned, in another order."
    return ""


def likeness(wrong_calls: Sequence[tuple[Given, Any, Any]]) -> str:
    """Return a sentence if all wrong entries are one number, an argument, or nearly right; else ""."""
    pairs = [_arrays(got, due) for _, got, due in wrong_calls]
    if len(pairs) < FEWEST or any(pair is None for pair in pairs):
        return ""
    arrays = [pair for pair in pairs if pair is not None]
    far = [abs(got - due).max(initial=0.0) / (abs(due).max(initial=0.0) or 1.0) for got, due in arrays]
    if 0.0 < min(far) and LEAST < max(far) < NEARLY:
        digits = f"On the wrong calls, the value agrees with the right one to {_digits(far)} digits."
        return f"{digits} {SINGLE}" if _is_single([got for got, _ in arrays]) else digits
    off = [
        ~np.isclose(got, due, rtol=EXACTLY, atol=EXACTLY * abs(due).max(initial=0.0)) for got, due in arrays
    ]
    values = np.concatenate([got[wrong].ravel() for (got, _), wrong in zip(arrays, off, strict=True)])
    if not values.size:
        return ""
    subject = "the value" if all(got.size == 1 for got, _ in arrays) else "each wrong number"
    if (values == values[0]).all():
        return f"On the wrong calls, {subject} is {_number(float(values[0]))}."
    name = _returned_as_given([given for given, _, _ in wrong_calls], [got for got, _ in arrays], off)
    return f"On the wrong calls, {subject} is the number of {name} at the same place." if name else ""


def _digits(deviations: Sequence[float]) -> str:
    """Return the numbers of right digits, as in "7" or "4 to 7"."""
    fewest, most = (
        min(MOST_DIGITS, math.floor(-math.log10(each))) for each in (max(deviations), min(deviations))
    )
    return f"{fewest}" if fewest == most else f"{fewest} to {most}"


def _is_single(arrays: Sequence[Floats]) -> bool:
    """Return whether single precision can hold all numbers of these arrays, of which some are not round."""
    values = np.concatenate([each.ravel() for each in arrays])
    with np.errstate(all="ignore"):
        is_round = values * ROUND == np.floor(values * ROUND)
        return bool((values == values.astype(np.float32)).all() and (~is_round).sum() >= FEWEST)


def _number(value: float) -> str:
    """Return the number as text; if it is a power of e, say so.

    >>> _number(-0.0), _number(math.exp(20.0)), _number(-1e3)
    ('0', '4.85165e+08, which is exp(20)', '-1000')
    """
    power = math.log(abs(value)) if value else 0.0
    whole = round(power)
    is_power = abs(whole) > 1 and math.isclose(power, whole, rel_tol=EXACTLY)
    return f"{value + 0.0:g}" + (f", which is {'-' * (value < 0)}exp({whole})" if is_power else "")


def _returned_as_given(given: Sequence[Given], got: Sequence[Floats], wrong: Sequence[Bools]) -> str:
    """Return the name of the argument that all wrong entries are equal to, or ""."""
    names = [name for name, array in given[0].arrays.items() if array.ndim]
    for name in names:
        if all(
            each.arrays[name].shape == value.shape and (each.arrays[name] == value)[off].all()
            for each, value, off in zip(given, got, wrong, strict=True)
        ):
            return name
    return ""


def _arrays(got: Any, due: Any) -> tuple[Floats, Floats] | None:
    """Return both values as arrays of one shape with finite numbers; None for anything else."""
    try:
        ours, theirs = np.asarray(got, dtype=float), np.asarray(due, dtype=float)
    except (TypeError, ValueError):
        return None
    fits = ours.shape == theirs.shape and np.isfinite(ours).all() and np.isfinite(theirs).all()
    return (ours, theirs) if fits else None


def _factor(got: Floats, due: Floats) -> float | None:
    """Return the number by which the right value is multiplied, or None."""
    largest = np.argmax(abs(due)) if due.size else 0
    if not due.size or due.flat[largest] == 0:
        return None
    factor = float(got.flat[largest] / due.flat[largest])
    bound = ROUGHLY * abs(factor * due.flat[largest])
    return factor if np.allclose(got, factor * due, rtol=0.0, atol=bound) else None


def _name(given: Sequence[Given], factors: Sequence[float | None]) -> str:
    """Name the factors of all these calls: as a number, or as an expression of the arguments. Return "" if
    neither fits.
    """
    numbers = [factor for factor in factors if factor is not None]
    if _all_same(numbers, [numbers[0]] * len(numbers)):
        return f"{numbers[0]:.3g}"
    options = [dict(_expressions(each)) for each in given]
    for text in options[0]:
        if all(text in each for each in options) and _all_same(numbers, [each[text] for each in options]):
            return text
    return ""


def _all_same(ours: Sequence[float], theirs: Sequence[float]) -> bool:
    return all(math.isclose(a, b, rel_tol=ROUGHLY) for a, b in zip(ours, theirs, strict=True))


def _expressions(given: Given) -> Iterator[tuple[str, float]]:
    """Yield the factors that result from a missing or a wrong divisor."""
    quantities: dict[str, float] = {symbol: float(length) for symbol, length in given.lengths.items()}
    for name in given.arrays:
        if given.arrays[name].ndim == 0:
            quantities[name] = float(given.arrays[name])
    products = {f"{a} {b}": quantities[a] * quantities[b] for a in quantities for b in quantities if a < b}
    for text, value in (quantities | products).items():
        if value > 0:
            yield text, value
            yield f"1/({text})" if " " in text else f"1/{text}", 1.0 / value
    for symbol, length in quantities.items():
        if length > 1:
            yield f"{symbol}/({symbol} - 1)", length / (length - 1)
            yield f"({symbol} - 1)/{symbol}", (length - 1) / length
            yield f"√(({symbol} - 1)/{symbol})", math.sqrt((length - 1) / length)
            yield f"√({symbol}/({symbol} - 1))", math.sqrt(length / (length - 1))
            yield f"√{symbol}", math.sqrt(length)


def _is_reordered(got: Floats, due: Floats) -> bool:
    return bool(np.allclose(np.sort(got.ravel()), np.sort(due.ravel()), rtol=EXACTLY, atol=0.0))
