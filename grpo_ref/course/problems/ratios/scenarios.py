"""Four scenarios, and which of them still learn."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain

DOMAIN = Domain(
    {
        "ratio": Real(
            "|T|N T",
            (1e-4, 1e4),
            usual=((0.1, 2), (1e-4, 1e4)),
            at=(1, "1 + clip", "1 - clip"),
            meaning="r = πθ/πold",
        ),
        "advantages": Real("|T|N T", (-1e4, 1e4), meaning="A"),
        "clip": Scalar(0.2, (0, 0.99), usual=((0.05, 0.6), (0, 0.99)), at=(0, 0.5), meaning="ε"),
    },
    sizes={"N": (1, 3), "T": (1, 5)},
    large={"T": 200},
)


def _scenario(ratio: Any, advantages: Any) -> Any:
    high = np.where(advantages > 0, 1, 2)
    low = np.where(advantages > 0, 3, 4)
    return np.where((ratio == 1) | (advantages == 0), 0, np.where(ratio > 1, high, low))


def _learns(r: Any, a: Any, e: float) -> Any:
    return ((a > 0) & (r <= 1 + e)) | ((a < 0) & (r >= 1 - e))


def _reference(ratio: Any, advantages: Any, clip: float = 0.2) -> Any:
    ratio, advantages = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    return _scenario(ratio, advantages), _learns(ratio, advantages, clip)


def _of(scenario: Any = None, learns: Any = None) -> Function:
    def answer(ratio: Any, advantages: Any, clip: float = 0.2) -> Any:
        r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
        return (scenario or _scenario)(r, a), (learns or _learns)(r, a, clip)

    return answer


HAIR = 2.0**-40
"""Number of about 1e-12 that can be added to 1 without rounding."""

PROBLEM = Problem(
    id="ratios/scenarios",
    title="Four scenarios, and which of them still learn",
    function="scenarios",
    reference=_reference,
    background=(
        "Take one token of a completion, an answer that the policy (the language model) wrote. Its ratio r = πθ/πold"
        " says how much likelier the policy would write it now than when"
        " it was sampled; its advantage A says whether its completion was better (A > 0) or worse (A < 0) than the other answers to the same prompt. So there are four scenarios. Without a clip a token pushes the policy in all of them,"
        " however far it has already been pushed. PPO's clip stops those that have moved far enough in the direction"
        " of their advantage, and never those that have moved the other way and have to come back."
    ),
    task=(
        "Write `scenarios(ratio, advantages, clip=0.2)`, which returns two arrays. The first one holds the number"
        " of each token's scenario:\n\n"
        "    1: r > 1 and A > 0      2: r > 1 and A < 0\n"
        "    3: r < 1 and A > 0      4: r < 1 and A < 0      0: r = 1 or A = 0\n\n"
        "The second one holds a truth value: does the token still learn? It does if PPO's surrogate\n\n"
        "    min(r A, clip(r, 1 - ε, 1 + ε) A)\n\n"
        "still changes with r. Here ε is the argument `clip`, and clip(r, a, b) holds r between a and b. A token"
        " with A > 0 stops as soon as r is greater than 1 + ε, one with A < 0 as soon as r is less than 1 - ε."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output=(
        "A tuple (scenario, learns): whole numbers, and truth values (dtype bool), both of the shape of ratio."
    ),
    constraints=(
        "On the bound itself, r = 1 + ε or r = 1 - ε, a token still learns.\n"
        "A token with A = 0 does not learn: zero times any ratio has no slope.\n"
        "All comparisons are exact: 1.0000001 is greater than 1, and an advantage of 0.0000001 is not 0."
    ),
    notes="The share of tokens that are stopped, in scenarios 1 and 4, is what trainers log as the clip fraction.",
    source=(
        'The table of scenarios in "A technical explanation of the GRPO loss function" (a blog post of February'
        " 2025), for the unclipped objective; Schulman et al. 2017, eq. 7 (arXiv:1707.06347), for the clip."
    ),
    hints=(
        "In which two scenarios is the policy already moving where the advantage points?",
        "A good token stops when r > 1 + ε, a bad one when r < 1 - ε. The other sides never stop.",
        "learns = ((A > 0) & (r <= 1 + clip)) | ((A < 0) & (r >= 1 - clip))",
    ),
    checks=(
        Case(
            "The four scenarios inside the band",
            ([1.1, 1.1, 0.9, 0.9], [0.7, -0.7, 0.7, -0.7]),
            (np.array([1, 2, 3, 4]), np.array([True, True, True, True])),
            why="The band goes from 0.8 to 1.2; inside it nothing is clipped.",
            shown=True,
        ),
        Case(
            "The four scenarios outside the band",
            ([1.5, 1.5, 0.5, 0.5], [0.7, -0.7, 0.7, -0.7]),
            (np.array([1, 2, 3, 4]), np.array([False, True, True, False])),
            why=(
                "The first token is good and already much likelier, the last one bad and already much rarer: they"
                " stop. The other two moved the wrong way and have to come back."
            ),
            shown=True,
        ),
        Case(
            "On policy",
            ([1.0, 1.0], [1.0, -1.0]),
            (np.array([0, 0]), np.array([True, True])),
            why="a ratio of 1 is in no scenario, and learns",
        ),
        Case(
            "No advantage",
            ([1.1, 0.5], [0.0, 0.0]),
            (np.array([0, 0]), np.array([False, False])),
            why="zero times any ratio has no slope",
        ),
        Case(
            "On the bounds",
            ([1.5, 0.5], [1.0, -1.0], 0.5),
            (np.array([1, 4]), np.array([True, True])),
            why="the slope passes on the closed interval, as PyTorch's clamp has it",
        ),
        Case(
            "A hair from 1, from the bounds, and from no advantage",
            ([1 + HAIR, 1 - HAIR, 1.5 + HAIR, 0.5 - HAIR, 1.1], [1.0, 1.0, 1.0, -1.0, -HAIR], 0.5),
            (np.array([1, 3, 1, 4, 2]), np.array([True, True, False, False, True])),
            why="all comparisons are exact",
        ),
        Unchanged((np.array([1.5, 0.5]), np.array([1.0, -1.0]))),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
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
        Mutant("clip fixed", lambda r, a, clip=0.2: _reference(r, a), "The argument clip is not used."),
    ),
    others={
        "the distance from 1": _of(
            learns=lambda r, a, e: ((a > 0) & (r - 1 <= e)) | ((a < 0) & (1 - r <= e)),
        ),
    },
)
