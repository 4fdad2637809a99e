"""OpenRLHF: what its keys compute."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from grpo_ref.advantages import raw_rewards
from grpo_ref.explain.dialects import openrlhf
from grpo_ref.explain.dialects.openrlhf.kernels import (
    clipped_against_sampler,
    clipped_anywhere,
    limited,
    mean_between,
    returned,
    returned_with_penalty,
    shaped_reward,
    the_same,
    window_times_ratio,
)
from grpo_ref.explain.dialects.openrlhf.keys import ALIASES
from grpo_ref.explain.dialects.openrlhf.traps import TRAPS
from grpo_ref.explain.trap import sprung
from grpo_ref.recipes import slot

PENALIZED = {"algo.kl.use_loss": True, "algo.kl.init_coef": 0.1}
CORRECTED = {"algo.advantage.is_correction_enable": True}
BY_COMPLETION = "sequence_mean_token_mean(count_empty=False)"
# configuration -> parts of the recipe, as text
PARTS = {
    "gspo by completion": (
        {"actor.policy_loss_type": "gspo"},
        {"level": "sequence_mean_level", "aggregate": BY_COMPLETION},
    ),
    "gspo, whose penalty is by token all the same": (
        {"actor.policy_loss_type": "gspo"} | PENALIZED,
        {"aggregate": BY_COMPLETION, "penalty_aggregate": "token_mean", "kl_coef": "0.1"},
    ),
    "gspo, of whose correction no weight is left": (
        {"actor.policy_loss_type": "gspo"} | CORRECTED,
        {"surrogate": "clipped_against_sampler(clip_low=0.2, clip_high=0.2)", "corrections": "()"},
    ),
    "no penalty in the loss, but one in the reward": (
        {"algo.kl.init_coef": 0.05, "algo.kl.estimator": "k3"},
        {
            "kl_coef": "0.0",
            "advantage": "returned_with_penalty(alone=group_normalized(ddof=1, eps=1e-09),"
            " penalty=k3(max_value=10.0), kl_coef=0.05)",
        },
    ),
    "a weight of 0 is no penalty anywhere": (
        {"algo.kl.init_coef": 0.0},
        {"kl_coef": "0.0", "advantage": "group_normalized(ddof=1, eps=1e-09)"},
    ),
    "standardized rewards of a large group may meet the limit": (
        {"algo.kl.init_coef": 0.0, "rollout.n_samples_per_prompt": 103},
        {"advantage": "limited(scores=group_normalized(ddof=1, eps=1e-09), limits=(-10.0, 10.0))"},
    ),
    "a negative weight is none": ({"algo.kl.init_coef": -1.0, "algo.kl.use_loss": True}, {"kl_coef": "0.0"}),
    "no std": (
        PENALIZED | {"algo.advantage.estimator": "reinforce_baseline", "algo.advantage.no_std_norm": True},
        {"advantage": "returned(scores=group_centered, limits=(-10.0, 10.0), gamma=1.0, divided=False)"},
    ),
    "the discount is of reinforce alone": (
        PENALIZED | {"algo.advantage.estimator": "rloo", "algo.advantage.gamma": 0.5},
        {"advantage": "limited(scores=leave_one_out, limits=(-10.0, 10.0))"},
    ),
    "k2 is limited to 10, which is a log-ratio of √20": (
        PENALIZED | {"algo.kl.estimator": "k2"},
        {"penalty": "k2(max_log_ratio=4.47213595499958)"},
    ),
    "both clips, of which one is read": (
        {"actor.eps_clip": 0.3, "actor.eps_clip_low_high": [0.1, 0.2]},
        {"surrogate": "clipped(clip_low=0.1, clip_high=0.2)"},
    ),
    "a clip that does not hold 1": (
        {"actor.eps_clip": -0.1},
        {"surrogate": "clipped_anywhere(clip_low=-0.1, clip_high=-0.1)"},
    ),
    "limits in the wrong order are one number": (
        CORRECTED | {"algo.advantage.is_correction_threshold": [5.0, 0.5]},
        {"corrections": "(the_same(weight=0.5))"},
    ),
    "a window in the wrong order holds nothing": (
        CORRECTED
        | {
            "algo.advantage.is_correction_threshold": [5.0, 0.5],
            "algo.advantage.is_correction_type": "seq-mask-tis",
        },
        {"corrections": "(the_same(weight=0.0), truncated(max_ratio=inf, unknown=nan))"},
    ),
    "a lower limit below 0 is none": (
        CORRECTED | {"algo.advantage.is_correction_threshold": [-1.0, 2.0]},
        {"corrections": "(truncated(min_ratio=0.0, max_ratio=2.0, unknown=nan))"},
    ),
    "the budget is the longest text where it is not set": (
        {"reward.overlong_buffer_len": 512},
        {"reward": "soft_overlong(buffer=0.25)"},
    ),
    "a punishment of its own size": (
        {"reward.overlong_buffer_len": 2, "reward.overlong_penalty_factor": 0.5, "rollout.max_new_tokens": 8},
        {"reward": "shaped_reward(buffer=0.25, factor=0.5, stop=None)"},
    ),
    "groups are chosen by their mean": (
        {"algo.dynamic_filtering_enable": True, "algo.dynamic_filtering_range": [0.2, 0.8]},
        {"keep": "mean_between(low=0.2, high=0.8)"},
    ),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()"} | openrlhf.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


def test_groups_of_flags_and_flat_ones_from_before_say_the_same():
    flat = {"advantage_estimator": "rloo", "use_kl_loss": True, "kl_estimator": "k3", "eps_clip": 0.1}
    nested = {
        "algo": {"advantage": {"estimator": "rloo"}, "kl": {"use_loss": True, "estimator": "k3"}},
        "actor": {"eps_clip": 0.1},
    }
    assert openrlhf.recipe(**flat) == openrlhf.recipe(**nested)


def test_every_flag_from_before_stands_for_one_of_now():
    dialect = openrlhf.DIALECT
    assert all(dialect.key(old) == new == dialect.key(new) for old, new in ALIASES.items())
    assert len(set(ALIASES.values())) == len(ALIASES)


REFUSED = {
    "gae": ({"algo.advantage.estimator": "gae"}, "algo.advantage.estimator: expected one of 'group_norm'"),
    "a group of one": ({"rollout.n_samples_per_prompt": 1}, "group_norm compares a group"),
    "one number for two": ({"actor.eps_clip_low_high": [0.2]}, "expected a low and a high number, got [0.2]"),
    "no threshold": (
        {"algo.advantage.is_correction_threshold": []},
        "algo.advantage.is_correction_threshold: expected a low and a high number, got []",
    ),
    "a weight that moves": ({"algo.kl.target": 6.0}, "The weight of the penalty would follow the KL"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_told(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        openrlhf.recipe(**config)


def test_reinforce_may_have_a_group_of_one():
    config = {"algo.advantage.estimator": "reinforce", "rollout.n_samples_per_prompt": 1}
    assert openrlhf.recipe(**PENALIZED | config).advantage.settings["scores"] is raw_rewards


def test_the_default_is_warned_of():
    """Nothing was said of the penalty, and it is in the reward."""
    dialect = openrlhf.DIALECT
    told = sprung(TRAPS, dialect.settings({}), dialect.given({}))
    assert [trap.name for trap in told] == ["algo.kl.use_loss is off: the penalty is in the reward"]


# ---- its own kernels, by hand -------------------------------------------------------------------------

REWARDS = np.array([[3.0, 1.0]])
MASK = np.array([[[1, 1], [1, 0]]])
"""Two completions of one prompt, of two tokens and of one."""
RAW = slot(raw_rewards)
CENTERED = openrlhf.objective.SCORES["dr_grpo"]


def test_the_limits_are_of_what_the_baseline_leaves():
    """3 and 1 around their mean are 1 and -1; -1 is limited to -0.5."""
    assert limited(REWARDS, scores=CENTERED, limits=(-0.5, 10.0)).tolist() == [[1.0, -0.5]]


def test_a_return_is_discounted_to_the_last_token_and_centered_over_all():
    """Returns are 1.5 and 3 for the first, 1 for the second; their mean is 11/6."""
    found = returned(REWARDS, MASK, scores=raw_rewards, gamma=0.5, divided=False)
    np.testing.assert_allclose(found, [[[1.5 - 11 / 6, 3 - 11 / 6], [1 - 11 / 6, 0.0]]], rtol=1e-14)


def test_the_variance_over_the_tokens_has_divisor_n():
    """Of 3, 3 and 1 the mean is 7/3 and the variance (4 + 4 + 16)/27 = 8/9."""
    found = returned(REWARDS, MASK, scores=raw_rewards)
    by_hand = np.array([[[2 / 3, 2 / 3], [-4 / 3, 0.0]]]) / np.sqrt(8 / 9)
    np.testing.assert_allclose(found, by_hand, rtol=1e-14)


def test_equal_returns_are_not_divided_by_less_than_a_variance_of_1e_8():
    found = returned(np.array([[0.5, 0.5]]), MASK)
    assert found.tolist() == [[[0.0, 0.0], [0.0, 0.0]]]


def test_a_penalty_in_the_reward_is_summed_from_each_token_on():
    """k1 is 1 at each token: the first completion has 3 - 0.1 and 3 - 2 * 0.1."""
    old, ref = -np.ones((1, 2, 2)), -2.0 * np.ones((1, 2, 2))
    penalty = openrlhf.objective.penalties()["k1"]
    found = returned_with_penalty(REWARDS, MASK, old, ref, alone=RAW, penalty=penalty, kl_coef=0.1)
    np.testing.assert_allclose(found, [[[2.8, 2.9], [0.9, 0.0]]], rtol=1e-14)


def test_a_hole_in_the_mask_discounts_too():
    """4 at the last place is 1 two places before; around their mean of 2.5 that is ∓1.5."""
    rewards, mask = np.array([[4.0]]), np.array([[[1, 0, 1]]])
    found = returned(rewards, mask, scores=raw_rewards, gamma=0.5, divided=False)
    assert found.tolist() == [[[-1.5, 0.0, 1.5]]]


def test_punishments_for_length_come_one_after_the_other():
    """Of 4 tokens the last 2 are the buffer: 3 tokens cost half of the factor, 4 all of it."""
    fields = (np.array([[1.0, 1.0, 1.0]]), np.array([[2, 3, 4]]), np.array([[True, True, False]]), 4)
    assert shaped_reward(*fields, buffer=0.5, factor=0.5).tolist() == [[1.0, 0.75, 0.5]]
    assert shaped_reward(*fields, buffer=0.5, stop=0.5).tolist() == [[1.0, 0.5, 0.0]]
    assert shaped_reward(*fields, stop=-0.25).tolist() == [[1.0, 1.0, -0.25]]


def test_a_mixed_group_is_dropped_if_its_mean_is_on_the_bound():
    assert mean_between(np.array([[-1.0, 1.0], [0.5, 0.5], [1.0, 1.0]])).tolist() == [False, True, False]


def test_outside_the_window_what_is_no_number_stays_none():
    sampler = np.array([[[-np.log(2.0), -np.log(10.0), np.nan, -np.inf]]])
    found = window_times_ratio(np.zeros((1, 1, 4)), sampler, np.ones((1, 1, 4)), min_ratio=0.5, max_ratio=5.0)
    np.testing.assert_allclose(found, [[[2.0, 0.0, np.nan, np.nan]]], rtol=1e-14)


def test_the_ratio_to_the_sampler_is_that_of_the_completion():
    """Log-ratios log 4 and 0 have the geometric mean 2, which is clipped at 1.2 for a good completion."""
    policy = np.log(np.array([[[0.8, 0.5]]]))
    sampler = np.log(np.array([[[0.2, 0.5]]]))
    one, mask = np.ones((1, 1, 1)), np.ones((1, 1, 2))
    good = clipped_against_sampler(policy, sampler, one, mask)
    bad = clipped_against_sampler(policy, sampler, -one, mask)
    floored = clipped_against_sampler(policy, sampler, -one, mask, max_ratio=1.5)
    np.testing.assert_allclose(good.value, [[[1.2, 1.2]]], rtol=1e-14)
    np.testing.assert_allclose((bad.value, bad.slope), np.full((2, 1, 1, 2), -2.0), rtol=1e-14)
    np.testing.assert_allclose(floored.value, [[[-1.5, -1.5]]], rtol=1e-14)


def test_a_token_that_the_sampler_does_not_know_makes_the_weight_none():
    record = SimpleNamespace(
        old_log_probs=np.zeros((1, 1, 2)),
        rollout_log_probs=np.array([[[np.nan, 0.0]]]),
        mask=np.ones((1, 1, 2)),
    )
    for kind in ("tis", "icepop", "seq-mask-tis"):
        recipe = openrlhf.recipe(**CORRECTED, **{"algo.advantage.is_correction_type": kind})
        weights = np.prod([part(record) for part in recipe.corrections], axis=0)
        assert np.isnan(weights[0, 0, 0])


def test_a_lower_width_above_1_is_no_lower_bound():
    clips = openrlhf.recipe(**{"actor.eps_clip": 1.5}).surrogate.settings
    assert 1.0 - clips["clip_low"] < 1e-15
    assert clips["clip_high"] == 1.5


# clip_low, clip_high, max_ratio, ratio, advantage -> value, slope
ANYWHERE = {
    "bounds 1.1 and 0.9 are 0.9; good": (-0.1, -0.1, None, 1.0, 1.0, 0.9, 0.0),
    "bounds 1.1 and 0.9 are 0.9; bad": (-0.1, -0.1, None, 1.0, -1.0, -1.0, -1.0),
    "bounds 1.1 and 0.9 are 0.9; bad, and less likely": (-0.1, -0.1, None, 0.5, -1.0, -0.9, 0.0),
    "both above 1; bad, on policy": (-0.2, 0.5, None, 1.0, -1.0, -1.2, 0.0),
    "both above 1; bad, beyond the floor": (-0.2, 0.5, 1.1, 1.0, -1.0, -1.1, 0.0),
    "both below 1; good, on policy": (0.5, -0.3, None, 1.0, 2.0, 1.4, 0.0),
    "both below 1; good, between them": (0.5, -0.3, None, 0.6, 2.0, 1.2, 1.2),
}


@pytest.mark.parametrize(
    ("low", "high", "floor", "ratio", "advantage", "value", "slope"), ANYWHERE.values(), ids=ANYWHERE
)
def test_bounds_of_the_clip_may_be_anywhere(low, high, floor, ratio, advantage, value, slope):
    widths = {"clip_low": low, "clip_high": high, "max_ratio": floor}
    term = clipped_anywhere(np.log([ratio]), np.array([advantage]), **widths)
    np.testing.assert_allclose([*term.value, *term.slope], [value, slope], rtol=1e-12, atol=1e-15)


def test_one_weight_for_every_token_but_an_unknown_one():
    sampler, zeros = np.array([[[-1.0, np.nan, np.nan]]]), np.zeros((1, 1, 3))
    weights = the_same(zeros, sampler, np.array([[[1, 1, 0]]]), weight=0.5)
    np.testing.assert_array_equal(weights, [[[0.5, np.nan, 0.5]]])
