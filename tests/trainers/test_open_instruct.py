"""Open Instruct: what its keys compute, and its numbered estimators."""

import numpy as np
import pytest

from grpo_ref import open_instruct_kl
from grpo_ref.trainers import open_instruct

# configuration -> parts of the recipe, as text
PARTS = {
    "defaults": (
        {},
        {
            "advantage": "group_centered",
            "keep": "mixed_groups",
            "surrogate": "clipped(clip_low=0.2, clip_high=0.272)",
            "kl_coef": "0.05",
            "corrections": "(truncated("
            "min_ratio=0.0, max_ratio=2.0, level=token_level, max_token_log_ratio=10.0))",
        },
    ),
    "without a reference": ({"load_ref_policy": False}, {"kl_coef": "0.0"}),
    "a number divides": ({"loss_denominator": 40}, {"aggregate": "token_sum_over(tokens=40.0)"}),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()"} | open_instruct.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


LOG2 = np.log(2.0)


def test_the_second_estimator_is_the_default(asarray):
    """k3 at v = log 2 is 1/2 - 1 + log 2, with the slope 1 - 1/2."""
    zero = asarray([0.0])
    term = open_instruct_kl(zero, asarray([-LOG2]), zero)
    asarray.check(term.value, [LOG2 - 0.5])
    asarray.check(term.direct, [0.5])


# at v = log 2 and a ratio of 3: k1, k2, k3, and k1 times the ratio
NUMBERED = {0: LOG2, 1: LOG2**2 / 2, 2: LOG2 - 0.5, 3: 3 * LOG2}


@pytest.mark.parametrize(("number", "value"), NUMBERED.items())
def test_each_number_is_its_estimator(number, value):
    arrays = np.zeros(1), np.full(1, -LOG2), np.full(1, np.log(3.0))
    np.testing.assert_allclose(open_instruct_kl(*arrays, estimator=number).value, [value], rtol=1e-12)
    penalty = open_instruct.recipe(kl_estimator=number).penalty
    record = dict(zip(("log_probs", "ref_log_probs", "log_ratio"), arrays, strict=True))
    np.testing.assert_allclose(penalty(**record).value, [value], rtol=1e-12)


def test_an_unknown_estimator_is_named():
    with pytest.raises(ValueError, match="estimator: expected 0, 1, 2 or 3, got 4"):
        open_instruct_kl(np.zeros(1), np.zeros(1), np.zeros(1), estimator=4)
