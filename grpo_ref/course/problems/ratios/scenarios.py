"""Four scenarios, and which of them still learn."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import Case, Drawn, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.kernels.surrogates import clipped


def _scenario(ratio: Any, advantages: Any) -> Any:
    high = np.where(advantages > 0, 1, 2)
    low = np.where(advantages > 0, 3, 4)
    return np.where((ratio == 1) | (advantages == 0), 0, np.where(ratio > 1, high, low))


def _reference(ratio: Any, advantages: Any, clip: float = 0.2) -> Any:
    ratio, advantages = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
    slope = clipped(np.log(ratio), advantages, clip_low=clip, clip_high=clip).slope
    return _scenario(ratio, advantages), slope != 0.0


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    ratio = rng.choice([0.25, 0.7, 0.95, 1.0, 1.05, 1.3, 4.0], size + 3)
    return ratio, rng.choice([-2.0, -0.5, 0.0, 0.5, 2.0], size + 3), rng.choice([0.1, 0.2, 0.4])


def _of(scenario: Any = None, learns: Any = None) -> Function:
    def answer(ratio: Any, advantages: Any, clip: float = 0.2) -> Any:
        r, a = np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float)
        return (scenario or _scenario)(r, a), (learns or _learns)(r, a, clip)

    return answer


def _learns(r: Any, a: Any, e: float) -> Any:
    return ((a > 0) & (r <= 1 + e)) | ((a < 0) & (r >= 1 - e))


PROBLEM = Problem(
    id="ratios/scenarios",
    title="Four scenarios, and which of them still learn",
    function="scenarios",
    reference=_reference,
    background=(
        "A token is now likelier or less likely than when it was sampled, and it was good or bad. Without a clip, all four"
        " scenarios train. With PPO's clip, two of them stop once the ratio has left the band, and two never do."
    ),
    task=(
        "Write `scenarios(ratio, advantages, clip=0.2)`, which returns two arrays:\n\n"
        "    scenario   1: ratio > 1, A > 0     2: ratio > 1, A < 0\n"
        "               3: ratio < 1, A > 0     4: ratio < 1, A < 0     0: ratio = 1 or A = 0\n"
        "    learns     whether min(r A, clip(r, 1-ε, 1+ε) A) still has a slope in r"
    ),
    inputs="ratio: r = πθ/πold, positive.\nadvantages: A, of the same shape.\nclip: ε.",
    output="A tuple (scenario, learns): whole numbers, and truth values (dtype bool), both of the shape of ratio.",
    constraints="On the bound itself a token still learns.\nA token without advantage does not.",
    source='the table of scenarios in "A technical explanation of the GRPO loss function" (a blog post of February 2025), which holds for the unclipped objective; the clip is Schulman et al. 2017, eq. 7 (arXiv:1707.06347).',
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
            why="inside the band nothing is clipped",
            shown=True,
        ),
        Case(
            "The four scenarios outside the band",
            ([1.5, 1.5, 0.5, 0.5], [0.7, -0.7, 0.7, -0.7]),
            (np.array([1, 2, 3, 4]), np.array([False, True, True, False])),
            why="good and already likelier: stop; bad and already rarer: stop; the other two have to come back",
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
        Unchanged((np.array([1.5, 0.5]), np.array([1.0, -1.0]))),
        Drawn("Random tokens agree", _draw, why="both signs, three widths"),
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
        Mutant("clip fixed", lambda r, a, clip=0.2: _reference(r, a), "The argument clip is not used."),
    ),
    others={"two masks": _of()},
)
