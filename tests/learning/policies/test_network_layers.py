"""The layers of a network: each value by hand, each way back by central differences, in every library."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from devices import assert_close
from differences import central_differences
from hypothesis import given
from hypothesis import strategies as st

from grpo_ref.learning.policies import layers
from grpo_ref.learning.policies.layers import (
    attention,
    attention_back,
    gelu,
    gelu_back,
    layer_norm,
    layer_norm_back,
    linear,
    linear_back,
    one_hot,
    rms_norm,
    rms_norm_back,
    rotate,
    rotate_back,
    swapped,
    swiglu,
    swiglu_back,
    turns,
)

RTOL = {"float64": 1e-12, "float32": 1e-5}

# ---- each pair: its value, and a function from the slope of the value to those of the inputs ----------


def linear_pair(xp, x, weight):
    return linear(x, weight), lambda slope: linear_back(slope, x, weight)


def rms_pair(xp, x, gain):
    value, kept = rms_norm(x, gain)
    return value, lambda slope: rms_norm_back(slope, kept, gain)


def layer_norm_pair(xp, x, gain):
    value, kept = layer_norm(x, gain)
    return value, lambda slope: layer_norm_back(slope, kept, gain)


def gelu_pair(xp, a):
    value, derivative = gelu(a)
    return value, lambda slope: (gelu_back(slope, derivative),)


def swiglu_pair(xp, a):
    value, derivatives = swiglu(a)
    return value, lambda slope: (swiglu_back(slope, derivatives),)


def attention_pair(xp, queries, keys, values):
    value, kept = attention(queries, keys, values)
    return value, lambda slope: attention_back(slope, kept)


def rotate_pair(xp, x):
    angles = turns(xp.arange(3, 3 + x.shape[-2]), x.shape[-1], x)
    return rotate(x, *angles), lambda slope: (rotate_back(slope, *angles),)


# S runs, N rows or T tokens, K keys, D features -> the shapes of the inputs
PAIRS = {
    "linear": (linear_pair, lambda s: ((s.S, s.T, s.D), (s.S, s.D, 3))),
    "rms_norm": (rms_pair, lambda s: ((s.S, s.T, s.D), (s.S, s.D))),
    "layer_norm": (layer_norm_pair, lambda s: ((s.S, s.T, s.D), (s.S, s.D))),
    "gelu": (gelu_pair, lambda s: ((s.S, s.T, s.D),)),
    "swiglu": (swiglu_pair, lambda s: ((s.S, s.T, s.D),)),
    "attention": (attention_pair, lambda s: ((s.S, 2, s.T, s.D), *2 * ((s.S, 2, s.K, s.D),))),
    "rotate": (rotate_pair, lambda s: ((s.S, 2, s.T, s.D),)),
}
SIZES = SimpleNamespace(S=2, T=3, K=4, D=6)


def numbers(shapes, seed):
    """Arrays that cannot be written to: no layer may change what it was given."""
    generator = np.random.default_rng(seed)
    arrays = [generator.normal(size=shape) for shape in shapes]
    for array in arrays:
        array.flags.writeable = False
    return arrays


def there_and_back(pair, inputs, seed=0):
    """The value, some slope, and the slopes of the inputs."""
    value, back = pair(np, *inputs)
    (slope,) = numbers([value.shape], seed + 1)
    return value, slope, back(slope)


@st.composite
def sizes(draw):
    runs, tokens, pairs = draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 2))
    return SimpleNamespace(S=runs, T=tokens, K=tokens + draw(st.integers(0, 2)), D=2 * pairs)


@pytest.mark.parametrize(("pair", "shapes"), PAIRS.values(), ids=PAIRS)
@given(size=sizes(), seed=st.integers(0, 2**16))
def test_the_way_back_is_the_central_difference(pair, shapes, size, seed):
    inputs = numbers(shapes(size), seed)
    _, slope, slopes = there_and_back(pair, inputs, seed)
    for place, ours in enumerate(slopes):

        def total(x, place=place):
            return (pair(np, *inputs[:place], x, *inputs[place + 1 :])[0] * slope).sum()

        numerical = central_differences(total, inputs[place], step=1e-4)
        np.testing.assert_allclose(ours, numerical, rtol=1e-7, atol=1e-7)


def same_elsewhere(pair, shapes, xp, made, check):
    """Value and slopes in another library or precision, beside NumPy's in float64."""
    inputs = numbers(shapes(SIZES), 0)
    value, slope, slopes = there_and_back(pair, inputs)
    ours, back = pair(xp, *map(made, inputs))
    check(ours, value)
    for got, expected in zip(back(made(slope)), slopes, strict=True):
        check(got, expected)


@pytest.mark.parametrize(("pair", "shapes"), PAIRS.values(), ids=PAIRS)
def test_libraries_and_precisions(pair, shapes, asarray):
    same_elsewhere(pair, shapes, asarray.xp, asarray, asarray.check)


@pytest.mark.parametrize(("pair", "shapes"), PAIRS.values(), ids=PAIRS)
def test_on_a_device(pair, shapes, place):
    same_elsewhere(pair, shapes, place.xp, place.xp.asarray, partial(assert_close, rtol=place.rtol))


@pytest.mark.parametrize("dtype", RTOL)
@pytest.mark.parametrize(("pair", "shapes"), PAIRS.values(), ids=PAIRS)
def test_on_tensors(pair, shapes, dtype):
    torch = pytest.importorskip("torch")
    precision = getattr(torch, dtype)

    def check(got, expected):
        assert got.dtype == precision
        np.testing.assert_allclose(got.numpy(), expected, rtol=RTOL[dtype], atol=RTOL[dtype])

    same_elsewhere(pair, shapes, torch, partial(torch.tensor, dtype=precision), check)


# ---- numbers worked by hand --------------------------------------------------------------------------

LOG3 = math.log(3.0)
R5, R4 = 5.000001**-0.5, 4.000001**-0.5
"""(mean x² + NORM_EPS)^(-1/2) of (3, -1), and of (5, 1) once it is centered."""
HAND = {
    "linear": (
        linear_pair,
        ([[1.0, 2.0]], [[1.0, 0.0], [3.0, -1.0]]),
        [[7.0, -2.0]],
        [[1.0, 1.0]],
        ([[1.0, 2.0]], [[1.0, 1.0], [2.0, 2.0]]),
    ),
    "rms_norm": (
        rms_pair,
        ([[3.0, -1.0]], [1.0, 10.0]),
        [[3.0 * R5, -10.0 * R5]],
        [[1.0, 0.0]],
        ([[R5 - 4.5 * R5**3, 1.5 * R5**3]], [3.0 * R5, 0.0]),
    ),
    "layer_norm": (
        layer_norm_pair,
        ([[5.0, 1.0]], [1.0, 10.0]),
        [[2.0 * R4, -20.0 * R4]],
        [[1.0, 0.0]],
        ([[0.5 * R4 - 2.0 * R4**3, 2.0 * R4**3 - 0.5 * R4]], [2.0 * R4, 0.0]),
    ),
    "gelu: half the slope at 0, all of it far above, none far below": (
        gelu_pair,
        ([[0.0, 10.0, -10.0]],),
        [[0.0, 10.0, 0.0]],
        [[2.0, 2.0, 2.0]],
        ([[1.0, 2.0, 0.0]],),
    ),
    "swiglu: σ(0) = 1/2, σ(log 3) = 3/4": (
        swiglu_pair,
        ([[0.0, LOG3, 2.0, 2.0]],),
        [[0.0, 1.5 * LOG3]],
        [[1.0, 1.0]],
        ([[1.0, 1.5 * (1.0 + 0.25 * LOG3), 0.0, 0.75 * LOG3]],),
    ),
    "attention: the first sees itself, the second takes 1/4 and 3/4": (
        attention_pair,
        ([[9.0, 0, 0, 0], [2 * LOG3, 0, 0, 0]], [[0.0, 0, 0, 0], [1, 0, 0, 0]], [[4.0] * 4, [8.0] * 4]),
        [[4.0] * 4, [7.0] * 4],
        [[0.0, 0, 0, 0], [1, 0, 0, 0]],
        (
            [[0.0, 0, 0, 0], [0.375, 0, 0, 0]],
            [[-0.75 * LOG3, 0, 0, 0], [0.75 * LOG3, 0, 0, 0]],
            [[0.25, 0, 0, 0], [0.75, 0, 0, 0]],
        ),
    ),
}


@pytest.mark.parametrize(("pair", "inputs", "value", "slope", "slopes"), HAND.values(), ids=HAND)
def test_by_hand(pair, inputs, value, slope, slopes, asarray):
    got, back = pair(asarray.xp, *map(asarray, inputs))
    asarray.check(got, value)
    for ours, expected in zip(back(asarray(slope)), slopes, strict=True):
        asarray.check(ours, expected)


def test_a_quarter_turn_takes_the_first_feature_to_the_second(asarray):
    x, zero, one = asarray([[2.0, 5.0]]), asarray([[0.0]]), asarray([[1.0]])
    asarray.check(rotate(x, zero, one), [[-5.0, 2.0]])
    asarray.check(rotate_back(asarray([[-5.0, 2.0]]), zero, one), [[2.0, 5.0]])


def test_angles_grow_with_the_position_and_fall_with_the_pair(asarray):
    cosine, sine = turns(asarray.xp.arange(3), 4, asarray([1.0]))
    asarray.check(cosine, np.cos([[0.0, 0.0], [1.0, 0.01], [2.0, 0.02]]))
    asarray.check(sine, np.sin([[0.0, 0.0], [1.0, 0.01], [2.0, 0.02]]))


def test_one_hot_has_the_precision_of_the_table(asarray):
    tokens = asarray(np.array([[2, 0]]))
    asarray.check(one_hot(tokens, 3, asarray([0.5])), [[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]])


def test_swapped_turns_rows_into_columns(asarray):
    asarray.check(swapped(asarray([[[1.0, 2.0, 3.0]]])), [[[1.0], [2.0], [3.0]]])


# ---- what holds for all numbers ------------------------------------------------------------------------

SEEDS = st.integers(0, 2**16)


@given(seed=SEEDS, size=st.floats(0.5, 1e3), shift=st.floats(-10.0, 10.0))
def test_norms_do_not_see_the_size_of_a_row_nor_the_layer_norm_its_shift(seed, size, shift):
    """But for NORM_EPS, which is 1e-6 beside a mean square that is near 1 or above."""
    x, gain = numbers([(3, 8), (8,)], seed)
    for norm, moved in ((rms_norm, size * x), (layer_norm, size * x + shift)):
        np.testing.assert_allclose(norm(moved, gain)[0], norm(x, gain)[0], rtol=1e-4, atol=1e-9)


@given(seed=SEEDS)
def test_gelu_of_a_number_less_that_of_its_opposite_is_the_number(seed):
    """A (1 + t) / 2 + a (1 - t) / 2 = a, and so the two derivatives add up to 1."""
    (a,) = numbers([(2, 5)], seed)
    (value, derivative), (opposite, other) = gelu(a), gelu(-a)
    np.testing.assert_allclose(value - opposite, a, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(derivative + other, 1.0, rtol=1e-12)


def test_gelu_in_blocks_is_gelu(monkeypatch):
    (a,) = numbers([(3, 7)], 0)
    whole = gelu(a)
    monkeypatch.setattr(layers, "BLOCK", 4)
    for ours, expected in zip(gelu(a), whole, strict=True):
        np.testing.assert_array_equal(ours, expected)


@given(seed=SEEDS, earlier=st.permutations(range(3)))
def test_attention_does_not_see_in_which_order_earlier_keys_come(seed, earlier):
    queries, keys, values = numbers([(1, 2), (4, 2), (4, 2)], seed)
    order = [*earlier, 3]
    expected, _ = attention(queries, keys, values)
    np.testing.assert_allclose(attention(queries, keys[order], values[order])[0], expected, rtol=1e-12)


@given(seed=SEEDS, count=st.integers(1, 4))
def test_the_last_queries_alone_attend_as_among_all(seed, count):
    queries, keys, values = numbers([(2, 4, 6)] * 3, seed)
    whole, _ = attention(queries, keys, values)
    np.testing.assert_allclose(attention(queries[:, -count:], keys, values)[0], whole[:, -count:], rtol=1e-12)


def test_scores_however_large_do_not_overflow(asarray):
    big = asarray([[1e3, 0.0], [0.0, 1e3]])
    asarray.check(attention(big, big, asarray([[1.0, 2.0], [3.0, 4.0]]))[0], [[1.0, 2.0], [3.0, 4.0]])


@given(seed=SEEDS, first=st.integers(0, 50), second=st.integers(0, 50), later=st.integers(0, 50))
def test_turned_queries_and_keys_know_only_how_far_apart_they_are(seed, first, second, later):
    query, key = numbers([(1, 8), (1, 8)], seed)

    def score(at, other):
        turned, kept = (
            rotate(x, *turns(np.array([place]), 8, x)) for x, place in ((query, at), (key, other))
        )
        return (turned * kept).sum()

    assert score(first + later, second + later) == pytest.approx(score(first, second), rel=1e-9, abs=1e-9)
