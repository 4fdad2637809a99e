"""Wrong answers to `advantages/gdpo`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.advantages.gdpo.tests import reference


def normalized(values, eps, axis, ddof=0):
    """Subtract the mean along an axis and divide by std + eps. ddof is 0 if there is a single value."""
    size = values.size if axis is None else values.shape[axis]
    std = values.std(axis, ddof=min(ddof, size - 1), keepdims=True)
    return (values - values.mean(axis, keepdims=True)) / (std + eps)


def weighted_sum(r, w, eps):
    return normalized(r, eps, axis=1) @ w


def over_the_batch(a, eps):
    return normalized(a, eps, axis=None)


def in_steps(first=weighted_sum, last=over_the_batch):
    """Return an answer with another way to compute a, or another last step."""

    def answer(components, weights, eps=1e-4):
        r, w = np.asarray(components, dtype=float), np.asarray(weights, dtype=float)
        return last(first(r, w, eps), eps)

    return answer


def with_the_std_of_the_batch(r, w, eps):
    return (r - r.mean(1, keepdims=True)) / (r.std((0, 1), keepdims=True) + eps) @ w


def with_the_batch_as_one_group(r, w, eps):
    return (r - r.mean((0, 1))) / (r.std((0, 1)) + eps) @ w


def sample_std_in_both(components, weights, eps=1e-4):
    answer = in_steps(
        lambda r, w, eps: normalized(r, eps, axis=1, ddof=1) @ w,
        lambda a, eps: normalized(a, eps, axis=None, ddof=1),
    )
    return answer(components, weights, eps)


WRONG = (
    Mutant(
        "summed first",
        in_steps(first=lambda r, w, eps: normalized(r @ w, eps, axis=1)),
        "Adds the weighted rewards first and normalizes the sums in each group; each criterion is normalized by itself.",
    ),
    Mutant(
        "weights ignored",
        in_steps(first=lambda r, w, eps: normalized(r, eps, axis=1).sum(-1)),
        "Ignores the weights: every criterion counts once.",
    ),
    Mutant(
        "weighted too early",
        in_steps(first=lambda r, w, eps: normalized(r * w, eps, axis=1).sum(-1)),
        "Multiplies the rewards by the weights before the first step, which divides the weights out again.",
    ),
    Mutant(
        "absolute weights",
        lambda r, w, eps=1e-4: reference(r, np.abs(w), eps),
        "Uses the absolute values of the weights, so a penalty counts as a reward.",
    ),
    Mutant(
        "no last step",
        in_steps(last=lambda a, eps: a),
        "Does not divide by std(a) + eps in the last step.",
    ),
    Mutant(
        "last step in the group",
        in_steps(last=lambda a, eps: normalized(a, eps, axis=1)),
        "Takes the last step within each group; its mean and standard deviation run over the whole batch.",
    ),
    Mutant(
        "weighted mean of the criteria",
        in_steps(first=lambda r, w, eps: weighted_sum(r, w, eps) / w.sum()),
        "Divides by the sum of the weights in the second step, which only adds.",
    ),
    Mutant(
        "mean of the criteria",
        in_steps(first=lambda r, w, eps: weighted_sum(r, w, eps) / len(w)),
        "Divides by the number of criteria in the second step, which only adds.",
    ),
    Mutant(
        "sample std in the first step",
        in_steps(first=lambda r, w, eps: normalized(r, eps, axis=1, ddof=1) @ w),
        "Divides the sum of squares by G - 1 in the first step; the population standard deviation divides by G.",
    ),
    Mutant(
        "sample std in the last step",
        in_steps(last=lambda a, eps: normalized(a, eps, axis=None, ddof=1)),
        "Divides the sum of squares by P · G - 1 in the last step; the population standard deviation divides by P · G.",
    ),
    Mutant(
        "sample std in both steps",
        sample_std_in_both,
        "Divides the sum of squares by the number of values minus 1 in both normalizations; divide by the number.",
    ),
    Mutant(
        "std of the batch in the first step",
        in_steps(first=with_the_std_of_the_batch),
        "Divides by a standard deviation of the whole batch in the first step; each group has its own.",
    ),
    Mutant(
        "batch as one group in the first step",
        in_steps(first=with_the_batch_as_one_group),
        "Computes mean and standard deviation of the first step over the whole batch; each group has its own.",
    ),
    Mutant(
        "over the criteria",
        in_steps(first=lambda r, w, eps: normalized(r, eps, axis=2) @ w),
        "Normalizes over the criteria (axis 2) in the first step; mean and std run over the completions (axis 1).",
    ),
    Mutant(
        "over the prompts",
        in_steps(first=lambda r, w, eps: normalized(r, eps, axis=0) @ w),
        "Normalizes over the prompts (axis 0) in the first step; mean and std run over the completions (axis 1).",
    ),
    Mutant(
        "eps omitted",
        lambda r, w, eps=1e-4: in_steps()(r, w, 0.0),
        "Ignores `eps`: equal rewards give 0/0.",
    ),
    Mutant(
        "eps fixed",
        lambda r, w, eps=1e-4: reference(r, w),
        "Uses 1e-4 whatever `eps` is.",
    ),
    Mutant(
        "eps omitted in the last step",
        in_steps(last=lambda a, eps: normalized(a, 0.0, axis=None)),
        "Omits `eps` in the last step; it is added to each standard deviation.",
    ),
    Mutant(
        "default 1e-8",
        lambda r, w, eps=1e-8: reference(r, w, eps),
        "Uses 1e-8 if `eps` is omitted; the default is 1e-4.",
    ),
)
