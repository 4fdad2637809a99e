"""Compute log-probabilities and the gradient of logits on a GPU: two reads of the logits, one write.

    log π(token) = z[token] - log Σ_a exp(z[a]),   z = (logits - top) / temperature
    ∂L/∂logits[a] = c / temperature (1[a = token] - π(a)),    c = ∂L/∂log π(token)

Three CuPy kernels do all work on the logits. The first and the last have LANES threads for each row. Lane l
of a row has the tokens l, l + LANES, l + 2 LANES, ..., so that neighbouring lanes read neighbouring logits. A
lane requests several logits before it computes with any of them, to hide the latency of memory. In the first
kernel, a lane keeps the largest logit so far and the sum of the exponentials relative to it (an online
softmax), so that no exponential overflows and no logit is read twice. The second kernel has one thread for
each row, which combines the lanes of the row. No other array has the size of the logits.

Kernels run while the host does something else: `read` and `write` return at once, and `fetch` waits. So the
host can compute the slopes of one block of rows while the GPU reads the next block.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from grpo_ref.arrays import Array, Bools, Floats, Integers, array_namespace, to_host

LANES = 64
"""Threads that share a row. More threads need a longer combination, fewer do not fill the GPU."""
BLOCK_BYTES = 1 << 30
"""Logits of a block. Reading them takes the GPU about as long as NumPy needs for the slopes of the rows."""

CONSTANTS = f"const int lanes = {LANES}, batch = 8;"
SUMS = """
const ptrdiff_t first = (start + i / lanes) * vocabulary;
T top = lowest, sum = 0;
int a = i % lanes;
for (; a + (batch - 1) * lanes < vocabulary; a += batch * lanes) {
    T z[batch], before = top;
    #pragma unroll
    for (int k = 0; k < batch; ++k)
        z[k] = logits[first + a + k * lanes];
    #pragma unroll
    for (int k = 0; k < batch; ++k)
        top = z[k] > top ? z[k] : top;
    sum *= exp((before - top) * scale);
    #pragma unroll
    for (int k = 0; k < batch; ++k)
        sum += exp((z[k] - top) * scale);
}
for (; a < vocabulary; a += lanes) {
    T z = logits[first + a], before = top;
    top = z > top ? z : top;
    sum = sum * exp((before - top) * scale) + exp((z - top) * scale);
}
lane_tops[i] = top;
lane_sums[i] = sum;
"""
COMBINED = """
const ptrdiff_t row = start + i, first = i * lanes, token = tokens[row];
T top = lowest;
double total = 0;
#pragma unroll 8
for (int lane = 0; lane < lanes; ++lane)
    top = lane_tops[first + lane] > top ? lane_tops[first + lane] : top;
#pragma unroll 8
for (int lane = 0; lane < lanes; ++lane)
    total += lane_sums[first + lane] * exp((lane_tops[first + lane] - top) * scale);
const bool known = 0 <= token && token < vocabulary;
const double logit = known ? logits[row * vocabulary + token] : top;
tops[row] = top;
totals[row] = known ? total : -1.0;
log_probs[row] = (logit - top) / temperature - log(known ? total : -1.0);
"""
GRADIENT = """
const ptrdiff_t row = start + i / lanes, first = row * vocabulary, token = tokens[row];
const double scaled = slopes[i / lanes] / temperature;
const T top = tops[row], slope = scaled, weight = scaled / totals[row];
int a = i % lanes;
for (; a + (batch - 1) * lanes < vocabulary; a += batch * lanes) {
    T z[batch];
    #pragma unroll
    for (int k = 0; k < batch; ++k)
        z[k] = logits[first + a + k * lanes];
    #pragma unroll
    for (int k = 0; k < batch; ++k)
        gradient[first + a + k * lanes] = slope == 0 ? T(0) : -weight * exp((z[k] - top) * scale);
}
for (; a < vocabulary; a += lanes)
    gradient[first + a] = slope == 0 ? T(0) : -weight * exp((logits[first + a] - top) * scale);
if (token % lanes == i % lanes)
    gradient[first + token] += slope;
"""


@dataclass(frozen=True)
class DeviceRows:
    """Rows of logits on the device, and a few numbers for each row.

    Attributes:
      logits: (rows * V,) in float32 or float64, on the device.
      tokens: (rows,) the sampled tokens, on the device.
      vocabulary: V.
      temperature: > 0.
      tops: (rows,) the largest logit of each row, on the device.
      totals: (rows,) Σ exp((logits - top) / temperature) in float64, on the device; -1 if the token is not in
        the vocabulary.
      sampled: (rows,) log-probabilities of the tokens in float64, in nats, on the device.
    """

    logits: Array
    tokens: Array
    vocabulary: int
    temperature: float
    tops: Array
    totals: Array
    sampled: Array

    @classmethod
    def of(cls, logits: Array, tokens: Integers, temperature: float) -> "DeviceRows":
        """Allocate memory for the rows of (..., V) logits; nothing is computed yet."""
        xp, rows = array_namespace(logits), tokens.size
        tops = xp.empty(rows, dtype=logits.dtype)
        totals, sampled = (xp.empty(rows, dtype=xp.float64) for _ in range(2))
        tokens = xp.astype(tokens.reshape(-1), xp.int64, copy=False)
        return cls(logits.reshape(-1), tokens, logits.shape[-1], temperature, tops, totals, sampled)

    def blocks(self) -> list[slice]:
        """Return slices of neighbouring rows, each with about BLOCK_BYTES of logits; at least one slice."""
        rows = self.tokens.size
        size = max(BLOCK_BYTES * rows // max(self.logits.nbytes, 1), 1)
        return [slice(start, min(start + size, rows)) for start in range(0, max(rows, 1), size)]

    def read(self, rows: slice) -> None:
        """Start to read the logits of the rows."""
        xp, dtype, count = array_namespace(self.logits), self.logits.dtype, rows.stop - rows.start
        lane_tops, lane_sums = (xp.empty(count * LANES, dtype=dtype) for _ in range(2))
        numbers = (rows.start, self.vocabulary, 1.0 / self.temperature, float(np.finfo(dtype).min))
        sums, combined, _ = _kernels(xp)
        sums(self.logits, *numbers, lane_tops, lane_sums, size=count * LANES)
        given = (self.logits, self.tokens, lane_tops, lane_sums, *numbers, self.temperature)
        combined(*given, self.tops, self.totals, self.sampled, size=count)

    def fetch(self, rows: slice, live: Bools, *, allow_banned: bool = False) -> Floats:
        """Wait for `read`, check the logits and the tokens, and return log-probabilities on the host.

        Args:
          rows: as given to `read`.
          live: (all rows,) truth values on the host, false for rows of padding.
          allow_banned: if true, a sampled token may have the logit -inf.

        Returns:
          (rows,) in float64, in nats; rows of padding may hold anything.

        Raises:
          ValueError: if a token is out of range, or a live row has NaN, +inf, nothing but -inf, or a banned
            token was sampled.
        """
        log_probs: Floats = to_host(self.sampled[rows])
        if np.isfinite(log_probs).all():
            return log_probs
        totals, live = to_host(self.totals[rows]), live[rows]
        if (totals == -1.0).any():
            raise ValueError(f"tokens: expected 0 to {self.vocabulary - 1}, and some are not")
        bad = live & ~(np.isfinite(totals) & (totals > 0.0))
        if bad.any():
            row = rows.start + np.argmax(bad)
            raise ValueError(f"logits: row {row} holds NaN or +inf, or nothing but -inf")
        banned = live & (log_probs == -np.inf)
        if banned.any() and not allow_banned:
            row = rows.start + np.argmax(banned)
            raise ValueError(f"tokens: row {row} has a token whose logit is -inf")
        return log_probs

    def write(self, rows: slice, slopes: Floats, out: Array) -> None:
        """Start to read the logits once more and to write their gradient.

        Args:
          rows: as given to `read`.
          slopes: (rows,) ∂L/∂log π(token) on the host, exactly 0 in rows of padding.
          out: (all rows * V,) receives the gradient; it may be the logits.
        """
        xp = array_namespace(self.logits)
        *_, gradient = _kernels(xp)
        given = (self.logits, self.tokens, self.tops, self.totals, xp.asarray(slopes))
        numbers = (rows.start, self.vocabulary, 1.0 / self.temperature, self.temperature)
        gradient(*given, *numbers, out, size=len(slopes) * LANES)


@cache
def _kernels(xp: Any) -> tuple[Any, Any, Any]:
    """Return the three kernels. CuPy compiles each at its first run."""
    return (
        xp.ElementwiseKernel(
            "raw T logits, int64 start, int32 vocabulary, T scale, T lowest",
            "raw T lane_tops, raw T lane_sums",
            CONSTANTS + SUMS,
            "grpo_ref_sums",
        ),
        xp.ElementwiseKernel(
            "raw T logits, raw int64 tokens, raw T lane_tops, raw T lane_sums, "
            "int64 start, int32 vocabulary, T scale, T lowest, float64 temperature",
            "raw T tops, raw float64 totals, raw float64 log_probs",
            CONSTANTS + COMBINED,
            "grpo_ref_combined",
        ),
        xp.ElementwiseKernel(
            "raw T logits, raw int64 tokens, raw T tops, raw float64 totals, raw float64 slopes, "
            "int64 start, int32 vocabulary, T scale, float64 temperature",
            "raw T gradient",
            CONSTANTS + GRADIENT,
            "grpo_ref_gradient",
        ),
    )
