"""Random orders, by which toy tasks hand out what is right and what pays."""

import numpy as np

from grpo_ref.arrays import Integers


def random_orders(generator: np.random.Generator, shape: tuple[int, ...], *, axis: int = -1) -> Integers:
    """The numbers 0, 1, ... in a random order along one axis, independently along the others.

    Args:
      generator: gives one uniform number per entry.
      shape: of the result.
      axis: along which the numbers are ordered; by default the last one.
    """
    orders: Integers = np.argsort(generator.random(shape), axis=axis)
    return orders
