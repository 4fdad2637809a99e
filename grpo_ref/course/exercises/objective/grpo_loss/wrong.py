"""Wrong answers to `objective/grpo_loss`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.objective.grpo_loss.tests import reference


def smaller_product(r, a, e):
    return np.minimum(r * a, np.clip(r, 1 - e, 1 + e) * a)


def k3(v):
    return np.expm1(-v) + v


def sequence_mean(x, m):
    return (x.sum(-1) / m.sum(-1)).mean()


def variant(surrogate=smaller_product, penalty=k3, mean=sequence_mean, sign=-1.0):
    """Return the formula with another surrogate (r, A, ε), penalty (v), mean (values, mask) or sign."""

    def answer(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
        m = np.asarray(mask, dtype=float)
        lp, old, ref = (np.where(m > 0, x, 0.0) for x in (log_probs, old_log_probs, ref_log_probs))
        a = np.asarray(advantages, dtype=float)[:, None]
        gain = surrogate(np.exp(lp - old), a, clip) - kl_coef * penalty(lp - ref)
        return float(sign * mean(gain * m, m))

    return answer


def padding_counted(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    return reference(
        log_probs, old_log_probs, ref_log_probs, advantages, np.ones(np.shape(mask)), clip, kl_coef
    )


def padding_times_zero(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    lp, old, ref, m = (np.asarray(x, dtype=float) for x in (log_probs, old_log_probs, ref_log_probs, mask))
    a = np.asarray(advantages, dtype=float)[:, None]
    gain = smaller_product(np.exp(lp - old), a, clip) - kl_coef * k3(lp - ref)
    return float(-sequence_mean(gain * m, m))


WRONG = (
    Mutant("objective for loss", variant(sign=1.0), "Returns the objective; the loss has a minus sign."),
    Mutant(
        "penalty with the wrong sign",
        variant(penalty=lambda v: -k3(v)),
        "Gives the penalty the wrong sign: the loss falls if the policy moves away from πref.",
    ),
    Mutant("penalty forgotten", variant(penalty=np.zeros_like), "Omits the penalty."),
    Mutant(
        "v turned around",
        variant(penalty=lambda v: k3(-v)),
        "Uses v = log πref - log πθ; v is log πθ - log πref.",
    ),
    Mutant("k1", variant(penalty=lambda v: v), "Uses the penalty v (k1); the formula has k3."),
    Mutant("k2", variant(penalty=lambda v: v**2 / 2), "Uses the penalty v²/2 (k2); the formula has k3."),
    Mutant(
        "penalty against the old policy",
        lambda lp, old, ref, a, m, clip=0.2, kl_coef=0.04: reference(lp, old, old, a, m, clip, kl_coef),
        "Takes the penalty between πθ and πold; it is between πθ and πref.",
    ),
    Mutant("not clipped", variant(lambda r, a, e: r * a), "Never clips the ratio."),
    Mutant(
        "clip without min",
        variant(lambda r, a, e: np.clip(r, 1 - e, 1 + e) * a),
        "Takes the clipped product alone; the surrogate is the smaller of two products.",
    ),
    Mutant(
        "max for min",
        variant(lambda r, a, e: np.maximum(r * a, np.clip(r, 1 - e, 1 + e) * a)),
        "Takes the larger of the two products; the surrogate is the smaller.",
    ),
    Mutant(
        "clip of the product",
        variant(lambda r, a, e: np.minimum(r * a, np.clip(r * a, 1 - e, 1 + e))),
        "Clips the product r A to [1 - ε, 1 + ε]; only the ratio is clipped.",
    ),
    Mutant(
        "ratio turned around",
        variant(lambda r, a, e: smaller_product(1 / r, a, e)),
        "Uses the ratio πold/πθ; r is πθ/πold.",
    ),
    Mutant(
        "log-ratio for ratio",
        variant(lambda r, a, e: smaller_product(np.log(r), a, e)),
        "Uses log πθ - log πold as the ratio, without exp.",
    ),
    Mutant(
        "token mean",
        variant(mean=lambda x, m: x.sum() / m.sum()),
        "Divides by the number of all tokens; every completion has its own mean first.",
    ),
    Mutant(
        "padded mean",
        variant(mean=lambda x, m: x.mean()),
        "Divides by T, so padding counts as tokens.",
    ),
    Mutant(
        "sum over tokens",
        variant(mean=lambda x, m: x.sum(-1).mean()),
        "Sums the tokens of a completion without dividing by their number.",
    ),
    Mutant(
        "sum over completions",
        variant(mean=lambda x, m: (x.sum(-1) / m.sum(-1)).sum()),
        "Sums the means of the completions without dividing by N.",
    ),
    Mutant("padding counted", padding_counted, "Ignores the mask, so padding counts as tokens."),
    Mutant(
        "padding times zero",
        padding_times_zero,
        "Lets NaN or infinity in the padding into the sum; multiplying by 0 does not remove it.",
    ),
    Mutant(
        "clip ignored",
        lambda lp, old, ref, a, m, clip=0.2, kl_coef=0.04: reference(lp, old, ref, a, m, 0.2, kl_coef),
        "Ignores the argument `clip`.",
    ),
    Mutant(
        "kl_coef ignored",
        lambda lp, old, ref, a, m, clip=0.2, kl_coef=0.04: reference(lp, old, ref, a, m, clip, 0.04),
        "Ignores the argument `kl_coef`.",
    ),
    Mutant(
        "no penalty by default",
        lambda lp, old, ref, a, m, clip=0.2, kl_coef=0.0: reference(lp, old, ref, a, m, clip, kl_coef),
        "Has the default kl_coef=0; it is 0.04.",
    ),
)
