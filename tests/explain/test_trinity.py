"""Trinity-RFT: what its keys compute."""

import re
from math import e, log

import numpy as np
import pytest

from grpo_ref import policy_loss
from grpo_ref.explain.dialects import trinity
from grpo_ref.explain.dialects.trinity.kernels import opmd
from grpo_ref.explain.dialects.trinity.objective import clip_range
from grpo_ref.explain.launch import launches

DIALECT = trinity.DIALECT
ARGS = "policy_loss_fn_args"
# configuration -> parts of the recipe, as text
PARTS = {
    "grpo": (
        {"algorithm": {"algorithm_type": "grpo"}},
        {
            "advantage": "group_normalized(ddof=1, eps=1e-06, keep_singletons=True)",
            "surrogate": "dual_clipped(clip_low=0.2, clip_high=0.2, max_ratio=3.0)",
            "penalty": "k2",
            "kl_coef": "0.001",
            "aggregate": "token_mean",
            "log_ratio_limits": "(-20.0, 20.0)",
        },
    ),
    "dapo has no penalty": ({"algorithm_type": "dapo"}, {"kl_coef": "0.0", "penalty": "no_penalty"}),
    "dapo with a penalty": (
        {"algorithm_type": "dapo", "kl_loss_fn": "k3"},
        {"kl_coef": "0.001", "penalty": "k3"},
    ),
    "rloo": ({"algorithm_type": "rloo"}, {"advantage": "leave_one_out(keep_singletons=True)"}),
    "opmd": (
        {"algorithm_type": "opmd", ARGS: {"tau": 3.0}},
        {"advantage": "group_centered(keep_singletons=True)", "surrogate": "opmd(tau=3.0)"},
    ),
    "cispo": ({"algorithm_type": "cispo"}, {"surrogate": "cispo(min_ratio=0.0, max_ratio=1.28)"}),
    "gspo": (
        {"algorithm_type": "gspo", "loss_agg_mode": "seq-mean-token-mean"},
        {
            "level": "sequence_mean_level",
            "surrogate": "gspo_token(clip_low=0.0003, clip_high=0.0004)",
            "aggregate": "sequence_mean_token_mean",
        },
    ),
    "topr": (
        {"algorithm_type": "topr"},
        {"advantage": "raw_rewards", "surrogate": "topr", "level": "token_level", "penalty": "k2"},
    ),
    "sapo": ({"algorithm_type": "sapo"}, {"surrogate": "sapo(tau_positive=1.0, tau_negative=1.05)"}),
    "another loss": ({"policy_loss_fn": "importance_sampling"}, {"surrogate": "importance_weighted"}),
    "a std of the batch": (
        {"advantage_fn_args": {"std_cal_level": "batch"}},
        {"advantage": "batch_scaled(ddof=1, eps=1e-06)"},
    ),
    "groups of equal rewards": ({"advantage_fn_args": {"std_threshold": 0.0}}, {"keep": "mixed_groups"}),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = trinity.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


REFUSED = {
    "a critic": (
        {"algorithm_type": "ppo"},
        "algorithm_type: ppo cannot be expressed here, it needs a critic",
    ),
    "a teacher": ({"algorithm_type": "on_policy_distill"}, "it needs a teacher"),
    "an algorithm that is none": ({"algorithm_type": "grp"}, "algorithm_type: expected one of 'grpo'"),
    "a sum over rows": (
        {"loss_agg_mode": "seq-mean-token-sum-norm"},
        "not divided by the number of completions",
    ),
    "a limited ratio": ({"kl_loss_fn": "corrected_k3"}, "its ratio is limited to 2"),
    "a threshold": ({"advantage_fn_args": {"std_threshold": 0.1}}, "dropped by their std"),
    "a soft maximum": ({"advantage_fn_args": {"opmd_baseline": "logavgexp"}}, "a soft maximum"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_a_refused_value_is_named(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        trinity.recipe(**config)


def test_opmd_is_a_policy_gradient_divided_by_1_plus_tau():
    """A = 2 and tau = 3: the slope is 0.5 and the value 0.5 log π."""
    term = opmd(np.full((1, 1, 2), -3.0), np.array([2.0]), tau=3.0)
    assert term.value.tolist() == [[[-1.5, -1.5]]]
    assert term.direct.tolist() == [[[0.5, 0.5]]]


# the algorithm -> its value; two completions of 2 tokens and of 1, advantages 1 and -2, ratios 1.5, 1 and e^2
VALUES = {
    "grpo": -(1.2 + 1.0 - 2 * 3.0) / 3,  # the dual clip holds e² = 7.4 at 3
    "opmd": -(-2.0 + log(1.5) - 2.0 - 2 * 0.0) / 2 / 3,  # log-probabilities -2 + log 1.5, -2 and 0
    "cispo": -(1.28 * (-2.0 + log(1.5)) - 2.0 - 2 * 1.28 * 0.0) / 3,
}


@pytest.mark.parametrize("name", VALUES)
def test_the_losses_by_hand(name):
    ratios, mask = np.log(np.array([[[1.5, 1.0], [e**2, 7.0]]])), np.array([[[1, 1], [1, 0]]])
    recipe = trinity.recipe(algorithm_type=name, kl_loss_fn="none")
    old = np.full(ratios.shape, -2.0)
    found = policy_loss(old + ratios, np.array([[1.0, -2.0]]), mask, recipe=recipe, old_log_probs=old)
    np.testing.assert_allclose(found.loss, VALUES[name], rtol=1e-12, atol=1e-12)


def test_one_width_is_overridden_by_two():
    settings = DIALECT.settings({ARGS: {"clip_range": 0.1, "clip_range_high": 0.3}})
    assert clip_range(settings, "ppo") == (0.1, 0.3)
    assert clip_range(DIALECT.settings({}), "gspo") == (3e-4, 4e-4)


FILE = """
project: mine
algorithm:
  algorithm_type: grpo
  repeat_times: 8
  policy_loss_fn_args: {clip_range_low: 0.2, clip_range_high: 0.28}
  kl_loss_fn: none
synchronizer: {sync_interval: 4}
"""


def test_a_file_and_its_command_are_known():
    (launch,) = launches(FILE, "mine.yaml")
    assert (launch.trainer, launch.keys["algorithm.repeat_times"]) == ("trinity", 8)
    (launch,) = launches("trinity run --config mine.yaml", "run.sh", {"mine.yaml": FILE}.get)
    assert (launch.trainer, launch.is_sure) == ("trinity", True)
    assert DIALECT.recipe(**launch.keys).kl_coef == 0.0
