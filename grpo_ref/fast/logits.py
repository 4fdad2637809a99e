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

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grpo_ref.arrays import Floats, Integers, array_namespace, to_host
from grpo_ref.fast.forms import compiled_forms
from grpo_ref.fast.logits_device import rows_of, write_gradient
from grpo_ref.fast.logits_rows import Logits, Rows, check_logits, share
from grpo_ref.fast.logits_tokens import Tokens, is_local
from grpo_ref.fast.usual import usual_loss
from grpo_ref.loss import PolicyLoss
from grpo_ref.memory import keep_freed_memory
from grpo_ref.recipes import Recipe
from grpo_ref.validation import recipe_of


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
        check_logits(logits, tokens, tokens, None, temperature)
        live = xp.ones(tokens.shape, dtype=xp.bool)
        rows = rows_of(logits, tokens, live, temperature, allow_banned=True)
        log_probs: Floats = rows.log_probs.reshape(tokens.shape)
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
    top_old_log_probs: Floats | None = None,
    max_length: int | None = None,
    temperature: float = 1.0,
    metrics: Collection[str] | None = None,
    out: Logits | None = None,
    threads: int = 2,
    compiled: bool = False,
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
      compiled: what is done for each token with a loop that Numba compiles, for recipes with the `clipped`
        surrogate by tokens and `k3`; with a short vocabulary that is half of the work. The metrics take their
        time all the same.
      old_log_probs, ref_log_probs, rollout_log_probs, entropies, noise: of the tokens' shape, as in
        `policy_loss`.
      top_log_probs, top_old_log_probs: (..., K), as in `policy_loss`.

    Returns:
      LogitsLoss(loss, gradient, metrics).

    Raises:
      ValueError: if shapes or precisions do not fit, or a live row has NaN, +inf, or nothing but -inf, or its
        token is banned, or the loop that is to be compiled cannot do what the recipe says.
      ImportError: if it is to be compiled and Numba is not installed.

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
        "top_old_log_probs": top_old_log_probs,
    }
    rows_form, tokens_form = _compiled(recipe, logits) if compiled else (Rows, Tokens)
    if array_namespace(logits, tokens, mask) is not np:
        check_logits(logits, tokens, mask, out, temperature)
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
        batch.require_fields()  # what the recipe lacks is said while the logits are still there
    passes = _one_pass if compiled or (is_local(recipe) and not work.is_short) else _two_passes
    try:
        result = passes(work, batch, threads)
    except BaseException:
        work.out[...] = np.nan
        raise
    work.out[~work.live] = 0.0
    return LogitsLoss(float(result.loss), work.out.reshape(logits.shape), result.metrics)


def _compiled(recipe: Recipe, logits: Logits) -> tuple[type[Rows], type[Tokens]]:
    """The forms with compiled loops, if these can do what the recipe says."""
    if not isinstance(logits, np.ndarray):
        raise ValueError("compiled: expected NumPy arrays; on another device leave it out")
    for name, is_usual in usual_loss(recipe).items():
        if not is_usual:
            raise ValueError(
                f"{name}: the compiled loop cannot do {recipe.parts()[name]}; leave compiled out"
            )
    forms = compiled_forms()
    return forms.CompiledRows, forms.CompiledTokens


def _one_pass(work: Rows, batch: Tokens, threads: int) -> PolicyLoss:
    """Each block is read, judged and written while it is in the cache: for tokens that stand alone."""

    def each(rows: slice) -> None:
        work.exponentials(rows, work.out[rows])
        work.refuse_banned(rows)
        work.scale(rows, batch.slopes(work.log_probs, rows))

    share(each, work, threads)
    return batch.loss(work.log_probs)


def _two_passes(work: Rows, batch: Tokens, threads: int) -> PolicyLoss:
    """All rows are read before the first is judged: for tokens that depend on one another."""

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
