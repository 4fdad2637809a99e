"""Wrong answers to `objective/grpo_loss`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.objective.grpo_loss.tests import reference


def _of(surrogate=None, kl=None, mean=None, sign=-1.0):
    def answer(
        log_probs,
        old_log_probs,
        ref_log_probs,
        advantages,
        mask,
        clip=0.2,
        kl_coef=0.04,
    ):
        lp, old, ref, m = (
            np.asarray(x, dtype=float) for x in (log_probs, old_log_probs, ref_log_probs, mask)
        )
        a = np.asarray(advantages, dtype=float)[:, None]
        lp, old, ref = (np.where(m > 0, x, 0.0) for x in (lp, old, ref))
        gain = (surrogate or _surrogate)(np.exp(lp - old), a, clip)
        gain = gain - kl_coef * (kl or _k3)(lp - ref)
        return float(sign * (mean or _sequence_mean)(gain * m, m))

    return answer


def _surrogate(r, a, e):
    return np.minimum(r * a, np.clip(r, 1 - e, 1 + e) * a)


def _k3(v):
    return np.expm1(-v) + v


def _sequence_mean(x, m):
    return (x.sum(-1) / np.maximum(m.sum(-1), 1)).mean()


WRONG = (
    Mutant("objective for loss", _of(sign=1.0), "The minus sign is missing: a loss is minimized."),
    Mutant(
        "penalty with the wrong sign",
        _of(kl=lambda v: -_k3(v)),
        "The penalty has the wrong sign: it pushes the policy away from the reference.",
    ),
    Mutant("penalty forgotten", _of(kl=lambda v: 0.0 * v), "The penalty is missing."),
    Mutant("v turned over", _of(kl=lambda v: _k3(-v)), "v is log πθ - log πref; it is turned over here."),
    Mutant("k1", _of(kl=lambda v: v), "The penalty is the log-ratio itself; k3 is asked for."),
    Mutant("k2", _of(kl=lambda v: v**2 / 2), "The penalty is k2 here; k3 is asked for."),
    Mutant("not clipped", _of(surrogate=lambda r, a, e: r * a), "The ratio is never clipped."),
    Mutant(
        "clip without min",
        _of(surrogate=lambda r, a, e: np.clip(r, 1 - e, 1 + e) * a),
        "The min is missing.",
    ),
    Mutant(
        "ratio turned over",
        _of(surrogate=lambda r, a, e: _surrogate(1 / r, a, e)),
        "The ratio is old over new here.",
    ),
    Mutant(
        "token mean",
        _of(mean=lambda x, m: x.sum() / m.sum()),
        "This averages over the tokens of the batch: that is the token mean of verl and TRL.",
    ),
    Mutant("padded mean", _of(mean=lambda x, m: x.mean()), "The padding is in the mean."),
    Mutant(
        "sum over tokens",
        _of(mean=lambda x, m: x.sum(-1).mean()),
        "The sum of a completion is not divided by its length.",
    ),
    Mutant(
        "clip fixed",
        lambda lp, old, ref, a, m, clip=0.2, kl_coef=0.04: reference(lp, old, ref, a, m, 0.2, kl_coef),
        "The argument clip is not used.",
    ),
)
