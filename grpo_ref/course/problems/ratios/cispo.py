"""A weight that is capped, and a gradient that never dies."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import Case, Drawn, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.kernels import surrogates


def _reference(log_ratio: Any, advantages: Any, max_ratio: float = 5.0) -> Any:
    log_ratio, advantages = np.asarray(log_ratio, dtype=float), np.asarray(advantages, dtype=float)
    return surrogates.cispo(log_ratio, np.zeros_like(log_ratio), advantages, max_ratio=max_ratio).direct


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return rng.normal(size=(2, size)), rng.normal(size=(2, size)), rng.uniform(1.0, 3.0)


def _of(formula: Any) -> Function:
    return lambda log_ratio, advantages, max_ratio=5.0: formula(
        np.exp(np.asarray(log_ratio, dtype=float)), np.asarray(advantages, dtype=float), max_ratio
    )


PROBLEM = Problem(
    id="ratios/cispo",
    title="A weight that is capped, and a gradient that never dies",
    function="cispo_slope",
    reference=_reference,
    background=(
        "PPO's clip takes the gradient away from exactly the rare tokens that moved most: `However`, `Wait`. CISPO goes back to"
        " REINFORCE, A log πθ, weighted by the ratio; it caps the weight and holds it constant, so that every token trains."
    ),
    task=(
        "The surrogate of a token is s = sg[min(r, cap)] A log πθ, where sg (stop-gradient) means: treat as a constant."
        " Write `cispo_slope(log_ratio, advantages, max_ratio=5.0)`, its derivative\n\n"
        "    ∂s / ∂log πθ"
    ),
    inputs="log_ratio: log πθ - log πold, in nats.\nadvantages: A, of the same shape.\nmax_ratio: the cap.",
    output="An array of the same shape.",
    notes="TRL's epsilon_high is the cap itself; Open Instruct's cap is 1 + clip_higher; verl also has a lower bound.",
    source='MiniMax-M1 (arXiv:2506.13585); TRL `loss_type="cispo"`.',
    hints=(
        "What is the derivative of c · log πθ with respect to log πθ, if c is a constant?",
        "Nothing is differentiated but the logarithm: the weight and the advantage stay as factors.",
        "np.minimum(np.exp(log_ratio), max_ratio) * advantages",
    ),
    checks=(
        Case("On policy", ([0.0], [2.0]), np.array([2.0]), why="the weight is 1", shown=True),
        Case(
            "Above the cap",
            (np.log([9.0]), [2.0]),
            np.array([10.0]),
            why="5 · 2: capped, but not 0",
            shown=True,
        ),
        Case("A low ratio", (np.log([0.5]), [2.0]), np.array([1.0]), why="there is no lower bound"),
        Case(
            "A bad token far too likely",
            (np.log([9.0]), [-2.0]),
            np.array([-10.0]),
            why="the cap holds for both signs",
        ),
        Case(
            "Another cap",
            (np.log([2.0, 1.1]), [1.0, 1.0], 1.28),
            np.array([1.28, 1.1]),
            why="min(2, 1.28) and min(1.1, 1.28)",
        ),
        Unchanged((np.array([0.5]), np.array([1.0]))),
        Drawn("Random tokens agree", _draw, why="both signs, several caps"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "PPO's slope",
            _of(lambda r, a, c: np.where((a > 0) & (r > c), 0.0, r * a)),
            "This drops the gradient of capped tokens, as PPO does; CISPO keeps it.",
        ),
        Mutant("not capped", _of(lambda r, a, c: r * a), "The weight is not capped."),
        Mutant(
            "cap as an offset",
            _of(lambda r, a, c: np.minimum(r, 1 + c) * a),
            "The cap is max_ratio itself, not 1 + max_ratio.",
        ),
        Mutant(
            "product capped",
            _of(lambda r, a, c: np.minimum(r * a, c)),
            "The ratio is capped, not ratio times advantage.",
        ),
        Mutant("capped below too", _of(lambda r, a, c: np.clip(r, 1 / c, c) * a), "There is no lower bound."),
        Mutant(
            "weight forgotten", _of(lambda r, a, c: a + 0 * r), "This is plain REINFORCE, without the weight."
        ),
        Mutant("advantage forgotten", _of(lambda r, a, c: np.minimum(r, c)), "The advantage is missing."),
        Mutant(
            "logarithm as the weight",
            _of(lambda r, a, c: np.minimum(np.log(r), c) * a),
            "The weight is the ratio, not its logarithm.",
        ),
        Mutant(
            "inverted",
            _of(lambda r, a, c: np.minimum(1 / r, c) * a),
            "The ratio is turned over: new over old.",
        ),
    ),
    others={
        "a clip in log space": lambda x, a, max_ratio=5.0: (
            np.exp(np.minimum(x, np.log(max_ratio))) * np.asarray(a)
        )
    },
)
