"""Compute a recipe's loss and its gradient from logits over a large vocabulary, block by block in the cache.

Use this if you train a network whose vocabulary is as large as a language model's. The network's logits go
in, and their gradient comes out, for the network's own backward pass. The policies of this library have far
fewer tokens; `learning.policies.table` differentiates them in a simpler way.

`policy_loss` works on the log-probabilities of the sampled tokens. The step from the logits to their
gradient,

    ∂L/∂logits[a] = (c / τ) (1[a = token] - π(a)),    c = ∂L/∂log π(token)

needs no second array of that size, because the gradient's own memory holds the exponentials until c is known.
Blocks of a few rows are computed one after another. NumPy releases the interpreter's lock inside them, so two
threads work at once. The same functions take CuPy arrays; `logits_device` then does the work on the GPU.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grpo_ref.arrays import Floats, Integers, array_namespace, to_device, to_host
from grpo_ref.fast.logits_device import rows_of, write_gradient
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
        live = np.ones(tokens.shape, dtype=np.bool_)
        rows = rows_of(logits, to_host(tokens), live, temperature, allow_banned=True)
        log_probs: Floats = to_device(rows.log_probs.reshape(tokens.shape), xp)
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
      compiled: if true, use a loop that Numba compiles for the work per token. It supports recipes with the
        `clipped` surrogate per token and `k3`. With a short vocabulary, this is half of the work. Metrics are
        not faster.
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
    rows_form, tokens_form = _compiled(recipe, logits) if compiled else (Rows, Tokens)
    if array_namespace(logits, tokens, mask) is not np:
        check_logits(logits, tokens, mask, out, temperature)
        tokens, advantages, mask, others = to_host((tokens, advantages, mask, others))
        batch = Tokens.of(
            tokens, advantages, mask, others, recipe=recipe, max_length=max_length, metrics=metrics
        )
        return _loss_on_device(logits, tokens, mask, batch, out, temperature)
    keep_freed_memory()
    out = np.empty(logits.shape, logits.dtype) if out is None else out
    work = rows_form.of(logits, tokens, mask, out, temperature)
    batch = tokens_form.of(
        tokens, advantages, mask, others, recipe=recipe, max_length=max_length, metrics=metrics
    )
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


def _compiled(recipe: Recipe, logits: Logits) -> tuple[type[Rows], type[Tokens]]:
    """Return the classes with compiled loops, or raise a ValueError if they do not support the recipe."""
    if not isinstance(logits, np.ndarray):
        raise ValueError("compiled: expected NumPy arrays; on another device, omit compiled")
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
    logits: Logits,
    tokens: Integers,
    mask: NDArray[Any],
    batch: Tokens,
    out: Logits | None,
    temperature: float,
) -> LogitsLoss:
    """Return a recipe's loss and gradient for logits on a GPU; arrays of tokens are on the host."""
    xp = array_namespace(logits)
    out = xp.empty(logits.shape, dtype=logits.dtype) if out is None else out
    try:
        rows = rows_of(logits, tokens, mask != 0, temperature)
        result = batch.loss(rows.log_probs)
    except ValueError:
        out[...] = xp.nan  # an unfinished gradient must not be used
        raise
    write_gradient(rows, result.gradient.reshape(-1), out.reshape(-1))
    return LogitsLoss(float(result.loss), out, result.metrics)
