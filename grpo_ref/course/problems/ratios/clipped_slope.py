"""The slope of the clipped surrogate."""

from typing import Any

import numpy as np

from grpo_ref import surrogates
from grpo_ref.course.grading.domain.arguments import Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import (
    Case,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.course.grading.sampled_check import FromDomain

DOMAIN = Domain(
    {
        "log_ratio": Real(
            "|T|N T|B N T",
            (-300, 300),
            usual=((-2, 2), (-30, 30), (-300, 300)),
            at=(0, "log(1 + clip_high) + 1e-9", "log(1 - clip_low) - 1e-9", "clip_high", "-clip_low"),
            meaning="log πθ - log πold, in nats",
        ),
        "advantages": Real("|T|N T|B N T", (-1e4, 1e4), meaning="A"),
        "clip_low": Scalar(0.2, (0, 0.99), at=(0,), meaning="how far the ratio may go down"),
        "clip_high": Scalar(0.2, (0, 20), at=(0,), meaning="how far it may go up"),
    },
    sizes={"B": (1, 2), "N": (1, 3), "T": (1, 4)},
    large={"T": 200},
)


def _reference(log_ratio: Any, advantages: Any, clip_low: float = 0.2, clip_high: float = 0.2) -> Any:
    return surrogates.clipped(
        np.asarray(log_ratio, dtype=float),
        np.asarray(advantages, dtype=float),
        clip_low=clip_low,
        clip_high=clip_high,
    ).slope


def _is_the_derivative(f: Function) -> str | None:
    x, a = np.array([-0.9, -0.1, 0.1, 0.9] * 2), np.array([1.5] * 4 + [-1.5] * 4)

    def surrogate(z: Any) -> Any:
        return np.minimum(np.exp(z) * a, np.clip(np.exp(z), 0.8, 1.2) * a)

    numerical = (surrogate(x + 1e-6) - surrogate(x - 1e-6)) / 2e-6
    return (
        None
        if np.allclose(np.asarray(f(x, a)), numerical, atol=1e-8)
        else "it differs from a central difference of the surrogate"
    )


def _wrong(formula: Any) -> Function:
    def answer(log_ratio: Any, advantages: Any, clip_low: float = 0.2, clip_high: float = 0.2) -> Any:
        ratio = np.exp(np.asarray(log_ratio, dtype=float))
        return formula(ratio, np.asarray(advantages, dtype=float), 1 - clip_low, 1 + clip_high)

    return answer


def _slope(r: Any, a: Any, lo: float, hi: float) -> Any:
    return np.where(((a > 0) & (r > hi)) | ((a < 0) & (r < lo)), 0.0, r * a)


PROBLEM = Problem(
    id="ratios/clipped_slope",
    title="Which way does the token push?",
    function="clipped_slope",
    reference=_reference,
    background=(
        "The surrogate is what the policy (the language model) climbs, one value for each token. Clipping is less about"
        " that value than about its slope, for the slope is what moves the policy. A"
        " token whose surrogate no longer changes with its ratio has a slope of 0 and pushes no more. The slope is"
        " taken with respect to the log-ratio, because that is what the chain rule needs next: it moves exactly as"
        " log πθ, the log-probability that the model gives the token."
    ),
    task=(
        "Write `clipped_slope(log_ratio, advantages, clip_low=0.2, clip_high=0.2)`: the derivative of the clipped"
        " surrogate with respect to log_ratio, for each token. With r = exp(log_ratio), the surrogate is\n\n"
        "    s = min(r A, clip(r, 1 - clip_low, 1 + clip_high) A)\n\n"
        "A is the token's advantage (how much better its completion was than others), and clip(r, a, b) holds r between"
        " a and b. Where s is r A, its derivative is r A"
        " too, because the derivative of exp(x) is exp(x). Where the clip holds the value, s is constant."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="∂s/∂log_ratio, an array of the same shape; a number for numbers.",
    constraints=(
        "On the bound itself s has a kink. There a token still pushes: the slope is r A.\n"
        "clip_low is always less than 1; no input has to be refused."
    ),
    notes=(
        "Trainers leave this to automatic differentiation of min and clip. On a kink PyTorch's clamp passes the"
        " slope on, as here."
    ),
    kernel="grpo_ref.clipped",
    source="Schulman et al. 2017, eq. 7 (arXiv:1707.06347), differentiated.",
    hints=(
        "Where the surrogate is constant in the ratio its slope is 0. Where is that?",
        "A good token stops above 1 + clip_high, a bad one below 1 - clip_low. Everywhere else the slope is r A.",
        "stopped = (A > 0) & (r > 1 + clip_high) | (A < 0) & (r < 1 - clip_low); np.where(stopped, 0, r * A)",
    ),
    checks=(
        Case(
            "Far up, with both signs, and on policy",
            ([1.0, 1.0, 0.0], [3.0, -3.0, 2.0]),
            np.array([0.0, -3.0 * np.exp(1.0), 2.0]),
            why=(
                "The first two ratios are exp(1) = 2.71828, above 1.2. The good token is held there: 0. The bad one"
                " is not: 2.71828 · -3. The third ratio is 1, and the slope is A."
            ),
            shown=True,
        ),
        Case("Good token, pushed far enough", (np.log([1.5]), [1.0]), np.zeros(1), why="the clip holds it"),
        Case("Good token, still too rare", (np.log([0.5]), [1.0]), np.array([0.5]), why="r A"),
        Case("Bad token, pushed far enough", (np.log([0.5]), [-1.0]), np.zeros(1), why="the clip holds it"),
        Case("Bad token, still too likely", (np.log([1.5]), [-1.0]), np.array([-1.5]), why="r A"),
        Case(
            "Clip higher",
            (np.log([1.25, 0.75]), [2.0, -1.0], 0.2, 0.28),
            np.array([2.5, 0.0]),
            why="1.25 is below 1 + 0.28, so the good token pushes; 0.75 is below 1 - 0.2, so the bad one stops",
        ),
        Case(
            "Close to the bounds",
            (np.log([0.81, 0.825, 1.19, 1.21]), [-1.0, -1.0, 1.0, 1.0]),
            np.array([-0.81, -0.825, 1.19, 0.0]),
            why="the bounds are 0.8 and 1.2, so only the last token stops",
        ),
        Case(
            "On the bound a token still pushes",
            ([0.0, 0.0], [1.0, -1.0], 0.0, 0.0),
            np.array([1.0, -1.0]),
            why="exp(0) is exactly 1, and half-widths of 0 put the bound there",
        ),
        Holds(
            "It is the derivative of the surrogate", _is_the_derivative, why="checked by central differences"
        ),
        Unchanged((np.array([0.5, -0.5]), np.array([1.0, -1.0]))),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant("never stopped", _wrong(lambda r, a, lo, hi: r * a), "A clipped token has slope 0."),
        Mutant(
            "with respect to the ratio",
            _wrong(lambda r, a, lo, hi: np.where(((a > 0) & (r > hi)) | ((a < 0) & (r < lo)), 0.0, a)),
            "This is the slope in the ratio; in the log-ratio there is a factor r.",
        ),
        Mutant(
            "stopped whenever outside",
            _wrong(lambda r, a, lo, hi: np.where((r > hi) | (r < lo), 0.0, r * a)),
            "Outside the range only the tokens that moved with their advantage stop.",
        ),
        Mutant(
            "stopped above only",
            _wrong(lambda r, a, lo, hi: np.where((a > 0) & (r > hi), 0.0, r * a)),
            "Bad tokens are never stopped here.",
        ),
        Mutant(
            "the other two stopped",
            _wrong(lambda r, a, lo, hi: np.where(((a < 0) & (r > hi)) | ((a > 0) & (r < lo)), 0.0, r * a)),
            "The wrong two of the four cases are stopped.",
        ),
        Mutant(
            "slope of the clipped value",
            _wrong(lambda r, a, lo, hi: np.clip(r, lo, hi) * a),
            "That is the clipped value; its slope is 0 beyond the bounds.",
        ),
        Mutant(
            "slope only where both differ",
            _wrong(lambda r, a, lo, hi: np.where(r * a < np.clip(r, lo, hi) * a, r * a, 0.0)),
            "Within the bounds both products are equal, and the slope is r A.",
        ),
        Mutant(
            "bounds in log space",
            _wrong(lambda r, a, lo, hi: _slope(r, a, np.exp(lo - 1), np.exp(hi - 1))),
            "The half-widths are those of the ratio: exponentiate log_ratio before it is compared with a bound.",
        ),
        Mutant(
            "lower bound turned over",
            _wrong(lambda r, a, lo, hi: _slope(r, a, 1 / (2 - lo), hi)),
            "The lower bound is 1 - clip_low, not 1 / (1 + clip_low).",
        ),
        Mutant(
            "stopped on the bound",
            _wrong(lambda r, a, lo, hi: np.where(((a > 0) & (r >= hi)) | ((a < 0) & (r <= lo)), 0.0, r * a)),
            "On the bound itself a token still pushes.",
        ),
        Mutant(
            "half-widths swapped",
            _wrong(lambda r, a, lo, hi: _slope(r, a, 1 - (hi - 1), 1 + (1 - lo))),
            "clip_low and clip_high are swapped: the ratio may go down to 1 - clip_low and up to 1 + clip_high.",
        ),
        Mutant(
            "bounds swapped",
            _wrong(lambda r, a, lo, hi: np.where(((a > 0) & (r > lo)) | ((a < 0) & (r < hi)), 0.0, r * a)),
            "The bounds are swapped: a good token stops above 1 + clip_high, a bad one below 1 - clip_low.",
        ),
        Mutant(
            "one half-width",
            lambda x, a, clip_low=0.2, clip_high=0.2: _reference(x, a, clip_low, clip_low),
            "clip_high is not used.",
        ),
        Mutant(
            "negated",
            lambda *inputs, **named: -_reference(*inputs, **named),
            "This is the slope of the loss; that of the surrogate is asked for.",
        ),
        Mutant(
            "log-ratio taken for the ratio",
            lambda x, a, *widths, **named: _reference(np.log(np.maximum(x, 1e-3)), a, *widths, **named),
            "log_ratio is the logarithm: exponentiate it first.",
        ),
    ),
    others={
        "comparing the branches": _wrong(
            lambda r, a, lo, hi: np.where(r * a <= np.clip(r, lo, hi) * a, r * a, 0.0)
        ),
    },
)
