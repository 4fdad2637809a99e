"""What an exercise is made of: values as text, copies, draws that repeat, mutants that every exercise has."""

import numpy as np
import pytest
from little_exercise import EXERCISE, mean_row

from grpo_ref.course.grading.problem import Drawn, changing_inputs, copied, format_call, format_value

TEXTS = {
    "a number": (np.float64(0.5), "0.5"),
    "an array": (np.array([1.0, 2.5]), "[1, 2.5]"),
    "a long array is shortened": (np.arange(100.0), "[0, 1, 2, ..., 97, 98, 99]"),
    "a very long one is named by its shape": (np.zeros((20, 20)), "<array of shape (20, 20)>"),
    "an array without numbers": (np.zeros((0, 2)), "np.zeros((0, 2))"),
    "a list": ([1, [2.0]], "[1, [2.0]]"),
    "a tuple of one": ((1,), "(1,)"),
    "a dict": ({"a": np.array([1.0])}, "{'a': [1]}"),
}


@pytest.mark.parametrize(("value", "text"), TEXTS.values(), ids=TEXTS)
def test_values_are_told_as_they_could_be_typed(value, text):
    assert format_value(value) == text


def test_a_call_is_told_with_its_keywords():
    assert format_call("f", ([1.0], np.array([2.0])), {"eps": 0.1}) == "f([1.0], [2], eps=0.1)"


def test_a_copy_shares_nothing():
    original = ([np.zeros(2)], {"a": np.zeros(1)})
    copy = copied(original)
    copy[0][0][0] = copy[1]["a"][0] = 1.0
    assert not original[0][0].any()
    assert not original[1]["a"].any()


def test_a_copy_keeps_the_order_of_the_memory():
    """Else an input that was left alone seems to have been changed."""
    assert copied(np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])).flags.f_contiguous


def test_equal_seeds_draw_equal_inputs_of_growing_size():
    drawn = Drawn("rows", lambda rng, size: (rng.normal(size=size),), why="")
    first, again, other = (drawn.inputs(seed, 8)[0][0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert [len(drawn.inputs(1, trial)[0][0]) for trial in (0, 3, 4, 23)] == [1, 1, 2, 6]


def test_the_mutant_that_changes_its_inputs_is_right_but_for_that():
    mutant, rows = changing_inputs(mean_row), np.array([[1.0, 2.0], [3.0, 6.0]])
    np.testing.assert_array_equal(mutant.function(rows), [2.0, 4.0])
    assert not rows.any()
    assert EXERCISE.reference is mean_row
