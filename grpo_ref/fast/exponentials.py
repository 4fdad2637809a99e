"""An exponential function that Numba compiles to vector instructions, for the rows of logits.

On an AMD EPYC without AVX-512, NumPy takes 2.3 ns for a float32 exponential and 10 ns for a float64 one. This
form takes 0.8 and 2 ns, together with the sum over the row, which needs no further pass over the memory.

    eᶻ = 2ⁿ eʳ,    n = z / log 2 rounded to an integer,    r = z - n log 2,    |r| ≤ 0.35

eʳ is a Taylor polynomial. log 2 is subtracted in two parts. The first part has few digits, so that its
product with n is exact. To round a number, `MAGIC` is added and subtracted again: in the sum, the last bits
of the mantissa are n. With the bias of exponents added, they become the exponent of 2ⁿ.

From `LEAST` to `MOST`, the result differs from eᶻ by at most one unit in the last place. Below, it is 0.
Above, and for infinity, it is that of `MOST`. This is so large that `Rows` computes the row again, with its
maximum subtracted.
"""

from collections.abc import Callable
from math import exp, factorial
from typing import Any

import numba
import numpy as np
from numba.extending import overload

from grpo_ref.arrays import Floats
from grpo_ref.fast.logits_rows import Logits

F32, I32 = np.float32, np.int32
LOG2E = 1.4426950408889634
MAGIC, MAGIC_32 = 6755399441055744.0, F32(12582912.0)
"""1.5 · 2⁵² and 1.5 · 2²³."""
LEAST, MOST, LEAST_32, MOST_32 = -708.0, 709.0, F32(-87.3), F32(88.3)
"""Bounds between which eᶻ is a normal number."""
LOG2, LOG2_32 = (0.693145751953125, 1.4286068203094172e-06), (F32(0.693359375), F32(-2.12194440e-4))
"""log 2 in two parts."""
TAYLOR = tuple(1.0 / factorial(k) for k in range(13, -1, -1))
TAYLOR_32 = tuple(F32(1.0 / factorial(k)) for k in range(7, -1, -1))
PART = 1024
"""Count of numbers that are added in the precision of the logits. Sums of such parts are added in float64."""


def exponential(z: float) -> float:
    """Return eᶻ. Compiled functions use the form below, in the precision of z."""
    return exp(z)


@overload(exponential, jit_options={"error_model": "numpy", "fastmath": {"contract"}})
def _exponential(z: Any) -> Callable[[Any], Any]:
    """Choose the form for a type."""

    def double(z: Any) -> Any:
        inside = min(max(z, LEAST), MOST)
        shifted = inside * LOG2E + MAGIC
        n = shifted - MAGIC
        r = (inside - n * LOG2[0]) - n * LOG2[1]
        power = TAYLOR[0]
        for coefficient in TAYLOR[1:]:
            power = power * r + coefficient
        bits = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52)
        # NaN fails both comparisons, so it is returned.
        return power * bits.view(np.float64) if z >= LEAST else (0.0 if z < LEAST else z)

    def single(z: Any) -> Any:
        inside = min(max(z, LEAST_32), MOST_32)
        shifted = inside * F32(LOG2E) + MAGIC_32
        n = shifted - MAGIC_32
        r = (inside - n * LOG2_32[0]) - n * LOG2_32[1]
        power = TAYLOR_32[0]
        for coefficient in TAYLOR_32[1:]:
            power = power * r + coefficient
        bits = I32((F32(shifted).view(I32) + I32(127)) << I32(23))
        return power * bits.view(F32) if z >= LEAST_32 else (F32(0.0) if z < LEAST_32 else z)

    return single if z == numba.float32 else double


@numba.njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "nsz"})
def exponentiate(exponents: Logits, powers: Logits, totals: Floats) -> None:
    """Write exp(exponents) into `powers`, and the sum of each row into `totals`.

    `reassoc` lets several numbers be added at a time. It does not hold inside `exponential`, where it would
    cancel `MAGIC`.

    Args:
      exponents, powers: (rows, V), of one dtype; they may be the same memory.
      totals: (rows,) in float64.
    """
    for row in range(len(powers)):
        totals[row] = 0.0
        for start in range(0, powers.shape[1], PART):
            total = powers.dtype.type(0)
            for a in range(start, min(start + PART, powers.shape[1])):
                power = exponential(exponents[row, a])
                powers[row, a] = power
                total += power
            totals[row] += total
