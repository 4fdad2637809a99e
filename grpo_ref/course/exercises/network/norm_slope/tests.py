"""The tests of `network/norm_slope`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import (
    CONSTANT,
    LEVELS,
    MIXED,
    ONE_FAR_OUT,
    SCALED_ROWS,
    Case,
    Domain,
    Holds,
    Real,
    Unchanged,
    one_axis_before,
)
from grpo_ref.learning.policies import layers

AXES = "N D|B T D"

EQUAL_ROWS = one_axis_before(CONSTANT)

DOMAIN = Domain(
    {
        "x": Real(
            AXES,
            (-1000.0, 1000.0),
            usual=((-2.0, 2.0), (-0.005, 0.005), (-1000.0, 1000.0)),
            rows=(MIXED, LEVELS, CONSTANT, EQUAL_ROWS, SCALED_ROWS, ONE_FAR_OUT),
            meaning="rows of D numbers",
        ),
        "gain": Real("D", (-10.0, 10.0), meaning="γ, one learned number per column"),
        "slope": Real(
            AXES, (-1000.0, 1000.0), rows=(MIXED, EQUAL_ROWS), meaning="∂L/∂y, the gradient of the output"
        ),
    },
    sizes={"N": (1, 4), "B": (1, 3), "T": (1, 3), "D": (2, 5)},
    large={"N": 60, "D": 60},
)


def reference(x, gain, slope):
    x, gain, slope = (np.asarray(each, float) for each in (x, gain, slope))
    rows = x.reshape(-1, x.shape[-1])
    cache = layers.rms_norm(rows, gain)[1]
    x_slope, gain_slope = layers.rms_norm_back(slope.reshape(rows.shape), cache, gain)
    return x_slope.reshape(x.shape), gain_slope


X = np.array([[1.0, -2.0, 0.5], [0.3, 0.4, -1.2]])

GAIN = np.array([1.5, -0.5, 2.0])

SLOPE = np.array([[0.2, 1.0, -0.7], [3.0, -0.4, 0.6]])

H = 1e-6


def _loss(x, gain):
    return float((layers.rms_norm(x, gain)[0] * SLOPE).sum())


def _central(loss, shape):
    """Return the gradient of a loss by central differences; `loss` receives the shift of an array."""
    result = np.zeros(shape)
    for place in np.ndindex(*shape):
        step = np.zeros(shape)
        step[place] = H
        result[place] = (loss(step) - loss(-step)) / (2.0 * H)
    return result


def _is_the_derivative(f):
    x_slope, gain_slope = f(X, GAIN, SLOPE)
    if not np.allclose(x_slope, _central(lambda step: _loss(X + step, GAIN), X.shape), atol=1e-7):
        return "∂L/∂x differs from a central difference of L = Σ ∂L/∂y · y"
    if not np.allclose(gain_slope, _central(lambda step: _loss(X, GAIN + step), GAIN.shape), atol=1e-7):
        return "∂L/∂γ differs from a central difference of L = Σ ∂L/∂y · y"
    return None


def _perpendicular(f):
    products = (np.asarray(f(X, GAIN, SLOPE)[0]) * X).sum(-1)
    return None if np.allclose(products, 0.0, atol=1e-4) else "∂L/∂x · x should be nearly 0 in every row"


C = 25.000001**-0.5

CHECKS = (
    Case(
        "One row",
        ([[1.0, 7.0]], [1.0, 1.0], [[1.0, 0.0]]),
        (C * np.array([[1.0 - 0.5 * C**2, -3.5 * C**2]]), C * np.array([1.0, 0.0])),
        why=(
            "The mean of 1 and 49 is 25, so c is nearly 1/5. If c were constant, ∂L/∂x would be 0.2 and 0. But ∂c/∂x"
            " is -0.004 and -0.028, so ∂L/∂x is 0.2 - 0.004 and -0.028. The gain gets n · ∂L/∂y."
        ),
        shown=True,
    ),
    Case(
        "A gain, and two rows",
        ([[1.0, 7.0], [7.0, 1.0]], [2.0, 10.0], [[1.0, 0.0], [1.0, 1.0]]),
        (
            C * np.array([[2.0 - C**2, -7.0 * C**2], [2.0 - 84.0 * C**2, 10.0 - 12.0 * C**2]]),
            C * np.array([8.0, 1.0]),
        ),
        why=(
            "c is nearly 1/5 in both rows. The gain of 2 doubles the first example. In the second row L depends on c"
            " as 24 c, so ∂L/∂x is 0.4 - 24 · 0.028 and 2 - 24 · 0.004. ∂L/∂γ is the sum over both rows."
        ),
        shown=True,
    ),
    Case(
        "A negative gain",
        ([[1.0, 7.0]], [2.0, -3.0], [[1.0, 1.0]]),
        (C * np.array([[2.0 + 9.5 * C**2, -3.0 + 66.5 * C**2]]), C * np.array([1.0, 7.0])),
        why="γ ∂L/∂y is (2, -3), and its product with x is -19. The gain gets n.",
    ),
    Case(
        "Rows of zeros",
        ([[0.0, 0.0], [0.0, 0.0]], [2.0, 1.0], [[1.0, 3.0], [0.0, 1.0]]),
        (np.array([[2000.0, 3000.0], [0.0, 1000.0]]), np.zeros(2)),
        why="c = 1e-6 to the power -1/2 = 1000 and n = 0, so ∂L/∂x = 1000 γ ∂L/∂y.",
    ),
    Case(
        "Two texts of one token",
        ([[[1.0, 7.0]], [[1.0, -7.0]]], [1.0, 1.0], [[[1.0, 0.0]], [[1.0, 0.0]]]),
        (
            C * np.array([[[1.0 - 0.5 * C**2, -3.5 * C**2]], [[1.0 - 0.5 * C**2, 3.5 * C**2]]]),
            C * np.array([2.0, 0.0]),
        ),
        why="Two rows like the first example, the second with -7. Only ∂L/∂γ is a sum over both.",
    ),
    Case(
        "One large number among 64",
        (16.0 * np.eye(64)[:1], np.ones(64), np.ones((1, 64))),
        (
            4.000001**-0.5 * (np.ones((1, 64)) - 4.0 / 4.000001 * np.eye(64)[:1]),
            16.0 * 4.000001**-0.5 * np.eye(64)[0],
        ),
        why="The mean of the squares is 256/64 = 4, so n is 8 at the large number. The norm limits no number.",
    ),
    Holds("The gradients are derivatives", _is_the_derivative, why="Compared with central differences."),
    Holds("∂L/∂x is perpendicular to x", _perpendicular, why="A longer row gives nearly the same output."),
    Unchanged((X, GAIN, SLOPE)),
)
