"""slime: what its flags compute."""

import re

import numpy as np
import pytest

from grpo_ref.advantages import raw_rewards
from grpo_ref.explain.dialects import miles, slime
from grpo_ref.explain.dialects.slime.kernels import (
    mismatch_weights,
    only_kept,
    spread_above,
    token_mean_of_any,
    weighted_estimate,
    whitened_returns,
    whitened_returns_less_penalty,
    whitened_scores,
    whitened_scores_less_penalty,
    whitened_with_teacher,
)
from grpo_ref.explain.trap import sprung
from grpo_ref.recipes import slot

WHITENED = {"normalize_advantages": True}
ICEPOP = {"custom_tis_function_path": "slime.backends.megatron_utils.loss.icepop_function"}
MIS = {"custom_tis_function_path": "examples.train_infer_mismatch_helper.mis.compute_mis_weights_with_cp"}
# configuration -> parts of the recipe, as text
PARTS = {
    "as it comes": (
        {},
        {
            "advantage": "group_normalized(ddof=1, eps=1e-06)",
            "surrogate": "clipped(clip_low=0.2, clip_high=0.2)",
            "aggregate": "sequence_mean_token_mean",
            "kl_coef": "0.0",
        },
    ),
    "a group of one is not divided": ({"n_samples_per_prompt": 1}, {"advantage": "group_centered"}),
    "no spread, by the flag": ({"disable_grpo_std_normalization": True}, {"advantage": "group_centered"}),
    "no spread, by what the flag turns off": (
        {"grpo_std_normalization": False},
        {"advantage": "group_centered"},
    ),
    "raw": ({"disable_rewards_normalization": True}, {"advantage": "raw_rewards"}),
    "twice": (WHITENED, {"advantage": "whitened_scores(scores=group_normalized(ddof=1, eps=1e-06))"}),
    "a teacher": (
        {"use_opd": True},
        {"advantage": "group_normalized(ddof=1, eps=1e-06)", "distill": "with_teacher(coef=1.0)"},
    ),
    "a teacher before the whitening": (
        WHITENED | {"use_opd": True, "opd_kl_coef": 0.5},
        {
            "advantage": "group_normalized(ddof=1, eps=1e-06)",
            "distill": "whitened_with_teacher(coef=0.5)",
        },
    ),
    "gspo": (
        {"advantage-estimator": "gspo", "eps-clip": 3e-4, "eps-clip-high": 4e-4},
        {"level": "sequence_mean_level", "surrogate": "clipped(clip_low=0.0003, clip_high=0.0004)"},
    ),
    "cispo has a floor": (
        {"advantage_estimator": "cispo"},
        {"surrogate": "cispo(min_ratio=0.8, max_ratio=1.2)"},
    ),
    "cispo as published": (
        {"advantage_estimator": "cispo", "eps_clip": 1.0, "eps_clip_high": 4.0, "eps_clip_c": 0.5},
        {"surrogate": "cispo(min_ratio=0.0, max_ratio=5.0)"},
    ),
    "a weight without its switch": ({"kl_loss_coef": 0.1}, {"kl_coef": "0.0"}),
    "low_var_kl is limited, k3 is not": (
        {"use_kl_loss": True, "kl_loss_coef": 0.1, "kl_loss_type": "low_var_kl"},
        {"penalty": "k3(max_value=10.0)", "kl_coef": "0.1"},
    ),
    "weighted": (
        {"use_kl_loss": True, "kl_loss_type": "k2", "use_unbiased_kl": True},
        {"penalty": "weighted_estimate(estimator=k2)"},
    ),
    "tokens": ({"calculate_per_token_loss": True}, {"aggregate": "token_mean_of_any"}),
    "both corrections": (
        {"use_opsm": True, "use_tis": True},
        {
            "corrections": "(off_policy_mask_since_update(threshold=0.0001),"
            " truncated(min_ratio=0.0, max_ratio=2.0, unknown=nan))"
        },
    ),
    "metrics that train": (
        {"get_mismatch_metrics": True} | ICEPOP,
        {"corrections": "(masked(min_ratio=0.0, max_ratio=2.0, unknown=nan))"},
    ),
    "the function of the examples": (
        {"use_tis": True, "tis_batch_normalize": False} | MIS,
        {
            "corrections": "(mismatch_weights(level=token, mode=truncate, window=(0.5, 2.0),"
            " reject=(token, 0.5, 2.0), veto=0.0001))",
            "penalty_aggregate": "only_kept(per_token=False)",
        },
    ),
    "the function of the examples for its metrics": (
        {"get_mismatch_metrics": True} | MIS,
        {"corrections": "()"},
    ),
    "reinforce_plus_plus with a KL": (
        WHITENED | {"advantage_estimator": "reinforce_plus_plus", "kl_coef": 0.1, "gamma": 0.9},
        {"advantage": "whitened_returns_less_penalty(penalty=k1, kl_coef=0.1, gamma=0.9)"},
    ),
    "its baseline is never divided": (
        WHITENED | {"advantage_estimator": "reinforce_plus_plus_baseline"},
        {"advantage": "whitened_scores(scores=group_centered)"},
    ),
    "the KL of grpo is nowhere": ({"kl_coef": 0.1}, {"advantage": "group_normalized(ddof=1, eps=1e-06)"}),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()"} | slime.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


REFUSED = {
    "a critic": ({"advantage_estimator": "ppo"}, "advantage_estimator: expected one of 'grpo'"),
    "two weights": ({"kl_coef": 0.1, "kl_loss_coef": 0.1}, "kl_coef: slime refuses this with kl_loss_coef"),
    "no whitening": (
        {"advantage_estimator": "reinforce_plus_plus"},
        "slime refuses this reinforce_plus_plus without normalize_advantages",
    ),
    "a function of somebody": (
        {"custom_tis_function_path": "mine.weights"},
        "custom_tis_function_path: expected one of None, 'slime.backends",
    ),
    "two reasons to leave a token out": (
        {"use_tis": True, "use_opsm": True} | MIS,
        "One leaves tokens out of the surrogate alone, the other out of the penalty too.",
    ),
    "a file": ({"custom_config_path": "mis.yaml"}, "give its keys here instead"),
    "a dual clip": ({"eps_clip_c": 1.0}, "eps_clip_c: slime refuses this of at most 1, got 1.0"),
    "steps that do not fit": (
        {"rollout_batch_size": 8, "num_steps_per_rollout": 2, "global_batch_size": 64},
        "slime refuses this unless it is 32, a rollout by its steps; got 64",
    ),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_told(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        slime.recipe(**config)


def test_the_default_of_the_group_is_warned_of():
    """Here it is 8; in slime it is 1, and that trains nothing."""
    dialect = slime.DIALECT
    told = sprung(dialect.traps, dialect.settings({}), dialect.given({}))
    assert [trap.name for trap in told] == ["n_samples_per_prompt is 1: every advantage is 0"]


# ---- its own kernels, by hand -------------------------------------------------------------------------

RAW = slot(raw_rewards)
MASK = np.array([[[1, 1], [1, 0]]])


def test_an_empty_completion_counts_as_one_token():
    """Two tokens, one, and none: the denominator is 4."""
    weights = token_mean_of_any(np.array([[[1, 1], [1, 0], [0, 0]]]))
    assert weights.tolist() == [[[0.25, 0.25], [0.25, 0.0], [0.0, 0.0]]]


def test_a_group_needs_a_spread():
    rewards = np.array([[1.0, 0.0], [0.3, 0.3], [1.0, 1.0 + 1e-7]])
    assert spread_above(rewards).tolist() == [True, False, False]
    assert spread_above(np.array([[1.0]])).tolist() == [False]


def test_an_estimate_is_weighted_by_the_ratio_of_its_token():
    """r = 2 and v = 1: k2 is 1, its slope 2 (1 + 1/2); k1 has 2 and 2 (1 + 1)."""
    policy = np.zeros((1, 1, 1))
    fields = (policy, policy - 1.0, policy - np.log(2.0))
    for estimator, value, slope in (("k1", 2.0, 4.0), ("k2", 1.0, 3.0)):
        term = weighted_estimate(*fields, estimator=estimator)
        np.testing.assert_allclose((term.value.item(), term.direct.item()), (value, slope), rtol=1e-14)
    held = weighted_estimate(*fields, estimator="k1", max_value=1.5)
    assert (held.value.item(), held.direct.item()) == (1.5, 0.0)


def test_scores_are_standardized_over_the_tokens():
    """Of 2, 2 and -1 the mean is 1 and the variance 6/2."""
    found = whitened_scores(np.array([[2.0, -1.0]]), MASK, scores=RAW)
    np.testing.assert_allclose(found, np.array([[[1.0, 1.0], [-2.0, 0.0]]]) / np.sqrt(3.0), rtol=1e-8)


def test_a_return_is_discounted_over_holes_too():
    """4 at the last place is 1 two places before; around 2.5 that is ±1.5, and the variance 4.5."""
    found = whitened_returns(np.array([[4.0]]), np.array([[[1, 0, 1]]]), gamma=0.5)
    np.testing.assert_allclose(found, np.array([[[-1.5, 0.0, 1.5]]]) / np.sqrt(4.5), rtol=1e-8)


def test_costs_are_summed_in_a_return_and_stay_alone_in_a_score():
    """k1 is 1 and 2 with weight 1/2: returns are 1 - 3/2 and 1 - 1, scores 1 - 1/2 and 1 - 1."""
    old, ref = np.array([[[-1.0, -1.0]]]), np.array([[[-2.0, -3.0]]])
    fields, k1 = (np.ones((1, 1)), np.ones((1, 1, 2)), old, ref), slime.objective.PENALTIES["k1"]
    ahead = whitened_returns_less_penalty(*fields, penalty=k1, kl_coef=0.5)
    alone = whitened_scores_less_penalty(*fields, scores=RAW, penalty=k1, kl_coef=0.5)
    np.testing.assert_allclose(ahead, np.array([[[-0.25, 0.25]]]) / np.sqrt(0.125), rtol=1e-7)
    np.testing.assert_allclose(alone, np.array([[[0.25, -0.25]]]) / np.sqrt(0.125), rtol=1e-7)


def mismatch(**settings):
    """The ratios of two completions are 4 and 1/4, and 2."""
    sampler = -np.log(np.array([[[4.0, 0.25], [2.0, 1.0]]]))
    return mismatch_weights(np.zeros((1, 2, 2)), sampler, MASK, **settings).tolist()


def test_a_ratio_is_limited_or_left_out():
    assert mismatch(window=(0.5, 3.0)) == [[[3.0, 0.25], [2.0, 1.0]]]
    assert mismatch(mode="clip", window=(0.5, 3.0)) == [[[3.0, 0.5], [2.0, 1.0]]]
    np.testing.assert_allclose(
        mismatch(mode="mask", window=(0.5, 3.0)), [[[0.0, 0.0], [2.0, 1.0]]], rtol=1e-14
    )


def test_a_veto_and_a_second_window_leave_out_what_a_limit_keeps():
    """Of the first completion the product is 1, and one token is below 1/2; of the second it is 2."""
    first, second = mismatch(window=(0.5, 3.0), veto=0.5)[0]
    assert (first, second[0]) == ([0.0, 0.0], 2.0)
    first, second = mismatch(window=(0.5, 3.0), reject=("sequence", 0.5, 1.5))[0]
    assert (first, second[0]) == ([3.0, 0.25], 0.0)


def test_weights_are_divided_by_their_mean_before_anything_is_left_out():
    """Limited at 3.75, 3.75, 1/4 and 2 have the mean 2; of whole completions 1 and 2 have 3/2."""
    np.testing.assert_allclose(
        np.array(mismatch(window=(0.5, 3.75), normalized=True))[MASK != 0], [1.875, 0.125, 1.0], rtol=1e-14
    )
    whole = np.array(mismatch(level="sequence", window=(0.5, 3.0), normalized=True))
    np.testing.assert_allclose(whole[MASK != 0], [2 / 3, 2 / 3, 4 / 3], rtol=1e-14)


def test_what_is_left_out_has_no_penalty_and_the_denominators_stay():
    correction = np.array([[[0.0, 1.5], [2.0, 1.0]]])
    assert only_kept(MASK, correction).tolist() == [[[0.0, 0.25], [0.5, 0.0]]]
    assert only_kept(MASK, correction, per_token=True).tolist() == [[[0.0, 1 / 3], [1 / 3, 0.0]]]


def test_a_teacher_is_added_before_the_whitening():
    """Sums 1 + 1, 0 - 1 and 0: mean 1/3, and the sum of squares is 5 - 3 / 9 = 14/3, divided by 3 - 1."""
    advantages, old = np.array([[[1.0, 0.0], [0.0, 9.0]]]), np.full((1, 2, 2), -2.0)
    teacher, mask = old + np.array([[[2.0, -2.0], [0.0, 7.0]]]), np.array([[[1, 1], [1, 0]]])
    expected = (np.array([2.0, -1.0, 0.0]) - 1 / 3) / np.sqrt(7 / 3)
    ours = whitened_with_teacher(advantages, old, teacher, mask, coef=0.5)
    np.testing.assert_allclose(ours[mask > 0], expected, rtol=1e-7)
    assert ours[0, 1, 1] == 0.0


TEACHERS = {
    "with a KL in the advantages": {
        "advantage_estimator": "reinforce_plus_plus_baseline",
        "normalize_advantages": True,
        "kl_coef": 0.1,
    },
    "with returns": {"advantage_estimator": "reinforce_plus_plus", "normalize_advantages": True},
}


@pytest.mark.parametrize("config", TEACHERS.values(), ids=TEACHERS)
def test_a_teacher_that_cannot_be_expressed(config):
    with pytest.raises(ValueError, match="use_opd: True cannot be expressed here"):
        slime.recipe(use_opd=True, **config)


def test_miles_adds_a_teacher_as_slime_does_and_its_top_k_is_not_known():
    assert str(miles.recipe(use_opd=True, opd_kl_coef=0.5).distill) == "with_teacher(coef=0.5)"
    with pytest.raises(ValueError, match="opd_log_prob_top_k = 16 cannot be expressed here"):
        miles.recipe(use_opd=True, opd_log_prob_top_k=16)
