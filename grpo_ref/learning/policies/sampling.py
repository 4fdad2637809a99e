"""Tokens from probabilities: the inverse of the distribution function at a uniform number.

The same numbers always give the same tokens, whatever else is drawn beside them.
"""

from collections.abc import Callable

from grpo_ref.arrays import Floats, Integers, array_namespace

Choose = Callable[[Integers, Floats], Integers]
"""(states (..., P, G) of the automaton, uniform numbers (..., P, G)) -> the next tokens (..., P, G)."""


def inverted(cumulative: Floats, rows: Integers, uniforms: Floats) -> Integers:
    """The first token of each row whose cumulative probability exceeds the uniform number, by bisection.

    Args:
      cumulative: (rows, V) distribution functions, their last column infinite.
      rows: (...,) which row each number is looked up in.
      uniforms: (...,) numbers in [0, 1).
    """
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
    """(rows, V) running sums of probabilities (..., V), the last one infinite, as `inverted` wants them."""
    cumulative: Floats = probs.reshape(-1, probs.shape[-1]).cumsum(-1)
    cumulative[:, -1] = array_namespace(probs).inf
    return cumulative
