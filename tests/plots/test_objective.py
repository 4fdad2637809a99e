import numpy as np
import pytest

from grpo_ref import grpo_objective
from grpo_ref.plots import objective_terms, ratio_sweep

GROUP = ([1.5, 0.8, 0.5], [1.0, 1.0, -1.0], [0.9, 1.1, 1.0], [1.0, 0.5, 1.5])


def heights(axis):
    return [bar.get_height() for bar in axis.patches]


def test_the_terms_add_up_to_the_objective():
    figure = objective_terms(*GROUP, 0.2, 0.1)
    ratios, gains, distributions, divergence = figure.axes
    assert ratios.get_lines()[-1].get_ydata().tolist() == GROUP[0]
    assert heights(gains) == pytest.approx([1.5, 0.8, -0.5, 1.2, 0.8, -0.8])
    assert sum(heights(distributions)) == pytest.approx(2.0)
    smaller = np.minimum(heights(gains)[:3], heights(gains)[3:]).mean()
    assert smaller - 0.1 * sum(heights(divergence)) == pytest.approx(grpo_objective(*GROUP, 0.2, 0.1))
    assert figure.get_suptitle().endswith(f"= {grpo_objective(*GROUP, 0.2, 0.1):.6f}")
    assert [axis.get_ylabel() for axis in figure.axes] == ["ratio ρ", "objective", "probability", "nats"]


def test_the_sweep_is_the_objective_at_every_ratio():
    (axis,) = ratio_sweep(*GROUP, betas=(0.0, 0.5), index=1, highest=3.0).axes
    free, free_mark, held, held_mark = axis.get_lines()
    for line, beta in ((free, 0.0), (held, 0.5)):
        for ratio, value in list(zip(*line.get_data(), strict=True))[::80]:
            assert value == grpo_objective([1.5, ratio, 0.5], *GROUP[1:], 0.2, beta)
    assert free_mark.get_xdata() == held_mark.get_xdata() == [0.8]
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("ratio of completion $o_{2}$", "objective J")
