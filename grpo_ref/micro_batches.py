"""Micro-batches: what gradient accumulation and several processes make of an average.

A trainer rarely computes the loss of a whole batch at once. It computes the loss of each micro-batch and adds
the gradients. If each micro-batch is divided by its own number of tokens or completions, a token's weight
depends on the other completions of its micro-batch.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from grpo_ref.arrays import Array, Floats
from grpo_ref.recipes import Recipe
from grpo_ref.validation import recipe_of

Across = Literal["mean", "completions", "tokens", "sum"]
"""The ways to combine the losses of the micro-batches."""


def effective_weights(
    recipe: Recipe | str,
    mask: Array,
    *,
    micro_batches: int | Sequence[Sequence[int]] = 1,
    across: Across = "mean",
    max_length: int | None = None,
) -> Floats:
    """Return the weight of every token in the gradient of one optimizer step.

        E = Σ s(b) W(b),    the sum over micro-batches b, W(b) the weights of b alone

    The share s(b) is 1/B for "mean", with B micro-batches; the share of b in the completions or tokens of the
    batch for "completions" and "tokens"; and 1 for "sum".

    The weight of a token multiplies its surrogate's slope. A trainer that counts the tokens or completions of
    the whole batch before it computes the loss has `micro_batches=1`, however many micro-batches there are.

    Args:
      recipe: the algorithm, or its name in `RECIPES`, as in "dapo".
      mask: (P, G, T) 1 on completion tokens.
      micro_batches: the division of the completions over all processes and accumulation steps: a number of
        parts of equal size, in the order of the completions; or the completions of each part, as numbers from
        0 to P G - 1.
      across: the way to combine the losses of the micro-batches. Default: their mean, as gradient
        accumulation and data-parallel processes compute it.
      max_length: the generation budget in tokens, for a constant denominator. Default: T.

    Returns:
      (P, G, T) weights, 0 on padding.

    Raises:
      ValueError: if the mask does not have three axes, if the parts are not of equal size or do not contain
        each completion once, if `across` is unknown, or if the recipe averages over groups and a micro-batch
        has only a part of a group.

    Two completions of one and three tokens. All tokens count the same in the whole batch, but not in two
    micro-batches:

    >>> mask = np.array([[[1, 0, 0], [1, 1, 1]]])
    >>> effective_weights("dapo", mask)
    array([[[0.25, 0.  , 0.  ],
            [0.25, 0.25, 0.25]]])
    >>> effective_weights("dapo", mask, micro_batches=2).round(2)
    array([[[0.5 , 0.  , 0.  ],
            [0.17, 0.17, 0.17]]])
    >>> effective_weights("dapo", mask, micro_batches=2, across="tokens")
    array([[[0.25, 0.  , 0.  ],
            [0.25, 0.25, 0.25]]])

    TRL "bnpo" and verl's legacy worker divide each micro-batch by its own tokens: `micro_batches=B`. TRL
    "dapo" and verl's engine count the tokens of the whole step: `micro_batches=1`.
    """
    recipe = recipe_of(recipe)
    present: Floats = np.asarray(mask, dtype=float)
    if present.ndim != 3:
        raise ValueError(f"mask: expected three axes (P, G, T), got shape {present.shape}")
    prompts, size, length = present.shape
    parts = _parts(micro_batches, prompts * size)
    flat = present.reshape(prompts * size, length)
    weights = np.zeros_like(flat)
    by_group = _averages_over_groups(recipe)
    for part in parts:
        has_whole_groups = _has_whole_groups(part, size)
        if by_group and not has_whole_groups:
            raise ValueError(
                f"micro_batches: expected whole groups of {size} completions, as {recipe.aggregate} averages"
                f" over groups, got the completions {list(part)}"
            )
        # A recipe that does not average over groups can take completions of several prompts as one group.
        own = flat[part].reshape((-1, size, length) if has_whole_groups else (1, -1, length))
        share = {
            "mean": 1.0 / len(parts),
            "completions": len(part) / len(flat),
            "tokens": flat[part].sum() / max(flat.sum(), 1.0),
            "sum": 1.0,
        }
        if across not in share:
            raise ValueError(f"across: expected one of {', '.join(share)}, got {across!r}")
        own_weights = recipe.weights(own, max_length=length if max_length is None else max_length)
        weights[part] = share[across] * np.asarray(own_weights).reshape(len(part), length)
    return weights.reshape(present.shape)


def _parts(micro_batches: int | Sequence[Sequence[int]], count: int) -> list[list[int]]:
    """Return the completions of each micro-batch."""
    if isinstance(micro_batches, int):
        if micro_batches < 1 or count % micro_batches:
            raise ValueError(
                f"micro_batches: expected a divisor of the {count} completions, got {micro_batches}"
            )
        return [each.tolist() for each in np.split(np.arange(count), micro_batches)]
    parts = [[*part] for part in micro_batches]
    if sorted(number for part in parts for number in part) != [*range(count)]:
        raise ValueError(
            f"micro_batches: expected each completion from 0 to {count - 1} exactly once, got {parts}"
        )
    return [part for part in parts if part]


def _has_whole_groups(part: Sequence[int], size: int) -> bool:
    """Return true if a micro-batch consists of whole groups, one after the other."""
    numbers = np.asarray(part)
    return len(part) % size == 0 and bool(
        (numbers.reshape(-1, size) // size == numbers[::size, None] // size).all()
    )


def _averages_over_groups(recipe: Recipe) -> bool:
    """Return true if the weights depend on which completions belong to one prompt."""
    lengths = np.array([1, 1, 1, 5])
    mask = (np.arange(5) < lengths[:, None]).astype(float)
    one, two = (np.ravel(recipe.weights(mask.reshape(shape))) for shape in ((1, 4, 5), (2, 2, 5)))
    return not np.array_equal(one, two)
