"""Compute log-probabilities and the gradient of logits on a GPU: two reads of the logits, one write.

    log π(token) = z[token] - log Σ_a exp(z[a]),   z = (logits - top) / temperature
    ∂L/∂logits[a] = c / temperature (1[a = token] - π(a)),    c = ∂L/∂log π(token)

Each of the two steps is one CuPy kernel, whose threads are lanes. Lane l of a row has the tokens l, l +
LANES, l + 2 LANES, ..., so that neighbouring lanes read neighbouring logits. A lane requests four logits
before it computes with any of them, to hide the latency of memory. In the first kernel, a lane keeps the
largest logit so far and the sum of the exponentials relative to it (an online softmax), so that no
exponential overflows and no logit is read twice. Array functions then combine the lanes of a row. No other
array has the size of the logits.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Array, array_namespace, to_host

LANES = 256
"""Threads that share a row. The results of the lanes take 1/60 of the memory of 32000 logits in float32."""

SUMS = """
ptrdiff_t first = i / lanes * vocabulary;
T top = lowest, sum = 0;
for (ptrdiff_t a = i % lanes; a < vocabulary; a += 4 * lanes) {
    T z[4], before = top;
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        z[k] = a + k * lanes < vocabulary ? T(logits[first + a + k * lanes]) : before;
        top = z[k] > top ? z[k] : top;
    }
    sum *= exp((before - top) * scale);
    #pragma unroll
    for (int k = 0; k < 4; ++k)
        if (a + k * lanes < vocabulary) sum += exp((z[k] - top) * scale);
}
tops[i] = top;
sums[i] = sum;
"""
GRADIENT = """
ptrdiff_t row = i / lanes, first = row * vocabulary;
T top = tops[row], slope = slopes[row], weight = weights[row];
for (ptrdiff_t a = i % lanes; a < vocabulary; a += 4 * lanes) {
    T z[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k)
        z[k] = a + k * lanes < vocabulary ? T(logits[first + a + k * lanes]) : top;
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
        ptrdiff_t at = a + k * lanes;
        T hit = at == tokens[row] ? slope : T(0);
        if (at < vocabulary)
            gradient[first + at] = slope == T(0) ? T(0) : hit - weight * exp((z[k] - top) * scale);
    }
}
"""


class Rows(NamedTuple):
    """Rows of logits, with the results of each row.

    Attributes:
      logits: (rows * V,) in float32 or float64.
      tokens: (rows,) sampled tokens.
      live: (rows,) false for masked rows, whose values do not matter.
      temperature: > 0.
      tops: (rows,) largest logit of each row.
      totals: (rows,) Σ exp((logits - top) / temperature), in float64.
      log_probs: (rows,) log-probabilities of the sampled tokens in nats and float64; 0 in masked rows.
    """

    logits: Array
    tokens: Array
    live: Array
    temperature: float
    tops: Array
    totals: Array
    log_probs: Array


def rows_of(
    logits: Array, tokens: Array, live: Array, temperature: float, *, allow_banned: bool = False
) -> Rows:
    """Read the logits once, and check logits and tokens with a single transfer to the host.

    Args:
      logits: (..., V) on the device, in float32 or float64; -inf for a banned token.
      tokens: (...,) integers.
      live: (...,) booleans, false for masked rows.
      temperature: > 0.
      allow_banned: if true, a sampled token may have the logit -inf.

    Raises:
      ValueError: if a token is out of range; or if an unmasked row holds NaN or +inf, or only -inf, or its
        sampled token is banned.
    """
    xp, vocabulary = array_namespace(logits, tokens, live), logits.shape[-1]
    logits, live = logits.reshape(-1), live.reshape(-1)
    tokens = xp.astype(tokens.reshape(-1), xp.int64)
    tops, totals = _tops_and_totals(xp, logits, len(tokens), vocabulary, temperature)
    known = xp.isfinite(tops) & xp.isfinite(totals) & (totals > 0.0)
    bad, outside = live & ~known, (tokens < 0) | (tokens >= vocabulary)
    chosen = logits.take(xp.arange(len(tokens)) * vocabulary + xp.clip(tokens, 0, vocabulary - 1))
    banned = live & (chosen == -xp.inf) & (not allow_banned)
    _raise_if(xp, bad, outside, banned, vocabulary)
    z = (xp.astype(chosen, xp.float64) - xp.astype(tops, xp.float64)) * (1.0 / temperature)
    log_probs = xp.where(live, z - xp.log(xp.where(live, totals, 1.0)), 0.0)
    return Rows(logits, tokens, live, temperature, tops, totals, log_probs)


def _tops_and_totals(
    xp: Any, logits: Array, rows: int, vocabulary: int, temperature: float
) -> tuple[Array, Array]:
    """Return each row's largest logit and the sum of its exponentials relative to the largest."""
    scale, lowest = 1.0 / temperature, float(np.finfo(logits.dtype).min)
    tops, sums = (xp.empty(rows * LANES, dtype=logits.dtype) for _ in range(2))
    sums_kernel, _ = _kernels(xp)
    sums_kernel(logits, vocabulary, LANES, scale, lowest, tops, sums, size=rows * LANES)
    tops, sums = tops.reshape(rows, LANES), sums.reshape(rows, LANES)
    top = xp.max(tops, axis=-1, keepdims=True)
    totals = xp.sum(xp.astype(sums, xp.float64) * xp.exp((tops - top) * scale), axis=-1)
    return top[:, 0], totals


def _raise_if(xp: Any, bad: Array, outside: Array, banned: Array, vocabulary: int) -> None:
    """Raise a ValueError if any of the flags is set; one transfer reads all three."""
    wrong = to_host(xp.stack([xp.any(bad), xp.any(outside), xp.any(banned)]))
    if wrong[1]:
        raise ValueError(f"tokens: expected 0 to {vocabulary - 1}, got tokens outside of this range")
    if wrong[0]:
        row = int(np.argmax(to_host(bad)))
        raise ValueError(f"logits: row {row} holds NaN or +inf, or nothing but -inf")
    if wrong[2]:
        row = int(np.argmax(to_host(banned)))
        raise ValueError(f"tokens: row {row} has a token whose logit is -inf")


def write_gradient(rows: Rows, slopes: Array, out: Array) -> None:
    """Read the logits once more and write the gradient.

    Args:
      rows: rows of the logits.
      slopes: (rows,) ∂L/∂log π(token).
      out: (rows * V,) memory of the gradient, which may be that of the logits.
    """
    xp = array_namespace(rows.logits, slopes)
    slopes = xp.where(rows.live, slopes, 0.0) * (1.0 / rows.temperature)
    weights = slopes / xp.where(rows.live, rows.totals, 1.0)
    slopes, weights = (xp.astype(x, out.dtype) for x in (slopes, weights))
    vocabulary, scale = out.shape[0] // max(len(slopes), 1), 1.0 / rows.temperature
    _, gradient_kernel = _kernels(xp)
    given = (rows.logits, rows.tokens, rows.tops, slopes, weights, vocabulary, LANES, scale)
    gradient_kernel(*given, out, size=len(slopes) * LANES)


@cache
def _kernels(xp: Any) -> tuple[Any, Any]:
    """Return the two kernels. CuPy compiles each at its first run."""
    numbers = "int64 vocabulary, int64 lanes, T scale"
    return (
        xp.ElementwiseKernel(
            f"raw T logits, {numbers}, T lowest", "raw T tops, raw T sums", SUMS, "grpo_ref_sums"
        ),
        xp.ElementwiseKernel(
            f"raw T logits, raw int64 tokens, raw T tops, raw T slopes, raw T weights, {numbers}",
            "raw T gradient",
            GRADIENT,
            "grpo_ref_gradient",
        ),
    )
