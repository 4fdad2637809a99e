"""Liger's fused loss: what its arguments compute."""

import re
from math import e, log

import numpy as np
import pytest

from grpo_ref import policy_loss
from grpo_ref.explain.dialects import liger
from grpo_ref.explain.dialects.liger.kernels import given_advantages
from grpo_ref.explain.launch import launches

DIALECT = liger.DIALECT
# arguments -> parts of the recipe, as text
PARTS = {
    "nothing given": (
        {},
        {
            "advantage": "given_advantages",
            "surrogate": "clipped(clip_low=0.2, clip_high=0.2)",
            "penalty": "k3",
            "kl_coef": "0.04",
            "aggregate": "token_mean",
            "level": "token_level",
        },
    ),
    "grpo": ({"loss_type": "grpo"}, {"aggregate": "sequence_mean_token_mean"}),
    "dr_grpo": ({"loss_type": "dr_grpo", "max_completion_length": 9}, {"aggregate": "fixed_length"}),
    "gspo": ({"importance_sampling_level": "sequence"}, {"level": "sequence_mean_level"}),
    "cispo": ({"loss_type": "cispo", "epsilon_high": 5.0}, {"surrogate": "cispo(max_ratio=5.0)"}),
    "sapo": (
        {"loss_type": "sapo"},
        {"surrogate": "sapo(tau_positive=1.0, tau_negative=1.05)", "aggregate": "sequence_mean_token_mean"},
    ),
    "vespo": ({"loss_type": "vespo"}, {"level": "sequence_sum_level", "aggregate": "token_mean"}),
    "luspo": (
        {"loss_type": "luspo", "importance_sampling_level": "sequence", "beta": 0.0},
        {"aggregate": "sequence_mean_token_sum"},
    ),
    "a cap": ({"delta": 1.1}, {"surrogate": "two_sided_clipped(max_ratio=1.1, clip_low=0.2, clip_high=0.2)"}),
    "a weighted penalty": ({"use_bias_correction_kl": True}, {"penalty": "weighted_k3"}),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_arguments_become_a_recipe(config, parts):
    ours = liger.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


REFUSED = {
    "a sequence": (
        {"loss_type": "cispo", "importance_sampling_level": "sequence"},
        "Liger refuses 'sequence'",
    ),
    "no length": ({"loss_type": "dr_grpo"}, "max_completion_length: Liger refuses"),
    "a cap of 0": ({"delta": 0.0}, "delta: Liger refuses"),
    "a temperature of 0": ({"sapo_temperature_pos": 0.0}, "Liger refuses numbers that are not positive"),
    "padding": (
        {"loss_type": "luspo"},
        "loss_type: luspo cannot be expressed here, as its mean includes padding",
    ),
    "a loss that is none": ({"loss_type": "ppo"}, "loss_type: expected one of"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_a_refused_value_is_named(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        liger.recipe(**config)


def test_the_advantages_are_the_callers():
    assert given_advantages(np.array([[1.0, -2.0]])).tolist() == [[1.0, -2.0]]


# the loss -> its value; two completions of 2 tokens and of 1, advantages 1 and -2, ratios 1.5, 1 and e
VALUES = {
    "dapo": -(1.2 + 1.0 - 2 * e) / 3,
    "bnpo": -(1.2 + 1.0 - 2 * e) / 3,
    "grpo": -((1.2 + 1.0) / 2 - 2 * e) / 2,
    "dr_grpo": -(1.2 + 1.0 - 2 * e) / (2 * 10),
    "cispo": -(0.2 * (-2.0 + log(1.5)) - 0.2 * 2.0 - 2 * 0.2 * -1.0) / 3,  # every weight is capped at 0.2
}


@pytest.mark.parametrize("name", VALUES)
def test_the_losses_by_hand(name):
    ratios, mask = np.log(np.array([[[1.5, 1.0], [e, 7.0]]])), np.array([[[1, 1], [1, 0]]])
    recipe = liger.recipe(loss_type=name, beta=0.0, max_completion_length=10)
    old = np.full(ratios.shape, -2.0)
    found = policy_loss(
        old + ratios, np.array([[1.0, -2.0]]), mask, recipe=recipe, old_log_probs=old, max_length=10
    )
    np.testing.assert_allclose(found.loss, VALUES[name], rtol=1e-12)


def test_a_script_that_makes_the_loss_is_read():
    script = (
        "from liger_kernel.chunked_loss import LigerFusedLinearGRPOLoss\n"
        "loss = LigerFusedLinearGRPOLoss(beta=0.1, loss_type='grpo', use_ref_model=True)\n"
    )
    (launch,) = launches(script, "train.py")
    assert (launch.trainer, launch.is_sure, launch.keys["beta"]) == ("liger", True, 0.1)
