"""Wrong answers to `advantages/group_normalized`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.advantages import group_normalized
from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.advantages.group_normalized.tests import reference


def mean_of_the_group(r):
    return r.mean(-1, keepdims=True)


def std_of_the_group(r):
    return r.std(-1, keepdims=True)


def sample_std(r):
    """Return what NumPy does with `ddof=1`."""
    return r.std(-1, ddof=1, keepdims=True) if r.shape[-1] > 1 else np.full_like(r, np.nan)


def normalized(mean=mean_of_the_group, std=std_of_the_group, divisor=np.add):
    """Return an answer with another mean, another standard deviation, or another divisor made of std and eps."""

    def answer(rewards, eps=1e-4):
        r = np.asarray(rewards, dtype=float)
        return (r - mean(r)) / divisor(std(r), eps)

    return answer


WRONG = (
    Mutant(
        "sample standard deviation",
        lambda r, eps=1e-4: group_normalized(np.asarray(r, dtype=float), ddof=1, eps=eps),
        "Divides the sum of squares by G - 1; the population standard deviation divides by G.",
    ),
    Mutant(
        "sample standard deviation, NaN for one",
        normalized(std=sample_std),
        "Divides the sum of squares by G - 1 (`ddof=1`), which gives NaN for a group of one; divide by G.",
    ),
    Mutant(
        "whole batch as one group",
        normalized(np.mean, np.std),
        "Computes mean and standard deviation over the whole batch; each prompt has its own.",
    ),
    Mutant(
        "std of the batch",
        normalized(std=np.std),
        "Divides by the standard deviation of the whole batch; each prompt has its own.",
    ),
    Mutant(
        "mean of the batch",
        normalized(mean=np.mean),
        "Subtracts the mean of the whole batch; each prompt has its own.",
    ),
    Mutant(
        "over the prompts",
        normalized(lambda r: r.mean(0), lambda r: r.std(0)),
        "Computes mean and standard deviation over the prompts (axis 0); they run over one prompt's completions.",
    ),
    Mutant(
        "no keepdims",
        normalized(lambda r: r.mean(-1), lambda r: r.std(-1)),
        "Uses the mean and std of group k for completion k of every group: shape (P,) lines up with the columns.",
    ),
    Mutant(
        "eps omitted",
        normalized(divisor=lambda std, eps: std),
        "Ignores `eps`: equal rewards give 0/0.",
    ),
    Mutant(
        "eps under the root",
        normalized(divisor=lambda std, eps: np.sqrt(std**2 + eps)),
        "Adds `eps` to the variance, under the root; it is added to the standard deviation.",
    ),
    Mutant(
        "larger of std and eps",
        normalized(divisor=np.maximum),
        "Divides by the larger of std and `eps`; the divisor is their sum.",
    ),
    Mutant(
        "eps fixed",
        lambda r, eps=1e-4: reference(r),
        "Uses 1e-4 whatever `eps` is.",
    ),
    Mutant(
        "default 1e-8",
        lambda r, eps=1e-8: reference(r, eps),
        "Uses 1e-8 if `eps` is omitted; the default is 1e-4.",
    ),
    Mutant(
        "default 1e-6",
        lambda r, eps=1e-6: reference(r, eps),
        "Uses 1e-6 if `eps` is omitted; the default is 1e-4.",
    ),
    Mutant(
        "variance for std",
        normalized(std=lambda r: r.var(-1, keepdims=True)),
        "Divides by the variance plus `eps`; the divisor is the standard deviation plus `eps`.",
    ),
    Mutant(
        "not divided",
        normalized(divisor=lambda std, eps: 1.0),
        "Subtracts the mean, but does not divide by the standard deviation.",
    ),
    Mutant(
        "median for mean",
        normalized(mean=lambda r: np.median(r, -1, keepdims=True)),
        "Subtracts the median of the group instead of the mean.",
    ),
    Mutant(
        "not centered",
        normalized(mean=lambda r: 0.0),
        "Divides by the standard deviation, but does not subtract the mean.",
    ),
    Mutant(
        "sign reversed",
        lambda r, eps=1e-4: -reference(r, eps),
        "Subtracts the reward from the mean, so that every sign is reversed.",
    ),
)
