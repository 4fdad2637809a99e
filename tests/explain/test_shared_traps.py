"""What goes wrong with any trainer."""

from dataclasses import replace

import pytest

from grpo_ref.explain import explain
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.shared_traps import SHARED_TRAPS
from grpo_ref.penalties import k1
from grpo_ref.recipes import DAPO, GRPO, GSPO, slot
from grpo_ref.surrogates import clipped

FALLING = {
    "One completion per prompt, but a baseline from its group": (GRPO, 1),
    "The KL has a negative weight, so it is maximized": (replace(GRPO, kl_coef=-0.001), 8),
    "The estimator k1 in the loss has an expected gradient of 0": (replace(GRPO, penalty=slot(k1)), 8),
    "The upper clip is so wide that it hardly ever acts": (
        replace(GRPO, surrogate=slot(clipped, clip_low=0.2, clip_high=10.0)),
        8,
    ),
}


@pytest.mark.parametrize("common", SHARED_TRAPS, ids=lambda common: common.name)
def test_each_is_seen_where_it_is_and_not_in_known_recipes(common):
    recipe, size = FALLING[common.name]
    assert common.holds(recipe, size)
    assert not any(common.holds(known, 8) for known in (GRPO, DAPO, GSPO, common.instead(recipe)))


def test_they_are_told_of_any_trainer():
    told = explain(
        DIALECTS["verl"], {"use_kl_loss": True, "kl_loss_type": "kl", "kl_loss_coef": 0.1, "rollout.n": 8}
    )
    (k1_told,) = [
        each
        for each in told.traps
        if each.name == "The estimator k1 in the loss has an expected gradient of 0"
    ]
    assert 0.0 < k1_told.change < 1.0
