"""The clipped surrogate, value by value."""

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
        "ratio": Real(
            "|T|N T|B N T",
            (1e-8, 1e4),
            usual=((0.1, 2), (1e-8, 1e4), (1e-8, 1e-6)),
            at=(1, "1 + clip_high", "1 - clip_low"),
            meaning="r = πθ/πold",
        ),
        "advantages": Real("|T|N T|B N T", (-1e4, 1e4), at=(0,), meaning="A"),
        "clip_low": Scalar(0.2, (0, 0.99), at=(0,), meaning="how far the ratio may go down"),
        "clip_high": Scalar(0.2, (0, 20), at=(0,), meaning="how far it may go up"),
    },
    sizes={"B": (1, 2), "N": (1, 3), "T": (1, 4)},
    large={"T": 200},
)


def _reference(ratio: Any, advantages: Any, clip_low: float = 0.2, clip_high: float = 0.2) -> Any:
    log_ratio = np.log(np.asarray(ratio, dtype=float))
    return surrogates.clipped(
        log_ratio, np.asarray(advantages, dtype=float), clip_low=clip_low, clip_high=clip_high
    ).value


def _wrong(formula: Any) -> Function:
    def answer(ratio: Any, advantages: Any, clip_low: float = 0.2, clip_high: float = 0.2) -> Any:
        return formula(
            np.asarray(ratio, dtype=float), np.asarray(advantages, dtype=float), 1 - clip_low, 1 + clip_high
        )

    return answer


PROBLEM = Problem(
    id="ratios/clipped",
    title="Not further than that",
    function="clipped_surrogate",
    reference=_reference,
    background=(
        "A batch of completions is used for several steps, and with every step the policy (the language model) moves away from the one"
        " that wrote them. The surrogate is what the policy climbs: for each token, its ratio r = πθ/πold (how much likelier it has become) times its advantage A (how much better its completion was than others). Climbing r A without"
        " a limit would push a good token ever further on the evidence of one sample. PPO stops rewarding a token"
        " that has already been pushed far enough; DAPO lets good tokens go further up than bad ones go down."
    ),
    task=(
        "Write `clipped_surrogate(ratio, advantages, clip_low=0.2, clip_high=0.2)`, one value for each token:\n\n"
        "    s = min(r A, clip(r, 1 - clip_low, 1 + clip_high) A)\n\n"
        "clip(r, a, b) is r held between a and b: a where r < a, b where r > b. The smaller of the two products"
        " counts. So the value is held only where the token has moved in the direction of its advantage: above"
        " 1 + clip_high if A > 0, below 1 - clip_low if A < 0."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="An array of the same shape; a number for numbers.",
    constraints="clip_low is always less than 1; no input has to be refused.",
    notes=(
        "TRL and verl take 0.2 for both; DAPO takes clip_high = 0.28, which is called clip-higher. The loss of a"
        " trainer is the surrogate with a minus sign."
    ),
    kernel="grpo_ref.clipped",
    source="Schulman et al. 2017, eq. 7 (arXiv:1707.06347); DAPO, eq. 10 (arXiv:2503.14476).",
    hints=(
        "Four cases: ratio up or down, advantage good or bad. In which two does the clip hold?",
        "The smaller of the two products counts. With a negative advantage, that is the larger ratio.",
        "np.minimum(ratio * A, np.clip(ratio, 1 - clip_low, 1 + clip_high) * A)",
    ),
    checks=(
        Case(
            "A good and a bad token have become likelier",
            ([1.5, 1.5], [1.0, -2.0]),
            np.array([1.2, -3.0]),
            why=(
                "Good token: 1.5 is held at 1.2, and min(1.5 · 1, 1.2 · 1) = 1.2. Bad token: min(1.5 · -2, 1.2 · -2)"
                " = min(-3, -2.4) = -3, so it is not held."
            ),
            shown=True,
        ),
        Case("On policy", ([1.0], [2.0]), np.array([2.0]), why="a ratio of 1 is not clipped"),
        Case("Good token, still too rare", ([0.5], [1.0]), np.array([0.5]), why="min(0.5, 0.8)"),
        Case("Bad token, pushed far enough", ([0.5], [-1.0]), np.array([-0.8]), why="min(-0.5, -0.8)"),
        Case(
            "Clip higher",
            ([1.5, 0.5], [1.0, -1.0], 0.3, 0.28),
            np.array([1.28, -0.7]),
            why="up to 1 + 0.28 and down to 1 - 0.3: the two half-widths have names of their own",
        ),
        Case("A tiny advantage", ([1.5], [1e-13]), np.array([1.2e-13]), why="small is not 0"),
        Unchanged((np.array([1.5, 0.5]), np.array([1.0, -1.0]))),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant("never clipped", _wrong(lambda r, a, lo, hi: r * a), "The ratio is never clipped."),
        Mutant(
            "clip without min", _wrong(lambda r, a, lo, hi: np.clip(r, lo, hi) * a), "The min is missing."
        ),
        Mutant(
            "max for min",
            _wrong(lambda r, a, lo, hi: np.maximum(r * a, np.clip(r, lo, hi) * a)),
            "The smaller one counts.",
        ),
        Mutant(
            "upper bound only",
            _wrong(lambda r, a, lo, hi: np.minimum(r, hi) * a),
            "There is no lower bound for bad tokens.",
        ),
        Mutant(
            "product clipped",
            _wrong(lambda r, a, lo, hi: np.minimum(r * a, np.clip(r * a, lo, hi))),
            "The ratio is clipped, not ratio times advantage.",
        ),
        Mutant(
            "clip by the sign, other way round",
            _wrong(lambda r, a, lo, hi: np.where(a > 0, np.maximum(r, lo), np.minimum(r, hi)) * a),
            "The bounds are on the wrong sides: good tokens are held above, bad ones below.",
        ),
        Mutant(
            "one half-width",
            lambda r, a, clip_low=0.2, clip_high=0.2: _reference(r, a, clip_low, clip_low),
            "clip_high is not used.",
        ),
        Mutant(
            "half-widths swapped",
            _wrong(lambda r, a, lo, hi: np.minimum(r * a, np.clip(r, 1 - (hi - 1), 1 + (1 - lo)) * a)),
            "clip_low and clip_high are swapped.",
        ),
        Mutant(
            "negated",
            lambda *inputs, **named: -_reference(*inputs, **named),
            "This is the loss; the surrogate is to be maximized.",
        ),
        Mutant(
            "averaged",
            lambda *inputs, **named: _reference(*inputs, **named).mean(),
            "One value per token is asked for, not their mean.",
        ),
        Mutant(
            "log-space bounds",
            _wrong(lambda r, a, lo, hi: np.minimum(r * a, np.clip(r, 1 / hi, hi) * a)),
            "The lower bound is 1 - clip_low, not 1 / (1 + clip_high).",
        ),
        Mutant(
            "half-widths in log space",
            _wrong(lambda r, a, lo, hi: np.minimum(r * a, np.clip(r, np.exp(lo - 1), np.exp(hi - 1)) * a)),
            "The half-widths are those of the ratio, not of its logarithm.",
        ),
        Mutant(
            "good tokens only",
            _wrong(lambda r, a, lo, hi: np.where(a > 0, np.minimum(r, hi), r) * a),
            "Bad tokens are held too, below 1 - clip_low.",
        ),
    ),
    others={
        "a loop": lambda r, a, clip_low=0.2, clip_high=0.2: np.vectorize(
            lambda x, y: min(x * y, max(1 - clip_low, min(x, 1 + clip_high)) * y), otypes=[float]
        )(r, a),
    },
)
