"""Wrong answers to `ratios/clipped_slope`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.ratios.clipped_slope.tests import reference


def _wrong(formula):
    def answer(log_ratio, advantages, clip_low=0.2, clip_high=0.2):
        ratio = np.exp(np.asarray(log_ratio, dtype=float))
        return formula(ratio, np.asarray(advantages, dtype=float), 1 - clip_low, 1 + clip_high)

    return answer


def _slope(r, a, lo, hi):
    return np.where(((a > 0) & (r > hi)) | ((a < 0) & (r < lo)), 0.0, r * a)


WRONG = (
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
        lambda x, a, clip_low=0.2, clip_high=0.2: reference(x, a, clip_low, clip_low),
        "clip_high is not used.",
    ),
    Mutant(
        "negated",
        lambda *inputs, **named: -reference(*inputs, **named),
        "This is the slope of the loss; that of the surrogate is asked for.",
    ),
    Mutant(
        "log-ratio taken for the ratio",
        lambda x, a, *widths, **named: reference(np.log(np.maximum(x, 1e-3)), a, *widths, **named),
        "log_ratio is the logarithm: exponentiate it first.",
    ),
)
