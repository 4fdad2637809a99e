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

ROWS_ALIKE = one_axis_before(CONSTANT)

DOMAIN = Domain(
    {
        "x": Real(
            AXES,
            (-1000.0, 1000.0),
            usual=((-2.0, 2.0), (-0.005, 0.005), (-1000.0, 1000.0)),
            rows=(MIXED, LEVELS, CONSTANT, ROWS_ALIKE, SCALED_ROWS, ONE_FAR_OUT),
            meaning="rows of D numbers",
        ),
        "gain": Real("D", (-10.0, 10.0), meaning="g, one number for each place of a row"),
        "slope": Real(AXES, (-1000.0, 1000.0), rows=(MIXED, ROWS_ALIKE), meaning="∂L/∂y, of the shape of x"),
    },
    sizes={"N": (1, 4), "B": (1, 3), "T": (1, 3), "D": (1, 5)},
    large={"N": 60, "D": 60},
)


def reference(x, gain, slope):
    x, gain, slope = (np.asarray(each, float) for each in (x, gain, slope))
    rows = x.reshape(-1, x.shape[-1])
    kept = layers.rms_norm(rows, gain)[1]
    of_x, of_gain = layers.rms_norm_back(slope.reshape(rows.shape), kept, gain)
    return of_x.reshape(x.shape), of_gain


X = np.array([[1.0, -2.0, 0.5], [0.3, 0.4, -1.2]])

GAIN = np.array([1.5, -0.5, 2.0])

SLOPE = np.array([[0.2, 1.0, -0.7], [3.0, -0.4, 0.6]])

H = 1e-6


def _loss(x, gain):
    return float((layers.rms_norm(x, gain)[0] * SLOPE).sum())


def _central(move, shape):
    """Return the slope of L = Σ slope · y along each entry of an array, by central differences."""
    result = np.zeros(shape)
    for place in np.ndindex(*shape):
        step = np.zeros(shape)
        step[place] = H
        result[place] = (move(step) - move(-step)) / (2.0 * H)
    return result


def _is_the_derivative(f):
    of_x, of_gain = f(X, GAIN, SLOPE)
    if not np.allclose(of_x, _central(lambda step: _loss(X + step, GAIN), X.shape), atol=1e-7):
        return "∂L/∂x differs from a central difference of L = Σ ∂L/∂y · y"
    if not np.allclose(of_gain, _central(lambda step: _loss(X, GAIN + step), GAIN.shape), atol=1e-7):
        return "∂L/∂g differs from a central difference of L = Σ ∂L/∂y · y"
    return None


def _longer_is_no_use(f):
    along = (np.asarray(f(X, GAIN, SLOPE)[0]) * X).sum(-1)
    return (
        None if np.allclose(along, 0.0, atol=1e-4) else "making a row longer should change (next to) nothing"
    )


CHECKS = (
    Case(
        "One and seven",
        ([[1.0, 7.0]], [1.0, 1.0], [[1.0, 0.0]]),
        (
            25.000001**-0.5 * np.array([[1.0 - 0.5 / 25.000001, -3.5 / 25.000001]]),
            25.000001**-0.5 * np.array([1.0, 0.0]),
        ),
        why=(
            "The mean of 1 and 49 is 25, so r is a hair below 1/5. If r were a constant, ∂L/∂x would be 0.2 and 0."
            " But ∂r/∂x = -r³ x/2 is -0.004 and -0.028, and r multiplies x[0] = 1, the only number with a slope: so"
            " it is 0.2 - 0.004 = 0.196, and -0.028. The slope of the gain is n times ∂L/∂y, so 0.2 and 0."
        ),
        shown=True,
    ),
    Case(
        "A gain for each place",
        ([[1.0, 7.0]], [2.0, -3.0], [[1.0, 1.0]]),
        (
            25.000001**-0.5 * np.array([[2.0 + 9.5 / 25.000001, -3.0 + 66.5 / 25.000001]]),
            25.000001**-0.5 * np.array([1.0, 7.0]),
        ),
        why="e = 2, -3, so e · x = -19 and the mean of e n is -9.5 r; the gain's slope is n",
    ),
    Case(
        "A row of zeros",
        ([[0.0, 0.0], [0.0, 0.0]], [2.0, 1.0], [[1.0, 3.0], [0.0, 1.0]]),
        (np.array([[2000.0, 3000.0], [0.0, 1000.0]]), np.zeros(2)),
        why="r = 1e-6 to the power -1/2 = 1000, and n = 0: ∂L/∂x = 1000 g ∂L/∂y",
    ),
    Case(
        "Rows add up in the gain alone",
        ([[[1.0, 7.0]], [[1.0, -7.0]]], [1.0, 1.0], [[[1.0, 0.0]], [[1.0, 0.0]]]),
        (
            25.000001**-0.5
            * np.array(
                [[[1.0 - 0.5 / 25.000001, -3.5 / 25.000001]], [[1.0 - 0.5 / 25.000001, 3.5 / 25.000001]]]
            ),
            25.000001**-0.5 * np.array([2.0, 0.0]),
        ),
        why="two rows like the first example, the second one with -7",
    ),
    Case(
        "One loud number among 64",
        (16.0 * np.eye(64)[:1], np.ones(64), np.ones((1, 64))),
        (
            4.000001**-0.5 * (np.ones((1, 64)) - 4.0 / 4.000001 * np.eye(64)[:1]),
            16.0 * 4.000001**-0.5 * np.eye(64)[0],
        ),
        why="the mean of the squares is 256/64 = 4, so n is 8 there: no number of a row is held back",
    ),
    Holds("It is the derivative", _is_the_derivative, why="checked by central differences"),
    Holds("No slope along the row", _longer_is_no_use, why="a longer row has the same direction"),
    Unchanged((X, GAIN, SLOPE)),
)
