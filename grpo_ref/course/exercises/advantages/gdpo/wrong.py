"""Wrong answers to `advantages/gdpo`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.advantages.gdpo.tests import reference


def _of(total=None, batch=None):
    def answer(components, weights, eps=1e-4):
        r, w = np.asarray(components, dtype=float), np.asarray(weights, dtype=float)
        a = (total or _total)(r, w, eps)
        return (batch or _batch)(a, eps)

    return answer


def _each(r, eps, axis=1):
    return (r - r.mean(1, keepdims=True)) / (r.std(axis, keepdims=True) + eps)


def _total(r, w, eps):
    return _each(r, eps) @ w


def _sample_std(r):
    return np.sqrt(r.var(1, keepdims=True) * r.shape[1] / max(r.shape[1] - 1, 1))


def _batch(a, eps):
    return (a - a.mean()) / (a.std() + eps)


WRONG = (
    Mutant(
        "summed first",
        _of(total=lambda r, w, e: _each((r @ w)[..., None], e)[..., 0]),
        "The rewards are summed before they are normalized: that is plain GRPO, and the widest spread decides.",
    ),
    Mutant("weights forgotten", _of(total=lambda r, w, e: _each(r, e).sum(-1)), "The weights are not used."),
    Mutant(
        "weighted too early",
        _of(total=lambda r, w, e: _each(r * w, e).sum(-1)),
        "Weights that are applied before the normalization are divided out again.",
    ),
    Mutant("no last step", _of(batch=lambda a, e: a), "The normalization over the batch is missing."),
    Mutant(
        "last step in the group",
        _of(batch=lambda a, e: (a - a.mean(-1, keepdims=True)) / (a.std(-1, keepdims=True) + e)),
        "The last step is over the whole batch, not over each group.",
    ),
    Mutant(
        "averaged over criteria",
        _of(total=lambda r, w, e: _each(r, e) @ w / w.sum()),
        "The criteria are summed with their weights, not averaged.",
    ),
    Mutant(
        "sample std",
        _of(total=lambda r, w, e: (r - r.mean(1, keepdims=True)) / (_sample_std(r) + e) @ w),
        "This looks like the sample standard deviation, ddof=1; here the divisor is G.",
    ),
    Mutant(
        "std of the batch",
        _of(total=lambda r, w, e: _each(r, e, (0, 1)) @ w),
        "In the first step each group has its own std.",
    ),
    Mutant(
        "eps left out",
        lambda r, w, eps=1e-4: _of()(r, w, 0.0),
        "eps is not used: where everybody agrees, 0 is divided by 0.",
    ),
    Mutant("eps fixed", lambda r, w, eps=1e-4: reference(r, w), "The argument eps is not used."),
)
