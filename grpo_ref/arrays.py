"""The array layer: which library the arrays belong to, and the few operations every kernel shares.

Kernels are written in the Python Array API standard, so the arrays decide where the work is done: NumPy,
CuPy, PyTorch or array-api-strict. No other module knows that array-api-compat exists.
"""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import array_api_compat
import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = Any
"""An array of any library that follows the Array API standard."""

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
"""NumPy arrays, for the parts that are not kernels."""

TOKENS, GROUP, PROMPTS = -1, -2, -3
BATCH = (PROMPTS, GROUP, TOKENS)
"""The last three axes of every batch, ``(P, G, T)``; axes before them are independent runs."""


def array_namespace(*arrays: Array) -> Any:
    """The module whose functions work on these arrays: NumPy itself for NumPy arrays.

    >>> import numpy as np
    >>> array_namespace(np.ones(3)).__name__
    'numpy'
    """
    if all(isinstance(array, np.ndarray | np.generic) for array in arrays):
        return np
    if any(isinstance(array, Sequence) for array in arrays):
        raise TypeError("expected arrays, got a list or tuple; wrap it first, as in numpy.asarray(...)")
    return array_api_compat.array_namespace(*arrays)


def as_floating(array: Array) -> Array:
    """The array itself if it is real floating, else (bool, integer) the same values in float64."""
    xp = array_namespace(array)
    return array if xp.isdtype(array.dtype, "real floating") else xp.astype(array, xp.float64)


def is_set(mask: Array) -> Array:
    """The mask as truth values, whether it came as such or as zeros and ones."""
    xp = array_namespace(mask)
    return mask if xp.isdtype(mask.dtype, "bool") else mask != 0


def where_mask(mask: Array, array: Array) -> Array:
    """The array where the mask is set, exact zeros elsewhere: NaN in the padding is dropped."""
    return array_namespace(mask, array).where(is_set(mask), array, 0.0)


def masked_sum(array: Array, mask: Array, *, axis: int | tuple[int, ...], keepdims: bool = False) -> Array:
    """Sum over the masked entries only; what the others hold does not matter, NaN included."""
    xp = array_namespace(array, mask)
    return xp.sum(where_mask(mask, array), axis=axis, keepdims=keepdims)


def masked_mean(array: Array, mask: Array, *, axis: int | tuple[int, ...], keepdims: bool = False) -> Array:
    """Mean over the masked entries only, and 0 where there are none.

    >>> import numpy as np
    >>> float(masked_mean(np.array([2.0, 4.0, np.nan]), np.array([1, 1, 0]), axis=-1))
    3.0
    """
    xp = array_namespace(array, mask)
    total = masked_sum(array, mask, axis=axis, keepdims=keepdims)
    count = xp.sum(xp.astype(is_set(mask), array.dtype), axis=axis, keepdims=keepdims)
    return total / at_least(count, 1.0)


def at_least(array: Array, floor: float) -> Array:
    """Elementwise maximum with a number."""
    return array_namespace(array).clip(array, floor, None)


def clamp(array: Array, limit: float) -> Array:
    """The array limited to [-limit, limit]; an infinite limit leaves it as it is."""
    return array if math.isinf(limit) else array_namespace(array).clip(array, -limit, limit)


def is_inside(array: Array, limit: float) -> Array:
    """Where a clamp to [-limit, limit] passes the slope on: the closed interval, as in PyTorch."""
    return abs(array) <= limit


def check_same_shape(**arrays: Array) -> None:
    """Raise a ValueError that names the arguments and their shapes unless all shapes are equal."""
    if len({tuple(array.shape) for array in arrays.values()}) > 1:
        shapes = ", ".join(f"{name} {tuple(array.shape)}" for name, array in arrays.items())
        raise ValueError(f"expected one common shape, got {shapes}")
