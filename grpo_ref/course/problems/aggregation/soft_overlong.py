"""DAPO's ramp before the end of the budget."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import Case, Drawn, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.kernels.rewards import soft_overlong_punishment


def _reference(lengths: Any, max_length: float, buffer: float) -> Any:
    return soft_overlong_punishment(
        np.asarray(lengths, dtype=float), int(max_length), buffer=buffer / max_length
    )


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    budget = int(rng.integers(10, 40))
    return rng.integers(1, budget + 5, size + 2), budget, int(rng.integers(1, budget))


def _of(formula: Any) -> Function:
    return lambda lengths, max_length, buffer: formula(np.asarray(lengths, float), max_length, buffer)


PROBLEM = Problem(
    id="aggregation/soft_overlong",
    title="A ramp instead of a cliff",
    function="overlong_punishment",
    reference=_reference,
    background="An answer cut off at the budget is judged wrong, however good it was. DAPO warns before the end, with a ramp.",
    task=(
        "Write `overlong_punishment(lengths, max_length, buffer)`, to be added to the reward:\n\n"
        "    0                               for length <= max_length - buffer\n"
        "    (max_length - buffer - length) / buffer     from there to max_length\n"
        "    -1                              beyond max_length"
    ),
    inputs="lengths: (N,) tokens of each completion.\nmax_length: the budget in tokens.\nbuffer: width of the ramp in tokens; always between 1 and max_length here.",
    output="(N,) numbers from -1 to 0.",
    notes="Some texts write L_cache for the threshold where the ramp begins; in the paper and in TRL it is the width.",
    source="DAPO, eq. 13 (arXiv:2503.14476); TRL `get_soft_overlong_punishment`.",
    hints=(
        "What is the middle line at the two ends of the ramp?",
        "It is 0 at one end and -1 at the other, so the three lines are one line with two bounds.",
        "np.clip((max_length - buffer - lengths) / buffer, -1, 0)",
    ),
    checks=(
        Case("Half way up the ramp", ([9], 10, 2), np.array([-0.5]), why="(10 - 2 - 9) / 2", shown=True),
        Case(
            "Short, at the threshold, at the budget, beyond",
            ([3, 8, 10, 12], 10, 2),
            np.array([0.0, 0.0, -1.0, -1.0]),
            why="0, 0, and -1 from the budget on",
        ),
        Case("A wide ramp", ([5], 10, 10), np.array([-0.5]), why="(10 - 10 - 5) / 10"),
        Unchanged((np.array([9, 12]), 10, 2)),
        Drawn("Random lengths agree", _draw, why="several budgets and ramps"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "does not saturate",
            _of(lambda n, L, B: np.minimum((L - B - n) / B, 0)),
            "Beyond the budget the punishment stays at -1.",
        ),
        Mutant(
            "rewards short answers",
            _of(lambda n, L, B: np.maximum((L - B - n) / B, -1)),
            "Below the threshold it is 0; short answers are not rewarded.",
        ),
        Mutant("positive", lambda n, L, B: -_reference(n, L, B), "A punishment is negative."),
        Mutant(
            "buffer as threshold",
            _of(lambda n, L, B: np.clip((B - n) / max(L - B, 1), -1, 0)),
            "buffer is the width of the ramp, not where it begins.",
        ),
        Mutant("a cliff", _of(lambda n, L, B: np.where(n > L, -1.0, 0.0)), "There is no ramp."),
        Mutant(
            "an early cliff",
            _of(lambda n, L, B: np.where(n > L - B, -1.0, 0.0)),
            "There is no ramp between threshold and budget.",
        ),
        Mutant(
            "divided by the budget",
            _of(lambda n, L, B: np.clip((L - B - n) / L, -1, 0)),
            "It is divided by the width of the ramp.",
        ),
        Mutant(
            "ramp after the budget",
            _of(lambda n, L, B: np.clip((L - n) / B, -1, 0)),
            "The ramp ends at the budget; here it begins there.",
        ),
        Mutant(
            "one less", _of(lambda n, L, B: np.clip((L - B - n - 1) / B, -1, 0)), "It is off by one token."
        ),
    ),
    others={"np.interp": lambda n, L, B: np.interp(n, [L - B, L], [0.0, -1.0])},
)
