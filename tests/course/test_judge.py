"""The judge's comparisons: what is accepted, and what is refused with which words."""

import re

import numpy as np
import pytest

from grpo_ref.course.grading.judge import difference

ARRAY = np.array([1.0, 2.0])
SAME = {
    "itself": (ARRAY, ARRAY),
    "a list for an array": ([1, 2], ARRAY),
    "another order of rounding": (ARRAY * (1 + 1e-12), ARRAY),
    "float32 of exact numbers": (ARRAY.astype("float32"), ARRAY),
    "a NumPy scalar for a number": (np.float64(3.0), 3.0),
    "an int for a float": (3, 3.0),
    "NaN where NaN is due": (np.array([np.nan, 1.0]), np.array([np.nan, 1.0])),
    "infinite where infinite is due": (-np.inf, -np.inf),
    "truth values": ([True, False], np.array([True, False])),
    "a list for a tuple": ([1.0, ARRAY], (1.0, ARRAY)),
    "a dict": ({"a": 1.0}, {"a": 1.0}),
    "nothing": (None, None),
    "an array without axes for a number": (np.array(3.0), 3.0),
    "a number for an array without axes": (3.0, np.array(3.0)),
    "NumPy's text for text": (np.str_("a"), "a"),
    "rounding where zeros are due": (np.array([1e-12, 0.0]), np.zeros(2)),
    "a list of arrays": ([np.array([1.0]), np.array([2.0])], np.array([[1.0], [2.0]])),
}
OTHER = {
    "off by a little more than the tolerance": (
        np.array([1.0, 2.0 + 3e-9]),
        ARRAY,
        "value",
        "1 of 2 wrong, the first too large",
    ),
    "a shape that would broadcast": (
        np.array([[1.0, 2.0]]),
        ARRAY,
        "shape",
        r"expected shape \(2,\), got shape \(1, 2\)",
    ),
    "a number for an array": (1.0, ARRAY, "type", "expected an array of shape"),
    "an array for a number": (np.array([3.0]), 3.0, "type", "expected a number, got an array of shape"),
    "more than rounding where zeros are due": ([0.0, 3e-9], np.zeros(2), "value", "too large"),
    "other text": ("a", "b", "value", "expected a value of type str"),
    "nothing for a number": (None, 3.0, "type", "is a return missing"),
    "text for a number": ("3", 3.0, "type", "expected a number, got a value of type str"),
    "NaN": (np.array([1.0, np.nan]), ARRAY, "finite", r"nan at index \[1\]"),
    "infinite for finite": (np.inf, 3.0, "finite", "inf"),
    "finite for NaN": (0.0, np.nan, "finite", "0.0"),
    "a NaN does not hide a wrong value": ([np.nan, 5.0], np.array([np.nan, 1.0]), "value", "too large"),
    "complex": (ARRAY + 0j, ARRAY, "type", "expected real numbers, got dtype complex128"),
    "numbers for truth values": (np.array([1, 0]), np.array([True, False]), "type", "dtype bool"),
    "ragged lists": ([[1.0], [1.0, 2.0]], ARRAY, "shape", "lists of unequal lengths"),
    "too few values": ((1.0,), (1.0, 2.0), "type", "expected 2 values, got a tuple of 1"),
    "a wrong part": ((1.0, 2.5), (1.0, 2.0), "value", "value 2 of 2: it too large: 2.5"),
    "a missing key": ({}, {"a": 1.0}, "type", "a dict with the keys 'a'"),
    "a wrong entry": ({"a": 2.0}, {"a": 1.0}, "value", r"\['a'\]: it too large"),
}


@pytest.mark.parametrize(("got", "expected"), SAME.values(), ids=SAME)
def test_the_judge_accepts(got, expected):
    assert difference(got, expected, rtol=1e-9) is None


@pytest.mark.parametrize(("got", "expected", "kind", "text"), OTHER.values(), ids=OTHER)
def test_the_judge_refuses(got, expected, kind, text):
    found = difference(got, expected, rtol=1e-9)
    assert found.kind == kind
    assert re.search(text, found.text), found.text
