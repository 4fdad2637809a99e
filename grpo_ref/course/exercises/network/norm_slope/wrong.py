"""Wrong answers to `network/norm_slope`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant


def _mean(values):
    return values.mean(-1, keepdims=True)


def _sum_over_rows(values):
    return values.reshape(-1, values.shape[-1]).sum(0)


def _scale(x):
    return (_mean(x**2) + 1e-6) ** -0.5


def _x_slope(c, n, e):
    return c * (e - n * _mean(e * n))


def _answer(
    x_slope=_x_slope, gain_slope=lambda x, n, slope, gain: n * slope, scale=_scale, total=_sum_over_rows
):
    """Return an answer. Its `x_slope` receives c, n and e = γ ∂L/∂y, its `gain_slope` x, n, ∂L/∂y and γ."""

    def answer(x, gain, slope):
        x, gain, slope = (np.asarray(each, float) for each in (x, gain, slope))
        c = scale(x)
        return x_slope(c, x * c, gain * slope), total(gain_slope(x, x * c, slope, gain))

    return answer


RIGHT = _answer()


def _layer_norm(x, gain, slope):
    x = np.asarray(x, float)
    x_slope, gain_slope = RIGHT(x - _mean(x), gain, slope)
    return x_slope - _mean(x_slope), gain_slope


WRONG = (
    Mutant(
        "c taken for a constant",
        _answer(lambda c, n, e: c * e),
        "Treats c as a constant in ∂L/∂x; c depends on every number of the row.",
    ),
    Mutant(
        "sum for mean",
        _answer(lambda c, n, e: c * (e - n * (e * n).sum(-1, keepdims=True))),
        "Omits the factor 1/D of ∂c/∂x in the second term of ∂L/∂x.",
    ),
    Mutant(
        "sign of the second term",
        _answer(lambda c, n, e: c * (e + n * _mean(e * n))),
        "Adds the second term of ∂L/∂x; ∂c/∂x is negative.",
    ),
    Mutant(
        "x for n",
        _answer(lambda c, n, e: c * (e - n / c * _mean(e * n))),
        "Has c² in the second term of ∂L/∂x; ∂c/∂x has c³.",
    ),
    Mutant(
        "without the factor c",
        _answer(lambda c, n, e: e - n * _mean(e * n)),
        "Omits one factor c in both terms of ∂L/∂x.",
    ),
    Mutant(
        "mean of e without n",
        _answer(lambda c, n, e: c * (e - _mean(e))),
        "Subtracts the mean of γ ∂L/∂y from every number, as if the row were centered.",
    ),
    Mutant(
        "second term of each number alone",
        _answer(lambda c, n, e: c * (e - n * n * e / n.shape[-1])),
        "Lets c depend on each number only through the output of that number; c changes the whole row.",
    ),
    Mutant(
        "LayerNorm",
        _layer_norm,
        "Subtracts the mean of the row first, as LayerNorm does.",
    ),
    Mutant(
        "no gain in ∂L/∂x",
        lambda x, gain, slope: (RIGHT(x, np.ones(len(gain)), slope)[0], RIGHT(x, gain, slope)[1]),
        "Omits the gain in ∂L/∂x.",
    ),
    Mutant(
        "gain at the end",
        lambda x, gain, slope: (
            np.asarray(gain, float) * RIGHT(x, np.ones(len(gain)), slope)[0],
            RIGHT(x, gain, slope)[1],
        ),
        "Multiplies ∂L/∂x by the gain at the end; the gain belongs inside the mean of the second term too.",
    ),
    Mutant(
        "gain in its own gradient",
        _answer(gain_slope=lambda x, n, slope, gain: gain * n * slope),
        "Multiplies ∂L/∂γ by the gain; ∂y/∂γ is n.",
    ),
    Mutant(
        "x in the gain's gradient",
        _answer(gain_slope=lambda x, n, slope, gain: x * slope),
        "Multiplies ∂L/∂y by x instead of n for ∂L/∂γ.",
    ),
    Mutant(
        "gain averaged",
        _answer(total=lambda values: values.reshape(-1, values.shape[-1]).mean(0)),
        "Averages ∂L/∂γ over the rows; it is a sum.",
    ),
    Mutant(
        "a gain for each row",
        _answer(total=lambda values: values),
        "Returns a ∂L/∂γ for each row; all rows share one gain, so add over them.",
    ),
    Mutant("no 1e-6", _answer(scale=lambda x: _mean(x**2) ** -0.5), "Does not add 1e-6 to the mean of x²."),
    Mutant(
        "1e-6 outside of the root",
        _answer(scale=lambda x: 1.0 / (np.sqrt(_mean(x**2)) + 1e-6)),
        "Adds 1e-6 to the root; it is added to the mean of x², inside the root.",
    ),
    Mutant(
        "1e-5",
        _answer(scale=lambda x: (_mean(x**2) + 1e-5) ** -0.5),
        "Adds 1e-5 to the mean of x² instead of 1e-6.",
    ),
    Mutant(
        "sum of the squares",
        _answer(scale=lambda x: ((x**2).sum(-1, keepdims=True) + 1e-6) ** -0.5),
        "Takes the sum of x² instead of the mean for c.",
    ),
    Mutant(
        "one c for all rows",
        _answer(scale=lambda x: (np.mean(x**2) + 1e-6) ** -0.5),
        "Takes the mean of x² over all rows; every row has its own c.",
    ),
)
