"""docs/turns.md: its formulas, its numbers and its picture."""

from math import comb, sqrt

import numpy as np
import pytest
import turns_example as example
import turns_picture
from student import ROOT
from svg_pictures import same_picture

Q = example.ZERO
CERTAIN = 50.0
"""Logit of a policy that always calls."""


def logit(prob):
    return np.log(prob / (1.0 - prob))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8, 0.95])
def test_the_tools_token_moves_the_balance_from_1_to_q(p):
    """The two formulas of the page: p (1 - p) (2 q - 1), and J (q - p) with the tool's token."""
    reward = Q * p + (1.0 - Q) * (1.0 - p)
    assert example.value(CERTAIN, logit(p)) == pytest.approx(reward, rel=1e-12)
    _, alone = example.expected_step(CERTAIN, logit(p), tool_tokens=False)
    _, with_tool = example.expected_step(CERTAIN, logit(p), tool_tokens=True)
    assert alone == pytest.approx(p * (1.0 - p) * (2.0 * Q - 1.0), rel=1e-12)
    assert with_tool == pytest.approx(reward * (Q - p), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("logits", [(0.0, 0.0), (0.4, -0.3)])
def test_the_step_of_the_policys_tokens_is_the_gradient_of_the_reward(logits):
    small = 1e-6
    moves = small * np.eye(2)
    differences = [(example.value(*(logits + m)) - example.value(*(logits - m))) / (2 * small) for m in moves]
    step = example.expected_step(*logits, tool_tokens=False)
    np.testing.assert_allclose(step, differences, rtol=1e-8)


def test_training_on_the_tools_tokens_ends_below_the_best_policy():
    """The best policy always answers 1, J = q. With the tool's tokens p = q, so J = q² + (1 - q)²."""
    alone, with_tool = (example.trained(tool_tokens=tool, updates=4000)[-1] for tool in (False, True))
    assert alone == pytest.approx(0.8, abs=0.001)
    assert with_tool == pytest.approx(0.68, abs=0.001)


def standardized(count, *, is_one):
    """The advantage of a 1 or a 0 in a group of four with `count` ones: std (ddof 1) √(n (4 - n) / 12)."""
    return (is_one - count / 4) / sqrt(count * (4 - count) / 12) if 0 < count < 4 else 0.0


def expected(prob, *, is_one):
    """The mean of `standardized` if each of the three others is a 1 with this probability."""
    return sum(
        comb(3, n) * prob**n * (1 - prob) ** (3 - n) * standardized(n + is_one, is_one=is_one)
        for n in range(4)
    )


def test_only_a_reward_of_the_turn_tells_a_good_call_from_no_call():
    """Right answers have probability 1/4, calls 1/2. Outcome and call are standardized apart and added."""
    right, wrong = expected(0.25, is_one=1), expected(0.25, is_one=0)
    call, no_call = expected(0.5, is_one=1), expected(0.5, is_one=0)
    credit = example.credit_of_first_turn()
    np.testing.assert_allclose(credit["GRPO"], [right, wrong, wrong], rtol=2e-4)
    # The calls of GiGPO all began with the question and have 0.95 of the outcome as their return.
    np.testing.assert_allclose(credit["GiGPO"], [2 * right, 2 * wrong, 2 * wrong], rtol=2e-4)
    # A right answer needs a call, so the others of the group are as independent of it as of a wrong one.
    np.testing.assert_allclose(credit["MT-GRPO"], [right + call, wrong + call, wrong + no_call], rtol=2e-4)
    assert wrong == pytest.approx(-0.356, abs=5e-4)
    assert wrong + call == pytest.approx(0.344, abs=5e-4)


def test_the_numbers_of_the_page_are_those_of_the_example():
    text = (ROOT / "docs" / "turns.md").read_text(encoding="utf-8")
    signal = example.signal_of_answer()
    numbers = f"{signal['GiGPO']:.2f} with GiGPO, {signal['GRPO']:.2f} with GRPO"
    assert numbers in " ".join(text.split())


def test_the_picture_is_that_of_todays_code(tmp_path):
    turns_picture.main(tmp_path)
    assert same_picture(tmp_path / "turns.svg", turns_picture.FOLDER / "turns.svg"), (
        "run docs/turns_picture.py"
    )
