import inspect

import numpy as np
import pytest
from every_kernel import as_slot, kernels_of

from grpo_ref import slot, surrogates
from grpo_ref.plots import slopes_compared, surrogate_curve, surrogate_figure
from grpo_ref.surrogates import clipped, dppo_top_tv, dppo_tv
from grpo_ref.types import Term

CLIPPED = slot(clipped, clip_low=0.2, clip_high=0.5)
KERNELS = {
    name: as_slot(kernel)
    for name, kernel in kernels_of(surrogates).items()
    if inspect.signature(kernel).return_annotation is Term
}


def test_a_curve_is_what_the_kernel_says():
    curve = surrogate_curve(CLIPPED, -1.0)
    term = clipped(np.log(curve.ratios), np.array(-1.0), clip_low=0.2, clip_high=0.5)
    assert curve.value == pytest.approx(term.value)
    assert curve.slope == pytest.approx(term.slope)
    assert (curve.ratios[0], curve.ratios[-1]) == (0.01, 3.0)


@pytest.mark.parametrize("part", KERNELS.values(), ids=KERNELS)
def test_every_surrogate_has_a_figure_with_both_signs(part):
    figure = surrogate_figure(part)
    for axis, what in zip(figure.axes, ("value", "slope"), strict=True):
        drawn = {line.get_label(): line.get_ydata() for line in axis.get_lines()}
        for label, advantage in (("A = +1", 1.0), ("A = -1", -1.0)):
            assert drawn[label].tolist() == getattr(surrogate_curve(part, advantage), what).tolist()
    assert [axis.get_ylabel() for axis in figure.axes] == ["value s", "slope ∂s/∂log πθ"]
    assert str(part) in figure.legends[0].get_title().get_text()


def test_with_two_tokens_the_likeliest_tokens_are_this_one_or_another():
    for advantage in (1.0, -1.0):
        top, binary = (surrogate_curve(slot(part), advantage).slope for part in (dppo_top_tv, dppo_tv))
        assert np.array_equal(top, binary)


@pytest.mark.parametrize("between", [(0.0, 2.0), (2.0, 1.0), (0.1, 5.0)])
def test_ratios_that_are_no_probabilities_are_refused(between):
    with pytest.raises(ValueError, match="between: expected ratios"):
        surrogate_curve(CLIPPED, 1.0, between=between)


def test_slopes_are_compared_for_good_and_bad_tokens():
    good, bad = slopes_compared({"clip": CLIPPED, "tv": slot(dppo_tv)}, old_prob=0.3).axes
    for axis, advantage in ((good, 1.0), (bad, -1.0)):
        drawn = {line.get_label(): line.get_ydata() for line in axis.get_lines()}
        assert drawn["clip"].tolist() == surrogate_curve(CLIPPED, advantage, old_prob=0.3).slope.tolist()
        assert drawn["tv"].tolist() == surrogate_curve(slot(dppo_tv), advantage, old_prob=0.3).slope.tolist()
    assert (good.get_title(), bad.get_title()) == ("A = +1", "A = -1")
