"""From logits over a whole vocabulary to the loss and back, in blocks that fit the cache.

`policy_loss` works on the log-probabilities of the sampled tokens. Here the logits go in and their gradient
comes out,

    ∂L/∂logits[a] = (c / τ) (1[a = token] - π(a)),    c = ∂L/∂log π(token)

without a second array of their size: the gradient's own memory holds the exponentials until c is known. Rows
are taken a few at a time; NumPy releases the interpreter's lock in them, so two threads work at once.
The same functions take CuPy arrays; `logits_device` then does the work on the GPU.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grpo_ref.arrays import Bools, Floats, Integers, array_namespace, keep_freed_memory, to_host
from grpo_ref.levels import token_level
from grpo_ref.logits_device import rows_of, write_gradient
from grpo_ref.loss import PolicyLoss, policy_loss
from grpo_ref.recipes import Recipe, Slot

Logits = NDArray[np.floating[Any]]
INNER_BYTES, OUTER_BYTES = 1 << 20, 1 << 23
"""Exponentials are taken of 1 MiB at a time, half of a second-level cache, and scaled after 8 MiB."""
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

    def each(blocks: Sequence[slice]) -> None:
        scratch = np.empty((max(rows.stop - rows.start for rows in blocks), work.vocabulary), logits.dtype)
        for rows in blocks:
            work.exponentials(rows, scratch[: rows.stop - rows.start])

    _share(each, work.blocks(), work.logits.size, threads)
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

    def each(blocks: Sequence[slice]) -> None:
        for some in _outer(blocks, work.row_bytes):
            for rows in some:
                work.exponentials(rows, work.out[rows])
            together = slice(some[0].start, some[-1].stop)
            slopes = batch.slopes(work.log_probs, together)
            for rows in some:
                first = rows.start - together.start
                work.scale(rows, slopes[first : first + rows.stop - rows.start])

    _share(each, work.blocks(), work.logits.size, threads)
    return batch.loss(work.log_probs)


def _two_passes(work: "_Work", batch: "_Tokens", threads: int) -> PolicyLoss:
    """All rows are read before the first is judged: for tokens that depend on one another."""

    def read(blocks: Sequence[slice]) -> None:
        for rows in blocks:
            work.exponentials(rows, work.out[rows])

    def write(blocks: Sequence[slice]) -> None:
        for rows in blocks:
            work.scale(rows, gradient[rows])

    _share(read, work.blocks(), work.logits.size, threads)
    result = batch.loss(work.log_probs)
    gradient = np.asarray(result.gradient).reshape(-1)
    _share(write, work.blocks(), work.logits.size, threads)
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

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return self.vocabulary * self.logits.itemsize

    def blocks(self) -> list[slice]:
        """Stretches of live rows, each of about INNER_BYTES at most."""
        live = np.ones_like(self.live) if self.vocabulary < SHORT else self.live
        edges = np.flatnonzero(np.diff(np.concatenate([[False], live, [False]])))
        size = max(INNER_BYTES // self.row_bytes, 1)
        return [
            slice(begin, min(begin + size, int(stop)))
            for start, stop in edges.reshape(-1, 2)
            for begin in range(int(start), int(stop), size)
        ]

    def exponentials(self, rows: slice, target: Logits) -> None:
        """Fill target with exp(z), and note sums and log-probabilities of the rows."""
        here, scale = self.logits[rows], 1.0 / self.temperature
        chosen = here.reshape(-1)[self._sampled(rows)].astype(np.float64) * scale
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if self.in_place:
                chosen -= self._shifted(here, target) * scale
            elif scale == 1.0:
                np.exp(here, out=target)
            else:
                np.multiply(here, scale, out=target, dtype=target.dtype, casting="same_kind")
                np.exp(target, out=target)
            totals = self._sums(target)
            again = np.flatnonzero(self.live[rows] & ~(np.isfinite(totals) & (totals > SMALLEST)))
            if again.size and not self.in_place:
                redone = np.empty((again.size, self.vocabulary), target.dtype)
                chosen[again] -= self._shifted(here[again], redone) * scale
                target[again], totals[again] = redone, self._sums(redone)
            bad = self.live[rows] & ~(np.isfinite(totals) & (totals > 0.0))
        if bad.any():
            row = rows.start + int(np.argmax(bad))
            raise ValueError(f"logits: row {row} holds NaN or +inf, or nothing but -inf")
        self.totals[rows] = totals
        self.log_probs[rows] = chosen - np.log(np.where(self.live[rows], totals, 1.0))

    def _shifted(self, here: Logits, target: Logits) -> Floats:
        """Fill target with the exponentials after subtracting each row's maximum; returns the maxima."""
        top = here.max(-1, keepdims=True)
        np.subtract(here, top, out=target)
        if self.temperature != 1.0:
            target *= 1.0 / self.temperature
        np.exp(target, out=target)
        maxima: Floats = top[:, 0].astype(np.float64)
        return maxima

    def scale(self, rows: slice, slopes: Floats) -> None:
        """Turn exponentials into the gradient."""
        slopes = np.where(self.live[rows], slopes / self.temperature, 0.0)
        target = self.out[rows]
        target *= (-slopes / self.totals[rows]).astype(target.dtype)[:, None]
        target.reshape(-1)[self._sampled(rows)] += slopes.astype(target.dtype)

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
        gradient: Floats = policy_loss(
            log_probs[None, None, rows], mask=mask, recipe=recipe, **part
        ).gradient[0, 0]
        return gradient


def _given(mask: Floats, *, weights: Floats) -> Floats:
    """Weights that are known already, in the place of an aggregation."""
    return weights


def _is_local(recipe: Recipe) -> bool:
    """Whether a token's slope depends on that token alone, given the weights of the aggregation."""
    slots = (recipe.surrogate, recipe.penalty, *recipe.corrections)
    alone = recipe.level is token_level and not any("mask" in part.reads for part in slots)
    return alone and "correction" not in recipe.aggregate.reads


def _outer(blocks: Sequence[slice], row_bytes: int) -> list[Sequence[slice]]:
    """Neighbouring blocks in bundles of about OUTER_BYTES."""
    bundles: list[list[slice]] = []
    for rows in blocks:
        last = bundles[-1] if bundles else []
        full = bool(last) and (rows.stop - last[0].start) * row_bytes > OUTER_BYTES
        if not last or full or last[-1].stop != rows.start:
            bundles.append([rows])
        else:
            last.append(rows)
    return list(bundles)


def _share(work: Callable[[Sequence[slice]], None], blocks: list[slice], size: int, threads: int) -> None:
    """Divide the blocks among threads, equal numbers of rows each; small work is not divided."""
    if threads < 1:
        raise ValueError(f"threads: expected at least 1, got {threads}")
    if not blocks:
        return
    threads = 1 if size < ALONE else min(threads, len(blocks))
    if threads == 1:
        work(blocks)
        return
    done = np.cumsum([rows.stop - rows.start for rows in blocks])
    owner = np.minimum((done - 1) * threads // done[-1], threads - 1)
    parts = [
        [rows for rows, own in zip(blocks, owner, strict=True) if own == thread] for thread in range(threads)
    ]
    with ThreadPoolExecutor(threads) as pool:
        for future in [pool.submit(work, part) for part in parts if part]:
            future.result()
