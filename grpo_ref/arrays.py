"""The array layer: which library the arrays belong to, and the few operations every kernel shares.

A kernel is one small function of a recipe, such as `clipped`; it is not GPU code. Kernels are written in the
Python Array API standard, so the library of their arrays does the work: NumPy, CuPy, PyTorch, JAX or
array-api-strict. Only this module imports array-api-compat and CuPy, and moves arrays between host and GPU.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import lazy_loader

Array: TypeAlias = Any
"""An array of any library that follows the Array API standard."""

if TYPE_CHECKING:
    import array_api_compat
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]
    Bools: TypeAlias = NDArray[np.bool_]
    """Arrays of code that is not a kernel: NumPy arrays, or CuPy arrays if a training run is on a GPU."""
else:  # NumPy is imported when it is first used, because listing the recipes is much faster without it
    array_api_compat, np = lazy_loader.load("array_api_compat"), lazy_loader.load("numpy")
    Floats = Integers = Bools = Any

# Axes of an array with one value per token, (..., P, G, T). The axes before the last three are independent
# runs.
TOKENS = -1  # T: the tokens of one completion
GROUP = -2  # G: the completions of one prompt
PROMPTS = -3  # P: the prompts
BATCH = (PROMPTS, GROUP, TOKENS)
"""All tokens of the batch: a sum over `BATCH` gives one number per run."""

# Axes of an array with one value per completion, (..., P, G), such as the rewards.
MEMBERS = -1  # G: the completions of one prompt; a sum over `MEMBERS` gives one number per group
GROUPS = -2  # P: the prompts, each with its group
COMPLETIONS = (GROUPS, MEMBERS)
"""All completions of the batch: a sum over `COMPLETIONS` gives one number per run."""


class DeviceError(RuntimeError):
    """The requested device does not exist, or its library is not installed."""


def array_namespace(*arrays: Array) -> Any:
    """The module whose functions work on these arrays: NumPy itself for NumPy arrays.

    >>> import numpy as np
    >>> array_namespace(np.ones(3)).__name__
    'numpy'
    """
    for array in arrays:  # a loop takes half the time of `all`, and a loss comes here a hundred times
        if not isinstance(array, (np.ndarray, np.generic)):
            break
    else:
        return np
    if any(isinstance(array, Sequence) for array in arrays):
        raise TypeError("expected arrays, got a list or tuple; use numpy.asarray(...)")
    xp = array_api_compat.array_namespace(*arrays)
    return _cupy() if xp.__name__ == "array_api_compat.cupy" else xp


# ---- devices ---------------------------------------------------------------------------------------


def device_namespace(device: str) -> Any:
    """The module whose arrays live on a device: NumPy for "cpu", CuPy for "gpu".

    Raises:
      ValueError: if the name is another one.
      DeviceError: if CuPy is not installed or finds no GPU.

    >>> device_namespace("cpu").__name__
    'numpy'
    """
    if device not in ("cpu", "gpu"):
        raise ValueError(f"device: expected cpu or gpu, got {device!r}")
    if device == "cpu":
        return np
    try:
        import cupy
    except ImportError as error:
        raise DeviceError(
            f"device gpu: CuPy cannot be imported ({error}); install it with: pip install 'grpo-ref[cuda]'"
        ) from error
    try:
        devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DeviceError(f"device gpu: CuPy finds no GPU to work on ({error})") from error
    if devices == 0:
        raise DeviceError("device gpu: CuPy finds no GPU to work on")
    return _cupy()


@cache
def _cupy() -> ModuleType:
    """Return CuPy under the names of the Array API standard.

    Two functions of array-api-compat are replaced because they are slow: its clip copies every bound to the
    GPU and waits for the GPU, its vecdot computes one matrix product per row.
    """
    import array_api_compat.cupy as compat

    module = ModuleType("cupy")
    own = {"clip": lambda x, low, high: x.clip(low, high), "vecdot": lambda x, y: (x * y).sum(-1)}
    vars(module).update(vars(compat) | own)
    return module


def to_device(record: Any, xp: Any) -> Any:
    """Return the record with its arrays on the device of xp, by one transfer each.

    A record is an array, or a tuple, dataclass, dictionary or functools.partial that holds arrays. Arrays
    without axes are numbers and stay on the host, and so does everything else.
    """
    if xp is np:
        return to_host(record)
    return _with_arrays(lambda x: xp.asarray(x) if isinstance(x, np.ndarray) and x.ndim else x, record)


def to_host(record: Any) -> Any:
    """Return the record with its arrays as NumPy arrays, by one transfer for each array on a device."""
    return _with_arrays(_fetched, record)


def _fetched(array: Array) -> Array:
    return array if isinstance(array, np.ndarray) else array_api_compat.to_device(array, "cpu")


def _with_arrays(move: Callable[[Array], Array], record: Any) -> Any:
    """Return the record with `move` applied to each of its arrays."""
    if isinstance(record, np.ndarray) or array_api_compat.is_array_api_obj(record):
        return move(record)
    if isinstance(record, tuple):
        return tuple(_with_arrays(move, value) for value in record)
    if isinstance(record, dict):
        return {name: _with_arrays(move, value) for name, value in record.items()}
    if isinstance(record, partial):
        given = [_with_arrays(move, value) for value in record.args]
        return partial(record.func, *given, **_with_arrays(move, record.keywords))
    if is_dataclass(record) and not isinstance(record, type):
        values = {field.name: _with_arrays(move, getattr(record, field.name)) for field in fields(record)}
        return replace(record, **values)
    return record


def sums_at(index: Integers, weights: Floats, size: int) -> Floats:
    """Return the sum of the weights of each index from 0 to size - 1, (size,); index and weights are flat.

    CuPy's `bincount` waits twice for the host, so CuPy's `add.at` is used instead. `add.at` adds in no fixed
    order, so the last bits of a sum can differ between two calls.

    >>> sums_at(np.array([0, 2, 2]), np.array([1.0, 0.5, 0.25]), 4)
    array([1.  , 0.  , 0.75, 0.  ])
    """
    xp = array_namespace(index, weights)
    if xp is np:
        return np.bincount(index, weights, minlength=size).astype(np.float64, copy=False)
    sums: Floats = xp.zeros(size, dtype=weights.dtype)
    xp.add.at(sums, index, weights)
    return sums


# ---- what every kernel shares ----------------------------------------------------------------------


def as_floating(array: Array) -> Array:
    """Return the array; a bool or integer array in float64."""
    xp = array_namespace(array)
    return array if _is_kind(xp, array.dtype, "real floating") else xp.astype(array, xp.float64)


def is_set(mask: Array) -> Array:
    """Return the mask as bool, from bool or from zeros and ones."""
    xp = array_namespace(mask)
    return mask if _is_kind(xp, mask.dtype, "bool") else mask != 0


@cache
def _is_kind(xp: Any, dtype: Any, kind: str) -> bool:
    """Return `isdtype`, cached: NumPy needs as long for it as for a sum over a few thousand numbers."""
    return bool(xp.isdtype(dtype, kind))


def where_mask(mask: Array, array: Array) -> Array:
    """Return the array with exact zeros where the mask is 0, also in place of NaN."""
    return array_namespace(mask, array).where(is_set(mask), array, 0.0)


def batch_sum(array: Array, *, keepdims: bool = False) -> Array:
    """Sum over prompts, group and tokens.

    The tokens are summed first. So the order of the additions, and with it the last bit of the result, does
    not depend on the number of runs.
    """
    xp = array_namespace(array)
    return xp.sum(xp.sum(array, axis=TOKENS, keepdims=True), axis=BATCH, keepdims=keepdims)


def masked_sum(array: Array, mask: Array, *, axis: int | tuple[int, ...], keepdims: bool = False) -> Array:
    """Sum over the entries with mask 1; entries with mask 0 may have any value, NaN included."""
    present = where_mask(mask, array)
    if axis == BATCH:
        return batch_sum(present, keepdims=keepdims)
    return array_namespace(array, mask).sum(present, axis=axis, keepdims=keepdims)


def masked_mean(array: Array, mask: Array, *, axis: int | tuple[int, ...], keepdims: bool = False) -> Array:
    """Mean over the entries with mask 1; 0 if there are none.

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
    return array_namespace(array).maximum(array, floor)


def clamp(array: Array, limit: float) -> Array:
    """The array limited to [-limit, limit]; an infinite limit leaves it as it is."""
    return array if math.isinf(limit) else array_namespace(array).clip(array, -limit, limit)


def is_inside(array: Array, limit: float) -> Array:
    """Mask of the entries in [-limit, limit], where the derivative of a clamp is 1, as in PyTorch."""
    return abs(array) <= limit


def check_same_shape(**arrays: Array) -> None:
    """Raise a ValueError that names the arguments and their shapes unless all shapes are equal."""
    if len({tuple(array.shape) for array in arrays.values()}) > 1:
        shapes = ", ".join(f"{name} {tuple(array.shape)}" for name, array in arrays.items())
        raise ValueError(f"expected one common shape, got {shapes}")


def check_finite(**arrays: Array) -> None:
    """Raise a ValueError with the argument's name, the first number that is not finite, and its index."""
    for name, array in arrays.items():
        xp = array_namespace(array)
        if not to_host(xp.all(xp.isfinite(array))):
            array = to_host(array)
            index = tuple(int(positions[0]) for positions in np.nonzero(~np.isfinite(array)))
            raise ValueError(f"{name}: expected finite numbers, got {float(array[index]):g} at {index}")
