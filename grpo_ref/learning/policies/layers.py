"""The layers of a network: a function for the forward pass, followed by one for the backward pass.

For a layer y = f(x), the backward pass receives ∂L/∂y (`slope`) and returns ∂L/∂x, and ∂L/∂W for a weight W.
The forward pass also returns what the backward pass needs, so nothing is computed twice.

N rows hold the B sequences of T tokens one after the other, so that a product with a weight is one matrix
product. The axes before the rows are independent runs; weights have these axes too.
"""

import math
from typing import NamedTuple

from grpo_ref.arrays import Array, Integers, array_namespace

NORM_EPS = 1e-6
"""Number added to the mean square under the root; Llama's value."""
BLOCK = 16384
"""Numbers that GELU processes at a time, so that its temporary arrays fit into the processor's cache."""


def swapped(matrix: Array) -> Array:
    """Transpose the last two axes: (..., A, B) -> (..., B, A)."""
    return array_namespace(matrix).matrix_transpose(matrix)


# ---- products with a weight ------------------------------------------------------------------------


def linear(x: Array, weight: Array) -> Array:
    """Return y = x W, for x (..., N, I) and W (..., I, O)."""
    return x @ weight


def linear_back(slope: Array, x: Array, weight: Array) -> tuple[Array, Array]:
    """Return ∂L/∂x = slope Wᵀ (..., N, I) and ∂L/∂W = xᵀ slope (..., I, O), for a slope (..., N, O)."""
    return slope @ swapped(weight), swapped(x) @ slope


def one_hot(tokens: Integers, vocabulary: int, like: Array) -> Array:
    """Return (..., N, V) with 1 in the column of each token (..., N) and 0 elsewhere, in the dtype of `like`.

    With it, an embedding is a product with the table, and its backward pass a product with the transpose.
    """
    xp = array_namespace(like)
    return xp.astype(tokens[..., None] == xp.arange(vocabulary), like.dtype)


# ---- norms -----------------------------------------------------------------------------------------


class Normed(NamedTuple):
    """Arrays for the backward pass of a norm: normalized rows (..., N, D) and their scales (..., N, 1)."""

    rows: Array
    scale: Array


def rms_norm(x: Array, gain: Array) -> tuple[Array, Normed]:
    """Divide each row by its root mean square, and multiply by the gain.

        y = g n,   n = x r,   r = (mean x² + NORM_EPS)^(-1/2)

    Args:
      x: (..., N, D).
      gain: (..., D).

    Returns:
      y (..., N, D), and n and r for the backward pass.

    Zhang & Sennrich 2019, eq. 4 (arXiv:1910.07467).
    """
    scale = (array_namespace(x).vecdot(x, x)[..., None] / x.shape[-1] + NORM_EPS) ** -0.5
    rows = x * scale
    return rows * gain[..., None, :], Normed(rows, scale)


def rms_norm_back(slope: Array, kept: Normed, gain: Array) -> tuple[Array, Array]:
    """Return the slopes with respect to x and g.

        ∂L/∂x = r (e - n mean(e n)),   e = g ∂L/∂y;   ∂L/∂g = Σ over rows of n ∂L/∂y

    The mean removes the part of e along n, because a longer row does not change the norm's value.
    """
    rows, scale = kept
    xp = array_namespace(slope)
    inner = slope * gain[..., None, :]  # e
    share = xp.vecdot(inner, rows)[..., None] / rows.shape[-1]  # mean(e n)
    inner -= rows * share
    inner *= scale
    return inner, xp.sum(slope * rows, axis=-2)


def layer_norm(x: Array, gain: Array) -> tuple[Array, Normed]:
    """Center each row, then divide by its standard deviation: `rms_norm` of x - mean x.

    Ba et al. 2016, eq. 4 (arXiv:1607.06450), without the bias.
    """
    return rms_norm(x - array_namespace(x).mean(x, axis=-1, keepdims=True), gain)


def layer_norm_back(slope: Array, kept: Normed, gain: Array) -> tuple[Array, Array]:
    """Return the slopes with respect to x and g: those of `rms_norm`, with ∂L/∂x centered."""
    inner, gain_slope = rms_norm_back(slope, kept, gain)
    return inner - array_namespace(inner).mean(inner, axis=-1, keepdims=True), gain_slope


# ---- activations -----------------------------------------------------------------------------------


def gelu(a: Array) -> tuple[Array, Array]:
    """Return the Gaussian error linear unit, in its tanh form, and its derivative.

        y = a (1 + t) / 2,   t = tanh(c (a + 0.044715 a³)),   c = √(2/π)
        dy/da = (1 + t) / 2 + a (1 - t²) c (1 + 0.134145 a²) / 2

    Args:
      a: (..., F).

    Returns:
      y and dy/da, both (..., F).

    Hendrycks & Gimpel 2016, section 2 (arXiv:1606.08415).
    """
    xp = array_namespace(a)
    flat, size, c = xp.reshape(a, (-1,)), math.prod(a.shape), math.sqrt(2.0 / math.pi)
    value, derivative = xp.empty_like(flat), xp.empty_like(flat)
    for begin in range(0, size, BLOCK):
        block = slice(begin, min(begin + BLOCK, size))
        x = flat[block]
        square = x * x
        t = xp.tanh(x * (c + c * 0.044715 * square))
        half = 0.5 + 0.5 * t
        value[block] = x * half
        bend = (1.0 - t) * half * x  # a (1 - t²) / 2
        derivative[block] = half + bend * (c + c * 0.134145 * square)
    return xp.reshape(value, a.shape), xp.reshape(derivative, a.shape)


def gelu_back(slope: Array, derivative: Array) -> Array:
    """Return the slope times the derivative from `gelu`."""
    return slope * derivative


def swiglu(a: Array) -> tuple[Array, Array]:
    """Multiply one half of the features by a gate from the other half: y = u s(g), s(g) = g σ(g), a = (g, u).

    Args:
      a: (..., 2F).

    Returns:
      y (..., F), and (dy/dg, dy/du) (..., 2F) = (u σ(g) (1 + g (1 - σ(g))), s(g)).

    Shazeer 2020, eq. 5 (arXiv:2002.05202).
    """
    xp, half = array_namespace(a), a.shape[-1] // 2
    gate, up = a[..., :half], a[..., half:]
    sigmoid = 0.5 + 0.5 * xp.tanh(0.5 * gate)  # this form cannot overflow
    silu = gate * sigmoid
    return up * silu, xp.concat([up * (sigmoid + silu * (1.0 - sigmoid)), silu], axis=-1)


def swiglu_back(slope: Array, derivatives: Array) -> Array:
    """Return (..., 2F) the slope (..., F) times each of the two derivatives from `swiglu`."""
    return array_namespace(slope).concat([slope, slope], axis=-1) * derivatives


# ---- attention -------------------------------------------------------------------------------------


class Attended(NamedTuple):
    """Arrays for the backward pass of attention; the weights are (..., K, T), keys first."""

    queries: Array
    keys: Array
    values: Array
    weights: Array
    outputs: Array


def attention(queries: Array, keys: Array, values: Array) -> tuple[Array, Attended]:
    """Causal attention: each token gets a weighted mean of the values of the tokens up to itself.

        oᵢ = Σⱼ Aⱼᵢ vⱼ,   Aⱼᵢ = exp(kⱼ·qᵢ/√d) / Σ over j' ≤ i of exp(kⱼ'·qᵢ/√d),   j ≤ i

    Args:
      queries: (..., T, d), the last T tokens.
      keys, values: (..., K, d) all tokens so far, K ≥ T.

    Returns:
      o (..., T, d), and the arrays for the backward pass.

    Vaswani et al. 2017, eq. 1 (arXiv:1706.03762).
    """
    xp = array_namespace(queries)
    # Scores (..., K, T), keys first: a maximum over the axis before the last is several times faster.
    scores = keys @ swapped(queries * queries.shape[-1] ** -0.5)

    # The causal mask: no attention to keys that come after the query. The queries are the last T of K tokens.
    count, length = scores.shape[-2:]
    later = xp.arange(count)[:, None] > xp.arange(count - length, count)
    scores += xp.where(later, -math.inf, xp.zeros((count, length), dtype=scores.dtype))

    # Softmax over the keys; subtracting the maximum keeps exp from overflowing.
    scores -= xp.max(scores, axis=-2, keepdims=True)
    weights = xp.exp(scores)
    weights /= xp.sum(weights, axis=-2, keepdims=True)
    outputs = swapped(weights) @ values
    return outputs, Attended(queries, keys, values, weights, outputs)


def attention_back(slope: Array, kept: Attended) -> tuple[Array, Array, Array]:
    """Return the slopes with respect to queries, keys and values.

        ∂L/∂v = A ∂L/∂o;   ∂L/∂S = A (v ∂L/∂oᵀ - δ),   δᵢ = oᵢ·∂L/∂oᵢ;   S = k qᵀ/√d

    Args:
      slope: (..., T, d) ∂L/∂o.
      kept: the arrays from `attention`.

    Returns:
      (..., T, d), (..., K, d) and (..., K, d).

    Dao et al. 2022, appendix B.2 (arXiv:2205.14135) for δ.
    """
    queries, keys, values, weights, outputs = kept
    # The slope of the weights A, then back through the softmax. δ is Σⱼ Aⱼᵢ ∂L/∂Aⱼᵢ, which equals oᵢ·∂L/∂oᵢ,
    # so it needs no sum over keys. Masked scores have A = 0, hence a slope of 0.
    scores = values @ swapped(slope)
    scores -= array_namespace(slope).vecdot(slope, outputs)[..., None, :]
    scores *= weights
    # S = k qᵀ/√d is a product of keys and queries.
    scores *= queries.shape[-1] ** -0.5
    return swapped(scores) @ keys, scores @ queries, weights @ slope


# ---- rotary positions ------------------------------------------------------------------------------


def turns(positions: Integers, size: int, like: Array) -> tuple[Array, Array]:
    """Return cosine and sine (T, d/2) of the angles that rotate each pair of features at each position.

        angle of pair i at position t = t 10000^(-2i/d)

    Su et al. 2021, eq. 15 (arXiv:2104.09864).
    """
    xp = array_namespace(positions, like)
    speeds = 10000.0 ** (-2.0 * xp.astype(xp.arange(size // 2), xp.float64) / size)
    angles = xp.astype(positions, xp.float64)[:, None] * speeds
    return xp.astype(xp.cos(angles), like.dtype), xp.astype(xp.sin(angles), like.dtype)


def rotate(x: Array, cosine: Array, sine: Array) -> Array:
    """Rotate each pair (xᵢ, xᵢ₊d/2) of the features (..., T, d). Llama pairs features in this way too."""
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    turned = [first * cosine - second * sine, second * cosine + first * sine]
    return array_namespace(x).concat(turned, axis=-1)


def rotate_back(slope: Array, cosine: Array, sine: Array) -> Array:
    """Return the slope with respect to x: the transpose of a rotation is the opposite rotation."""
    return rotate(slope, cosine, -sine)
