"""Cut a batch into minibatches, and runs into parts."""

from itertools import pairwise


def slices(count: int, parts: int) -> list[slice]:
    """Return slices that cut `count` items into at most `parts` nearly equal parts, none of them empty.

    >>> slices(7, 3)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 7, None)]
    """
    parts = min(parts, count)
    edges = [count * part // parts for part in range(parts + 1)]
    return [slice(begin, end) for begin, end in pairwise(edges)]
