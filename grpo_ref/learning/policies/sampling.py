"""Sample tokens from probabilities, by inverting the cumulative distribution at a uniform number.

The same numbers always give the same tokens, whatever else is sampled beside them.
"""

from collections.abc import Callable

from grpo_ref.arrays import Floats, Integers, array_namespace

Choose = Callable[[Integers, Floats], Integers]
"""(states (..., P, G) of the automaton, uniform numbers (..., P, G)) -> the next tokens (..., P, G)."""


def inverted(cumulative: Floats, rows: Integers, uniforms: Floats) -> Integers:
    """Return the first token whose cumulative probability exceeds the uniform number.

    Args:
      cumulative: (rows, V) cumulative probabilities, infinite in the last column.
      rows: (...,) the row in which to look up each number.
      uniforms: (...,) numbers in [0, 1).
    """
    # Bisection on all numbers at once. `tokens` counts the entries that are known to be <= the number; each
    # round tries to extend the count by `step`.
    xp = array_namespace(cumulative, rows, uniforms)
    vocabulary = cumulative.shape[-1]
    first = rows * vocabulary - 1
    tokens: Integers = xp.zeros(rows.shape, dtype=xp.int64)
    step = 1 << (vocabulary - 1).bit_length()
    while step := step // 2:
        probe = xp.minimum(tokens + step, vocabulary)
        tokens = xp.where(cumulative.reshape(-1).take(first + probe) <= uniforms, probe, tokens)
    return tokens


def distribution_functions(probs: Floats) -> Floats:
    """Return (rows, V) the cumulative sums of probabilities (..., V), for `inverted`."""
    cumulative: Floats = probs.reshape(-1, probs.shape[-1]).cumsum(-1)
    # A sum may be slightly below 1 by rounding. Infinity makes sure that some token exceeds every number.
    cumulative[:, -1] = array_namespace(probs).inf
    return cumulative
