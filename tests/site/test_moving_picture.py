"""The moving picture of the start page."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from website.moving_picture import OLD_PROBS, moving_picture, walks


def test_tokens_begin_together_and_stop_beyond_the_clip():
    """The last step of each token starts inside the clip range, so it ends beyond the bound."""
    ratios, values, slopes = walks()
    assert ratios[0] == pytest.approx(np.ones(4))
    assert slopes[-1] == pytest.approx(np.zeros(4))
    good, bad = [0, 3], [1, 2]
    assert np.all((ratios[-1, good] > 1.28) & (ratios[-1, good] < 1.35))
    assert np.all((ratios[-1, bad] < 0.8) & (ratios[-1, bad] > 0.75))
    advantage = 0.5 / (np.std([1, 0, 0, 1], ddof=1) + 1e-4)
    assert values[-1] == pytest.approx(
        [1.28 * advantage, -0.8 * advantage, -0.8 * advantage, 1.28 * advantage]
    )
    assert slopes[0] == pytest.approx(np.array([1, -1, -1, 1]) * advantage / 4)
    assert np.all(ratios * OLD_PROBS < 1.0)


def test_each_token_is_a_dot_that_moves_and_can_stand_still():
    text = moving_picture()
    picture = ElementTree.fromstring(text)
    assert len([each for each in picture.iter() if each.tag.endswith("circle")]) == 4
    assert text.count("@keyframes") == 4
    assert "prefers-reduced-motion: reduce" in text
    rules = text.partition("<style>")[2].partition("</style>")[0].splitlines()
    assert all(".walk" in rule or rule.startswith("@keyframes") for rule in rules if rule)
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
