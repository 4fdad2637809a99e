"""Rows of logits: write exponentials into the gradient's memory, block by block, then the gradient itself."""

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from grpo_ref.arrays import Bools, Floats, Integers, array_namespace, is_set

Logits = NDArray[np.floating[Any]]
STEP_BYTES, BLOCK_BYTES = 1 << 21, 1 << 24
"""Block sizes in bytes. A core computes on 2 MiB at a time, about the size of its level-2 cache. Work per row
costs nearly the same for few rows as for many, so it is done for 16 MiB at a time, which a level-3 cache
holds."""
SHORT = 1024
"""Vocabulary size below which masked rows are computed too: skipping them would make the blocks too short."""
SMALLEST, LARGEST = 1e-20, 1e20
"""Bounds of a sum of exponentials. A sum outside them is computed again with the maximum subtracted."""


@dataclass(frozen=True)
class Rows:
    """Rows of logits, with the results of each row.

    Attributes:
      logits: (rows, V).
      out: (rows, V) memory of the gradient; empty if no gradient is requested.
      tokens: (rows,) sampled tokens.
      live: (rows,) false for masked rows, whose values do not matter.
      worked: (rows,) true for rows that are computed: the live rows, or all rows of a short vocabulary.
      temperature: > 0.
      log_probs: (rows,) log-probabilities of the sampled tokens in nats and float64, filled in block by
        block.
      totals: (rows,) sums of the exponentials in `out`, in float64, filled in block by block.
      in_place: true if `out` is the memory of the logits.
    """

    logits: Logits
    out: Logits
    tokens: Integers
    live: Bools
    worked: Bools
    temperature: float
    log_probs: Floats
    totals: Floats
    in_place: bool

    alone: ClassVar[int] = 1 << 21
    """Number of logits below which a second thread costs more time than it saves."""

    @classmethod
    def of(
        cls,
        logits: Logits,
        tokens: Integers,
        mask: NDArray[Any],
        out: Logits | None,
        temperature: float,
    ) -> "Rows":
        """Check the arrays and reshape them to rows."""
        check_logits(logits, tokens, mask, out, temperature)
        in_place = out is not None and _is_same_memory(out, logits)
        vocabulary = logits.shape[-1]
        chosen, live = np.asarray(tokens).reshape(-1), is_set(np.asarray(mask)).reshape(-1)
        if chosen.size and not (0 <= chosen.min() and chosen.max() < vocabulary):
            raise ValueError(f"tokens: expected 0 to {vocabulary - 1}, got {chosen.min()} to {chosen.max()}")
        return cls(
            logits=logits.reshape(-1, vocabulary),
            out=np.empty((0, vocabulary), logits.dtype) if out is None else out.reshape(-1, vocabulary),
            tokens=chosen.astype(np.int64, copy=False),
            live=live,
            worked=live if vocabulary >= SHORT else np.ones_like(live),
            temperature=temperature,
            log_probs=np.zeros(len(chosen)),
            totals=np.ones(len(chosen)),
            in_place=in_place,
        )

    @property
    def vocabulary(self) -> int:
        """Size of the vocabulary, V."""
        return int(self.logits.shape[-1])

    @property
    def is_short(self) -> bool:
        """True if the rows are so short that the fixed cost per row dominates."""
        return self.vocabulary < SHORT

    def places(self, rows: slice) -> Integers:
        """Return the indices of the sampled tokens in these rows, flattened."""
        tokens = self.tokens[rows]
        places: Integers = np.arange(0, len(tokens) * self.vocabulary, self.vocabulary) + tokens
        return places

    def rows_in(self, size: int) -> int:
        """Return the number of rows that fit into a number of bytes, at least 1."""
        return max(size // (self.vocabulary * self.logits.itemsize), 1)

    def blocks(self, threads: int) -> list[slice]:
        """Divide the rows into blocks of at most about BLOCK_BYTES, the same number for each thread."""
        rows = np.flatnonzero(self.worked)
        rounds = max(math.ceil(len(rows) / (threads * self.rows_in(BLOCK_BYTES))), 1)
        parts = np.array_split(rows, threads * rounds)
        return [slice(int(part[0]), int(part[-1]) + 1) for part in parts if part.size]

    def exponentials(self, rows: slice, target: Logits | None) -> None:
        """Write exp(z) into `target`, and store sums and log-probabilities of the rows.

        The maximum is subtracted only where the sum of the exponentials is too small or too large, since
        finding it takes another pass. In place it is always subtracted, since the logits are then lost.

        Args:
          rows: the block.
          target: memory for the exponentials, or None to discard them.

        Raises:
          ValueError: if an unmasked row is not a distribution.
        """
        here, live = self.logits[rows], self.live[rows]
        sampled = here.reshape(-1)[self.places(rows)].astype(np.float64)
        shifts, totals = np.zeros(len(here)), np.ones(len(here))
        scratch = np.empty_like(here[: self.rows_in(STEP_BYTES)]) if target is None else target

        def fill(which: Bools, *, shift: bool) -> None:
            for step in self._steps(which):
                powers = scratch[: step.stop - step.start] if target is None else scratch[step]
                shifts[step], totals[step] = self._exponentiate(here[step], powers, shift=shift)

        with np.errstate(all="ignore"):
            fill(self.worked[rows], shift=self.in_place)
            if not self.in_place:
                fill(live & ~((totals > SMALLEST) & (totals < LARGEST)), shift=True)
            totals[~live] = 1.0
            self.totals[rows] = totals
            self.log_probs[rows] = (sampled - shifts) / self.temperature - np.log(totals)
        if np.isnan(totals).any():
            row = rows.start + int(np.argmax(np.isnan(totals)))
            raise ValueError(f"logits: row {row} holds NaN or +inf, or nothing but -inf")

    def refuse_banned(self, rows: slice) -> None:
        """Raise a ValueError if a sampled token has probability 0, since its loss has no gradient."""
        banned = self.live[rows] & np.isneginf(self.log_probs[rows])
        if banned.any():
            row = rows.start + int(np.argmax(banned))
            raise ValueError(f"tokens: row {row} has a token whose logit is -inf")

    def _exponentiate(self, here: Logits, target: Logits, *, shift: bool) -> tuple[Floats, Floats]:
        """Write exp((logits - shift) / τ) into `target`, and return shifts (maxima or 0) and sums."""
        source, top = here, np.zeros((1, 1), here.dtype)
        if shift:
            top = here.max(-1, keepdims=True)
            source = np.subtract(here, top, out=target)
        if self.temperature != 1.0:
            source = np.multiply(source, 1.0 / self.temperature, out=target)
        return top[:, 0].astype(np.float64), self._summed_powers(source, target)

    def _summed_powers(self, exponents: Logits, target: Logits) -> Floats:
        """Write exp(exponents) into `target`, and return the sums of the rows in float64."""
        np.exp(exponents, out=target)
        # For short rows, `sum` takes five times as long as `einsum`.
        sums: Logits = np.einsum("rv->r", target) if self.is_short else target.sum(-1)
        return sums.astype(np.float64)

    def scale(self, rows: slice, slopes: Floats) -> None:
        """Turn exponentials into the gradient; masked rows, whose slopes are 0, are set to 0 later."""
        target, slopes = self.out[rows], slopes / self.temperature
        with np.errstate(invalid="ignore"):
            factors = (-slopes / self.totals[rows]).astype(target.dtype)[:, None]
            for step in self._steps(self.worked[rows]):
                target[step] *= factors[step]
            target.reshape(-1)[self.places(rows)] += slopes.astype(target.dtype)

    def _steps(self, which: Bools) -> Iterator[slice]:
        """Generate slices of neighbouring rows that are set, each of at most about STEP_BYTES."""
        size = self.rows_in(STEP_BYTES)
        edges = np.flatnonzero(np.diff(which, prepend=False, append=False))
        for start, stop in edges.reshape(-1, 2).tolist():
            for begin in range(start, stop, size):
                yield slice(begin, min(begin + size, stop))


def check_logits(
    logits: Logits, tokens: Integers, mask: NDArray[Any], out: Logits | None, temperature: float
) -> None:
    """Raise a ValueError unless temperature, dtypes and shapes are right."""
    xp = array_namespace(logits, tokens)
    if not temperature > 0.0:
        raise ValueError(f"temperature: expected a number > 0, got {temperature}")
    if not xp.isdtype(tokens.dtype, "integral"):
        raise ValueError(f"tokens: expected integers, got {tokens.dtype}")
    if logits.dtype not in (np.float32, np.float64):
        raise ValueError(f"logits: expected float32 or float64, got {logits.dtype}")
    if logits.shape[:-1] != tokens.shape or mask.shape != tokens.shape:
        shapes = f"logits {logits.shape}, tokens {tokens.shape}, mask {mask.shape}"
        raise ValueError(f"expected logits (..., V), tokens (...,) and mask (...,), got {shapes}")
    if logits.shape[-1] == 0:
        raise ValueError(f"logits: expected at least one token to choose from, got shape {logits.shape}")
    if out is not None and (
        out.shape != logits.shape or out.dtype != logits.dtype or not out.flags.c_contiguous
    ):
        expected = f"a contiguous {logits.dtype} array of shape {logits.shape}"
        raise ValueError(f"out: expected {expected}, got {out.dtype} {out.shape}")


def _is_same_memory(out: Logits, logits: Logits) -> bool:
    """Return whether `out` is the memory of the logits; raise a ValueError if it is only in part."""
    if not out.flags.writeable:
        raise ValueError("out: expected a writable array, got a read-only array")
    if not np.shares_memory(out, logits):
        return False
    if out.ctypes.data != logits.ctypes.data or out.strides != logits.strides:
        raise ValueError("out: expected the logits themselves or other memory, got a part of both")
    return True


def share(action: Callable[[slice], None], work: Rows, threads: int) -> None:
    """Apply an action to all blocks; each thread, this one included, takes the next block when it is free.

    Small work is not divided. If actions fail, all blocks are still done, and then the error of the first
    failing block is raised, so that the error does not depend on the threads.
    """
    if threads < 1:
        raise ValueError(f"threads: expected at least 1, got {threads}")
    threads = threads if work.logits.size >= work.alone else 1
    blocks, errors = iter(work.blocks(threads)), dict[int, Exception]()

    def take_blocks() -> None:
        for rows in blocks:
            try:
                action(rows)
            except Exception as error:
                errors[rows.start] = error

    others = [_pool(threads).submit(take_blocks) for _ in range(threads - 1)]
    try:
        take_blocks()
    finally:
        wait(others)
    if errors:
        raise errors[min(errors)]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return threads that stay alive: starting threads takes 0.2 ms, or 2 ms on a busy machine."""
    return ThreadPoolExecutor(threads - 1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a forked process has none of the threads
