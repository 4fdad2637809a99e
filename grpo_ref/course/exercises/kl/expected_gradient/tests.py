"""The tests of `kl/expected_gradient`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import penalties
from grpo_ref.course.author import (
    LEVELS,
    MIXED,
    OFFSET_ROWS,
    Case,
    Domain,
    Holds,
    Pattern,
    Real,
    Rule,
    Unchanged,
)
from grpo_ref.learning.policies.table import log_softmax

LOG_PROBABILITIES = Pattern(
    "logarithms of probabilities",
    lambda source, values: log_softmax(values),
)
FLATTER = Pattern(
    "logarithms of nearly equal probabilities",
    lambda source, values: log_softmax(values / 100.0),
)

# The statement promises that no value depends on digits that cancel in vₐ - KL. The grader keeps the promise,
# because it drops inputs on which right answers differ. So right.py needs answers that compute the formula as
# it is printed, such as `centered_slopes`, and answers that do not, such as `pair_by_pair`.
DOMAIN = Domain(
    {
        "logits": Real(
            "V",
            (-1000, 1000),
            usual=((-2, 2), (-5, 5), (-20, 20)),
            at=(800, -800),
            rows=(MIXED, LEVELS, OFFSET_ROWS),
            meaning="one logit per token of the state",
        ),
        "ref_log_probs": Real(
            "V",
            (-900, 0),
            usual=((-0.01, 0.01), (-2, 2), (-5, 5), (-30, 30)),
            near="logits",
            rows=(LOG_PROBABILITIES, FLATTER),
            whole=False,
            meaning="log πref of the same tokens, in nats",
        ),
    },
    sizes={"V": (2, 5)},
    large={"V": 80},
    rules=(
        Rule(
            "The probabilities of the reference sum to 1, up to rounding.",
            lambda values: abs(np.exp(values["ref_log_probs"]).sum() - 1.0) <= 1e-12,
        ),
    ),
)


def reference(logits, ref_log_probs):
    log_probs, ref = log_softmax(np.asarray(logits, dtype=float)), np.asarray(ref_log_probs, dtype=float)
    probs = np.exp(log_probs)
    return {
        "kl": penalties.exact_kl(log_probs, ref).slope,
        "k1": np.zeros_like(probs),
        "k2": centered(probs * penalties.k2(log_probs, ref).direct, probs),
        "k3": centered(probs - np.exp(ref), probs),
    }


def centered(weighted, probs):
    """Return π (s - Σ π s) from the products π s, which are finite even if a slope s is not."""
    return weighted - probs * weighted.sum()


def _k2_has_the_gradient_of_the_kl(f):
    value = f(np.array([0.3, -1.0, 0.5]), np.log(np.array([0.2, 0.5, 0.3])))
    same = np.allclose(np.asarray(value["k2"]), np.asarray(value["kl"]), atol=1e-9)
    return None if same else "the expected gradient of k2 should be the gradient of the KL"


CHECKS = (
    Case(
        "A fair coin against 4 : 1",
        ([0.0, 0.0], np.log([0.8, 0.2])),
        {
            "kl": np.array([-1.0, 1.0]) * np.log(2.0) / 2,
            "k1": np.zeros(2),
            "k2": np.array([-1.0, 1.0]) * np.log(2.0) / 2,
            "k3": np.array([-0.3, 0.3]),
        },
        why=(
            "v = log(5/8), log(5/2), and KL = log(5/4). So v - KL = -log 2, log 2, and half of it is ∓0.346574."
            " The slopes of k3 are -0.6 and 0.6."
        ),
        shown=True,
    ),
    Case(
        "Three tokens",
        (np.log([2.0, 1.0, 1.0]), np.log([0.25, 0.25, 0.5])),
        {
            "kl": np.log(2.0) * np.array([3 / 8, -1 / 16, -5 / 16]),
            "k1": np.zeros(3),
            "k2": np.log(2.0) * np.array([3 / 8, -1 / 16, -5 / 16]),
            "k3": np.array([0.25, 0.0, -0.25]),
        },
        why="π = 1/2, 1/4, 1/4, v = log 2, 0, -log 2 and KL = (log 2)/4. The average is weighted by π.",
        shown=True,
    ),
    Case(
        "A token that the policy never samples",
        ([0.0, -800.0], np.log([0.75, 0.25])),
        {"kl": np.zeros(2), "k1": np.zeros(2), "k2": np.zeros(2), "k3": np.array([0.25, -0.25])},
        why="π is 1 and e⁻⁸⁰⁰, so e⁻ᵛ overflows, but the exact product π e⁻ᵛ is 1/4.",
        shown=True,
    ),
    Case(
        "A token that neither model ever samples",
        ([0.0, 0.0, -700.0], [*np.log([0.8, 0.2]), -800.0]),
        {
            "kl": np.array([-1.0, 1.0, 0.0]) * np.log(2.0) / 2,
            "k1": np.zeros(3),
            "k2": np.array([-1.0, 1.0, 0.0]) * np.log(2.0) / 2,
            "k3": np.array([-0.3, 0.3, 0.0]),
        },
        why="πref of the third token is e⁻⁸⁰⁰, which is 0 for a computer, but its logarithm is -800.",
    ),
    Case(
        "Equal models",
        ([0.0, 0.0], np.log([0.5, 0.5])),
        dict.fromkeys(("kl", "k1", "k2", "k3"), np.zeros(2)),
        why="v is 0 for both tokens, so every gradient is 0.",
    ),
    Holds(
        "k2 has the gradient of the KL",
        _k2_has_the_gradient_of_the_kl,
        why="The slope of k2 is v, and v is the log-ratio in the gradient of the KL.",
    ),
    Unchanged((np.array([0.3, -1.0]), np.log([0.5, 0.5]))),
)
