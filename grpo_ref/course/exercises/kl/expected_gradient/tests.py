"""The tests of `kl/expected_gradient`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref import penalties
from grpo_ref.course.author import LEVELS, MIXED, OFFSET_ROWS, Case, Domain, Holds, Pattern, Real, Unchanged
from grpo_ref.learning.policies.table import log_softmax


def _log_probabilities(source, values):
    """Convert the sampled numbers, as logits, to log-probabilities."""
    return log_softmax(values)


def _flatter(source, values):
    """Convert a hundredth of the sampled numbers, as logits, to log-probabilities."""
    return log_softmax(values / 100.0)


LOG_PROBABILITIES = Pattern("logarithms of probabilities", _log_probabilities)

FLATTER = Pattern("logarithms of nearly equal probabilities", _flatter)

DOMAIN = Domain(
    {
        "logits": Real(
            "V",
            (-1000, 1000),
            usual=((-2, 2), (-5, 5), (-20, 20)),
            at=(800, -800),
            rows=(MIXED, LEVELS, OFFSET_ROWS),
            meaning="of the V tokens in this state",
        ),
        "ref_log_probs": Real(
            "V",
            (-900, 0),
            usual=((-0.01, 0.01), (-2, 2), (-5, 5), (-30, 30)),
            near="logits",
            rows=(LOG_PROBABILITIES, FLATTER),
            whole=False,
            meaning="log πref in nats; the probabilities sum to 1",
        ),
    },
    sizes={"V": (2, 5)},
    large={"V": 80},
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


def _k2_is_right(f):
    got = f(np.array([0.3, -1.0, 0.5]), np.log(np.array([0.2, 0.5, 0.3])))
    return (
        None
        if np.allclose(np.asarray(got["k2"]), np.asarray(got["kl"]), atol=1e-9)
        else "k2's expected gradient should be that of the KL"
    )


CHECKS = (
    Case(
        "A fair coin against 4 to 1",
        ([0.0, 0.0], np.log([0.8, 0.2])),
        {
            "kl": np.array([-1.0, 1.0]) * np.log(2.0) / 2,
            "k1": np.zeros(2),
            "k2": np.array([-1.0, 1.0]) * np.log(2.0) / 2,
            "k3": np.array([-0.3, 0.3]),
        },
        why=(
            "π = 1/2, 1/2, so v = log 5/8 and log 5/2. Their mean, the KL, is log 5/4: v - KL = -log 2 and log 2,"
            " times π = 1/2 that is -0.347 and 0.347. k3' is 1 - 8/5 = -0.6 and 1 - 2/5 = 0.6 with mean 0."
        ),
        shown=True,
    ),
    Case(
        "A token that the policy never draws",
        ([0.0, -800.0], np.log([0.75, 0.25])),
        {"kl": np.zeros(2), "k1": np.zeros(2), "k2": np.zeros(2), "k3": np.array([0.25, -0.25])},
        why="π is 1 and 0, so k3 has π - πref, although e⁻ᵛ overflows at the second token",
    ),
    Case(
        "Equal policies",
        ([0.0, 0.0], np.log([0.5, 0.5])),
        dict.fromkeys(("kl", "k1", "k2", "k3"), np.zeros(2)),
        why="nothing pulls",
    ),
    Holds("k2's is the true one", _k2_is_right, why="its slope v is the log-ratio in the KL's own gradient"),
    Unchanged((np.array([0.3, -1.0]), np.log([0.5, 0.5]))),
)
