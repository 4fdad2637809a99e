"""Wrong answers to `advantages/ranks`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.advantages.ranks.tests import reference


def _of(ranks, scale=None):
    """Return an answer that computes advantages from the 0-based rank, counted from the best."""

    def answer(rewards):
        r = np.asarray(rewards, dtype=float)
        return (scale or _scale)(ranks(r), r.shape[-1])

    return answer


def _scale(rank, size):
    return 2.0 - 4.0 * rank / (size - 1) if size > 1 else 0.0 * rank


def _mean_rank(r):
    higher = (r[..., None, :] > r[..., :, None]).sum(-1)
    equal = (r[..., None, :] == r[..., :, None]).sum(-1)
    return higher + (equal - 1) / 2


def _best_rank(r):
    return (r[..., None, :] > r[..., :, None]).sum(-1)


def _order(r):
    return np.argsort(np.argsort(-r, -1, kind="stable"), -1)


WRONG = (
    Mutant(
        "ties by position",
        _of(_order),
        "Equal rewards get different ranks here, by their place in the row.",
    ),
    Mutant(
        "ties share the best rank",
        _of(_best_rank),
        "Equal rewards share the mean of their ranks, not the best of them.",
    ),
    Mutant("worst is first", _of(lambda r: _mean_rank(-r)), "The order is turned over: rank 1 is the best."),
    Mutant("between -1 and 1", lambda r: reference(r) / 2, "The best gets 2 and the worst -2."),
    Mutant(
        "divided by G",
        _of(_mean_rank, lambda rank, size: 2.0 - 4.0 * rank / size),
        "The divisor is G - 1, so that the worst gets -2 and the sum is zero.",
    ),
    Mutant(
        "group of one",
        _of(_mean_rank, lambda rank, size: 2.0 - 4.0 * rank / max(size - 1, 1)),
        "A group of one gets 2 here; it has nothing to compare with.",
    ),
    Mutant(
        "over the batch",
        lambda r: reference(np.ravel(r)[None]).reshape(np.shape(r)),
        "The ranks are taken over the whole batch.",
    ),
    Mutant(
        "normalized",
        lambda r: (np.asarray(r) - np.mean(r, -1, keepdims=True)) / (np.std(r, -1, keepdims=True) + 1e-4),
        "These are normalized rewards, not ranks.",
    ),
    Mutant(
        "argsort once",
        _of(lambda r: np.argsort(-r, -1)),
        "argsort gives the order of the places, not the rank of each; it is needed twice.",
    ),
)
