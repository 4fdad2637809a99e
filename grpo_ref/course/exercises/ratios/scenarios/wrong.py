"""Wrong answers to `ratios/scenarios`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.ratios.scenarios.tests import learns, reference, scenario_of


def answer(*, scenario=scenario_of, learning=learns):
    """Return an answer with another scenario, or with another condition for learning."""

    def function(ratio, advantages, clip=0.2):
        r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
        return scenario(r, a), learning(r, a, clip)

    return function


def numbered(high, good):
    """Return the scenarios of tokens whose conditions r > 1 and A > 0 are given."""
    return np.where(high, np.where(good, 1, 2), np.where(good, 3, 4))


WRONG = (
    Mutant(
        "never clipped",
        answer(learning=lambda r, a, e: a != 0),
        "Lets every token with an advantage learn, however far its ratio has moved.",
    ),
    Mutant(
        "only within the bounds",
        answer(learning=lambda r, a, e: (a != 0) & (r >= 1 - e) & (r <= 1 + e)),
        "Stops every token outside the bounds; one that moved in the wrong direction still learns.",
    ),
    Mutant(
        "max for min",
        answer(learning=lambda r, a, e: learns(r, -a, e)),
        "Stops bad tokens above 1 + ε and good tokens below 1 - ε; the minimum stops the opposite two.",
    ),
    Mutant(
        "good tokens never stop",
        answer(learning=lambda r, a, e: (a > 0) | ((a < 0) & (r >= 1 - e))),
        "Lets every good token learn; above 1 + ε it stops.",
    ),
    Mutant(
        "bad tokens never stop",
        answer(learning=lambda r, a, e: ((a > 0) & (r <= 1 + e)) | (a < 0)),
        "Lets every bad token learn; below 1 - ε it stops.",
    ),
    Mutant(
        "bounds excluded",
        answer(learning=lambda r, a, e: ((a > 0) & (r < 1 + e)) | ((a < 0) & (r > 1 - e))),
        "Stops tokens that are exactly on a bound; they still learn.",
    ),
    Mutant(
        "upper bound excluded",
        answer(learning=lambda r, a, e: ((a > 0) & (r < 1 + e)) | ((a < 0) & (r >= 1 - e))),
        "Stops a good token at r = 1 + ε; on the bound it still learns.",
    ),
    Mutant(
        "lower bound excluded",
        answer(learning=lambda r, a, e: ((a > 0) & (r <= 1 + e)) | ((a < 0) & (r > 1 - e))),
        "Stops a bad token at r = 1 - ε; on the bound it still learns.",
    ),
    Mutant(
        "no advantage learns",
        answer(learning=lambda r, a, e: ~((a > 0) & (r > 1 + e)) & ~((a < 0) & (r < 1 - e))),
        "Lets every token with A = 0 learn; its surrogate is 0 for every r.",
    ),
    Mutant(
        "no advantage learns like a good token",
        answer(learning=lambda r, a, e: ((a >= 0) & (r <= 1 + e)) | ((a < 0) & (r >= 1 - e))),
        "Lets tokens with A = 0 learn up to 1 + ε, like good tokens; they never learn.",
    ),
    Mutant(
        "no advantage learns like a bad token",
        answer(learning=lambda r, a, e: ((a > 0) & (r <= 1 + e)) | ((a <= 0) & (r >= 1 - e))),
        "Lets tokens with A = 0 learn from 1 - ε upwards, like bad tokens; they never learn.",
    ),
    Mutant(
        "stopped instead of learning",
        answer(learning=lambda r, a, e: ~learns(r, a, e)),
        "Returns True for the tokens that do not learn; True means that the token learns.",
    ),
    Mutant(
        "scenarios 2 and 3 swapped",
        answer(scenario=lambda r, a: np.array([0, 1, 3, 2, 4])[scenario_of(r, a)]),
        "Exchanges scenarios 2 and 3; scenario 2 is r > 1 and A < 0.",
    ),
    Mutant(
        "ratio of 1 is high",
        answer(scenario=lambda r, a: np.where(a == 0, 0, numbered(r >= 1, a > 0))),
        "Counts r = 1 as r > 1; its scenario is 0.",
    ),
    Mutant(
        "ratio of 1 is low",
        answer(scenario=lambda r, a: np.where(a == 0, 0, numbered(r > 1, a > 0))),
        "Counts r = 1 as r < 1; its scenario is 0.",
    ),
    Mutant(
        "no advantage is bad",
        answer(scenario=lambda r, a: np.where(r == 1, 0, numbered(r > 1, a > 0))),
        "Counts A = 0 as A < 0 in the scenario; the scenario is 0.",
    ),
    Mutant(
        "no advantage is good",
        answer(scenario=lambda r, a: np.where(r == 1, 0, numbered(r > 1, a >= 0))),
        "Counts A = 0 as A > 0 in the scenario; the scenario is 0.",
    ),
    Mutant(
        "ratio of 1 does not learn",
        answer(learning=lambda r, a, e: learns(r, a, e) & (r != 1)),
        "Stops tokens with r = 1; they are within the bounds and learn if A is not 0.",
    ),
    Mutant(
        "nearly equal is equal",
        answer(scenario=lambda r, a: np.where(np.isclose(r, 1) | np.isclose(a, 0), 0, scenario_of(r, a))),
        "Treats a ratio that is nearly 1 as 1, and an advantage that is nearly 0 as 0, in the scenario.",
    ),
    Mutant(
        "bounds of the logarithm",
        answer(learning=lambda r, a, e: np.where(a > 0, np.log(r) <= e, (a < 0) & (np.log(r) >= -e))),
        "Stops where log r is beyond ε or -ε; the bounds 1 + ε and 1 - ε are those of r.",
    ),
    Mutant(
        "lower bound as a quotient",
        answer(learning=lambda r, a, e: ((a > 0) & (r <= 1 + e)) | ((a < 0) & (r >= 1 / (1 + e)))),
        "Uses 1 / (1 + ε) as the lower bound; it is 1 - ε.",
    ),
    Mutant(
        "clip fixed",
        lambda ratio, advantages, clip=0.2: reference(ratio, advantages),
        "Uses the bounds 0.8 and 1.2 for every `clip`.",
    ),
    Mutant(
        "learning first",
        lambda *inputs, **named: reference(*inputs, **named)[::-1],
        "Returns the two arrays in the wrong order; the scenario comes first.",
    ),
)
