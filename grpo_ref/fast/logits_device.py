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

from grpo_ref.arrays import Array, Bools, Floats, Integers, array_namespace, to_device, to_host

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
    """Rows of logits on the device, and a few numbers for each row.

    Attributes:
      logits: (rows * V,) in float32 or float64, on the device.
      tokens: (rows,) the sampled tokens, on the device.
      tops: (rows,) the largest logit of each row, on the device.
      live: (rows,) False for rows of padding, on the host, like the rest.
      temperature: > 0.
      totals: (rows,) Σ exp((logits - top) / temperature).
      log_probs: (rows,) of the sampled tokens, in nats; 0 where not live.
    """

    logits: Array
    tokens: Array
    tops: Array
    live: Bools
    temperature: float
    totals: Floats
    log_probs: Floats


def rows_of(
    logits: Array, tokens: Integers, live: Bools, temperature: float, *, allow_banned: bool = False
) -> Rows:
    """Read the logits once, and check them and the tokens.

    Three numbers of each row come to the host in one transfer. Everything else about tokens is computed
    there, because a hundred small operations on tokens took several milliseconds on a GPU.

    Args:
      logits: (..., V) on the device, in float32 or float64; -inf for a banned token.
      tokens: (...,) integers on the host.
      live: (...,) truth values on the host.
      temperature: > 0.
      allow_banned: if true, a sampled token may have the logit -inf.

    Raises:
      ValueError: if a token is out of range, or a live row has NaN, +inf, nothing but -inf, or a banned token
        was sampled.
    """
    xp, vocabulary = array_namespace(logits), logits.shape[-1]
    logits, live, tokens = logits.reshape(-1), live.reshape(-1), tokens.reshape(-1).astype(np.int64)
    if tokens.size and not (0 <= tokens.min() and tokens.max() < vocabulary):
        raise ValueError(f"tokens: expected 0 to {vocabulary - 1}, and some are not")
    there = to_device(tokens, xp)
    tops, totals = _tops_and_totals(xp, logits, tokens.size, vocabulary, temperature)
    chosen = logits.take(xp.arange(tokens.size) * vocabulary + there)
    top, total, logit = to_host(xp.stack([xp.astype(x, xp.float64) for x in (tops, totals, chosen)]))
    bad = live & ~(np.isfinite(top) & np.isfinite(total) & (total > 0.0))
    if bad.any():
        raise ValueError(f"logits: row {np.argmax(bad)} holds NaN or +inf, or nothing but -inf")
    banned = live & (logit == -np.inf)
    if banned.any() and not allow_banned:
        raise ValueError(f"tokens: row {np.argmax(banned)} has a token whose logit is -inf")
    with np.errstate(invalid="ignore"):  # rows of padding may hold anything
        z = (logit - top) / temperature
    log_probs = np.where(live, z - np.log(np.where(live, total, 1.0)), 0.0)
    return Rows(logits, there, tops, live, temperature, total, log_probs)


def _tops_and_totals(
    xp: Any, logits: Array, rows: int, vocabulary: int, temperature: float
) -> tuple[Array, Array]:
    """Return the largest logit of each row, and the sum of the exponentials relative to it."""
    scale, lowest = 1.0 / temperature, float(np.finfo(logits.dtype).min)
    tops, sums = (xp.empty(rows * LANES, dtype=logits.dtype) for _ in range(2))
    sums_kernel, _ = _kernels(xp)
    sums_kernel(logits, vocabulary, LANES, scale, lowest, tops, sums, size=rows * LANES)
    tops, sums = tops.reshape(rows, LANES), sums.reshape(rows, LANES)
    top = xp.max(tops, axis=-1, keepdims=True)
    totals = xp.sum(xp.astype(sums, xp.float64) * xp.exp((tops - top) * scale), axis=-1)
    return top[:, 0], totals


def write_gradient(rows: Rows, slopes: Floats, out: Array) -> None:
    """Read the logits once more and write the gradient.

    Args:
      rows: of the logits.
      slopes: (rows,) ∂L/∂log π(token), on the host.
      out: (rows * V,) receives the gradient; it may be the logits.
    """
    xp = array_namespace(rows.logits)
    slopes = np.where(rows.live, slopes, 0.0) / rows.temperature
    weights = slopes / np.where(rows.live, rows.totals, 1.0)
    both = to_device(np.stack([slopes, weights]).astype(str(out.dtype)), xp)
    vocabulary, scale = out.shape[0] // max(len(slopes), 1), 1.0 / rows.temperature
    _, gradient_kernel = _kernels(xp)
    given = (rows.logits, rows.tokens, rows.tops, both[0], both[1], vocabulary, LANES, scale)
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
