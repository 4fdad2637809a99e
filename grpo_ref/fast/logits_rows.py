"""The rows of logits: exponentials in the gradient's memory, block by block, and the gradient from them."""

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
"""A core computes on 2 MiB at a time, about its second-level cache. What is done row by row costs nearly the
same for few rows as for many, and is done for 16 MiB of them, which a third-level cache holds."""
SHORT = 1024
"""Smaller vocabularies are worked through with their masked rows: skipping would cut the blocks short."""
SMALLEST, LARGEST = 1e-20, 1e20
"""A sum of exponentials that is not between them is taken again with the maximum subtracted."""


@dataclass(frozen=True)
class Rows:
    """The rows, and what becomes of them.

    Attributes:
      logits, out: (rows, V) where the logits are, and where the gradient goes; out is empty if none is asked.
      tokens: (rows,) the sampled ones.
      live: (rows,) False where what the row holds does not matter.
      worked: (rows,) which rows are worked through; in short vocabularies all.
      temperature: > 0.
      log_probs, totals: (rows,) in float64, filled in block by block: of the sampled tokens, in nats; sums of
        the exponentials as they stand in out.
      in_place: whether out is the logits.
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
    """Below so many logits a second thread costs more than it brings."""

    @classmethod
    def of(
        cls,
        logits: Logits,
        tokens: Integers,
        mask: NDArray[Any],
        out: Logits | None,
        temperature: float,
    ) -> "Rows":
        """Check the arrays and lay them out as rows."""
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
        """V."""
        return int(self.logits.shape[-1])

    @property
    def is_short(self) -> bool:
        """Whether the rows are so short that what is done for each costs more than what is done for all."""
        return self.vocabulary < SHORT

    def places(self, rows: slice) -> Integers:
        """Where the sampled tokens are, counted through these rows."""
        tokens = self.tokens[rows]
        places: Integers = np.arange(0, len(tokens) * self.vocabulary, self.vocabulary) + tokens
        return places

    def rows_in(self, size: int) -> int:
        """How many rows fit into so many bytes; at least one."""
        return max(size // (self.vocabulary * self.logits.itemsize), 1)

    def blocks(self, threads: int) -> list[slice]:
        """Stretches with about BLOCK_BYTES of worked rows at most, as many for one thread as for another."""
        rows = np.flatnonzero(self.worked)
        rounds = max(math.ceil(len(rows) / (threads * self.rows_in(BLOCK_BYTES))), 1)
        parts = np.array_split(rows, threads * rounds)
        return [slice(int(part[0]), int(part[-1]) + 1) for part in parts if part.size]

    def exponentials(self, rows: slice, target: Logits | None) -> None:
        """Fill target with exp(z), or with None keep nothing; note sums and log-probabilities of the rows."""
        here, live = self.logits[rows], self.live[rows]
        sampled = here.reshape(-1)[self.places(rows)].astype(np.float64)
        shifts, totals = np.zeros(len(here)), np.ones(len(here))
        room = np.empty_like(here[: self.rows_in(STEP_BYTES)]) if target is None else target

        def fill(which: Bools, *, shift: bool) -> None:
            for step in self._steps(which):
                powers = room[: step.stop - step.start] if target is None else room[step]
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
        """Raise a ValueError if a token was sampled that has no probability: its loss has no gradient."""
        banned = self.live[rows] & np.isneginf(self.log_probs[rows])
        if banned.any():
            row = rows.start + int(np.argmax(banned))
            raise ValueError(f"tokens: row {row} has a token whose logit is -inf")

    def _exponentiate(self, here: Logits, target: Logits, *, shift: bool) -> tuple[Floats, Floats]:
        """Fill target with exp((logits - shift) / τ); returns shifts (maxima or 0) and sums."""
        source, top = here, np.zeros((1, 1), here.dtype)
        if shift:
            top = here.max(-1, keepdims=True)
            source = np.subtract(here, top, out=target)
        if self.temperature != 1.0:
            source = np.multiply(source, 1.0 / self.temperature, out=target)
        np.exp(source, out=target)
        return top[:, 0].astype(np.float64), self._sums(target)

    def scale(self, rows: slice, slopes: Floats) -> None:
        """Turn exponentials into the gradient; masked rows, where slopes are 0, are cleared later."""
        target, slopes = self.out[rows], slopes / self.temperature
        with np.errstate(invalid="ignore"):
            factors = (-slopes / self.totals[rows]).astype(target.dtype)[:, None]
            for step in self._steps(self.worked[rows]):
                target[step] *= factors[step]
            target.reshape(-1)[self.places(rows)] += slopes.astype(target.dtype)

    def _steps(self, which: Bools) -> Iterator[slice]:
        """Stretches of neighbouring rows of those that are set, each of about STEP_BYTES at most."""
        size = self.rows_in(STEP_BYTES)
        edges = np.flatnonzero(np.diff(which, prepend=False, append=False))
        for start, stop in edges.reshape(-1, 2).tolist():
            for begin in range(start, stop, size):
                yield slice(begin, min(begin + size, stop))

    def _sums(self, rows: Logits) -> Floats:
        """Row sums in float64; a reduction over short rows takes five times as long as einsum."""
        sums: Logits = np.einsum("rv->r", rows) if self.is_short else rows.sum(-1)
        return sums.astype(np.float64)


def check_logits(
    logits: Logits, tokens: Integers, mask: NDArray[Any], out: Logits | None, temperature: float
) -> None:
    """Raise a ValueError unless temperature, precision and shapes are right."""
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
    """Whether the gradient goes where the logits are; a ValueError if it could not, or only in part."""
    if not out.flags.writeable:
        raise ValueError("out: expected an array that can be written, got a read-only one")
    if not np.shares_memory(out, logits):
        return False
    if out.ctypes.data != logits.ctypes.data or out.strides != logits.strides:
        raise ValueError("out: expected the logits themselves or other memory, got a part of both")
    return True


def share(action: Callable[[slice], None], work: Rows, threads: int) -> None:
    """Do the blocks, each thread, this one too, taking the next when it is free; small work is not divided.

    All blocks are done before an error is raised, and it is that of the first block which has one.
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
    """Threads that stay: to start them anew takes 0.2 ms, and on a busy machine ten times as long."""
    return ThreadPoolExecutor(threads - 1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a forked process has none of the threads
