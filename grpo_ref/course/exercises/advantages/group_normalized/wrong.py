"""Wrong answers to `advantages/group_normalized`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.advantages import group_normalized
from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.advantages.group_normalized.tests import reference


def _mutant(mean, std, place):
    def wrong(rewards, eps=1e-4):
        r = np.asarray(rewards, dtype=float)
        return (r - mean(r)) / place(std(r), eps)

    return wrong


def _mean(r):
    return r.mean(-1, keepdims=True)


def _std(r):
    return r.std(-1, keepdims=True)


def _add(std, eps):
    return std + eps


WRONG = (
    Mutant(
        "sample standard deviation",
        lambda r, eps=1e-4: group_normalized(np.asarray(r, dtype=float), ddof=1, eps=eps),
        "This looks like the sample standard deviation, ddof=1; here the divisor is G.",
    ),
    Mutant(
        "whole batch as one group",
        _mutant(np.mean, np.std, _add),
        "Mean and std are taken over the whole batch; every prompt has its own.",
    ),
    Mutant("std of the batch", _mutant(_mean, np.std, _add), "The std is that of the whole batch."),
    Mutant("mean of the batch", _mutant(np.mean, _std, _add), "The mean is that of the whole batch."),
    Mutant(
        "over the prompts",
        _mutant(lambda r: r.mean(0, keepdims=True), lambda r: r.std(0, keepdims=True), _add),
        "Mean and std run over the prompts; they belong to the completions of one prompt.",
    ),
    Mutant("eps left out", _mutant(_mean, _std, lambda s, e: s), "eps is not used: equal rewards give 0/0."),
    Mutant(
        "eps under the root",
        _mutant(_mean, _std, lambda s, e: np.sqrt(s**2 + e)),
        "eps is added to the variance; it belongs to the standard deviation.",
    ),
    Mutant("larger of std and eps", _mutant(_mean, _std, np.maximum), "eps is added, not used as a floor."),
    Mutant("eps fixed", lambda r, eps=1e-4: reference(r), "The argument eps is not used."),
    Mutant("variance for std", _mutant(_mean, lambda r: _std(r) ** 2, _add), "It divides by the variance."),
    Mutant(
        "not divided",
        lambda r, eps=1e-4: np.asarray(r) - _mean(np.asarray(r)),
        "It only centres the rewards.",
    ),
    Mutant(
        "median for mean",
        _mutant(lambda r: np.median(r, -1, keepdims=True), _std, _add),
        "It is the mean that is taken off.",
    ),
    Mutant("not centered", _mutant(lambda r: 0.0, _std, _add), "The mean is not taken off."),
)
