"""Wrong answers to `kl/distillation`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.kl.distillation.tests import reference


def _limited(student, teacher, limit):
    return np.clip(teacher - student, -limit, limit)


def _sum(rewarded, d, coef, present):
    return rewarded + coef * d


def _hidden(combined, present):
    return np.where(present, combined, 0.0)


def _with(combine=_sum, log_ratio=_limited, hide=_hidden):
    """Return an answer with another log-ratio, another sum of both parts, or another treatment of the
    padding.
    """

    def answer(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
        present = np.asarray(mask) > 0
        student, teacher = (
            np.where(present, np.asarray(x, dtype=float), 0.0) for x in (log_probs, teacher_log_probs)
        )
        d = log_ratio(student, teacher, limit)
        rewarded = np.asarray(advantages, dtype=float)[:, None] + np.zeros_like(d)
        return hide(combine(rewarded, d, coef, present), present)

    return answer


def _mean_over(d, present):
    count = np.maximum(present.sum(-1, keepdims=True), 1)
    return np.where(present, d, 0.0).sum(-1, keepdims=True) / count


def _from_each_token_on(d, present):
    return np.cumsum(np.where(present, d, 0.0)[:, ::-1], -1)[:, ::-1]


def _without_mask(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    d = np.clip(np.asarray(teacher_log_probs, float) - np.asarray(log_probs, float), -limit, limit)
    return np.asarray(advantages, float)[:, None] + coef * d


def _multiplied_by_mask(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    combined = _without_mask(advantages, log_probs, teacher_log_probs, mask, coef, limit)
    return combined * np.asarray(mask)


def _limited_last(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    without_limit = reference(advantages, log_probs, teacher_log_probs, mask, coef, 1e9)
    return np.clip(without_limit, -limit, limit)


def _limited_after_the_weight(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    zeros = np.zeros(len(np.asarray(advantages)))
    weighted = np.clip(reference(zeros, log_probs, teacher_log_probs, mask, coef, 1e9), -limit, limit)
    rewarded = np.asarray(advantages, dtype=float)[:, None]
    return np.where(np.asarray(mask) > 0, rewarded + weighted, 0.0)


WRONG = (
    Mutant(
        "opposite sign of the log-ratio",
        _with(combine=lambda a, d, c, m: a - c * d),
        "Subtracts coef (log π_teacher - log π) from the advantage; it is added.",
    ),
    Mutant(
        "difference of probabilities",
        _with(log_ratio=lambda s, t, limit: np.clip(np.exp(t) - np.exp(s), -limit, limit)),
        "Subtracts the probabilities; d is the difference of their logarithms.",
    ),
    Mutant(
        "ratio",
        _with(log_ratio=lambda s, t, limit: np.clip(np.exp(np.clip(t - s, -700, 700)), -limit, limit)),
        "Uses the ratio π_teacher/π as d; d is the logarithm of the ratio.",
    ),
    Mutant(
        "absolute",
        _with(log_ratio=lambda s, t, limit: np.clip(abs(t - s), -limit, limit)),
        "Uses the absolute value of the log-ratio, so its sign is lost.",
    ),
    Mutant(
        "negative part alone",
        _with(log_ratio=lambda s, t, limit: np.clip(t - s, -limit, 0.0)),
        "Replaces positive log-ratios by 0.",
    ),
    Mutant(
        "positive part alone",
        _with(log_ratio=lambda s, t, limit: np.clip(t - s, 0.0, limit)),
        "Replaces negative log-ratios by 0.",
    ),
    Mutant(
        "no limit",
        _with(log_ratio=lambda s, t, limit: t - s),
        "Uses the log-ratio without any limit.",
    ),
    Mutant(
        "limited above alone",
        _with(log_ratio=lambda s, t, limit: np.minimum(t - s, limit)),
        "Limits the log-ratio above but not below.",
    ),
    Mutant(
        "limited below alone",
        _with(log_ratio=lambda s, t, limit: np.maximum(t - s, -limit)),
        "Limits the log-ratio below but not above.",
    ),
    Mutant(
        "max for min",
        _with(log_ratio=lambda s, t, limit: np.maximum(t - s, limit)),
        "Takes the larger of log-ratio and `limit`; a log-ratio above `limit` becomes `limit`.",
    ),
    Mutant(
        "dropped beyond the limit",
        _with(log_ratio=lambda s, t, limit: np.where(abs(t - s) > limit, 0.0, t - s)),
        "Replaces log-ratios beyond the limit by 0; they become the limit, with their sign.",
    ),
    Mutant(
        "limit fixed",
        _with(log_ratio=lambda s, t, limit: np.clip(t - s, -5.0, 5.0)),
        "Limits the log-ratio to 5, whatever `limit` is.",
    ),
    Mutant(
        "limited last",
        _limited_last,
        "Limits the whole advantage; the limit applies to d alone.",
    ),
    Mutant(
        "limited after the weight",
        _limited_after_the_weight,
        "Limits coef d; d is limited before it is multiplied by `coef`.",
    ),
    Mutant(
        "log-probabilities limited",
        _with(log_ratio=lambda s, t, limit: np.clip(t, -limit, limit) - np.clip(s, -limit, limit)),
        "Limits each log-probability; the limit applies to their difference.",
    ),
    Mutant(
        "teacher alone",
        _with(combine=lambda a, d, c, m: c * d),
        "Returns coef d alone; the advantages Aᵢ are missing.",
    ),
    Mutant(
        "coef not used",
        _with(combine=lambda a, d, c, m: a + d),
        "Adds d without its weight `coef`.",
    ),
    Mutant(
        "everything weighted",
        _with(combine=lambda a, d, c, m: c * (a + d)),
        "Multiplies Aᵢ by `coef` too; the weight of Aᵢ is 1.",
    ),
    Mutant(
        "mixture",
        _with(combine=lambda a, d, c, m: (1.0 - c) * a + c * d),
        "Multiplies Aᵢ by 1 - coef; the weight of Aᵢ is 1.",
    ),
    Mutant(
        "product",
        _with(combine=lambda a, d, c, m: a * (1.0 + c * d)),
        "Multiplies coef d by Aᵢ before adding it.",
    ),
    Mutant(
        "mean over the completion",
        _with(combine=lambda a, d, c, m: a + c * _mean_over(d, m)),
        "Adds the mean log-ratio of the completion to all its tokens; each token has its own.",
    ),
    Mutant(
        "sum over the completion",
        _with(combine=lambda a, d, c, m: a + c * np.where(m, d, 0.0).sum(-1, keepdims=True)),
        "Adds the sum of the completion's log-ratios to all its tokens; each token has its own.",
    ),
    Mutant(
        "later tokens too",
        _with(combine=lambda a, d, c, m: a + c * _from_each_token_on(d, m)),
        "Adds the log-ratios of all later tokens too; each token has only its own.",
    ),
    Mutant(
        "advantage divided among the tokens",
        _with(combine=lambda a, d, c, m: a / np.maximum(m.sum(-1, keepdims=True), 1) + c * d),
        "Divides Aᵢ by the number of tokens of the completion; each token gets all of it.",
    ),
    Mutant(
        "centered",
        _with(combine=lambda a, d, c, m: a + c * (d - _mean_over(d, m))),
        "Subtracts the mean log-ratio of the completion from d.",
    ),
    Mutant(
        "advantages on the padding",
        _with(hide=lambda x, m: x),
        "Gives padding the advantage of its completion; it is 0 there.",
    ),
    Mutant(
        "padding counted",
        _without_mask,
        "Ignores `mask`, so padding gets an advantage; it is 0 there.",
    ),
    Mutant(
        "NaN times 0",
        _multiplied_by_mask,
        "Multiplies by the mask, but NaN times 0 is NaN; use `np.where`.",
    ),
    Mutant(
        "mask inverted",
        _with(hide=lambda x, m: np.where(m, 0.0, x)),
        "Returns 0 for the tokens and the advantages for the padding.",
    ),
)
