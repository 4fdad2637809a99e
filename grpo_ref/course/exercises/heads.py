"""Shared parts of the exercises on attention: the allowed inputs, and the weights of causal attention."""

import numpy as np

from grpo_ref.arrays import Bools, Floats
from grpo_ref.course.author import LEVELS, MIXED, ONE_FAR_OUT, Range, Real, one_axis_before
from grpo_ref.course.grading.domain.arguments import Argument

AXES = "T D|B T D"
SIZES, LARGE = {"B": (1, 3), "T": (1, 5), "D": (1, 4)}, {"T": 40, "D": 30}
ROWS = (MIXED, LEVELS, one_axis_before(LEVELS), ONE_FAR_OUT, one_axis_before(ONE_FAR_OUT))


def queries_keys_values(scores_from: Range, values_from: Range) -> dict[str, Argument]:
    """Return the three arguments: T tokens each, in one sequence or in B sequences.

    Args:
      scores_from: range of queries and keys.
      values_from: range of the values.
    """
    usual = ((-2.0, 2.0), (-6.0, 6.0), scores_from)
    return {
        "queries": Real(AXES, scores_from, usual=usual, rows=ROWS, meaning="q, one row per token"),
        "keys": Real(AXES, scores_from, usual=usual, rows=ROWS, meaning="k, one row per token"),
        "values": Real(AXES, values_from, rows=ROWS, meaning="v, one row per token"),
    }


def transposed(matrix: Floats) -> Floats:
    """Transpose (..., T, D) to (..., D, T)."""
    return np.swapaxes(matrix, -1, -2)


def attention_scores(queries: Floats, keys: Floats) -> Floats:
    """Return the scores (..., T, T) of each query with each key."""
    return np.asarray(queries @ transposed(keys) / np.sqrt(queries.shape[-1]))


def causal_mask(scores: Floats) -> Bools:
    """Return (T, T), True where j <= i."""
    return np.tri(scores.shape[-1], dtype=bool)


def masked_softmax(scores: Floats, mask: Bools) -> Floats:
    """Return the softmax of each row over the positions where the mask is True."""
    masked = np.where(mask, scores, -np.inf)
    exponentials = np.exp(masked - masked.max(-1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(-1, keepdims=True))
