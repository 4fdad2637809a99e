"""Shared parts of the exercises on a per-token penalty: the log-probabilities of the policy and of the
reference.
"""

import numpy as np

from grpo_ref.course.grading.domain.arguments import Argument, Real
from grpo_ref.course.grading.domain.domain import Rule

SIZES = {"B": (1, 2), "N": (1, 3), "T": (1, 4)}
LARGE = {"T": 200, "N": 30}
NO_OVERFLOW = Rule(
    "`log_probs - ref_log_probs` is at most 700 in absolute value, so e⁻ᵛ does not overflow.",
    lambda values: bool((abs(np.subtract(values["log_probs"], values["ref_log_probs"])) <= 700).all()),
)


def log_probs_of_both(nearest: float, farthest: float = 700.0) -> dict[str, Argument]:
    """Return the two arguments, each a number or of shape (T,), (N, T) or (B, N, T), in nats.

    Args:
      nearest: smallest usual difference of the two that is not 0, in absolute value.
      farthest: largest usual difference of the two, in absolute value.
    """
    return {
        "log_probs": Real(
            "|T|N T|B N T",
            (-1000, 0),
            usual=((-2, -0.01), (-30, 0), (-1000, 0)),
            meaning="log πθ of each token, in nats",
        ),
        "ref_log_probs": Real(
            "|T|N T|B N T",
            (-1000, 0),
            usual=((-1, 1), (-1e-2, -nearest), (nearest, 0.05), (-30, 30), (-farthest, farthest)),
            near="log_probs",
            meaning="log πref of the same tokens",
        ),
    }
