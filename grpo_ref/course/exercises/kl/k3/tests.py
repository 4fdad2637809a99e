"""The tests of `kl/k3`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import penalties
from grpo_ref.course.author import Case, Domain, Holds, Rule, Unchanged
from grpo_ref.course.exercises.token_pairs import LARGE, NO_OVERFLOW, SIZES, log_probs_of_both


def _is_tiny(v):
    return (v != 0.0) & (np.abs(v) < 1e-5)


DOMAIN = Domain(
    log_probs_of_both(1e-5),
    sizes=SIZES,
    large=LARGE,
    rules=(
        Rule(
            "`log_probs - ref_log_probs` is 0, or at least 1e-5 in absolute value.",
            lambda values: not _is_tiny(np.subtract(values["log_probs"], values["ref_log_probs"])).any(),
        ),
        NO_OVERFLOW,
    ),
)


def reference(log_probs, ref_log_probs):
    return penalties.k3(np.asarray(log_probs, dtype=float), np.asarray(ref_log_probs, dtype=float)).value


def _is_unbiased(f):
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    same = abs((p * np.asarray(f(np.log(p), np.log(q)))).sum() - (p * np.log(p / q)).sum()) < 1e-9
    return None if same else "the average of k3 over the policy's tokens should be KL(π ‖ πref)"


def _is_never_negative(f):
    log_probs, ref = np.log(np.array([0.9, 0.5, 0.1])), np.log(np.array([0.1, 0.5, 0.9]))
    return None if (np.asarray(f(log_probs, ref)) >= -1e-15).all() else "no value should be negative"


CHECKS = (
    Case(
        "Twice as likely as under the reference",
        (np.log([0.5]), np.log([0.25])),
        np.log([2.0]) - 0.5,
        why="v = log 0.5 - log 0.25 = log 2, so e⁻ᵛ = 1/2 and k3 = 1/2 - 1 + log 2 = 0.193147.",
        shown=True,
    ),
    Case(
        "Four tokens in two rows",
        ([[-1.0, -4.0], [-2.0, -0.5]], [[-3.0, -1.0], [-2.0, -1.0]]),
        np.array([[np.exp(-2.0) + 1.0, np.exp(3.0) - 4.0], [0.0, np.exp(-0.5) - 0.5]]),
        why="v is 2, -3, 0 and 0.5. Second token: e³ - 1 - 3 = 16.0855. Where both models agree, k3 is 0.",
        shown=True,
    ),
    Case(
        "Nearly equal models",
        ([0.0], [-1e-5]),
        np.array([5e-11 - 1e-15 / 6 + 1e-20 / 24]),
        why="v = 1e-5, and k3 is v²/2 - v³/6. The subtraction of 1 loses digits; a nearly equal value is wrong.",
        shown=True,
    ),
    Case(
        "Half as likely as under the reference",
        (np.log([0.25]), np.log([0.5])),
        1 - np.log([2.0]),
        why="v = -log 2, so k3 = 2 - 1 - log 2.",
    ),
    Case("Equal models", (np.log([0.3]), np.log([0.3])), np.zeros(1), why="v = 0, so k3 = 1 - 1 + 0."),
    Case(
        "Nearly equal models, other probabilities",
        (np.array([-5e-10]), np.array([-1.00005e-5])),
        np.array([5e-11 - 1e-15 / 6]),
        why="v = 1e-5 again, and k3 is v²/2 - v³/6. The subtraction of 1 loses digits.",
    ),
    Case(
        "Models a little apart",
        ([0.0], [-0.008]),
        np.array([0.008**2 / 2 - 0.008**3 / 6 + 0.008**4 / 24 - 0.008**5 / 120 + 0.008**6 / 720]),
        why="v = 0.008, with five terms of the series of e⁻ᵛ. Three terms are not enough for nine digits.",
    ),
    Holds(
        "It is unbiased",
        _is_unbiased,
        why="Σ π k3 = Σ π (πref/π - 1 + log π/πref). The first two terms cancel, and the last is the KL.",
    ),
    Holds("It is never negative", _is_never_negative, why="e⁻ᵛ lies above its tangent 1 - v."),
    Unchanged((np.log([0.5, 0.25]), np.log([0.25, 0.5]))),
)
