"""Random permutations, with which toy tasks assign right answers and rewards."""

import numpy as np

from grpo_ref.arrays import Integers


def random_orders(generator: np.random.Generator, shape: tuple[int, ...], *, axis: int = -1) -> Integers:
    """Return the numbers 0, 1, ... in random order along one axis, independently along the other axes.

    Args:
      generator: random generator, from which one uniform number per entry is drawn.
      shape: shape of the result.
      axis: axis of the permutations; by default the last axis.
    """
    orders: Integers = np.argsort(generator.random(shape), axis=axis)
    return orders
