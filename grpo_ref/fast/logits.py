"""From logits over a whole vocabulary to the loss and back, in blocks that fit the cache.

This is for whoever trains a network with a vocabulary of a language model's size: its logits go in and their
gradient is returned, for the network's own backward pass to take up. No policy of this library has so many
tokens yet: tables have few, and `learning.policies.table` differentiates them more plainly.

`policy_loss` works on the log-probabilities of the sampled tokens. From the logits to their gradient,

    ∂L/∂logits[a] = (c / τ) (1[a = token] - π(a)),    c = ∂L/∂log π(token)

needs no second array of their size: the gradient's own memory holds the exponentials until c is known. Rows
are taken a few at a time; NumPy releases the interpreter's lock in them, so two threads work at once.
The same functions take CuPy arrays; `logits_device` then does the work on the GPU.
"""

import math
import os
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grpo_ref.arrays import (
    Bools,
    Floats,
    Integers,
    array_namespace,
    is_set,
    keep_freed_memory,
    to_host,
)
from grpo_ref.fast.logits_device import rows_of, write_gradient
from grpo_ref.kernels.levels import token_level
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
SMALLEST, LARGEST = 1e-20, 1e20
"""A sum of exponentials that is not between them is taken again with the maximum subtracted."""


class LogitsLoss(NamedTuple):
    """What `policy_loss_from_logits` returns.

    Attributes:
      loss: a number, to be minimized, computed in float64.
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
        live = xp.ones(tokens.shape, dtype=xp.bool)
        rows = rows_of(logits, tokens, live, temperature, allow_banned=True)
        log_probs: Floats = rows.log_probs.reshape(tokens.shape)
        return log_probs
    work = _Work.of(logits, tokens, np.ones(tokens.shape), None, temperature)

    def each(rows: slice) -> None:
        work.exponentials(rows, None)

    _share(each, work, threads)
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
    metrics: Collection[str] | None = None,
    out: Logits | None = None,
    threads: int = 2,
    **others: Floats | None,
) -> LogitsLoss:
    """The loss of a recipe and its gradient with respect to the logits, for networks with large vocabularies.

    A recipe whose tokens do not depend on one another is computed in one pass over the rows; one with a
    sequence ratio, or with a choice among the tokens of the batch, in two.

    Args:
      logits: (P, G, T, V), or (N, T, V) for N completions, float32 or float64; -inf for a banned token.
      tokens: (P, G, T) or (N, T) the sampled tokens; in the padding anything from 0 to V - 1.
      advantages: one per completion or one per token; constants of differentiation.
      mask: of the tokens' shape, 1 on completion tokens.
      recipe, max_length, metrics: as in `policy_loss`; each metric that is left out saves time.
      temperature: > 0, of sampling and gradient alike.
      out: where the gradient goes, of the logits' shape and precision; `out=logits` overwrites them and needs
        no further memory. After an error it is as it was or holds NaN, never something between.
      threads: how many work at once; a GPU has its own.
      others: old_log_probs, ref_log_probs, rollout_log_probs and what else `policy_loss` takes, of the
        tokens' shape.

    Returns:
      LogitsLoss(loss, gradient, metrics).

    Raises:
      ValueError: if shapes or precisions do not fit, or a live row has NaN, +inf, or nothing but -inf, or its
        token is banned.

    >>> from grpo_ref.recipes import DR_GRPO
    >>> logits, tokens = np.zeros((1, 2, 4)), np.array([[1, 3]])
    >>> result = policy_loss_from_logits(logits, tokens, np.array([1.0]), np.array([[1, 0]]), recipe=DR_GRPO)
    >>> result.gradient[0].tolist()
    [[0.125, -0.375, 0.125, 0.125], [0.0, 0.0, 0.0, 0.0]]
    """
    if array_namespace(logits, tokens, mask) is not np:
        _check(logits, tokens, mask, out, temperature)
        batch = _Tokens.of(
            tokens, advantages, mask, others, recipe=recipe, max_length=max_length, metrics=metrics
        )
        return _loss_on_device(logits, tokens, mask, batch, out, temperature)
    keep_freed_memory()
    out = np.empty(logits.shape, logits.dtype) if out is None else out
    work = _Work.of(logits, tokens, mask, out, temperature)
    batch = _Tokens.of(
        tokens, advantages, mask, others, recipe=recipe, max_length=max_length, metrics=metrics
    )
    if work.in_place:
        batch.require_fields()  # what the recipe lacks is said while the logits are still there
    passes = _one_pass if _is_local(recipe) and work.vocabulary >= SHORT else _two_passes
    try:
        result = passes(work, batch, threads)
    except BaseException:
        work.out[...] = np.nan
        raise
    work.out[~work.live] = 0.0
    return LogitsLoss(float(result.loss), work.out.reshape(logits.shape), result.metrics)


def _one_pass(work: "_Work", batch: "_Tokens", threads: int) -> PolicyLoss:
    """Each block is read, judged and written while it is in the cache: for tokens that stand alone."""

    def each(rows: slice) -> None:
        work.exponentials(rows, work.out[rows])
        work.refuse_banned(rows)
        work.scale(rows, batch.slopes(work.log_probs, rows))

    _share(each, work, threads)
    return batch.loss(work.log_probs)


def _two_passes(work: "_Work", batch: "_Tokens", threads: int) -> PolicyLoss:
    """All rows are read before the first is judged: for tokens that depend on one another."""

    def read(rows: slice) -> None:
        work.exponentials(rows, work.out[rows])
        work.refuse_banned(rows)

    def write(rows: slice) -> None:
        work.scale(rows, gradient[rows])

    _share(read, work, threads)
    result = batch.loss(work.log_probs)
    gradient = np.asarray(result.gradient).reshape(-1)
    _share(write, work, threads)
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


@dataclass(frozen=True)
class _Work:
    """The rows, and what becomes of them.

    Attributes:
      logits, out: (rows, V) where the logits are, and where the gradient goes; out is empty if none is asked.
      places, sampled: (rows,) where the sampled tokens are in out, and their logits in float64.
      live: (rows,) False where what the row holds does not matter.
      worked: (rows,) which rows are worked through; in short vocabularies all.
      temperature: > 0.
      log_probs, totals: (rows,) in float64, filled in block by block: of the sampled tokens, in nats; sums of
        the exponentials as they stand in out.
      in_place: whether out is the logits.
    """

    logits: Logits
    out: Logits
    places: Integers
    sampled: Floats
    live: Bools
    worked: Bools
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
        in_place = out is not None and _is_same_memory(out, logits)
        vocabulary = logits.shape[-1]
        chosen, live = np.asarray(tokens).reshape(-1), is_set(np.asarray(mask)).reshape(-1)
        if chosen.size and not (0 <= chosen.min() and chosen.max() < vocabulary):
            raise ValueError(f"tokens: expected 0 to {vocabulary - 1}, got {chosen.min()} to {chosen.max()}")
        chosen, rows = chosen.astype(np.int64, copy=False), logits.reshape(-1, vocabulary)
        numbers = np.arange(len(rows))
        return cls(
            logits=rows,
            out=np.empty((0, vocabulary), logits.dtype) if out is None else out.reshape(-1, vocabulary),
            places=numbers * vocabulary + chosen,
            sampled=rows[numbers, chosen].astype(np.float64),
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
            self.log_probs[rows] = (self.sampled[rows] - shifts) / self.temperature - np.log(totals)
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
            self.out.reshape(-1)[self.places[rows]] += slopes.astype(target.dtype)

    def _steps(self, which: Bools) -> Iterator[slice]:
        """Stretches of neighbouring rows of those that are set, each of about STEP_BYTES at most."""
        size = self.rows_in(STEP_BYTES)
        edges = np.flatnonzero(np.diff(which, prepend=False, append=False))
        for start, stop in edges.reshape(-1, 2).tolist():
            for begin in range(start, stop, size):
                yield slice(begin, min(begin + size, stop))

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
    max_length: int | None
    metrics: Collection[str] | None
    fields: dict[str, Any]

    @classmethod
    def of(
        cls,
        tokens: Integers,
        advantages: Floats,
        mask: NDArray[Any],
        others: dict[str, Floats | None],
        **settings: Any,
    ) -> "_Tokens":
        """Bring everything to (P, G, T); N completions are one group."""
        if tokens.ndim not in (2, 3):
            raise ValueError(f"tokens: expected (N, T) or (P, G, T), got shape {tokens.shape}")
        xp = array_namespace(tokens, mask)
        shape = (1,) * (3 - tokens.ndim) + tokens.shape
        if advantages.shape == tokens.shape[:-1]:
            advantages = xp.broadcast_to(advantages[..., None], tokens.shape)
        given = {name: array for name, array in others.items() if array is not None}
        fields = {"advantages": advantages, **given}
        for name, array in fields.items():
            if array.shape[: tokens.ndim] != tokens.shape:
                raise ValueError(f"{name}: expected shape {tokens.shape}, got {array.shape}")
            fields[name] = array.reshape(*shape, *array.shape[tokens.ndim :])
        grouped = xp.astype(is_set(mask), xp.float64).reshape(shape)
        return cls(shape=shape, mask=grouped, fields=fields, **settings)

    @cached_property
    def weights(self) -> Floats:
        """(rows,) what the aggregation gives each token."""
        weights: Floats = self.recipe.weights(self.mask, max_length=self.max_length).reshape(-1)
        return weights

    def loss(self, log_probs: Floats) -> PolicyLoss:
        """Loss, gradient and metrics of all tokens."""
        return policy_loss(
            log_probs.reshape(self.shape),
            mask=self.mask,
            recipe=self.recipe,
            max_length=self.max_length,
            metrics=self.metrics,
            **self.fields,
        )

    def require_fields(self) -> None:
        """Raise now if something that the recipe needs is missing, by the loss of one token of padding."""
        fields = {name: array[:1, :1, :1] for name, array in self.fields.items()}
        nothing = np.zeros((1, 1, 1))
        policy_loss(
            nothing,
            mask=nothing,
            recipe=self.recipe,
            max_length=self.max_length,
            metrics=self.metrics,
            **fields,
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
    alone = recipe.level is token_level and not any({"mask", "max_length"} & {*part.reads} for part in slots)
    one_average = recipe.penalty_aggregate is None and "correction" not in recipe.aggregate.reads
    return alone and one_average


def _is_same_memory(out: Logits, logits: Logits) -> bool:
    """Whether the gradient goes where the logits are; a ValueError if it could not, or only in part."""
    if not out.flags.writeable:
        raise ValueError("out: expected an array that can be written, got a read-only one")
    if not np.shares_memory(out, logits):
        return False
    if out.ctypes.data != logits.ctypes.data or out.strides != logits.strides:
        raise ValueError("out: expected the logits themselves or other memory, got a part of both")
    return True


def _share(action: Callable[[slice], None], work: _Work, threads: int) -> None:
    """Do the blocks, a thread taking the next one when it is free; small work is not divided."""
    if threads < 1:
        raise ValueError(f"threads: expected at least 1, got {threads}")
    if work.logits.size < ALONE or threads == 1:
        for rows in work.blocks(1):
            action(rows)
        return
    futures = [_pool(threads).submit(action, rows) for rows in work.blocks(threads)]
    try:
        for future in futures:  # the first block with an error is the one that raises it
            future.result()
    finally:
        wait(futures)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that stay: to start them anew takes 0.2 ms, and on a busy machine ten times as long."""
    return ThreadPoolExecutor(threads)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a forked process has none of the threads
