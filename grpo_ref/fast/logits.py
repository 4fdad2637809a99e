"""Compute a recipe's loss and its gradient from logits over a large vocabulary, block by block in the cache.

Use this if you train a network whose vocabulary is as large as a language model's. The network's logits go
in, and their gradient comes out, for the network's own backward pass. The policies of this library have far
fewer tokens; `learning.policies.table` differentiates them in a simpler way.

`policy_loss` works on the log-probabilities of the sampled tokens. The step from the logits to their
gradient,

    ∂L/∂logits[a] = (c / τ) (1[a = token] - π(a)),    c = ∂L/∂log π(token)

needs no second array of that size, because the gradient's own memory holds the exponentials until c is known.
Blocks of a few rows are computed one after another. NumPy releases the interpreter's lock inside them, so two
threads work at once. The same functions take CuPy arrays: `logits_device` then reads and writes the logits on
the GPU, and the work per token stays on the host.
"""

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grpo_ref.arrays import Array, Bools, Floats, Integers, array_namespace, to_host
from grpo_ref.fast.logits_device import DeviceRows
from grpo_ref.fast.logits_rows import Logits, Rows, check_logits, share
from grpo_ref.fast.logits_tokens import Tokens, is_local
from grpo_ref.fast.numba_loops import compiled_forms
from grpo_ref.fast.supported import usual_loss
from grpo_ref.loss import PolicyLoss
from grpo_ref.memory import keep_freed_memory
from grpo_ref.recipes import Recipe
from grpo_ref.validation import recipe_of


class LogitsLoss(NamedTuple):
    """Result of `policy_loss_from_logits`.

    Attributes:
      loss: the loss, a number to be minimized, computed in float64.
      gradient: ∂loss/∂logits, of the logits' shape and dtype, exactly 0 in masked rows.
      metrics: metrics of `policy_loss`, on the device if the logits are.
    """

    loss: float
    gradient: Logits
    metrics: dict[str, Any]


def token_log_probs(
    logits: Logits, tokens: Integers, *, temperature: float = 1.0, threads: int = 2
) -> Floats:
    """Return the log-probability of each sampled token.

        log π(token) = z[token] - log Σ_a exp(z[a]),   z = logits / temperature

    Args:
      logits: (..., V) in float32 or float64; -inf for a banned token.
      tokens: (...,) integers from 0 to V - 1.
      temperature: > 0.
      threads: number of threads; ignored on a GPU.

    Returns:
      (...,) in float64, in nats; -inf for a banned token that was sampled.

    Raises:
      ValueError: if shapes do not match, or a row holds NaN or +inf, or only -inf.

    >>> token_log_probs(np.array([[0.0, 0.0], [1e4, 0.0]]), np.array([0, 1])).round(3).tolist()
    [-0.693, -10000.0]
    """
    xp = array_namespace(logits, tokens)
    if xp is not np:
        check_logits(logits, tokens, tokens, None, temperature)
        device, every = DeviceRows.of(logits, tokens, temperature), slice(0, tokens.size)
        device.read(every)
        device.fetch(every, np.ones(tokens.size, dtype=np.bool_), allow_banned=True)  # for its checks
        log_probs: Floats = device.sampled.reshape(tokens.shape)
        return log_probs
    work = Rows.of(logits, tokens, np.ones(tokens.shape), None, temperature)

    def each(rows: slice) -> None:
        work.exponentials(rows, None)

    share(each, work, threads)
    return work.log_probs.reshape(tokens.shape)


def policy_loss_from_logits(
    logits: Logits,
    tokens: Integers,
    advantages: Floats,
    mask: NDArray[Any],
    *,
    recipe: Recipe | str,
    old_log_probs: Floats | None = None,
    ref_log_probs: Floats | None = None,
    rollout_log_probs: Floats | None = None,
    entropies: Floats | None = None,
    noise: Floats | None = None,
    top_log_probs: Floats | None = None,
    top_rollout_log_probs: Floats | None = None,
    teacher_log_probs: Floats | None = None,
    max_length: int | None = None,
    temperature: float = 1.0,
    metrics: Collection[str] | None = None,
    out: Logits | None = None,
    threads: int = 2,
    compiled: bool = False,
) -> LogitsLoss:
    """Return a recipe's loss and its gradient with respect to the logits of a large vocabulary.

    If the tokens do not depend on one another, the loss is computed in one pass over the rows. A recipe with
    a sequence ratio, or with a selection among the tokens of the batch, takes two passes.

    Args:
      logits: (P, G, T, V), or (N, T, V) for N completions, float32 or float64; -inf for a banned token.
      tokens: (P, G, T) or (N, T) the sampled tokens; in the padding anything from 0 to V - 1.
      advantages: one per completion or one per token; constant with respect to the logits.
      mask: of the tokens' shape, 1 on completion tokens.
      recipe, max_length, metrics: as in `policy_loss`. Each metric that you do not request saves time.
      temperature: temperature of sampling and gradient, > 0.
      out: array for the gradient, of the logits' shape and dtype. `out=logits` overwrites the logits and
        needs no further memory. After an error, `out` is either unchanged or holds NaN.
      threads: number of threads; ignored on a GPU.
      compiled: if true, use loops that Numba compiles, for the exponentials and for the work per token. They
        support recipes with the `clipped` surrogate per token and `k3`. They take half to a third of the
        time, as docs/speed.md shows. Metrics are not faster. On a GPU, only the work per token is compiled,
        and it runs on the host.
      old_log_probs, ref_log_probs, rollout_log_probs, teacher_log_probs, entropies, noise: as in
        `policy_loss`, of the tokens' shape.
      top_log_probs, top_rollout_log_probs: (..., K), as in `policy_loss`.

    Returns:
      LogitsLoss(loss, gradient, metrics).

    Raises:
      ValueError: if shapes or dtypes do not match; if an unmasked row holds NaN or +inf, or only -inf, or its
        token is banned; or if compiled is true and the compiled loop does not support the recipe.
      ImportError: if compiled is true and Numba is not installed.

    >>> from grpo_ref.recipes import DR_GRPO
    >>> logits, tokens = np.zeros((1, 2, 4)), np.array([[1, 3]])
    >>> result = policy_loss_from_logits(logits, tokens, np.array([1.0]), np.array([[1, 0]]), recipe=DR_GRPO)
    >>> result.gradient[0].tolist()
    [[0.125, -0.375, 0.125, 0.125], [0.0, 0.0, 0.0, 0.0]]
    """
    recipe = recipe_of(recipe)
    others = {
        "old_log_probs": old_log_probs,
        "ref_log_probs": ref_log_probs,
        "rollout_log_probs": rollout_log_probs,
        "entropies": entropies,
        "noise": noise,
        "top_log_probs": top_log_probs,
        "top_rollout_log_probs": top_rollout_log_probs,
        "teacher_log_probs": teacher_log_probs,
    }
    rows_form, tokens_form = _compiled(recipe) if compiled else (Rows, Tokens)
    keep_freed_memory()
    settings: dict[str, Any] = {"recipe": recipe, "max_length": max_length, "metrics": metrics}
    if array_namespace(logits, tokens, mask) is not np:
        check_logits(logits, tokens, mask, out, temperature)
        make_batch = partial(tokens_form.of, tokens, **settings)
        there, is_one_pass = DeviceRows.of(logits, tokens, temperature), compiled or is_local(recipe)
        return _loss_on_device(there, make_batch, advantages, mask, others, out, is_one_pass=is_one_pass)
    out = np.empty(logits.shape, logits.dtype) if out is None else out
    work = rows_form.of(logits, tokens, mask, out, temperature)
    batch = tokens_form.of(tokens, advantages, mask, others, **settings)
    if work.in_place or compiled:
        batch.require_fields()  # raise while the logits are not yet overwritten
    passes = _one_pass if compiled or (is_local(recipe) and not work.is_short) else _two_passes
    try:
        result = passes(work, batch, threads)
    except BaseException:
        work.out[...] = np.nan  # a half-written gradient must not be used
        raise
    work.out[~work.live] = 0.0
    return LogitsLoss(float(result.loss), work.out.reshape(logits.shape), result.metrics)


def _compiled(recipe: Recipe) -> tuple[type[Rows], type[Tokens]]:
    """Return the classes with compiled loops, or raise a ValueError if they do not support the recipe."""
    for name, is_usual in usual_loss(recipe).items():
        if not is_usual:
            raise ValueError(
                f"{name}: the compiled loop does not support {recipe.parts()[name]}; omit compiled"
            )
    forms = compiled_forms()
    return forms.CompiledRows, forms.CompiledTokens


def _one_pass(work: Rows, batch: Tokens, threads: int) -> PolicyLoss:
    """Read, differentiate and write each block while it is in the cache; the recipe must be local."""

    def each(rows: slice) -> None:
        work.exponentials(rows, work.out[rows])
        work.refuse_banned(rows)
        work.scale(rows, batch.slopes(work.log_probs, rows))

    share(each, work, threads)
    return batch.loss(work.log_probs)


def _two_passes(work: Rows, batch: Tokens, threads: int) -> PolicyLoss:
    """Read all rows before the first is differentiated, for tokens that depend on one another."""

    def read(rows: slice) -> None:
        work.exponentials(rows, work.out[rows])
        work.refuse_banned(rows)

    def write(rows: slice) -> None:
        work.scale(rows, gradient[rows])

    share(read, work, threads)
    result = batch.loss(work.log_probs)
    gradient = np.asarray(result.gradient).reshape(-1)
    share(write, work, threads)
    return result


def _loss_on_device(
    work: DeviceRows,
    make_batch: Callable[..., Tokens],
    advantages: Floats,
    mask: NDArray[Any],
    others: dict[str, Floats | None],
    out: Logits | None,
    *,
    is_one_pass: bool,
) -> LogitsLoss:
    """Return a recipe's loss and gradient for logits on a GPU; everything about tokens is on the host."""
    xp = array_namespace(mask)
    out = xp.empty((*mask.shape, work.vocabulary), dtype=work.logits.dtype) if out is None else out
    advantages, mask, others = to_host((advantages, mask, others))  # first, as it waits for the GPU
    live, target = mask.reshape(-1) != 0, out.reshape(-1)
    blocks = work.blocks() if is_one_pass else [slice(0, len(live))]
    try:
        work.read(blocks[0])
        batch = make_batch(advantages, mask, others)
        passes = _one_pass_on_device if is_one_pass else _two_passes_on_device
        result = passes(work, blocks, batch, live, target)
    except BaseException:
        out[...] = xp.nan  # a half-written gradient must not be used
        raise
    return LogitsLoss(float(result.loss), out, result.metrics)


def _one_pass_on_device(
    work: DeviceRows, blocks: list[slice], batch: Tokens, live: Bools, out: Array
) -> PolicyLoss:
    """Compute the slopes of each block while the GPU reads the next block; the recipe must be local.

    The first block is being read. The metrics are computed last, while the GPU writes.
    """
    batch.prepare()
    log_probs = np.empty(len(live))
    log_probs[blocks[0]] = work.fetch(blocks[0], live)
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if following is not None:
            work.read(following)
        slopes = batch.slopes(log_probs, block)
        if following is not None:
            log_probs[following] = work.fetch(following, live)  # before `write`, for which it would wait
        work.write(block, slopes, out)
    return batch.loss(log_probs)


def _two_passes_on_device(
    work: DeviceRows, blocks: list[slice], batch: Tokens, live: Bools, out: Array
) -> PolicyLoss:
    """Read all rows before the first is differentiated, for tokens that depend on one another.

    The only block is being read.
    """
    result = batch.loss(work.fetch(blocks[0], live))
    work.write(blocks[0], result.gradient.reshape(-1), out)
    return result
