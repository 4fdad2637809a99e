"""A weight that is capped, and a gradient that never dies."""

from typing import Any

import numpy as np

from grpo_ref import surrogates
from grpo_ref.course.grading.domain.arguments import Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain

DOMAIN = Domain(
    {
        "log_ratio": Real(
            "|T|N T|B N T",
            (-300, 300),
            usual=((-2, 3), (-30, 30), (-300, 300)),
            at=(0, "log(max_ratio)"),
            meaning="log πθ - log πold, in nats",
        ),
        "advantages": Real("|T|N T|B N T", (-1e4, 1e4), meaning="A"),
        "max_ratio": Scalar(5.0, (0.1, 100), usual=((0.5, 6), (0.1, 100)), at=(1,), meaning="the cap"),
    },
    sizes={"B": (1, 2), "N": (1, 3), "T": (1, 4)},
    large={"T": 200},
)


def _reference(log_ratio: Any, advantages: Any, max_ratio: float = 5.0) -> Any:
    log_ratio, advantages = np.asarray(log_ratio, dtype=float), np.asarray(advantages, dtype=float)
    return surrogates.cispo(log_ratio, np.zeros_like(log_ratio), advantages, max_ratio=max_ratio).direct


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
        "PPO's clip takes the slope away from exactly those tokens that moved most, and these are often rare tokens"
        " that matter, such as a `However` or a `Wait` where the text takes a turn. CISPO keeps every token in"
        " training. It goes back to the plain policy gradient (REINFORCE), which raises log πθ, the log-probability"
        " of a token, in proportion to its advantage A (how much better its completion was than others). As the completions were"
        " written by an older policy, each token is"
        " weighted by its ratio r = πθ/πold (how much likelier it has become); that weight is capped, so that no token can dominate, and it is held"
        " constant, so that nothing but the logarithm is differentiated."
    ),
    task=(
        "The surrogate of a token is\n\n"
        "    s = sg[min(r, max_ratio)] A log πθ,    r = exp(log_ratio)\n\n"
        "sg (stop-gradient) means that what stands in the brackets is treated as a constant when s is"
        " differentiated. Write `cispo_slope(log_ratio, advantages, max_ratio=5.0)`, the derivative of s with respect"
        " to log πθ, for each token:\n\n"
        "    ∂s / ∂log πθ"
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="An array of the same shape; a number for numbers.",
    constraints=(
        "The cap is for good and bad tokens alike, and there is no lower bound.\n"
        "The cap may be less than 1; no input has to be refused."
    ),
    notes=(
        "The trainers' caps differ: TRL's epsilon_high is the cap itself, Open Instruct's cap is 1 + clip_higher, and"
        " verl also has a lower bound."
    ),
    kernel="grpo_ref.cispo",
    source='MiniMax-M1 (arXiv:2506.13585); TRL `loss_type="cispo"`.',
    hints=(
        "What is the derivative of c · log πθ with respect to log πθ, if c is a constant?",
        "Nothing is differentiated but the logarithm: the weight and the advantage stay as factors.",
        "np.minimum(np.exp(log_ratio), max_ratio) * advantages",
    ),
    checks=(
        Case(
            "On policy and above the cap",
            ([0.0, 2.0, 2.0], [2.0, 3.0, -3.0]),
            np.array([2.0, 15.0, -15.0]),
            why=(
                "The first weight is exp(0) = 1. exp(2) = 7.39 is above the cap, so the weight is 5 for the good and"
                " for the bad token: capped, but not 0."
            ),
            shown=True,
        ),
        Case("A low ratio", (np.log([0.5]), [2.0]), np.array([1.0]), why="there is no lower bound"),
        Case(
            "Another cap",
            ([np.log(2.0), np.log(1.1), 3.0], [1.0, 1.0, 1.0], 1.28),
            np.array([1.28, 1.1, 1.28]),
            why="min(2, 1.28), min(1.1, 1.28) and min(exp(3), 1.28)",
        ),
        Unchanged((np.array([0.5]), np.array([1.0]))),
        FromDomain(),
        *found_cases(__file__),
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
            "capped tokens dropped",
            _of(lambda r, a, c: np.where(r > c, 0.0, r * a)),
            "A capped token keeps its gradient: its weight is the cap, not 0.",
        ),
        Mutant(
            "cap of the logarithm",
            _of(lambda r, a, c: np.exp(np.minimum(np.log(r), c)) * a),
            "max_ratio caps the ratio, not its logarithm.",
        ),
        Mutant(
            "one-sided like PPO's loss",
            _of(lambda r, a, c: np.where(a > 0, np.minimum(r, c), r) * a),
            "The cap holds for bad tokens too.",
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
