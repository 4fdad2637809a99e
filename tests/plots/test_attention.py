"""Attention and token probabilities: what is drawn is what was given."""

import numpy as np

from grpo_ref.plots import attention_figure, token_probabilities

WEIGHTS = np.array([[[1.0, 0.0], [0.25, 0.75]], [[1.0, 0.0], [0.5, 0.5]]])


def test_each_head_is_a_picture_of_its_weights():
    figure = attention_figure({"before": WEIGHTS, "after": WEIGHTS[::-1]}, ["2", "+"])
    pictures = [axis for axis in figure.axes if axis.images]
    assert [axis.get_title() for axis in pictures] == [
        f"{row}, head {head}" for row in ("before", "after") for head in (1, 2)
    ]
    for axis, one in zip(pictures, [*WEIGHTS, *WEIGHTS[::-1]], strict=True):
        np.testing.assert_array_equal(axis.images[0].get_array(), one)
        assert [text.get_text() for text in axis.get_xticklabels()] == ["2", "+"]


def test_each_token_has_a_bar_for_each_policy():
    figure = token_probabilities({"before": np.array([0.3, 1.0]), "after": np.array([0.9, 0.8])}, ["5", ""])
    (axis,) = figure.axes
    heights = [[bar.get_height() for bar in group] for group in axis.containers]
    assert heights == [[0.3, 1.0], [0.9, 0.8]]
    assert [text.get_text() for text in axis.get_xticklabels()] == ["5", "end"]
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["before", "after"]
