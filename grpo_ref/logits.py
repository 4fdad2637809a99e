"""From logits over a whole vocabulary to the loss and back, in blocks that fit the cache.

`policy_loss` works on the log-probabilities of the sampled tokens. Here the logits go in and their gradient
comes out,

    ∂L/∂logits[a] = (c / τ) (1[a = token] - π(a)),    c = ∂L/∂log π(token)

without a second array of their size: the gradient's own memory holds the exponentials until c is known. Rows
are taken a few at a time; NumPy releases the interpreter's lock in them, so two threads work at once.
The same functions take CuPy arrays; `logits_device` then does the work on the GPU.
"""

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grpo_ref.arrays import Bools, Floats, Integers, array_namespace, keep_freed_memory, to_host
from grpo_ref.levels import token_level
from grpo_ref.logits_device import rows_of, write_gradient
from grpo_ref.loss import PolicyLoss, batch_of, differentiate, policy_loss
from grpo_ref.recipes import Recipe, Slot

Logits = NDArray[np.floating[Any]]
STEP_BYTES, BLOCK_BYTES = 1 << 21, 1 << 24
"""A core computes on 2 MiB at a time, about its second-level cache. What is done row by row costs nearly the
same for few rows as for many, and is done for 16 MiB of them, which a third-level cache holds."""
ALONE = 1 << 21
"""Below so many logits a second thread costs more than it brings."""
SHORT = 1024
"""Smaller vocabularies are worked through with their masked rows: skipping would cut the blocks short."""
SMALLEST = 1e-20
"""A sum of exponentials below this, or not finite, is taken again with the maximum subtracted."""


class LogitsLoss(NamedTuple):
    """What `policy_loss_from_logits` returns.

    Attributes:
      loss: a number, to be minimised, computed in float64.
      gradient: of the logits' shape and precision, ∂loss/∂logits, exactly 0 in masked rows.
      metrics: as `policy_loss` has them; on the device if the logits are.
    """

    loss: float
    gradient: Logits
    metrics: dict[str, Any]


def token_log_probs(
    logits: Logits, tokens: Integers, *, temperature: float = 1.0, threads: int = 2
) -> Floats:
    """The log-probability of each sampled token.

        log π(token) = z[token] - log Σ_a exp(z[a]),   z = logits / temperature

    Args:
      logits: (..., V) in float32 or float64; -inf for a banned token.
      tokens: (...,) integers from 0 to V - 1.
      temperature: > 0.
      threads: how many work at once; a GPU has its own.

    Returns:
      (...,) in float64, in nats; -inf for a banned token that was sampled.

    Raises:
      ValueError: if shapes do not fit, or a row has NaN, +inf, or nothing but -inf.

    >>> token_log_probs(np.array([[0.0, 0.0], [1e4, 0.0]]), np.array([0, 1])).round(3).tolist()
    [-0.693, -10000.0]
    """
    xp = array_namespace(logits, tokens)
    if xp is not np:
        _check(logits, tokens, tokens, None, temperature)
        rows = rows_of(logits, tokens, xp.ones(tokens.shape, dtype=xp.bool), temperature)
        log_probs: Floats = rows.log_probs.reshape(tokens.shape)
        return log_probs
    work = _Work.of(logits, tokens, np.ones(tokens.shape), None, temperature)

    def each(rows: slice) -> None:
        work.exponentials(rows, None)

    _share(each, work.blocks(threads), work.logits.size, threads)
    return work.log_probs.reshape(tokens.shape)


def policy_loss_from_logits(
    logits: Logits,
    tokens: Integers,
    advantages: Floats,
    mask: NDArray[Any],
    *,
    recipe: Recipe,
    max_length: int | None = None,
    temperature: float = 1.0,
    out: Logits | None = None,
    threads: int = 2,
    **others: Floats,
) -> LogitsLoss:
    """The loss of a recipe and its gradient with respect to the logits.

    A recipe whose tokens do not depend on one another is computed in one pass over the rows; one with a
    sequence ratio, or with a choice among the tokens of the batch, in two.

    Args:
      logits: (P, G, T, V), or (N, T, V) for N completions, float32 or float64; -inf for a banned token.
      tokens: (P, G, T) or (N, T) the sampled tokens; in the padding anything from 0 to V - 1.
      advantages: one a completion or one a token; constants of differentiation.
      mask: of the tokens' shape, 1 on completion tokens.
      recipe, max_length: as in `policy_loss`.
      temperature: > 0, of sampling and gradient alike.
      out: where the gradient goes, of the logits' shape and precision; `out=logits` overwrites them and needs
        no further memory. After an error it holds NaN.
      threads: how many work at once; a GPU has its own.
      others: old_log_probs, ref_log_probs, rollout_log_probs and what else `policy_loss` takes, of the
        tokens' shape.

    Returns:
      LogitsLoss(loss, gradient, metrics).

    Raises:
      ValueError: if shapes or precisions do not fit, or a live row has NaN, +inf, or nothing but -inf.

    >>> from grpo_ref.recipes import DR_GRPO
    >>> logits, tokens = np.zeros((1, 2, 4)), np.array([[1, 3]])
    >>> result = policy_loss_from_logits(logits, tokens, np.array([1.0]), np.array([[1, 0]]), recipe=DR_GRPO)
    >>> result.gradient[0].tolist()
    [[0.125, -0.375, 0.125, 0.125], [0.0, 0.0, 0.0, 0.0]]
    """
    if array_namespace(logits, tokens, mask) is not np:
        _check(logits, tokens, mask, out, temperature)
        batch = _Tokens.of(tokens, advantages, mask, recipe, max_length, others)
        return _loss_on_device(logits, tokens, mask, batch, out, temperature)
    keep_freed_memory()
    work = _Work.of(logits, tokens, mask, np.empty_like(logits) if out is None else out, temperature)
    batch = _Tokens.of(tokens, advantages, mask, recipe, max_length, others)
    passes = _one_pass if _is_local(recipe) and work.vocabulary >= SHORT else _two_passes
    try:
        result = passes(work, batch, threads)
    except ValueError:
        work.out[...] = np.nan
        raise
    if not work.live.all():
        work.out[~work.live] = 0.0
    return LogitsLoss(float(result.loss), work.out.reshape(logits.shape), result.metrics)


def _one_pass(work: "_Work", batch: "_Tokens", threads: int) -> PolicyLoss:
    """Each block is read, judged and written while it is in the cache: for tokens that stand alone."""

    def each(rows: slice) -> None:
        work.exponentials(rows, work.out[rows])
        work.scale(rows, batch.slopes(work.log_probs, rows))

    _share(each, work.blocks(threads), work.logits.size, threads)
    return batch.loss(work.log_probs)


def _two_passes(work: "_Work", batch: "_Tokens", threads: int) -> PolicyLoss:
    """All rows are read before the first is judged: for tokens that depend on one another."""

    def read(rows: slice) -> None:
        work.exponentials(rows, work.out[rows])

    def write(rows: slice) -> None:
        work.scale(rows, gradient[rows])

    _share(read, work.blocks(threads), work.logits.size, threads)
    result = batch.loss(work.log_probs)
    gradient = np.asarray(result.gradient).reshape(-1)
    _share(write, work.blocks(threads), work.logits.size, threads)
    return result


def _loss_on_device(
    logits: Logits,
    tokens: Integers,
    mask: NDArray[Any],
    batch: "_Tokens",
    out: Logits | None,
    temperature: float,
) -> LogitsLoss:
    """The same for arrays on a GPU."""
    xp = array_namespace(logits)
    out = xp.empty(logits.shape, dtype=logits.dtype) if out is None else out
    try:
        rows = rows_of(logits, tokens, mask != 0, temperature)
        result = batch.loss(rows.log_probs)
    except ValueError:
        out[...] = xp.nan
        raise
    write_gradient(rows, result.gradient.reshape(-1), out.reshape(-1))
    return LogitsLoss(float(to_host(result.loss)), out, result.metrics)


def _check(
    logits: Logits, tokens: Integers, mask: NDArray[Any], out: Logits | None, temperature: float
) -> None:
    """Raise a ValueError unless temperature, precision and shapes are right."""
    if not temperature > 0.0:
        raise ValueError(f"temperature: expected a number > 0, got {temperature}")
    if logits.dtype not in (np.float32, np.float64):
        raise ValueError(f"logits: expected float32 or float64, got {logits.dtype}")
    if logits.shape[:-1] != tokens.shape or mask.shape != tokens.shape:
        shapes = f"logits {logits.shape}, tokens {tokens.shape}, mask {mask.shape}"
        raise ValueError(f"expected logits (..., V), tokens (...,) and mask (...,), got {shapes}")
    if out is not None and (
        out.shape != logits.shape or out.dtype != logits.dtype or not out.flags.c_contiguous
    ):
        expected = f"a contiguous {logits.dtype} array of shape {logits.shape}"
        raise ValueError(f"out: expected {expected}, got {out.dtype} {out.shape}")


@dataclass(frozen=True)
class _Work:
    """The rows, and what becomes of them."""

    logits: Logits
    tokens: Integers
    live: Bools
    out: Logits
    temperature: float
    log_probs: Floats
    totals: Floats
    in_place: bool

    @classmethod
    def of(
        cls,
        logits: Logits,
        tokens: Integers,
        mask: NDArray[Any],
        out: Logits | None,
        temperature: float,
    ) -> "_Work":
        """Check the arrays and lay them out as rows."""
        _check(logits, tokens, mask, out, temperature)
        out = np.empty((0, 0), logits.dtype) if out is None else out
        vocabulary = logits.shape[-1]
        flat, chosen = logits.reshape(-1, vocabulary), np.asarray(tokens).reshape(-1)
        if chosen.size and not (0 <= chosen.min() and chosen.max() < vocabulary):
            raise ValueError(f"tokens: expected 0 to {vocabulary - 1}, got {chosen.min()} to {chosen.max()}")
        rows = len(chosen)
        return cls(
            logits=flat,
            tokens=chosen,
            live=np.asarray(mask).reshape(-1) != 0,
            out=out.reshape(-1, vocabulary) if out.size else out,
            temperature=temperature,
            log_probs=np.zeros(rows),
            totals=np.ones(rows),
            in_place=out.size > 0 and np.shares_memory(out, logits),
        )

    @property
    def vocabulary(self) -> int:
        """V."""
        return int(self.logits.shape[-1])

    def rows_in(self, size: int) -> int:
        """How many rows fit into so many bytes; at least one."""
        return max(size // (self.vocabulary * self.logits.itemsize), 1)

    def blocks(self, threads: int) -> list[slice]:
        """Stretches of live rows, of about BLOCK_BYTES at most, as many for each thread as for the others."""
        if threads < 1:
            raise ValueError(f"threads: expected at least 1, got {threads}")
        live = np.ones_like(self.live) if self.vocabulary < SHORT else self.live
        edges = np.flatnonzero(np.diff(np.concatenate([[False], live, [False]])))
        rounds = math.ceil(len(live) / (threads * self.rows_in(BLOCK_BYTES)))
        size = math.ceil(len(live) / (threads * max(rounds, 1)))
        return [
            slice(begin, min(begin + size, int(stop)))
            for start, stop in edges.reshape(-1, 2)
            for begin in range(int(start), int(stop), size)
        ]

    def exponentials(self, rows: slice, target: Logits | None) -> None:
        """Fill target with exp(z), or with None keep nothing; note sums and log-probabilities of the rows."""
        here, live = self.logits[rows], self.live[rows]
        shifts, totals = np.empty((2, len(here)))
        room = np.empty_like(here[: self.rows_in(STEP_BYTES)]) if target is None else target
        with np.errstate(all="ignore"):
            sampled = here.reshape(-1)[self._sampled(rows)].astype(np.float64)
            for step in self._steps(len(here)):
                powers = room[: step.stop - step.start] if target is None else room[step]
                shifts[step], totals[step] = self._exponentiate(here[step], powers, shift=self.in_place)
            again = np.flatnonzero(live & ~(np.isfinite(totals) & (totals > SMALLEST)))
            for some in [] if self.in_place else [again[step] for step in self._steps(len(again))]:
                powers = np.empty_like(here[some])
                shifts[some], totals[some] = self._exponentiate(here[some], powers, shift=True)
                if target is not None:
                    target[some] = powers
            totals[~live] = 1.0
            bad = ~(np.isfinite(totals) & (totals > 0.0))
            self.totals[rows] = totals
            self.log_probs[rows] = (sampled - shifts) / self.temperature - np.log(totals)
        if bad.any():
            row = rows.start + int(np.argmax(bad))
            raise ValueError(f"logits: row {row} holds NaN or +inf, or nothing but -inf")

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
        """Turn exponentials into the gradient."""
        slopes = np.where(self.live[rows], slopes / self.temperature, 0.0)
        target = self.out[rows]
        factors = (-slopes / self.totals[rows]).astype(target.dtype)[:, None]
        for step in self._steps(len(target)):
            target[step] *= factors[step]
        target.reshape(-1)[self._sampled(rows)] += slopes.astype(target.dtype)

    def _steps(self, count: int) -> Iterator[slice]:
        """Stretches of count rows, each of about STEP_BYTES at most."""
        size = self.rows_in(STEP_BYTES)
        return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))

    def _sampled(self, rows: slice) -> Integers:
        """Where the sampled tokens of some rows are, counted from the first of these rows."""
        tokens = self.tokens[rows]
        return np.arange(len(tokens)) * self.vocabulary + tokens

    def _sums(self, rows: Logits) -> Floats:
        """Row sums in float64; a reduction over short rows takes five times as long as einsum."""
        sums: Logits = np.einsum("rv->r", rows) if self.vocabulary < SHORT else rows.sum(-1)
        return sums.astype(np.float64)


@dataclass(frozen=True)
class _Tokens:
    """What `policy_loss` needs beside the log-probabilities, by token, as one row and as (P, G, T)."""

    shape: tuple[int, ...]
    mask: NDArray[Any]
    recipe: Recipe
    weights: Floats
    max_length: int | None
    fields: dict[str, Any]

    @classmethod
    def of(
        cls,
        tokens: Integers,
        advantages: Floats,
        mask: NDArray[Any],
        recipe: Recipe,
        max_length: int | None,
        others: dict[str, Floats],
    ) -> "_Tokens":
        """Bring everything to (P, G, T); N completions are one group."""
        if tokens.ndim not in (2, 3):
            raise ValueError(f"tokens: expected (N, T) or (P, G, T), got shape {tokens.shape}")
        xp = array_namespace(tokens, mask)
        shape = (1,) * (3 - tokens.ndim) + tokens.shape
        if advantages.shape == tokens.shape[:-1]:
            advantages = xp.broadcast_to(advantages[..., None], tokens.shape)
        fields: dict[str, Any] = {"advantages": advantages, **others}
        for name, array in fields.items():
            if array.shape[: tokens.ndim] != tokens.shape:
                raise ValueError(f"{name}: expected shape {tokens.shape}, got {array.shape}")
        grouped = mask.reshape(shape)
        budget = shape[-1] if max_length is None else max_length
        record = SimpleNamespace(mask=grouped, max_length=budget, correction=xp.ones(shape))
        return cls(
            shape=shape,
            mask=grouped,
            recipe=recipe,
            weights=recipe.aggregate(record).reshape(-1),
            max_length=max_length,
            fields={
                name: array.reshape(*shape, *array.shape[tokens.ndim :]) for name, array in fields.items()
            },
        )

    def loss(self, log_probs: Floats) -> PolicyLoss:
        """Loss, gradient and metrics of all tokens."""
        return policy_loss(
            log_probs.reshape(self.shape),
            mask=self.mask,
            recipe=self.recipe,
            max_length=self.max_length,
            **self.fields,
        )

    def slopes(self, log_probs: Floats, rows: slice) -> Floats:
        """The gradient with respect to the log-probabilities of some tokens, where each is by itself."""
        known = Slot(_given, {"weights": self.weights[None, None, rows]})
        part = {
            name: array.reshape(-1, *array.shape[3:])[None, None, rows] for name, array in self.fields.items()
        }
        mask = self.mask.reshape(-1)[None, None, rows]
        recipe = replace(self.recipe, aggregate=known)
        some = batch_of(log_probs[None, None, rows], mask=mask, **part)
        gradient: Floats = differentiate(some, recipe).gradient[0, 0]
        return gradient


def _given(mask: Floats, *, weights: Floats) -> Floats:
    """Weights that are known already, in the place of an aggregation."""
    return weights


def _is_local(recipe: Recipe) -> bool:
    """Whether a token's slope depends on that token alone, given the weights of the aggregation."""
    slots = (recipe.surrogate, recipe.penalty, *recipe.corrections)
    alone = recipe.level is token_level and not any("mask" in part.reads for part in slots)
    return alone and "correction" not in recipe.aggregate.reads


def _share(work: Callable[[slice], None], blocks: list[slice], size: int, threads: int) -> None:
    """Do the blocks, a thread taking the next one when it is free; small work is not divided."""
    if size < ALONE or threads == 1:
        for rows in blocks:
            work(rows)
        return
    with ThreadPoolExecutor(threads) as pool:
        for future in [pool.submit(work, rows) for rows in blocks]:
            future.result()
