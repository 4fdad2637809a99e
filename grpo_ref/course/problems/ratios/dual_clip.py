"""A floor for bad tokens."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import Case, Drawn, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.kernels import surrogates


def _reference(ratio: Any, advantages: Any, clip: float = 0.2, max_ratio: float = 3.0) -> Any:
    log_ratio, advantages = np.log(np.asarray(ratio, float)), np.asarray(advantages, float)
    return surrogates.dual_clipped(
        log_ratio, advantages, clip_low=clip, clip_high=clip, max_ratio=max_ratio
    ).value


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return (
        rng.uniform(0.2, 8.0, (2, size)),
        rng.normal(size=(2, size)),
        rng.uniform(0.1, 0.5),
        rng.uniform(1.6, 4.0),
    )


def _of(formula: Any) -> Function:
    def answer(ratio: Any, advantages: Any, clip: float = 0.2, max_ratio: float = 3.0) -> Any:
        r, a = np.asarray(ratio, float), np.asarray(advantages, float)
        return formula(np.minimum(r * a, np.clip(r, 1 - clip, 1 + clip) * a), r, a, max_ratio)

    return answer


PROBLEM = Problem(
    id="ratios/dual_clip",
    title="A floor for bad tokens",
    function="dual_clipped",
    reference=_reference,
    background=(
        "PPO's clip leaves one corner open: a bad token that has become ten times likelier counts ten times, and one"
        " such token can dominate a batch. verl always puts a floor there."
    ),
    task=(
        "Write `dual_clipped(ratio, advantages, clip=0.2, max_ratio=3.0)`, one value per token:\n\n"
        "    s = min(r A, clip(r, 1 - clip, 1 + clip) A)\n"
        "    dual = max(s, max_ratio A) where A < 0,    s elsewhere"
    ),
    inputs="ratio: r = πθ/πold, positive, any shape.\nadvantages: A, of the same shape.\nclip: half-width.\nmax_ratio: caps the weight of a bad token.",
    output="An array of the same shape.",
    source="Ye et al. 2020, dual-clip PPO (arXiv:1912.09729); verl `compute_policy_loss_vanilla`, clip_ratio_c = 3.",
    hints=(
        "First the ordinary clipped surrogate. Which of its four corners is unbounded?",
        "For A < 0 the value falls as the ratio grows; max_ratio A is where it shall stop.",
        "np.where(A < 0, np.maximum(s, max_ratio * A), s)",
    ),
    checks=(
        Case("Bad token, far too likely", ([5.0], [-1.0]), np.array([-3.0]), why="max(-5, -3)", shown=True),
        Case("Bad token, too likely", ([2.0], [-1.0]), np.array([-2.0]), why="the floor is at -3"),
        Case("Bad token, pushed far enough", ([0.5], [-1.0]), np.array([-0.8]), why="the ordinary clip"),
        Case(
            "Good token, far too likely",
            ([5.0], [1.0]),
            np.array([1.2]),
            why="the ordinary clip; no floor for good tokens",
        ),
        Case("Good token, too rare", ([0.5], [2.0]), np.array([1.0]), why="not clipped"),
        Case("max_ratio counts", ([5.0], [-1.0], 0.2, 2.0), np.array([-2.0]), why="max(-5, -2)"),
        Unchanged((np.array([5.0, 0.5]), np.array([-1.0, 1.0]))),
        Drawn("Random tokens agree", _draw, why="both signs, ratios on both sides of the floor"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "no floor",
            _of(lambda s, r, a, c: s),
            "There is no floor: this is the ordinary clipped surrogate.",
        ),
        Mutant(
            "floor for all",
            _of(lambda s, r, a, c: np.maximum(s, c * a)),
            "The floor is for bad tokens only; a good one is lifted to max_ratio A here.",
        ),
        Mutant(
            "floor for good tokens",
            _of(lambda s, r, a, c: np.where(a > 0, np.maximum(s, c * a), s)),
            "The floor belongs to bad tokens, A < 0.",
        ),
        Mutant(
            "min for max",
            _of(lambda s, r, a, c: np.where(a < 0, np.minimum(s, c * a), s)),
            "A floor is a maximum.",
        ),
        Mutant(
            "floor without A",
            _of(lambda s, r, a, c: np.where(a < 0, np.maximum(s, -c), s)),
            "The floor is max_ratio times A, not -max_ratio.",
        ),
        Mutant(
            "ratio capped for all",
            _of(lambda s, r, a, c: np.where(r > c, c * a, s)),
            "Capping the ratio of good tokens undoes their clip.",
        ),
        Mutant(
            "clip forgotten",
            _of(lambda s, r, a, c: np.where(a < 0, np.maximum(r * a, c * a), r * a)),
            "The ordinary clip is missing.",
        ),
        Mutant(
            "max_ratio fixed",
            lambda r, a, clip=0.2, max_ratio=3.0: _reference(r, a, clip),
            "The argument max_ratio is not used.",
        ),
        Mutant(
            "clip fixed",
            lambda r, a, clip=0.2, max_ratio=3.0: _reference(r, a, 0.2, max_ratio),
            "The argument clip is not used.",
        ),
        Mutant(
            "negated",
            lambda *inputs: -_reference(*inputs),
            "This is the loss; the surrogate is to be maximized.",
        ),
    ),
    others={
        "by cases": lambda r, a, clip=0.2, max_ratio=3.0: np.vectorize(
            lambda x, y: (
                max(min(x * y, max(1 - clip, min(x, 1 + clip)) * y), max_ratio * y)
                if y < 0
                else min(x, 1 + clip) * y
            )
        )(r, a)
    },
)
