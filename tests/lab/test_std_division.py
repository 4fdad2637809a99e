"""Weight of a prompt by its pass rate, against values worked by hand."""

import math
from dataclasses import replace

import pytest

from grpo_ref.advantages import group_normalized
from grpo_ref.lab.claims.std_division import DIVIDED, RATES, RECIPES, limit, pushed
from grpo_ref.recipes import slot

EXACT = replace(DIVIDED, advantage=slot(group_normalized, eps=0.0))


# Groups of 4: one right completion has an advantage of 3/2 and the wrong ones -1/2; two right ones have √3/2.
# Expected advantage of a right completion, over 0 to 3 right ones among the other 3, at p = 1/2:
#   (1 * 3/2 + 3 √3/2 + 3 * 1/2 + 0)/8, and minus as much for a wrong completion
# and at p = 1/20: .857375 * 3/2 + .135375 √3/2 + .007125/2 for a right one,
#   -(.135375/2 + .007125 √3/2 + .000125 * 3/2) for a wrong one.
HALF = 2.0 * (1.5 + 3.0 * math.sqrt(0.75) + 1.5) / 8.0
HARD = 0.857375 * 1.5 + (0.135375 + 0.007125) * (math.sqrt(0.75) + 0.5) + 0.000125 * 1.5


@pytest.mark.parametrize(("group_size", "weight"), [(2, 1.0), (4, HARD / HALF), (8, 1.33), (16, 1.69)])
def test_a_prompt_of_5_percent_weighs_more_the_larger_the_group(group_size, weight):
    measures = pushed(recipe=EXACT, group_size=group_size, seeds=2, seed=0)
    assert math.exp(measures["log weight at 5 %"][1]) == pytest.approx(weight, abs=0.005)
    if group_size <= 4:
        assert math.exp(measures["log weight at 5 %"][1]) == pytest.approx(weight, abs=1e-12)
    assert measures["log weight at 95 %"] == pytest.approx(measures["log weight at 5 %"])


def test_without_the_division_all_prompts_weigh_the_same_and_push_by_the_slope_of_p():
    measures = pushed(recipe=RECIPES["only centered"], group_size=8, seeds=1, seed=0)
    assert measures["weight"][0] == pytest.approx(1.0)
    assert measures["push"][0] == pytest.approx([4.0 * p * (1.0 - p) for p in RATES])


def test_the_weight_of_a_large_group_comes_near_its_limit():
    large, at_infinity = pushed(recipe=EXACT, group_size=512, seeds=1, seed=0), limit(seeds=1, seed=0)
    assert large["weight"] == pytest.approx(at_infinity["weight"], rel=0.06)
    assert at_infinity["push"][0, RATES.index(0.2)] == pytest.approx(0.8)  # √(4 * 0.2 * 0.8)
