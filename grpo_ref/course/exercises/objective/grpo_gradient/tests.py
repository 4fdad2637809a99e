"""The tests of `objective/grpo_gradient`: the inputs that its statement allows, the right answer, the checks."""

from dataclasses import replace

import numpy as np

from grpo_ref.course.author import Case, Holds, Rule, Unchanged
from grpo_ref.course.exercises.objective.grpo_loss.tests import (
    ADVANTAGES,
    HALF,
    LOWER_BOUND,
    MASK,
    MOVED,
    PENALTY_ALONE,
    evaluated,
    on_tokens,
)
from grpo_ref.course.exercises.objective.grpo_loss.tests import DOMAIN as DOMAIN_OF_THE_LOSS


def is_off_the_bounds(values):
    """Return whether rounding cannot move a ratio across a bound."""
    new, old = (on_tokens(values, name) for name in ("log_probs", "old_log_probs"))
    clip, ratio = values["clip"], np.exp(new - old)
    is_on_a_bound = np.minimum(abs(ratio - (1 - clip)), abs(ratio - (1 + clip))) < 1e-12
    return not is_on_a_bound.any() or bool(clip == 0 and (new == old)[is_on_a_bound].all())


DOMAIN = replace(
    DOMAIN_OF_THE_LOSS,
    rules=(
        *DOMAIN_OF_THE_LOSS.rules,
        Rule(
            "Rounding never decides the answer: a ratio is exactly on a bound, or at least 1e-12 away from it.",
            is_off_the_bounds,
        ),
    ),
)


def reference(*arguments, **settings):
    return evaluated(*arguments, **settings).gradient[0]


def goes_downhill(f):
    others = HALF, HALF, ADVANTAGES, MASK, 0.3
    before = evaluated(MOVED, *others).loss
    after = evaluated(np.array(MOVED) - 1e-3 * np.asarray(f(MOVED, *others)), *others).loss
    return None if after < before else "a small step against the gradient should lower the loss"


CHECKS = (
    Case(
        "One clipped token, no penalty",
        (MOVED, HALF, HALF, ADVANTAGES, MASK, 0.1, 0.0),
        np.array([[0.0, -0.25], [0.5, 0.0]]),
        why="The first token is clipped, so its slope is 0. The other two tokens have the slope A.",
        shown=True,
    ),
    Case(
        "A bad completion, with the defaults",
        LOWER_BOUND,
        np.array([[0.0, 0.75]]),
        why="The first token is clipped at 0.8. The second token is not clipped: -1/2 · (-1.5).",
        shown=True,
    ),
    Case(
        "The penalty alone, with the defaults",
        PENALTY_ALONE,
        np.array([[0.04 * (1 - 1 / 1.2)]]),
        why="The slope of k3 is 1 - 1/1.2 = 1/6, times 0.04.",
        shown=True,
    ),
    Case(
        "Exactly on a bound",
        ([[-0.5]], [[-0.5]], [[-0.5]], [2.0], [[1]], 0.0),
        np.array([[-2.0]]),
        why="ε is 0 and r is 1, so the slope of r A is used.",
        shown=True,
    ),
    Case(
        "A wider clip range",
        (MOVED, HALF, HALF, ADVANTAGES, MASK, 0.5, 0.0),
        np.array([[-0.3, -0.25], [0.5, 0.0]]),
        why="The ratio 1.2 is inside 1 ± 0.5, so its token has the slope 1.2.",
    ),
    Case(
        "Inputs may be integers",
        (np.array([[-1, -2]]), np.array([[-1, -2]]), np.array([[-1, -2]]), np.array([3]), np.array([[1, 1]])),
        np.array([[-1.5, -1.5]]),
        why="All inputs are integers, but the result -3/2 is not.",
    ),
    Case(
        "A bad token that is still too likely",
        ([[np.log(0.9)]], [[np.log(0.5)]], [[np.log(0.9)]], [-1.0], [[1]], 0.2, 0.0),
        np.array([[1.8]]),
        why="A < 0 and the ratio is 1.8: not clipped, slope -1.8, with a minus sign.",
    ),
    Case(
        "The penalty of one token",
        (MOVED, MOVED, HALF, [0, 0], MASK, 0.2, 1.0),
        np.array([[(1 - 1 / 1.2) / 4, 0.0], [0.0, 0.0]]),
        why="The token that moved has the slope 1 - 1/1.2 and the weight 1/4.",
    ),
    Case(
        "On both bounds, with a penalty",
        (HALF, HALF, HALF, ADVANTAGES, MASK, 0.0, 0.5),
        np.array([[-0.25, -0.25], [0.5, 0.0]]),
        why="A clip of 0 puts the ratio 1 on both bounds, where the slope is A. The slope of k3 is 0.",
    ),
    Holds(
        "A small step against the gradient lowers the loss",
        goes_downhill,
        why="The gradient points uphill on the loss.",
    ),
    Unchanged(tuple(np.array(values, dtype=float) for values in (MOVED, HALF, HALF, ADVANTAGES, MASK))),
)
