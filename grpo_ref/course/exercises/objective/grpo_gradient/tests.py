"""The tests of `objective/grpo_gradient`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Holds, Unchanged
from grpo_ref.course.exercises.objective.grpo_loss.tests import DOMAIN as DOMAIN  # the same inputs
from grpo_ref.course.exercises.objective.grpo_loss.tests import HALF, LP, MASK, A, evaluated


def reference(*arguments, **settings):
    return evaluated(*arguments, **settings).gradient[0]


def _downhill(f):
    others = HALF, HALF, A, MASK
    before = evaluated(LP, *others).loss
    after = evaluated(LP - 1e-3 * np.asarray(f(LP, *others)), *others).loss
    return None if after < before else "a small step against the gradient should lower the loss"


CHECKS = (
    Case(
        "One clipped token, no penalty",
        (LP, HALF, HALF, A, MASK, 0.1, 0.0),
        np.array([[0.0, -0.25], [0.5, 0.0]]),
        why=(
            "clip is 0.1 and kl_coef 0. The first token has A = 1 and the ratio 0.6 / 0.5 = 1.2 > 1.1:"
            " it is held, its"
            " slope is 0. The others have the ratio 1 and the slope A. The weights are 1/2 · 1/2 in the"
            " completion of"
            " two tokens and 1/2 in that of one, and there is one minus sign; the last entry is padding."
        ),
        shown=True,
    ),
    Case(
        "A wider clip",
        (LP, HALF, HALF, A, MASK, 0.5, 0.0),
        np.array([[-0.3, -0.25], [0.5, 0.0]]),
        why="the ratio 1.2 lies inside 1 ± 0.5, so its token has the slope 1.2",
    ),
    Case(
        "Whole numbers",
        (
            np.array([[-1, -2]]),
            np.array([[-1, -2]]),
            np.array([[-1, -2]]),
            np.array([3]),
            np.array([[1, 1]]),
        ),
        np.array([[-1.5, -1.5]]),
        why="all inputs may be integers, and the result is not: -3 / 2",
    ),
    Case(
        "A bad token still too likely",
        (np.log([[0.9]]), np.log([[0.5]]), np.log([[0.9]]), [-1.0], [[1]], 0.2, 0.0),
        np.array([[1.8]]),
        why="ratio 1.8, A < 0: not clipped, slope -1.8, and the minus sign",
    ),
    Case(
        "The penalty alone",
        (LP, LP, HALF, np.zeros(2), MASK, 0.2, 1.0),
        np.array([[(1 - 1 / 1.2) / 4, 0.0], [0.0, 0.0]]),
        why="slope 1 - 1/1.2 of the token that moved, weight 1/4",
    ),
    Case(
        "On policy",
        (HALF, HALF, HALF, A, MASK, 0.2, 0.5),
        np.array([[-0.25, -0.25], [0.5, 0.0]]),
        why="minus weight times advantage: the loss is 0 there, its gradient is not",
    ),
    Case(
        "On the bound itself",
        (HALF, HALF, HALF, A, MASK, 0.0, 0.5),
        np.array([[-0.25, -0.25], [0.5, 0.0]]),
        why="a clip of 0 puts the ratio 1 on both bounds, where the slope is still A",
    ),
    Holds("A step against it lowers the loss", _downhill, why="it is the gradient of a loss"),
    Unchanged((LP, HALF, HALF, A, MASK)),
)
