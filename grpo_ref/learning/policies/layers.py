"""The layers of a network: each a value, and beside it the function that carries a slope back through it.

With y = f(x), the slope that arrives is ∂L/∂y and the one that leaves is ∂L/∂x. A value returns what its way
back needs. N rows hold the B sequences of T tokens one after the other, so that a product with a weight is
one matrix product; axes before them are independent runs, and a weight has them too.
"""

import math
from typing import NamedTuple

from grpo_ref.arrays import Array, Integers, array_namespace

NORM_EPS = 1e-6
"""Added to the mean square under the root; Llama's value."""
BLOCK = 16384
"""Numbers that GELU works on at a time: its many steps then stay in the processor's nearest memory."""


def swapped(matrix: Array) -> Array:
    """(..., A, B) -> (..., B, A)."""
    return array_namespace(matrix).matrix_transpose(matrix)


# ---- products with a weight ------------------------------------------------------------------------


def linear(x: Array, weight: Array) -> Array:
    """Y = x W, for x (..., N, I) and W (..., I, O)."""
    return x @ weight


def linear_back(slope: Array, x: Array, weight: Array) -> tuple[Array, Array]:
    """∂L/∂x = slope Wᵀ (..., N, I) and ∂L/∂W = xᵀ slope (..., I, O), for a slope (..., N, O)."""
    return slope @ swapped(weight), swapped(x) @ slope


def one_hot(tokens: Integers, vocabulary: int, like: Array) -> Array:
    """(..., N, V) 1 in the column of each token (..., N), else 0, in the precision of `like`.

    With it an embedding is a product with the table, and the way back is one with its transpose.
    """
    xp = array_namespace(like)
    return xp.astype(tokens[..., None] == xp.arange(vocabulary), like.dtype)


# ---- norms -----------------------------------------------------------------------------------------


class Normed(NamedTuple):
    """What the way back through a norm needs: normalized rows (..., N, D) and their scales (..., N, 1)."""

    rows: Array
    scale: Array


def rms_norm(x: Array, gain: Array) -> tuple[Array, Normed]:
    """Each row divided by its root mean square.

        y = g n,   n = x r,   r = (mean x² + NORM_EPS)^(-1/2)

    Args:
      x: (..., N, D).
      gain: (..., D).

    Returns:
      y (..., N, D), and n and r for the way back.

    Zhang & Sennrich 2019, eq. 4 (arXiv:1910.07467).
    """
    scale = (array_namespace(x).vecdot(x, x)[..., None] / x.shape[-1] + NORM_EPS) ** -0.5
    rows = x * scale
    return rows * gain[..., None, :], Normed(rows, scale)


def rms_norm_back(slope: Array, kept: Normed, gain: Array) -> tuple[Array, Array]:
    """The slopes with respect to x and g.

    ∂L/∂x = r (e - n mean(e n)),   e = g ∂L/∂y;   ∂L/∂g = Σ over rows of n ∂L/∂y
    """
    rows, scale = kept
    xp = array_namespace(slope)
    inner = slope * gain[..., None, :]
    share = xp.vecdot(inner, rows)[..., None] / rows.shape[-1]
    inner -= rows * share
    inner *= scale
    return inner, xp.sum(slope * rows, axis=-2)


def layer_norm(x: Array, gain: Array) -> tuple[Array, Normed]:
    """Each row centered, then divided by its standard deviation: `rms_norm` of x - mean x.

    As in Ba et al. 2016, eq. 4 (arXiv:1607.06450), without their bias.
    """
    return rms_norm(x - array_namespace(x).mean(x, axis=-1, keepdims=True), gain)


def layer_norm_back(slope: Array, kept: Normed, gain: Array) -> tuple[Array, Array]:
    """The slopes with respect to x and g: those of `rms_norm`, the first one centered as well."""
    inner, gain_slope = rms_norm_back(slope, kept, gain)
    return inner - array_namespace(inner).mean(inner, axis=-1, keepdims=True), gain_slope


# ---- activations -----------------------------------------------------------------------------------


def gelu(a: Array) -> tuple[Array, Array]:
    """The Gaussian error linear unit, by its tanh form, and its derivative.

        y = a (1 + t) / 2,   t = tanh(c (a + 0.044715 a³)),   c = √(2/π)
        dy/da = (1 + t) / 2 + a (1 - t²) c (1 + 0.134145 a²) / 2

    Args:
      a: (..., F).

    Returns:
      y and dy/da, both (..., F).

    Hendrycks & Gimpel 2016, section 2 (arXiv:1606.08415).
    """
    xp = array_namespace(a)
    flat, size = xp.reshape(a, (-1,)), math.prod(a.shape)
    value, derivative = xp.empty_like(flat), xp.empty_like(flat)
    for begin in range(0, size, BLOCK):
        block = slice(begin, min(begin + BLOCK, size))
        value[block], derivative[block] = _gelu_of_block(flat[block])
    return xp.reshape(value, a.shape), xp.reshape(derivative, a.shape)


def _gelu_of_block(a: Array) -> tuple[Array, Array]:
    scale, square = math.sqrt(2.0 / math.pi), a * a
    t = array_namespace(a).tanh(a * (scale + scale * 0.044715 * square))
    half = 0.5 + 0.5 * t
    bend = (1.0 - t) * half * a
    return a * half, half + bend * (scale + scale * 0.134145 * square)


def gelu_back(slope: Array, derivative: Array) -> Array:
    """The slope times the derivative that `gelu` gave."""
    return slope * derivative


def swiglu(a: Array) -> tuple[Array, Array]:
    """One half of the numbers gates the other one: y = u s(g), s(g) = g σ(g), a = (g, u).

    Args:
      a: (..., 2F).

    Returns:
      y (..., F), and (dy/dg, dy/du) (..., 2F) = (u σ(g) (1 + g (1 - σ(g))), s(g)).

    Shazeer 2020, eq. 5 (arXiv:2002.05202).
    """
    xp, half = array_namespace(a), a.shape[-1] // 2
    gate, up = a[..., :half], a[..., half:]
    sigmoid = 0.5 + 0.5 * xp.tanh(0.5 * gate)
    silu = gate * sigmoid
    return up * silu, xp.concat([up * (sigmoid + silu * (1.0 - sigmoid)), silu], axis=-1)


def swiglu_back(slope: Array, derivatives: Array) -> Array:
    """(..., 2F): the slope (..., F) times each of the two derivatives."""
    return array_namespace(slope).concat([slope, slope], axis=-1) * derivatives


# ---- attention -------------------------------------------------------------------------------------


class Attended(NamedTuple):
    """What the way back through attention needs; the weights are (..., K, T), keys first."""

    queries: Array
    keys: Array
    values: Array
    weights: Array
    outputs: Array


def attention(queries: Array, keys: Array, values: Array) -> tuple[Array, Attended]:
    """Every token takes a mean of the values of the tokens up to itself.

        oᵢ = Σⱼ Aⱼᵢ vⱼ,   Aⱼᵢ = exp(kⱼ·qᵢ/√d) / Σ over j' ≤ i of the same,   j ≤ i

    The weights are laid out keys first: a maximum over the axis before the last is several times faster.

    Args:
      queries: (..., T, d), the last T tokens.
      keys, values: (..., K, d) all tokens so far, K ≥ T.

    Returns:
      o (..., T, d), and what the way back needs.

    Vaswani et al. 2017, eq. 1 (arXiv:1706.03762).
    """
    xp = array_namespace(queries)
    scores = keys @ swapped(queries * queries.shape[-1] ** -0.5)
    scores += _later_keys(scores)
    scores -= xp.max(scores, axis=-2, keepdims=True)
    weights = xp.exp(scores)
    weights /= xp.sum(weights, axis=-2, keepdims=True)
    outputs = swapped(weights) @ values
    return outputs, Attended(queries, keys, values, weights, outputs)


def _later_keys(scores: Array) -> Array:
    """(K, T) minus infinity where the key comes after the query, else 0."""
    xp, (keys, queries) = array_namespace(scores), scores.shape[-2:]
    later = xp.arange(keys)[:, None] > xp.arange(keys - queries, keys)
    return xp.where(later, -math.inf, xp.zeros((keys, queries), dtype=scores.dtype))


def attention_back(slope: Array, kept: Attended) -> tuple[Array, Array, Array]:
    """The slopes with respect to queries, keys and values.

        ∂L/∂v = A ∂L/∂o;   ∂L/∂S = A (v ∂L/∂oᵀ - δ),   δᵢ = oᵢ·∂L/∂oᵢ;   S = k qᵀ/√d

    Args:
      slope: (..., T, d) ∂L/∂o.
      kept: what `attention` returned.

    Returns:
      (..., T, d), (..., K, d) and (..., K, d).

    Dao et al. 2022, appendix B.2 (arXiv:2205.14135) for δ.
    """
    queries, keys, values, weights, outputs = kept
    scores = values @ swapped(slope)
    scores -= array_namespace(slope).vecdot(slope, outputs)[..., None, :]
    scores *= weights
    scores *= queries.shape[-1] ** -0.5
    return swapped(scores) @ keys, scores @ queries, weights @ slope


# ---- rotary positions ------------------------------------------------------------------------------


def turns(positions: Integers, size: int, like: Array) -> tuple[Array, Array]:
    """Cosine and sine (T, d/2) of the angle by which each pair of features is turned at each position.

        angle of pair i at position t = t 10000^(-2i/d)

    Su et al. 2021, eq. 15 (arXiv:2104.09864).
    """
    xp = array_namespace(positions, like)
    speeds = 10000.0 ** (-2.0 * xp.astype(xp.arange(size // 2), xp.float64) / size)
    angles = xp.astype(positions, xp.float64)[:, None] * speeds
    return xp.astype(xp.cos(angles), like.dtype), xp.astype(xp.sin(angles), like.dtype)


def rotate(x: Array, cosine: Array, sine: Array) -> Array:
    """Turn each pair (xᵢ, xᵢ₊d/2) of the features (..., T, d); the way back turns by the opposite angle."""
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    turned = [first * cosine - second * sine, second * cosine + first * sine]
    return array_namespace(x).concat(turned, axis=-1)


def rotate_back(slope: Array, cosine: Array, sine: Array) -> Array:
    """The slope with respect to x: a rotation's transpose is its inverse."""
    return rotate(slope, cosine, -sine)
