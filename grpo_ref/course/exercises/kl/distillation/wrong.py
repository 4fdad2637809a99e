"""Wrong answers to `kl/distillation`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.kl.distillation.tests import reference


def _answer(combine=None, log_ratio=None, hide=None):
    """Return an answer with another log-ratio, another sum of both parts, or another treatment of the padding."""

    def answer(
        advantages,
        log_probs,
        teacher_log_probs,
        mask,
        coef=1.0,
        limit=5.0,
    ):
        present = np.asarray(mask) > 0
        student, teacher = (
            np.where(present, np.asarray(x, dtype=float), 0.0) for x in (log_probs, teacher_log_probs)
        )
        d = (log_ratio or _limited)(student, teacher, limit)
        rewarded = np.asarray(advantages, dtype=float)[:, None] + np.zeros_like(d)
        combined = (combine or _sum)(rewarded, d, coef, present)
        return (hide or _hidden)(combined, present)

    return answer


def _limited(student, teacher, limit):
    return np.clip(teacher - student, -limit, limit)


def _sum(rewarded, d, coef, present):
    return rewarded + coef * d


def _hidden(combined, present):
    return np.where(present, combined, 0.0)


def _mean_over(d, present):
    count = np.maximum(present.sum(-1, keepdims=True), 1)
    return np.where(present, d, 0.0).sum(-1, keepdims=True) / count


def _to_come(d, present):
    return np.cumsum(np.where(present, d, 0.0)[:, ::-1], -1)[:, ::-1]


def _masked_by_product(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    d = np.clip(np.asarray(teacher_log_probs, float) - np.asarray(log_probs, float), -limit, limit)
    return (np.asarray(advantages, float)[:, None] + coef * d) * np.asarray(mask)


def _limited_last(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    whole = reference(advantages, log_probs, teacher_log_probs, mask, coef, 1e9)
    return np.clip(whole, -limit, limit)


def _limited_after_the_weight(advantages, log_probs, teacher_log_probs, mask, coef=1.0, limit=5.0):
    nothing = np.zeros(len(np.asarray(advantages)))
    taught = np.clip(reference(nothing, log_probs, teacher_log_probs, mask, coef, 1e9), -limit, limit)
    rewarded = np.asarray(advantages, dtype=float)[:, None]
    return np.where(np.asarray(mask) > 0, rewarded + taught, 0.0)


def _of_size(most, axis):
    """Return an answer that is right for the first entries along one axis, and 0 for the rest."""

    def answer(*given, **named):
        whole = reference(*given, **named)
        places = np.arange(whole.shape[axis]) < most
        return np.where(places if axis else places[:, None], whole, 0.0)

    return answer


WRONG = (
    Mutant(
        "student minus teacher",
        _answer(log_ratio=lambda s, t, limit: np.clip(s - t, -limit, limit)),
        "The log-ratio has the wrong sign: the student would flee from its teacher.",
    ),
    Mutant(
        "subtracted",
        _answer(combine=lambda a, d, c, m: a - c * d),
        "coef d is subtracted; it is added.",
    ),
    Mutant(
        "probabilities for logarithms",
        _answer(log_ratio=lambda s, t, limit: np.clip(np.exp(t) - np.exp(s), -limit, limit)),
        "This is the difference of the probabilities, not of their logarithms.",
    ),
    Mutant(
        "the ratio",
        _answer(log_ratio=lambda s, t, limit: np.clip(np.exp(np.clip(t - s, -700, 700)), -limit, limit)),
        "This is the ratio of the probabilities, not its logarithm.",
    ),
    Mutant(
        "absolute",
        _answer(log_ratio=lambda s, t, limit: np.clip(abs(t - s), -limit, limit)),
        "The sign of the log-ratio is lost.",
    ),
    Mutant(
        "negative part alone",
        _answer(log_ratio=lambda s, t, limit: np.clip(t - s, -limit, 0.0)),
        "Only tokens that the teacher finds less likely count.",
    ),
    Mutant(
        "positive part alone",
        _answer(log_ratio=lambda s, t, limit: np.clip(t - s, 0.0, limit)),
        "Only tokens that the teacher finds more likely count.",
    ),
    Mutant(
        "no limit",
        _answer(log_ratio=lambda s, t, limit: t - s),
        "The log-ratio is not limited.",
    ),
    Mutant(
        "limited above alone",
        _answer(log_ratio=lambda s, t, limit: np.minimum(t - s, limit)),
        "The log-ratio is not limited below.",
    ),
    Mutant(
        "limited below alone",
        _answer(log_ratio=lambda s, t, limit: np.maximum(t - s, -limit)),
        "The log-ratio is not limited above.",
    ),
    Mutant(
        "dropped beyond the limit",
        _answer(log_ratio=lambda s, t, limit: np.where(abs(t - s) > limit, 0.0, t - s)),
        "A log-ratio beyond the limit becomes 0; it becomes the limit.",
    ),
    Mutant(
        "limit fixed",
        _answer(log_ratio=lambda s, t, limit: np.clip(t - s, -5.0, 5.0)),
        "limit is not used.",
    ),
    Mutant(
        "the sum is limited",
        _limited_last,
        "The limit is applied to the advantage as a whole; it belongs to the log-ratio.",
    ),
    Mutant(
        "limited after the weight",
        _limited_after_the_weight,
        "coef d is limited; the limit comes before the weight.",
    ),
    Mutant(
        "log-probabilities limited",
        _answer(log_ratio=lambda s, t, limit: np.clip(t, -limit, limit) - np.clip(s, -limit, limit)),
        "Each log-probability is limited by itself; the limit belongs to their difference.",
    ),
    Mutant(
        "the teacher alone",
        _answer(combine=lambda a, d, c, m: c * d),
        "The advantages from the rewards are omitted.",
    ),
    Mutant(
        "coef not used",
        _answer(combine=lambda a, d, c, m: a + d),
        "coef is not used.",
    ),
    Mutant(
        "everything weighted",
        _answer(combine=lambda a, d, c, m: c * (a + d)),
        "coef multiplies the advantages from the rewards too.",
    ),
    Mutant(
        "a mixture",
        _answer(combine=lambda a, d, c, m: (1.0 - c) * a + c * d),
        "The advantages from the rewards are weighted by 1 - coef; their weight is 1.",
    ),
    Mutant(
        "a product",
        _answer(combine=lambda a, d, c, m: a * (1.0 + c * d)),
        "The teacher multiplies the advantages; it is added.",
    ),
    Mutant(
        "mean over the completion",
        _answer(combine=lambda a, d, c, m: a + c * _mean_over(d, m)),
        "All tokens of a completion get the mean of its log-ratios; each token has its own.",
    ),
    Mutant(
        "sum over the completion",
        _answer(combine=lambda a, d, c, m: a + c * np.where(m, d, 0.0).sum(-1, keepdims=True)),
        "All tokens of a completion get the sum of its log-ratios; each token has its own.",
    ),
    Mutant(
        "tokens to come",
        _answer(combine=lambda a, d, c, m: a + c * _to_come(d, m)),
        "The log-ratios of later tokens are added; a token has its own alone.",
    ),
    Mutant(
        "advantage spread over the tokens",
        _answer(combine=lambda a, d, c, m: a / np.maximum(m.sum(-1, keepdims=True), 1) + c * d),
        "The advantage of the completion is divided among its tokens; each token has all of it.",
    ),
    Mutant(
        "centered",
        _answer(combine=lambda a, d, c, m: a + c * (d - _mean_over(d, m))),
        "The mean of the completion's log-ratios is subtracted.",
    ),
    Mutant(
        "advantages on the padding",
        _answer(hide=lambda x, m: x),
        "The padding gets an advantage; it is 0 there.",
    ),
    Mutant(
        "NaN times 0",
        _masked_by_product,
        "NaN in the padding spreads: NaN times 0 is NaN.",
    ),
    Mutant(
        "mask turned round",
        lambda a, s, t, mask, coef=1.0, limit=5.0: _answer(hide=lambda x, m: np.where(m, 0.0, x))(
            a, s, t, mask, coef, limit
        ),
        "The tokens get 0 and the padding gets the advantage.",
    ),
    Mutant("128 tokens at most", _of_size(128, 1), "Tokens from some place on get 0."),
    Mutant("128 completions at most", _of_size(128, 0), "Completions from some place on get 0."),
)
