"""The slope of the clipped surrogate."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import (
    Case,
    Drawn,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.kernels import surrogates


def _reference(log_ratio: Any, advantages: Any, clip_low: float = 0.2, clip_high: float = 0.2) -> Any:
    return surrogates.clipped(
        np.asarray(log_ratio, dtype=float),
        np.asarray(advantages, dtype=float),
        clip_low=clip_low,
        clip_high=clip_high,
    ).slope


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    log_ratio, advantages = rng.uniform(-1.5, 1.0, (2, size)), rng.normal(size=(2, size))
    return log_ratio, advantages, rng.uniform(0.05, 0.5), rng.uniform(0.05, 0.9)


def _is_the_derivative(f: Function) -> str | None:
    x, a = np.array([-0.9, -0.1, 0.1, 0.9] * 2), np.array([1.5] * 4 + [-1.5] * 4)

    def surrogate(z: Any) -> Any:
        return np.minimum(np.exp(z) * a, np.clip(np.exp(z), 0.8, 1.2) * a)

    numerical = (surrogate(x + 1e-6) - surrogate(x - 1e-6)) / 2e-6
    return (
        None
        if np.allclose(f(x, a), numerical, atol=1e-8)
        else "it differs from a central difference of the surrogate"
    )


def _wrong(formula: Any) -> Function:
    def answer(log_ratio: Any, advantages: Any, clip_low: float = 0.2, clip_high: float = 0.2) -> Any:
        ratio = np.exp(np.asarray(log_ratio, dtype=float))
        return formula(ratio, np.asarray(advantages, dtype=float), 1 - clip_low, 1 + clip_high)

    return answer


PROBLEM = Problem(
    id="ratios/clipped_slope",
    title="Which way does the token push?",
    function="clipped_slope",
    reference=_reference,
    background="Clipping is not about the value of the loss but about its gradient: a clipped token pushes no more.",
    task=(
        "Write `clipped_slope(log_ratio, advantages, clip_low=0.2, clip_high=0.2)`: the derivative of the clipped"
        " surrogate with respect to log_ratio.\n\n"
        "    s = min(r A, clip(r, 1 - clip_low, 1 + clip_high) A),    r = exp(log_ratio)"
    ),
    inputs="log_ratio: log πθ - log πold.\nadvantages: A, of the same shape.\nclip_low, clip_high: the half-widths.",
    output="∂s/∂log_ratio, of the same shape.",
    constraints="On the bound itself a token still pushes.",
    notes="Autograd engines differentiate the min and the clip; in mixed precision comparing the two products can go wrong.",
    source="Schulman et al. 2017, eq. 7 (arXiv:1707.06347), differentiated.",
    hints=(
        "Where the surrogate is constant in the ratio its slope is 0. Where is that?",
        "A good token stops above 1 + clip_high, a bad one below 1 - clip_low. Everywhere else the slope is r A.",
        "stopped = (A > 0) & (r > 1 + clip_high) | (A < 0) & (r < 1 - clip_low); np.where(stopped, 0, r * A)",
    ),
    checks=(
        Case("On policy", ([0.0], [2.0]), np.array([2.0]), why="r = 1: the slope is A", shown=True),
        Case(
            "Good token, pushed far enough",
            (np.log([1.5]), [1.0]),
            np.zeros(1),
            why="the clip holds it",
            shown=True,
        ),
        Case("Good token, still too rare", (np.log([0.5]), [1.0]), np.array([0.5]), why="r A"),
        Case("Bad token, pushed far enough", (np.log([0.5]), [-1.0]), np.zeros(1), why="the clip holds it"),
        Case("Bad token, still too likely", (np.log([1.5]), [-1.0]), np.array([-1.5]), why="r A"),
        Case("Clip higher", (np.log([1.25]), [2.0], 0.2, 0.28), np.array([2.5]), why="1.25 is inside 1.28"),
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
        Drawn("Random tokens agree", _draw, why="two half-widths, both signs"),
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
            "stopped on the bound",
            _wrong(lambda r, a, lo, hi: np.where(((a > 0) & (r >= hi)) | ((a < 0) & (r <= lo)), 0.0, r * a)),
            "On the bound itself a token still pushes.",
        ),
        Mutant(
            "one half-width",
            lambda x, a, clip_low=0.2, clip_high=0.2: _reference(x, a, clip_low, clip_low),
            "clip_high is not used.",
        ),
        Mutant(
            "negated",
            lambda *inputs: -_reference(*inputs),
            "This is the slope of the loss; that of the surrogate is asked for.",
        ),
        Mutant(
            "log-ratio taken for the ratio",
            lambda x, a, *widths: _reference(np.log(np.maximum(x, 1e-3)), a, *widths),
            "log_ratio is the logarithm: exponentiate it first.",
        ),
    ),
    others={
        "comparing the branches": _wrong(
            lambda r, a, lo, hi: np.where(r * a <= np.clip(r, lo, hi) * a, r * a, 0.0)
        ),
    },
)
