"""Back through the norm."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Real
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import (
    CONSTANT,
    LEVELS,
    MIXED,
    ONE_FAR_OUT,
    SCALED_ROWS,
    one_axis_before,
)
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


def _reference(x: Any, gain: Any, slope: Any) -> Any:
    x, gain, slope = (np.asarray(each, float) for each in (x, gain, slope))
    rows = x.reshape(-1, x.shape[-1])
    kept = layers.rms_norm(rows, gain)[1]
    of_x, of_gain = layers.rms_norm_back(slope.reshape(rows.shape), kept, gain)
    return of_x.reshape(x.shape), of_gain


def _mean(values: Any) -> Any:
    return values.mean(-1, keepdims=True)


def _added_up(values: Any) -> Any:
    return values.reshape(-1, values.shape[-1]).sum(0)


def _scale(x: Any) -> Any:
    return (_mean(x**2) + 1e-6) ** -0.5


def _of_x(r: Any, n: Any, e: Any) -> Any:
    return r * (e - n * _mean(e * n))


def _of(of_x: Any = _of_x, of_gain: Any = None, scale: Any = _scale, total: Any = _added_up) -> Function:
    """Return an answer. Its `of_x` receives r, n and e = g ∂L/∂y, its `of_gain` x, n, ∂L/∂y and g."""

    def answer(x: Any, gain: Any, slope: Any) -> Any:
        x, gain, slope = (np.asarray(each, float) for each in (x, gain, slope))
        r = scale(x)
        by_place = of_gain(x, x * r, slope, gain) if of_gain else x * r * slope
        return of_x(r, x * r, gain * slope), total(by_place)

    return answer


def _centered(x: Any, gain: Any, slope: Any) -> Any:
    """Return the backward pass of layer normalization instead."""
    x = np.asarray(x, float)
    of_x, of_gain = _of()(x - _mean(x), gain, slope)
    return of_x - _mean(of_x), of_gain


X = np.array([[1.0, -2.0, 0.5], [0.3, 0.4, -1.2]])
GAIN = np.array([1.5, -0.5, 2.0])
SLOPE = np.array([[0.2, 1.0, -0.7], [3.0, -0.4, 0.6]])
H = 1e-6


def _loss(x: Any, gain: Any) -> float:
    return float((layers.rms_norm(x, gain)[0] * SLOPE).sum())


def _central(move: Any, shape: tuple[int, ...]) -> Any:
    """Return the slope of L = Σ slope · y along each entry of an array, by central differences."""
    result = np.zeros(shape)
    for place in np.ndindex(*shape):
        step = np.zeros(shape)
        step[place] = H
        result[place] = (move(step) - move(-step)) / (2.0 * H)
    return result


def _is_the_derivative(f: Function) -> str | None:
    of_x, of_gain = f(X, GAIN, SLOPE)
    if not np.allclose(of_x, _central(lambda step: _loss(X + step, GAIN), X.shape), atol=1e-7):
        return "∂L/∂x differs from a central difference of L = Σ ∂L/∂y · y"
    if not np.allclose(of_gain, _central(lambda step: _loss(X, GAIN + step), GAIN.shape), atol=1e-7):
        return "∂L/∂g differs from a central difference of L = Σ ∂L/∂y · y"
    return None


def _longer_is_no_use(f: Function) -> str | None:
    along = (np.asarray(f(X, GAIN, SLOPE)[0]) * X).sum(-1)
    return (
        None if np.allclose(along, 0.0, atol=1e-4) else "making a row longer should change (next to) nothing"
    )


PROBLEM = Problem(
    id="network/norm_slope",
    title="Back through the norm",
    function="norm_slope",
    reference=_reference,
    background=(
        "A network multiplies rows of numbers with weights, again and again. If every layer made them a little larger,"
        " after twenty layers they would be huge. So before each layer every row is divided by its size, the root of"
        " the mean of its squares (RMS), and each place of the row is then multiplied with a number that is learned,"
        " the gain. On the way back the division matters: when one number of a row grows, all others of the row become"
        " smaller. And what only makes a row longer changes nothing, so that no slope points along the row."
    ),
    task=(
        "Write `norm_slope(x, gain, slope)`. The norm takes each row x of D numbers to a row y:\n\n"
        "    r = (mean of x² + 1e-6)^(-1/2),    n = x r,    y = g n\n\n"
        "The mean runs over the D numbers of the row, so that r is one number for each row; g is the gain, one number"
        " for each place, and n and y are rows. Given the slope ∂L/∂y of a loss L, return the slopes ∂L/∂x and ∂L/∂g."
        " That r depends on every number of the row must not be forgotten: ∂r/∂x[j] = -r³ x[j]/D. All rows share one"
        " gain, so its slope is a sum over all rows. 1e-6 keeps a row of zeros from a division by 0."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="A tuple of two arrays: ∂L/∂x, of the shape of x, and ∂L/∂g, of shape (D,).",
    constraints="In a row of zeros r is 1000 and n is 0.",
    notes=(
        "Llama, Qwen and most models of today use this norm, RMSNorm; the older LayerNorm takes the mean of the row off"
        " first. The rule on rows that only get longer holds up to the 1e-6."
    ),
    kernel="grpo_ref.learning.policies.layers.rms_norm_back",
    source="Zhang & Sennrich 2019, eq. 4 (arXiv:1910.07467).",
    hints=(
        "y depends on x in two ways: through x itself, and through r. What is the slope of each way?",
        "With e = g · ∂L/∂y: ∂L/∂x[j] = r e[j] + Σ_i e[i] x[i] ∂r/∂x[j]. Put -r³ x[j]/D in, and n for x r.",
        "r * (e - n * (e * n).mean(-1, keepdims=True)), and (slope * n) summed over all axes but the last",
    ),
    checks=(
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
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
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
        Mutant(
            "x in the gain's slope", _of(of_gain=lambda x, n, slope, gain: x * slope), "∂y/∂g is n, not x."
        ),
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
    ),
    others={
        "by the two ways": lambda x, gain, slope: _of(
            lambda r, n, e: r * e - r**2 * n * (e * n / r).sum(-1, keepdims=True) / n.shape[-1]
        )(x, gain, slope),
    },
)
