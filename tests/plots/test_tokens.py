import numpy as np
import pytest

from grpo_ref import slot
from grpo_ref.aggregation import fixed_length, sequence_mean_token_mean
from grpo_ref.plots import token_grids, weights_by_length

MASK = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])


def texts(axis):
    return [text.get_text() for text in axis.texts]


def test_grids_write_the_numbers_of_tokens_and_leave_padding_blank():
    numbers = np.array([[1.0, 7.0, np.nan], [0.25, 0.5, 0.0]])
    figure = token_grids({"weights": numbers, "signed": -numbers}, MASK, digits=2, sums=True)
    weights, signed = figure.axes
    assert texts(weights) == ["1.00", "0.25", "0.50", "0.00", "Σ = 1.00", "Σ = 0.75"]
    assert texts(signed) == ["-1.00", "-0.25", "-0.50", "0.00", "Σ = -1.00", "Σ = -0.75"]
    assert weights.images[0].get_array().mask.tolist() == (MASK == 0).tolist()
    assert [label.get_text() for label in weights.get_yticklabels()] == ["$o_{1}$", "$o_{2}$"]
    assert (weights.get_title(), signed.get_xlabel()) == ("weights", "token t")


def test_an_odd_number_of_grids_leaves_one_place_empty():
    figure = token_grids(dict.fromkeys("abc", MASK), MASK)
    assert [axis.get_visible() for axis in figure.axes] == [True, True, True, False]


def test_weights_by_length_are_those_of_the_aggregations():
    aggregates = {"mean": slot(sequence_mean_token_mean), "constant": slot(fixed_length)}
    left, right = weights_by_length(aggregates, MASK[::-1], max_length=4).axes
    drawn = [[line.get_ydata() for line in axis.get_lines()] for axis in (left, right)]
    assert drawn[0] == pytest.approx(np.array([[1 / 2, 1 / 6], [1 / 8, 1 / 8]]))
    assert drawn[1] == pytest.approx(np.array([[1 / 2, 1 / 2], [1 / 8, 3 / 8]]))
    assert left.get_lines()[0].get_xdata().tolist() == [1.0, 3.0]
    assert left.get_xlabel() == right.get_xlabel() == "length of the completion (tokens)"
