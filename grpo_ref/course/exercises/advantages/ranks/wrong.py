"""Wrong answers to `advantages/ranks`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.advantages.ranks.tests import reference


def evenly_spaced(rank, size):
    """Return the advantages of ranks that count from 0."""
    return 2.0 - 4.0 * rank / (size - 1) if size > 1 else 0.0 * rank


def from_ranks(ranks, spaced=evenly_spaced):
    """Return an answer with another way to compute ranks (from 0 for the best) or advantages from them."""

    def answer(rewards):
        r = np.asarray(rewards, dtype=float)
        return spaced(ranks(r), r.shape[-1])

    return answer


def number_better(r):
    return (r[:, None, :] > r[:, :, None]).sum(-1)


def number_worse(r):
    return (r[:, None, :] < r[:, :, None]).sum(-1)


def mean_rank(r):
    return (number_better(r) + r.shape[-1] - 1 - number_worse(r)) / 2


def dense_rank(r):
    return np.array([np.unique(-row, return_inverse=True)[1].ravel() for row in r])


def between_extremes(rewards):
    r = np.asarray(rewards, dtype=float)
    low, high = r.min(-1, keepdims=True), r.max(-1, keepdims=True)
    return np.where(high > low, -2.0 + 4.0 * (r - low) / np.where(high > low, high - low, 1.0), 0.0)


WRONG = (
    Mutant(
        "ties by position",
        from_ranks(lambda r: np.argsort(np.argsort(-r, -1, kind="stable"), -1)),
        "Gives equal rewards different ranks; the first of them in the row gets the best rank.",
    ),
    Mutant(
        "ties by position, from the end",
        from_ranks(lambda r: r.shape[-1] - 1 - np.argsort(np.argsort(r, -1, kind="stable"), -1)),
        "Gives equal rewards different ranks; the last of them in the row gets the best rank.",
    ),
    Mutant(
        "ties share the best rank",
        from_ranks(number_better),
        "Gives equal rewards the best of their ranks; they share the mean of their ranks.",
    ),
    Mutant(
        "ties share the worst rank",
        from_ranks(lambda r: r.shape[-1] - 1 - number_worse(r)),
        "Gives equal rewards the worst of their ranks; they share the mean of their ranks.",
    ),
    Mutant(
        "dense ranks",
        from_ranks(dense_rank),
        "Counts equal rewards as a single rank; two completions at ranks 1 and 2 have rank 1.5 each.",
    ),
    Mutant(
        "worst is first",
        from_ranks(lambda r: mean_rank(-r)),
        "Gives the lowest reward the largest advantage; the highest reward has rank 1.",
    ),
    Mutant(
        "between -1 and 1",
        lambda r: reference(r) / 2,
        "Returns half of each advantage; without ties, the advantages run from 2 to -2.",
    ),
    Mutant(
        "divided by G",
        from_ranks(mean_rank, lambda rank, size: 2.0 - 4.0 * rank / size),
        "Divides by G; the divisor is G - 1.",
    ),
    Mutant(
        "group of one",
        from_ranks(mean_rank, lambda rank, size: 2.0 - 4.0 * rank / max(size - 1, 1)),
        "Gives 2 to a group of one; it gets 0.",
    ),
    Mutant(
        "0/0 for a group of one",
        from_ranks(mean_rank, lambda rank, size: 2.0 - 4.0 * rank / np.float64(size - 1)),
        "Divides 0 by 0 in a group of one.",
    ),
    Mutant(
        "rank not reduced by 1",
        from_ranks(mean_rank, lambda rank, size: evenly_spaced(rank + 1, size) if size > 1 else 0.0 * rank),
        "Uses the rank where the formula has the rank minus 1.",
    ),
    Mutant(
        "over the batch",
        lambda r: reference(np.ravel(r)[None]).reshape(np.shape(r)),
        "Ranks all completions of the batch together; each prompt has its own ranks.",
    ),
    Mutant(
        "over the prompts",
        lambda r: reference(np.transpose(r)).T,
        "Ranks along the prompts (axis 0); the completions of one prompt are in one row.",
    ),
    Mutant(
        "normalized rewards",
        lambda r: (np.asarray(r) - np.mean(r, -1, keepdims=True)) / (np.std(r, -1, keepdims=True) + 1e-4),
        "Normalizes the rewards by mean and standard deviation; only their ranks count.",
    ),
    Mutant(
        "rewards between their extremes",
        between_extremes,
        "Scales the rewards themselves from -2 to 2, so their distances count; the ranks are evenly spaced.",
    ),
    Mutant(
        "argsort once",
        from_ranks(lambda r: np.argsort(-r, -1)),
        "Uses `np.argsort` as ranks; it returns the positions in sorted order, not the rank at each position.",
    ),
)
