"""The inner loops of a training run and of the loss from logits, written for Numba to compile.

Tables are (S, V, N) and C-contiguous: V rows of N states for each run. So a run stays in the level-1 cache,
and the innermost loop, over the states of a row, is vectorized. Runs are divided among threads. The numbers
are those of `runs` and `walk`, to the bit: sums are taken in the same order, and NumPy computes the
exponentials between two of these functions.

Completions are stored as entries (T, G, S, P). An entry is the index of a token and of the state in which it
was sampled:

    entry = token N + state,    or V N, one place behind the table, after the end of the completion
"""

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.fast.logits_rows import Logits
from grpo_ref.learning.task import END


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function, cached on disk, to run without the interpreter's lock; 1/0 is inf, as in NumPy."""
    return numba.njit(nogil=True, cache=True, error_model="numpy")(function)


def threaded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function, and divide its loops over `numba.prange` among threads."""
    return numba.njit(nogil=True, cache=True, error_model="numpy", parallel=True)(function)


# ---- the policy ------------------------------------------------------------------------------------


@threaded
def exponents(logits: Floats, scale: float, floor: float, out: Floats) -> None:
    """Write the softmax's exponents: out = max((logits - top) scale, floor), with scale = 1/τ."""
    runs, vocabulary, states = logits.shape
    kind = logits.dtype.type
    times, least = kind(scale), kind(floor)
    for run in numba.prange(runs):
        top = logits[run, 0].copy()
        for v in range(1, vocabulary):
            for n in range(states):
                top[n] = max(top[n], logits[run, v, n])
        for v in range(vocabulary):
            for n in range(states):
                out[run, v, n] = max((logits[run, v, n] - top[n]) * times, least)


@threaded
def normalize(powers: Floats) -> None:
    """Finish the softmax in place: π = powers / Σ powers, the sum over the tokens."""
    runs, vocabulary, states = powers.shape
    for run in numba.prange(runs):
        total = powers[run, 0].copy()
        for v in range(1, vocabulary):
            for n in range(states):
                total[n] += powers[run, v, n]
        for n in range(states):
            total[n] = 1 / total[n]
        for v in range(vocabulary):
            for n in range(states):
                powers[run, v, n] *= total[n]


# ---- completions -----------------------------------------------------------------------------------


@threaded
def draw_numbers(next_double: Any, states: Integers, numbers: Floats) -> None:
    """Fill the random numbers (S, P, 1 + G T), each run's from its own generator.

    Args:
      next_double: NumPy's C function that returns the next number of a generator.
      states: (S,) addresses of the generators.
      numbers: (S, P, 1 + G T), filled in.
    """
    for run in numba.prange(len(states)):
        row = numbers[run].reshape(-1)
        for i in range(row.size):
            row[i] = next_double(states[run])


@compiled
def cumulative_sums(probs: Floats) -> Floats:
    """Return (N, V) cumulative probabilities of a run's table (V, N), with infinity at the last token."""
    vocabulary, states = probs.shape
    sums = np.full((states, vocabulary), np.inf, probs.dtype)
    for n in range(states):
        total = sums.dtype.type(0)
        for v in range(vocabulary - 1):
            total += probs[v, n]
            sums[n, v] = total
    return sums


@compiled
def sample_token(cumulative: Floats, uniform: float) -> int:
    """Return the first index whose cumulative probability is above the random number.

    The loop compares all indices, because it is then vectorized. Stopping at the right index takes twice as
    long for ten tokens.
    """
    token = 0
    for v in range(len(cumulative)):
        token += cumulative[v] <= uniform
    return token


@threaded
def walk(
    probs: Floats,
    numbers: Floats,
    edges: Floats,
    starts: Integers,
    transitions: Integers,
    prompts: Integers,
    entries: Integers,
    tokens: Integers,
    mask: Bools,
    ended: Bools,
) -> None:
    """Sample prompts and then completions, token by token, with the random numbers (S, P, 1 + G T)."""
    longest, group, runs, count = entries.shape
    vocabulary, states, kind = *probs.shape[1:], probs.dtype.type
    for run in numba.prange(runs):
        cumulative = cumulative_sums(probs[run])
        state = np.empty((group, count), transitions.dtype)
        for p in range(count):
            prompts[run, p] = sample_token(edges[run], numbers[run, p, 0])
            state[:, p] = starts[prompts[run, p]]
        for t in range(longest):
            for g in range(group):
                for p in range(count):
                    here, token, entry = state[g, p], 0, vocabulary * states
                    going = here != END
                    if going:
                        token = sample_token(cumulative[here], kind(numbers[run, p, 1 + g * longest + t]))
                        entry = token * states + here
                        state[g, p] = transitions[here, token]
                    tokens[t, g, run, p], entries[t, g, run, p], mask[t, g, run, p] = token, entry, going
        ended[:, run] = state == END


# ---- the step --------------------------------------------------------------------------------------


@threaded
def add(
    entries: Integers,
    weights: Floats,
    advantages: Floats,
    kl_coef: float,
    several: bool,
    total: Floats,
    good: Floats,
    seen: Floats,
) -> None:
    """Write the sums over the tokens on each entry: total = Σ W A, good = Σ W max(A, 0), seen = Σ W kl_coef.

    `good` is written only if there are several steps per batch, and `seen` only if kl_coef is not 0; nothing
    reads them otherwise. The weights W are (T, G, S, P). The advantages A are (T, G, S, P), or (1, G, S, P)
    if all tokens of a completion have the same advantage.
    """
    longest, group, runs, prompts = entries.shape
    for run in numba.prange(runs):
        sums = np.zeros((3, total[run].size + 1))
        for t in range(longest):
            given = min(t, len(advantages) - 1)
            for g in range(group):
                for p in range(prompts):
                    entry, weight = entries[t, g, run, p], weights[t, g, run, p]
                    gain = weight * advantages[given, g, run, p]
                    sums[0, entry] += gain
                    if several:
                        sums[1, entry] += max(gain, 0.0)
                    if kl_coef != 0.0:
                        sums[2, entry] += weight * kl_coef
        shape = total[run].shape
        total[run] = sums[0, :-1].reshape(shape)
        if several:
            good[run] = sums[1, :-1].reshape(shape)
        if kl_coef != 0.0:
            seen[run] = sums[2, :-1].reshape(shape)


@threaded
def differentiate(
    total: Floats,
    good: Floats,
    seen: Floats,
    old: Floats,
    now: Floats,
    ref: Floats,
    low: float,
    high: float,
    penalized: bool,
    out: Floats,
) -> None:
    """Write the gradient with respect to the logits.

    out = π Σ slope - slope
    slope = r (total - good [r > high] - bad [r < low]) + seen (πref/π - 1),    bad = total - good
    """
    runs, vocabulary, states = total.shape
    kind = total.dtype.type
    zero, one, least, most = kind(0), kind(1), kind(low), kind(high)
    for run in numba.prange(runs):
        row = np.zeros(states, total.dtype)
        for v in range(vocabulary):
            for n in range(states):
                ratio = now[run, v, n] / old[run, v, n]
                bad = total[run, v, n] - good[run, v, n]
                slope = total[run, v, n] - (bad if ratio < least else zero)
                slope -= good[run, v, n] if ratio > most else zero
                slope *= ratio
                if penalized:
                    slope += (ref[run, v, n] / now[run, v, n] - one) * seen[run, v, n]
                out[run, v, n] = slope
                row[n] += slope
        for v in range(vocabulary):
            for n in range(states):
                out[run, v, n] = now[run, v, n] * row[n] - out[run, v, n]


@threaded
def adam(
    b1: float,
    b2: float,
    pace: float,
    eps: float,
    gradient: Floats,
    mean: Floats,
    square: Floats,
    logits: Floats,
    new_mean: Floats,
    new_square: Floats,
    new_logits: Floats,
) -> None:
    """Take a step of Adam, with bias corrections folded into `pace` and `eps`.

    m ← b1 m + (1 - b1) g,    s ← b2 s + (1 - b2) g²,    logits ← logits - pace m / (√s + eps)
    """
    runs, vocabulary, states = gradient.shape
    kind = gradient.dtype.type
    keep_mean, add_mean, keep_square, add_square = kind(b1), kind(1.0 - b1), kind(b2), kind(1.0 - b2)
    rate, least = kind(pace), kind(eps)
    for run in numba.prange(runs):
        for v in range(vocabulary):
            for n in range(states):
                g = gradient[run, v, n]
                m = mean[run, v, n] * keep_mean + g * add_mean
                s = square[run, v, n] * keep_square + g * g * add_square
                new_mean[run, v, n], new_square[run, v, n] = m, s
                new_logits[run, v, n] = logits[run, v, n] - m / (np.sqrt(s) + least) * rate


# ---- from logits to the loss -----------------------------------------------------------------------


@compiled
def clipped_with_k3(
    log_probs: Floats,
    old: Floats,
    ref: Floats,
    advantages: Floats,
    weights: Floats,
    live: Bools,
    low: float,
    high: float,
    kl_coef: float,
    slopes: Floats,
) -> float:
    """Return the loss of some tokens, and write its slopes with respect to their log-probabilities.

        loss = -Σ W (min(r A, clip(r, low, high) A) - kl_coef (e⁻ᵛ - 1 + v))
        r = π/πold,    v = log π - log πref

    The slopes are 0 on padding.
    """
    loss = 0.0
    for i in range(len(slopes)):
        slopes[i] = 0.0
        if live[i]:
            ratio = math.exp(log_probs[i] - old[i])
            gain = slope = ratio * advantages[i]
            if (advantages[i] > 0.0 and ratio > high) or (advantages[i] < 0.0 and ratio < low):
                gain, slope = min(max(ratio, low), high) * advantages[i], 0.0
            if kl_coef != 0.0:
                v = log_probs[i] - ref[i]
                expm1 = math.expm1(-v)
                gain -= kl_coef * (expm1 + v)
                slope += kl_coef * expm1
            loss -= weights[i] * gain
            slopes[i] = -weights[i] * slope
    return loss


@compiled
def spread(powers: Logits, totals: Floats, tokens: Integers, live: Bools, slopes: Floats) -> None:
    """Turn rows of exponentials into slope (1[a = token] - powers / total), in place; skip masked rows."""
    kind = powers.dtype.type
    for row in range(len(powers)):
        if live[row]:
            factor = kind(-slopes[row] / totals[row])
            for a in range(powers.shape[1]):
                powers[row, a] *= factor
            powers[row, tokens[row]] += kind(slopes[row])
