"""The flat vector of a network's weights and its named views."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grpo_ref.learning.policies.parameters import joined, size_of, views

SHAPES = {"weight": (2, 3), "gain": (3,), "number": ()}


def test_parts_lie_one_after_the_other(asarray):
    parts = views(asarray([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]), SHAPES)
    asarray.check(parts["weight"], [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    asarray.check(parts["gain"], [6.0, 7.0, 8.0])
    asarray.check(parts["number"], 9.0)


def test_a_change_of_a_view_is_one_of_the_vector():
    flat = np.zeros((2, 10))
    views(flat, SHAPES)["gain"][1] = 1.0
    np.testing.assert_array_equal(np.flatnonzero(flat), [16, 17, 18])


shapes = st.dictionaries(
    st.sampled_from("abcd"), st.lists(st.integers(1, 3), max_size=3).map(tuple), min_size=1
)


@given(shapes=shapes, runs=st.lists(st.integers(1, 3), max_size=2).map(tuple))
def test_joined_is_the_inverse_of_views(shapes, runs):
    flat = np.random.default_rng(0).normal(size=(*runs, size_of(shapes)))
    parts = views(flat, shapes)
    assert {name: part.shape for name, part in parts.items()} == {
        name: (*runs, *shape) for name, shape in shapes.items()
    }
    np.testing.assert_array_equal(joined(parts, shapes), flat)


def test_parts_may_come_in_any_order(asarray):
    flat = asarray(np.arange(20.0).reshape(2, 10))
    parts = views(flat, SHAPES)
    asarray.check(joined(dict(reversed(parts.items())), SHAPES), asarray.to_numpy(flat))


def test_a_vector_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"flat: expected 10 numbers on the last axis, got shape \(2, 9\)"):
        views(np.zeros((2, 9)), SHAPES)
