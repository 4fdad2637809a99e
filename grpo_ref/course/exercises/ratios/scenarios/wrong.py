"""Wrong answers to `ratios/scenarios`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.ratios.scenarios.tests import _learns, _scenario, reference


def _of(scenario=None, learns=None):
    def answer(ratio, advantages, clip=0.2):
        r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
        return (scenario or _scenario)(r, a), (learns or _learns)(r, a, clip)

    return answer


WRONG = (
    Mutant(
        "never clipped",
        _of(learns=lambda r, a, e: a != 0),
        "This holds for the unclipped objective only.",
    ),
    Mutant(
        "only inside the band",
        _of(learns=lambda r, a, e: (a != 0) & (abs(r - 1) <= e + 1e-12)),
        "A ratio outside the band still learns if the advantage calls it back.",
    ),
    Mutant(
        "clip on the wrong side",
        _of(learns=lambda r, a, e: _learns(r, -a, e)),
        "The two that stop are those that already moved where the advantage points.",
    ),
    Mutant(
        "bound excluded",
        _of(learns=lambda r, a, e: ((a > 0) & (r < 1 + e)) | ((a < 0) & (r > 1 - e))),
        "On the bound itself a token still learns.",
    ),
    Mutant(
        "no advantage learns",
        _of(learns=lambda r, a, e: ~((a > 0) & (r > 1 + e)) & ~((a < 0) & (r < 1 - e))),
        "A token without advantage has no slope.",
    ),
    Mutant(
        "scenarios 2 and 3 swapped",
        _of(scenario=lambda r, a: np.array([0, 1, 3, 2, 4])[_scenario(r, a)]),
        "Scenario 2 is high ratio and negative advantage, 3 low ratio and positive advantage.",
    ),
    Mutant(
        "ratio of one is high",
        _of(
            scenario=lambda r, a: np.where(
                a == 0, 0, np.where(r >= 1, np.where(a > 0, 1, 2), np.where(a > 0, 3, 4))
            )
        ),
        "A ratio of exactly 1 is in no scenario.",
    ),
    Mutant(
        "zero advantage is negative",
        _of(
            scenario=lambda r, a: np.where(
                r == 1, 0, np.where(r > 1, np.where(a > 0, 1, 2), np.where(a > 0, 3, 4))
            )
        ),
        "An advantage of exactly 0 is in no scenario.",
    ),
    Mutant(
        "ratio of one does not learn",
        _of(learns=lambda r, a, e: _learns(r, a, e) & (r != 1)),
        "A ratio of exactly 1 is in no scenario, but with an advantage it learns.",
    ),
    Mutant(
        "nearly equal is equal",
        _of(scenario=lambda r, a: np.where(np.isclose(r, 1) | np.isclose(a, 0), 0, _scenario(r, a))),
        "All comparisons are exact: a ratio that is nearly 1 is not 1, a small advantage is not 0.",
    ),
    Mutant("clip fixed", lambda r, a, clip=0.2: reference(r, a), "The argument clip is not used."),
)
