"""Wrong answers to `network/norm_slope`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant


def _mean(values):
    return values.mean(-1, keepdims=True)


def _added_up(values):
    return values.reshape(-1, values.shape[-1]).sum(0)


def _scale(x):
    return (_mean(x**2) + 1e-6) ** -0.5


def _of_x(r, n, e):
    return r * (e - n * _mean(e * n))


def _of(of_x=_of_x, of_gain=None, scale=_scale, total=_added_up):
    """Return an answer. Its `of_x` receives r, n and e = g ∂L/∂y, its `of_gain` x, n, ∂L/∂y and g."""

    def answer(x, gain, slope):
        x, gain, slope = (np.asarray(each, float) for each in (x, gain, slope))
        r = scale(x)
        by_place = of_gain(x, x * r, slope, gain) if of_gain else x * r * slope
        return of_x(r, x * r, gain * slope), total(by_place)

    return answer


def _centered(x, gain, slope):
    """Return the backward pass of layer normalization instead."""
    x = np.asarray(x, float)
    of_x, of_gain = _of()(x - _mean(x), gain, slope)
    return of_x - _mean(of_x), of_gain


WRONG = (
    Mutant(
        "r taken for a constant",
        _of(lambda r, n, e: r * e),
        "r depends on x too: the second term of the slope is missing.",
    ),
    Mutant(
        "sum for mean",
        _of(lambda r, n, e: r * (e - n * (e * n).sum(-1, keepdims=True))),
        "e n is averaged over the row, not added up: ∂r/∂x has the factor 1/D.",
    ),
    Mutant(
        "sign of the second term",
        _of(lambda r, n, e: r * (e + n * _mean(e * n))),
        "r falls when x grows: the second term is taken off.",
    ),
    Mutant(
        "x for n",
        lambda x, gain, slope: _of(
            lambda r, n, e: r * (e - n / r * _mean(e * n)),
        )(x, gain, slope),
        "The row in the second term is n = x r, not x.",
    ),
    Mutant(
        "r left out",
        _of(lambda r, n, e: e - n * _mean(e * n)),
        "The factor r in front is missing.",
    ),
    Mutant(
        "mean of e without n",
        _of(lambda r, n, e: r * (e - _mean(e))),
        "What is taken off is along n: n times the mean of e n.",
    ),
    Mutant(
        "layer normalization",
        _centered,
        "This is LayerNorm, which takes the mean of the row off first.",
    ),
    Mutant(
        "gain forgotten",
        lambda x, gain, slope: (_of()(x, np.ones(len(gain)), slope)[0], _of()(x, gain, slope)[1]),
        "The gain is missing on the way to x.",
    ),
    Mutant(
        "gain in its own slope",
        _of(of_gain=lambda x, n, slope, gain: gain * n * slope),
        "∂y/∂g is n, without the gain.",
    ),
    Mutant("x in the gain's slope", _of(of_gain=lambda x, n, slope, gain: x * slope), "∂y/∂g is n, not x."),
    Mutant(
        "gain averaged",
        _of(total=lambda values: values.reshape(-1, values.shape[-1]).mean(0)),
        "The slope of the gain is a sum over all rows, not a mean.",
    ),
    Mutant(
        "a gain for each row", _of(total=lambda values: values), "All rows share one gain: add over them."
    ),
    Mutant("no 1e-6", _of(scale=lambda x: _mean(x**2) ** -0.5), "1e-6 is missing."),
    Mutant(
        "1e-6 outside of the root",
        _of(scale=lambda x: 1.0 / (np.sqrt(_mean(x**2)) + 1e-6)),
        "1e-6 is added to the mean of the squares, inside the root.",
    ),
    Mutant(
        "1e-5",
        _of(scale=lambda x: (_mean(x**2) + 1e-5) ** -0.5),
        "1e-5 is LayerNorm's; here 1e-6 is added.",
    ),
    Mutant(
        "one scale for all rows",
        _of(scale=lambda x: (np.mean(x**2) + 1e-6) ** -0.5),
        "Every row has its own r.",
    ),
)
