"""Numbers of results as text: two digits of the half-width, signs, and no rounding errors."""

import pytest

from grpo_ref.lab.numbers import at_equal_text, decimals_of, interval_text, signed

# low, high -> number of decimals: half-widths are 0.024, 0.0023, 3.1, 120 and 1e-9
DECIMALS = {
    "hundredths": (-0.041, 0.007, 3),
    "thousandths": (-0.0049, -0.0003, 4),
    "units": (1.0, 7.2, 1),
    "hundreds": (0.0, 240.0, 0),
    "more than six decimals": (0.0, 2e-9, None),
    "no width": (0.5, 0.5, None),
    "a width of rounding errors": (0.0, 1e-16, None),
}


@pytest.mark.parametrize(("low", "high", "expected"), DECIMALS.values(), ids=DECIMALS)
def test_the_interval_decides_the_decimals(low, high, expected):
    assert decimals_of({"low": low, "high": high}) == expected


def test_a_rounding_error_is_zero():
    assert signed(-3e-17, 3) == "0"
    assert signed(-0.0004, 3) == "−0.000"


def test_an_exact_difference_has_no_interval():
    assert interval_text({"mean": 1.0, "low": 1.0, "high": 1.0}) == "+1"


def test_a_value_that_was_not_tried_is_an_error():
    with pytest.raises(ValueError, match=r"both arms were tried \(0.1\), got 0.3"):
        at_equal_text({"at_equal": {"0.1": [0.0, 0.0, 0.0]}}, "0.3")
