"""What passes between the judge and a student's process: data, and nothing else."""

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import pytest

from grpo_ref.course.grading import wire

DATA = [None, True, 3, 10**30, 0.1, -0.0, float("inf"), "text", [1, (2.0, "x")], {"a": [1.0]}, {1: 2}, 1 + 2j]

DATA += [
    np.arange(6.0).reshape(2, 3),
    np.float32(1.5),
    np.array([True]),
    np.array(["a", "b"]),
    np.zeros((0, 3)),
    np.array(["", ""]),
    np.array(2.0),
    np.str_("a"),
    np.bool_(True),
    np.arange(6.0, dtype=">f4")[::2],
    "\ud800",
    {None: 1.0, (1, "x"): [np.float16(2.0)]},
    -(10**400),
    eval("[" * 32 + "]" * 32),
]


@pytest.mark.parametrize("value", DATA, ids=lambda value: ascii(value)[:40])
def test_data_travels_unchanged(value):
    back = wire.loads(wire.dumps(value))
    assert type(back) is type(value)
    assert getattr(back, "dtype", None) == getattr(value, "dtype", None)
    assert np.array_equal(back, value) if isinstance(value, np.ndarray) else back == value


class Pair(NamedTuple):
    """Two values of a student."""

    first: float
    second: float


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Pair(1.0, 2.0), (1.0, 2.0)),
        (OrderedDict(a=1), {"a": 1}),
        (np.array([1.0, 2.0], dtype=object), np.array([1.0, 2.0])),
        (np.frompyfunc(abs, 1, 1)(np.array([-1.5])), np.array([1.5])),
    ],
    ids=["a named tuple", "an ordered dict", "an array of Python numbers", "np.frompyfunc"],
)
def test_harmless_types_travel_as_plain_data(value, plain):
    back = wire.loads(wire.dumps(value))
    assert type(back) is type(plain)
    assert np.array_equal(back, plain) if isinstance(plain, np.ndarray) else back == plain


@pytest.mark.parametrize(
    "value",
    [
        object(),
        np.array([object()]),
        np.array([[1.0], [1.0, 2.0]], dtype=object),
        np.array(["2020-01-01"], "datetime64[D]"),
        np.zeros(2, [("a", float)]),
        lambda: 1,
        {1, 2},
        type("F", (float,), {})(1.0),
        10**4000,
        eval("[" * 32 + "]" * 32),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_data_does_not_travel(value):
    with pytest.raises(wire.NotData, match="is not plain data"):
        wire.dumps([value])


def test_an_array_that_is_too_large_does_not_travel():
    assert wire.dumps(np.zeros(2**19))
    with pytest.raises(wire.NotData, match="too large to be sent"):
        wire.dumps(np.zeros(2**19 + 1))


def test_the_order_in_memory_travels_too():
    columns = np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])
    back = wire.loads(wire.dumps(columns))
    np.testing.assert_array_equal(back, columns)
    assert back.flags.f_contiguous
    back[0, 0] = 5.0


ARRAY = '{{"kind": "array", "dtype": "{}", "shape": {}, "order": "C", "bytes": "{}"}}'
STRANGE = {
    "nothing": "",
    "no kind": "{}",
    "another kind": '{"kind": "code"}',
    "half a list": "[",
    "an array of nothing": '{"kind": "array"}',
    "an array of objects": ARRAY.format("|O", "[1]", "AAAAAAAAAAA="),
    "an array of no type": ARRAY.format("x9", "[1]", "AAAAAAAAAAA="),
    "too few numbers": ARRAY.format("<f8", "[2]", "AAAAAAAAAAA="),
    "a shape of text": ARRAY.format("<f8", '"ab"', "AAAAAAAAAAA="),
    "a shape beyond memory": ARRAY.format("<f8", "[100000000000000000000]", "AAAAAAAAAAA="),
    "letters that do not exist": ARRAY.format("<U1", "[1]", "/////w=="),
    "a key that is none": '{"kind": "dict", "items": [[[1], 2]]}',
    "half a pair": '{"kind": "dict", "items": [[1]]}',
    "a tower": "[" * 100 + "]" * 100,
    "a tower beyond the stack": "[" * 10**6 + "]" * 10**6,
    "a float that is none": '{"kind": "float", "text": []}',
    "half a complex number": '{"kind": "complex", "parts": [[]]}',
    "a number without end": "9" * 5000,
}


@pytest.mark.parametrize("line", STRANGE.values(), ids=STRANGE)
def test_what_is_no_line_of_ours_is_refused(line):
    with pytest.raises(ValueError, match="expected a value that this program sent"):
        wire.loads(line)


def test_a_request_brings_every_argument_by_itself():
    """One array twice is two arrays there, each writable and in its order of memory."""
    shared = np.asfortranarray(np.ones((2, 3)))
    shared.flags.writeable = False
    function, given = wire.requested(wire.request("f", [shared, shared], {"axis": 1}).decode())
    (first, second), keywords = wire.unpacked(given)
    assert (function, keywords) == ("f", {"axis": 1})
    assert first is not second
    first *= 2
    np.testing.assert_array_equal(second, np.ones((2, 3)))
    assert second.flags.f_contiguous


def test_equal_arguments_have_equal_pickles():
    given = (np.arange(3.0), [1, "a", None, True], (np.nan, -0.0)), {"axis": 1}
    assert wire.packed(wire.unpacked(wire.packed(given))) == wire.packed(given)
