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
    "text without axes": (np.array("a"), "a"),
    "truth values for numbers": (np.array([True, False]), np.array([1.0, 0.0])),
    "a truth value for a number": (True, 1.0),
    "whole numbers of more than 64 bits": ([10**30, 1], np.array([1e30, 1.0])),
    "a whole number of more than 64 bits": (10**30, 1e30),
    "a dict of NumPy's text": ({np.str_("a"): np.array(1.0)}, {"a": 1.0}),
    "a list of arrays": ([np.array([1.0]), np.array([2.0])], np.array([[1.0], [2.0]])),
}
OTHER = {
    "off by a little more than the tolerance": (
        np.array([1.0, 2.0 + 3e-9]),
        ARRAY,
        "value",
        "1 of 2 are wrong; the first, 2.000000003 at index .1., is too large",
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
    "other text": ("a", "b", "value", "'a' is not the right text"),
    "nothing for a number": (None, 3.0, "type", "is a `return` missing"),
    "text among numbers": (
        ["x" * 300_000, *[0.0] * 900],
        np.zeros(901),
        "type",
        "expected real numbers, got text",
    ),
    "text for a number": ("3", 3.0, "type", "expected a number, got text"),
    "NaN": (np.array([1.0, np.nan]), ARRAY, "finite", r"nan at index \[1\]"),
    "infinite for finite": (np.inf, 3.0, "finite", "inf"),
    "finite for NaN": (0.0, np.nan, "finite", "0.0"),
    "a NaN does not hide a wrong value": ([np.nan, 5.0], np.array([np.nan, 1.0]), "value", "too large"),
    "complex": (ARRAY + 0j, ARRAY, "type", "expected real numbers, got dtype complex128"),
    "numbers for truth values": (np.array([1, 0]), np.array([True, False]), "type", "dtype bool"),
    "ragged lists": ([[1.0], [1.0, 2.0]], ARRAY, "shape", "lists of unequal lengths"),
    "a truth value that is no such number": (True, 0.0, "type", "expected numbers, got truth values"),
    "the other truth value": (True, False, "value", "^True is not right$"),
    "some other truth values": (
        [True, True],
        np.array([True, False]),
        "value",
        r"1 of 2 are wrong; the first, True at index \[1\], is not right",
    ),
    "something for nothing": (1.0, None, "type", "expected None, got a number"),
    "nothing for text": (None, "a", "type", "expected text, got None"),
    "another NaN": (np.nan, np.inf, "finite", "expected a different value"),
    "a whole number beyond all floats": (10**400, 3.0, "value", "too large for a float"),
    "one among others": ([1.0, 10**400], ARRAY, "value", "too large for a float"),
    "one in a dict": ({"a": -(10**400)}, {"a": 1.0}, "value", "too large for a float"),
    "a float of more range": (np.longdouble("1e4000"), 3.0, "finite", "expected finite numbers, got inf"),
    "numbers too far apart to subtract": ([1e308, 2.0], np.array([-1e308, 2.0]), "value", "too large"),
    "None among numbers": ([1.0, None], ARRAY, "type", "got other values among them"),
    "dicts for numbers": ([{}, {}], ARRAY, "type", "got other values among them"),
    "lists in lists in lists": (eval("[" * 60 + "]" * 60), ARRAY, "shape", "expected shape"),
    "a tower of lists": (eval("[" * 80 + "]" * 80), ARRAY, "shape", "expected shape"),
    "a dict for an array": ({"a": 1.0}, ARRAY, "type", "got a dict of 1"),
    "odd keys": (
        {None: 1, (1, 2): 3, 1.5: 2},
        {"a": 1.0},
        "type",
        "a dict with the keys 'a', got a dict of 3",
    ),
    "text that cannot be printed": (["\ud800"], np.zeros(1), "type", "expected real numbers"),
    "other text that cannot be printed": ("\ud800", "a", "value", r"'\\ud800' is not the right text"),
    "too few values": ((1.0,), (1.0, 2.0), "type", "expected 2 values, got a tuple of 1"),
    "a wrong part": ((1.0, 2.5), (1.0, 2.0), "value", "value 2 of 2: 2.5 is too large"),
    "a missing key": ({}, {"a": 1.0}, "type", "a dict with the keys 'a'"),
    "a wrong entry": ({"a": 2.0}, {"a": 1.0}, "value", r"\['a'\]: 2.0 is too large"),
}


@pytest.mark.parametrize(("got", "expected"), SAME.values(), ids=SAME)
def test_the_judge_accepts(got, expected):
    assert difference(got, expected, rtol=1e-9) is None


@pytest.mark.parametrize(("got", "expected", "kind", "text"), OTHER.values(), ids=OTHER)
def test_the_judge_refuses(got, expected, kind, text):
    found = difference(got, expected, rtol=1e-9)
    assert found.kind == kind
    assert re.search(text, found.text), found.text
