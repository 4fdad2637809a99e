"""docs/averages.md: its batch, its shares and its picture."""

from fractions import Fraction

import averages_example as example
import averages_picture
import numpy as np
import pytest
from averages_example import Configuration
from svg_pictures import same_picture

# Completions of 10, 10, 10 and 1,000 tokens; the first two and the last two belong to one prompt.
BY_COMPLETION = [Fraction(1, 4)] * 4
BY_TOKEN = [Fraction(10, 1030)] * 3 + [Fraction(1000, 1030)]
# Half for each prompt; 10 and 1,000 of 1,010 tokens in the second one.
BY_PROMPT = [Fraction(1, 4), Fraction(1, 4), Fraction(10, 2020), Fraction(1000, 2020)]


@pytest.mark.parametrize(
    ("paper", "expected"),
    [("GRPO, eq. 3", BY_COMPLETION), ("DAPO, eq. 8", BY_PROMPT), ("Dr. GRPO", BY_TOKEN)],
)
def test_the_shares_of_a_paper_are_those_worked_by_hand(paper, expected):
    shares = example.shares(example.PAPERS[paper].weights(example.MASK))
    np.testing.assert_allclose(shares, [float(share) for share in expected], rtol=1e-12)


# configuration -> the shares with one micro-batch, and with four of one completion each
SHARES = {
    "TRL dapo": (BY_TOKEN, BY_TOKEN),
    "TRL bnpo": (BY_TOKEN, BY_COMPLETION),
    "TRL grpo": (BY_COMPLETION, BY_COMPLETION),
    # Each micro-batch has the share of its tokens.
    "EasyR1 seq": (BY_COMPLETION, BY_TOKEN),
    "SkyRL prompt_mean": (BY_PROMPT, BY_PROMPT),
}


@pytest.mark.parametrize("name", averages_picture.DRAWN)
def test_the_shares_in_the_picture_are_those_worked_by_hand(name):
    for count, expected in zip((1, 4), SHARES[name], strict=True):
        shares = example.shares(example.weights(averages_picture.DRAWN[name], count))
        np.testing.assert_allclose(shares, [float(share) for share in expected], rtol=1e-7)


def test_the_configurations_that_depend_on_the_number_of_micro_batches():
    dependent = {
        configuration
        for configuration in example.CONFIGURATIONS
        if not np.allclose(example.weights(configuration, 1), example.weights(configuration, 4))
    }
    assert dependent == {
        Configuration("trl", ("loss_type=bnpo",)),
        Configuration("ms_swift", ("loss_type=bnpo",)),
        Configuration("verl", version="0.7.1"),
        Configuration("easy_r1", ("loss_avg_mode=seq",)),
        Configuration("rlinf"),
        Configuration("open_instruct", version="2025.11"),
        Configuration("trinity"),
    }


def test_trinity_adds_the_micro_batches():
    one, four = (example.weights(Configuration("trinity"), count).sum() for count in (1, 4))
    assert (one, four) == pytest.approx((1.0, 4.0))


def test_the_picture_is_that_of_todays_code(tmp_path):
    averages_picture.main(tmp_path)
    assert same_picture(tmp_path / "averages.svg", averages_picture.FOLDER / "averages.svg"), (
        "run docs/averages_picture.py"
    )
