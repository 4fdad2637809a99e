"""The weights of a network: one flat vector per run, with a named view of each part.

So the optimizer, the clipping of gradients and the checkpoints do not depend on the network.
"""

import math
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from grpo_ref.arrays import Array, array_namespace

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]
"""Name and shape of each part, in their order in the vector."""
Parts: TypeAlias = dict[str, Array]
"""Name -> (..., *shape)."""


def size_of(shapes: Shapes) -> int:
    """Return the total size of all parts.

    >>> size_of({"weight": (2, 3), "gain": (3,)})
    9
    """
    return sum(math.prod(shape) for shape in shapes.values())


def check_sizes(**sizes: tuple[object, int]) -> None:
    """Check that each of the named (size, least) is a whole number of at least `least`.

    Raises:
      ValueError: if not; the message names the size.

    >>> check_sizes(width=(0, 1))
    Traceback (most recent call last):
    ValueError: width: expected a whole number >= 1, got 0
    """
    for name, (size, least) in sizes.items():
        if not isinstance(size, int) or isinstance(size, bool) or size < least:
            raise ValueError(f"{name}: expected a whole number >= {least}, got {size!r}")


def views(flat: Array, shapes: Shapes) -> Parts:
    """Return the parts of a vector (..., n) as views (..., *shape), without a copy.

    Raises:
      ValueError: if the vector has another length.

    >>> import numpy as np
    >>> views(np.arange(3.0), {"weight": (1, 2), "gain": (1,)})
    {'weight': array([[0., 1.]]), 'gain': array([2.])}
    """
    if flat.shape[-1] != size_of(shapes):
        raise ValueError(f"flat: expected {size_of(shapes)} numbers on the last axis, got shape {flat.shape}")
    xp, lead = array_namespace(flat), flat.shape[:-1]
    return {name: xp.reshape(flat[..., place], (*lead, *shapes[name])) for name, place in _places(shapes)}


def joined(parts: Parts, shapes: Shapes) -> Array:
    """Return the vector (..., n) of the parts; the inverse of `views`."""
    some = next(iter(parts.values()))
    xp, lead = array_namespace(some), some.shape[: some.ndim - len(shapes[next(iter(parts))])]
    flat = xp.empty((*lead, size_of(shapes)), dtype=some.dtype)
    for name, place in _places(shapes):
        flat[..., place] = xp.reshape(parts[name], (*lead, -1))
    return flat


def _places(shapes: Shapes) -> Iterator[tuple[str, slice]]:
    """Yield the name of each part and its slice of the vector."""
    begin = 0
    for name, shape in shapes.items():
        end = begin + math.prod(shape)
        yield name, slice(begin, end)
        begin = end
