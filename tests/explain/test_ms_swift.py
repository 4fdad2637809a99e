"""ms-swift: what its arguments compute."""

import re
from math import inf

import numpy as np
import pytest

from grpo_ref.aggregation import token_mean
from grpo_ref.corrections import off_policy_mask
from grpo_ref.explain.dialects import DIALECTS, liger, ms_swift
from grpo_ref.explain.dialects.ms_swift.kernels import centered_then_scaled, overlong, penalized, scaled_up
from grpo_ref.explain.dialects.ms_swift.losses import (
    by_token,
    divided_again,
    fresh_token_mean,
    weighed_k3,
)
from grpo_ref.explain.trap import sprung
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import slot
from grpo_ref.surrogates import real

VLLM = {"use_vllm": True, "vllm_mode": "colocate"}
REAL = {"loss_type": "real", "per_device_train_batch_size": 8}
TRUNCATE = {"rollout_importance_sampling_mode": "token_truncate"}
# configuration -> parts of the recipe, as text
PARTS = {
    "a teacher": ({"teacher_model": "large", "teacher_kl_coef": 0.5}, {"distill": "with_teacher(coef=0.5)"}),
    "a teacher needs no group": (
        {"teacher_model": "large", "num_generations": 1},
        {"distill": "with_teacher(coef=1.0)"},
    ),
    "a served teacher": ({"teacher_model_server": "http://here"}, {"distill": "with_teacher(coef=1.0)"}),
    "a penalty is the default": (
        {},
        {
            "kl_coef": "0.04",
            "penalty": "k3(max_log_ratio=20.0, max_value=10.0)",
            "advantage": "group_normalized(ddof=1, eps=0.0001)",
            "aggregate": "sequence_mean_token_mean",
        },
    ),
    "rloo has the KL in the reward": (
        {"advantage_estimator": "rloo", "beta": 0.1},
        {"kl_coef": "0.0", "advantage": "penalized(scores=leave_one_out, kl_coef=0.1)"},
    ),
    "rloo without it": (
        {"advantage_estimator": "rloo", "kl_in_reward": False, "scale_rewards": "batch"},
        {"kl_coef": "0.04", "advantage": "scaled_up(scores=batch_scaled(ddof=1, eps=0.0001))"},
    ),
    "reinforce_plus_plus divides by the spread of what is left": (
        {"advantage_estimator": "reinforce_plus_plus", "beta": 0.0},
        {"advantage": "centered_then_scaled(eps=0.0001)"},
    ),
    "a weight of 0 is no penalty anywhere": (
        {"advantage_estimator": "rloo", "beta": 0.0},
        {"kl_coef": "0.0", "advantage": "leave_one_out"},
    ),
    "gdpo puts the KL back into the loss": (
        {"scale_rewards": "gdpo", "kl_in_reward": True, "beta": 0.1},
        {"kl_coef": "0.1", "advantage": "normalized_then_summed(ddof=1, eps=1e-08)"},
    ),
    "gdpo that reinforce_plus_plus does not know": (
        {"scale_rewards": "gdpo", "advantage_estimator": "reinforce_plus_plus"},
        {"advantage": "group_centered"},
    ),
    "dapo is the mean over all tokens": (
        {"loss_type": "dapo", "gradient_accumulation_steps": 4, "sequence_parallel_size": 2},
        {"aggregate": "token_mean"},
    ),
    "dapo in one micro-batch": ({"loss_type": "dapo"}, {"aggregate": "token_mean"}),
    "real reads next to nothing": (
        REAL | VLLM | TRUNCATE | {"scale_rewards": "batch", "top_entropy_quantile": 0.2},
        {
            "surrogate": "real(tau=0.5)",
            "advantage": "group_centered",
            "level": "sequence_mean_level",
            "penalty_aggregate": "token_mean",
            "corrections": "()",
        },
    ),
    "a mode without vLLM is no correction": (TRUNCATE, {"corrections": "()"}),
    "the penalty is weighed too": (
        VLLM | TRUNCATE,
        {
            "corrections": "(truncated(max_ratio=2.0, max_log_ratio=20.0, unknown=nan))",
            "penalty": "weighed_k3(weights=(truncated(max_ratio=2.0, max_log_ratio=20.0, unknown=nan)))",
        },
    ),
    "gspo by token, with a cap": (
        {"importance_sampling_level": "sequence_token", "delta": 2.0},
        {"surrogate": "by_token(gain=dual_clipped(max_ratio=2.0, clip_low=0.2, clip_high=0.2))"},
    ),
    "old names of the budget": (
        {"reward_funcs": ["accuracy", "soft_overlong"], "soft_cache_length": 10, "max_new_tokens": 50},
        {"reward": "overlong(longest=50, cache=10, weight=1.0)"},
    ),
    "the weight of the punishment": (
        {"reward_funcs": "soft_overlong format", "soft_cache_length": 10, "reward_weights": [0.5, 1.0]},
        {"reward": "overlong(longest=512, cache=10, weight=0.5)"},
    ),
    "groups with contrast": ({"dynamic_sample": True}, {"keep": "mixed_groups"}),
    "what was cut off is left out": ({"overlong_filter": True}, {"admit": "ended_completions"}),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()"} | ms_swift.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


@pytest.mark.parametrize("loss_type", ["grpo", "bnpo", "dr_grpo", "sapo"])
def test_with_use_liger_kernel_the_loss_is_that_of_liger(loss_type):
    ours = ms_swift.recipe(use_liger_kernel=True, loss_type=loss_type, overlong_filter=True)
    # the arguments in `_prepare_liger_loss`, with ms-swift's defaults
    theirs = liger.recipe(
        loss_type=loss_type, beta=0.04, max_completion_length=512, sapo_temperature_neg=1.05
    )
    for part in ("level", "surrogate", "penalty", "kl_coef", "aggregate", "admit"):
        assert getattr(ours, part) == getattr(theirs, part), part


def test_before_4_0_liger_gets_no_level():
    old = DIALECTS["ms_swift"].at("3.12.6")
    assert old.recipe(use_liger_kernel=True, loss_type="dapo").aggregate == slot(token_mean)
    with pytest.raises(ValueError, match=r"before ms-swift 4\.0, Liger's loss does not get"):
        old.recipe(use_liger_kernel=True, importance_sampling_level="sequence")


def test_a_flag_may_have_hyphens_and_a_loss_be_a_list_of_one():
    flags = {"loss-type": ["dapo"], "epsilon-high": 0.28, "deepspeed": "zero2"}
    assert ms_swift.recipe(**flags) == ms_swift.recipe(loss_type="dapo", epsilon_high=0.28)


REFUSED = {
    "another algorithm": ({"rlhf_type": "dpo"}, "rlhf_type: expected one of 'grpo'"),
    "another loss": ({"loss_type": "luspo"}, "loss_type: expected one of 'grpo', 'bnpo'"),
    "a scale of before": ({"scale_rewards": True}, "scale_rewards: expected one of 'group', 'batch'"),
    "vLLM without a mode": ({"use_vllm": True}, "vllm_mode: ms-swift refuses use_vllm without it"),
    "parts of groups": (REAL | {"num_generations": 16}, "which needs whole groups of 16 in a micro-batch"),
    "no KL to add": (REAL | {"advantage_estimator": "rloo"}, "which adds the KL that is not there"),
    "what cannot be said": (
        {"overlong_filter": True, "loss_type": "dapo"},
        "overlong_filter: with loss_type='dapo' the tokens of what was cut off stay in the number",
    ),
    "a cap below 1": ({"delta": 0.9}, "delta: at 1 or below it takes the ratio 1 out of reach"),
    "a teacher for a loss of completions": (
        {"teacher_model": "large", "loss_type": "fipo"},
        "teacher_model: ms-swift refuses a teacher with loss_type='fipo'",
    ),
    "a teacher for a mask of completions": (
        {"teacher_model_server": "http://here", "off_policy_sequence_mask_delta": 1.0},
        "teacher_model: ms-swift refuses a teacher with off_policy_sequence_mask_delta",
    ),
    "a teacher with Liger": (
        {"teacher_model": "large", "use_liger_kernel": True},
        "teacher_model: ms-swift refuses a teacher with use_liger_kernel",
    ),
    "a cap with Liger": (
        {"use_liger_kernel": True, "delta": 2.0},
        "delta: ms-swift refuses 2.0 with use_liger_kernel",
    ),
    "tokens by group with Liger": (
        {"use_liger_kernel": True, "importance_sampling_level": "sequence_token"},
        "importance_sampling_level: ms-swift refuses 'sequence_token' with use_liger_kernel",
    ),
    "an average that was not read": (
        {"use_liger_kernel": True, "loss_type": "dapo"},
        "loss_type: 'dapo' with use_liger_kernel cannot be expressed here",
    ),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_told(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ms_swift.recipe(**config)


def test_the_default_is_warned_of():
    """Nothing was said of the penalty, and there is one."""
    dialect = ms_swift.DIALECT
    told = sprung(dialect.traps, dialect.settings({}), dialect.given({}))
    assert [trap.name for trap in told] == ["beta is 0.04 by default"]


# ---- its own kernels, by hand -------------------------------------------------------------------------

REWARDS = np.array([[3.0, 1.0]])
MASK = np.array([[[1.0, 1.0], [1.0, 0.0]]])
"""Two completions of one prompt, of two tokens and of one."""
GOOD_BAD = np.array([[[1.0], [-1.0]]])


def test_a_mean_over_three_tokens_in_four_micro_batches_counts_a_quarter():
    assert divided_again(MASK, steps=4).tolist() == [[[1 / 12, 1 / 12], [1 / 12, 0.0]]]


def test_real_is_the_softplus_of_the_scores():
    """On-policy both scores are 0: the loss is 2 log 2, and each score is pulled by 1/2 over tau."""
    recipe = ms_swift.recipe(**REAL, real_tau=0.25, beta=0.0)
    found = policy_loss(-np.ones((1, 2, 2)), GOOD_BAD[..., 0], MASK, recipe=recipe)
    np.testing.assert_allclose(found.loss, 2 * np.log(2), rtol=1e-14)
    np.testing.assert_allclose(found.gradient, [[[-1.0, -1.0], [2.0, 0.0]]], rtol=1e-14)


def test_bad_completions_that_are_stale_are_out_of_the_number_of_tokens():
    """The second one has lost 0.5 nats; of three tokens two are left."""
    policy = np.array([[[-1.0, -1.0], [-1.5, 0.0]]])
    arrays = (policy, -np.ones((1, 2, 2)), GOOD_BAD, MASK)
    assert off_policy_mask(*arrays, unknown=-inf, threshold=0.4).tolist() == [[[1, 1], [0, 0]]]
    assert off_policy_mask(*arrays, unknown=-inf, threshold=0.6).tolist() == [[[1, 1], [1, 1]]]
    assert fresh_token_mean(*arrays, threshold=0.4).tolist() == [[[0.5, 0.5], [0.0, 0.0]]]


def test_the_penalty_is_weighed_as_the_rest():
    """v = log 2 has k3 = 1/2 - 1 + log 2; the sampler found the token half as likely as the learner."""
    one = np.zeros((1, 1, 1))
    weights = ms_swift.recipe(**VLLM, **TRUNCATE, rollout_importance_sampling_threshold=1.5).corrections
    sampler = one - np.log(2.0)
    term = weighed_k3(one, one - np.log(2.0), one, sampler, one, one + 1.0, weights=weights)
    np.testing.assert_allclose(term.value, [[[1.5 * (np.log(2.0) - 0.5)]]], rtol=1e-14)
    np.testing.assert_allclose(term.direct, [[[0.75]]], rtol=1e-14)


def test_a_gradient_by_token_is_that_of_the_ratio():
    part = by_token(np.zeros((1, 1, 1)), 2.0 * np.ones((1, 1, 1)), gain=ms_swift.recipe().surrogate)
    assert (part.value.item(), part.slope, part.direct.item()) == (2.0, 0.0, 2.0)


def test_the_spread_is_of_what_is_left():
    """Groups (3, 1) and (1, 1) leave 1, -1, 0, 0, whose sample std is √(2/3)."""
    found = centered_then_scaled(np.array([[3.0, 1.0], [1.0, 1.0]]), eps=0.0)
    np.testing.assert_allclose(found, [[np.sqrt(1.5), -np.sqrt(1.5)], [0.0, 0.0]], rtol=1e-14)


def test_the_mean_of_the_others_is_twice_as_far_in_a_group_of_two():
    scores = ms_swift.recipe(beta=0.0, scale_rewards="none").advantage
    assert scaled_up(REWARDS, scores=scores).tolist() == [[2.0, -2.0]]


def test_the_kl_of_a_completion_is_a_sum():
    """Two tokens of log-ratio 1 cost 0.2, one costs 0.1; 2.8 and 0.9 are 0.95 from their mean."""
    scores = ms_swift.recipe(beta=0.0, scale_rewards="none").advantage
    found = penalized(REWARDS, MASK, np.zeros(MASK.shape), -np.ones(MASK.shape), scores=scores, kl_coef=0.1)
    np.testing.assert_allclose(found, [[0.95, -0.95]], rtol=1e-14)


def test_a_punishment_for_length_goes_on_below_minus_1():
    found = overlong(np.ones((1, 3)), np.array([[8, 9, 14]]), longest=10, cache=2, weight=0.5)
    assert found.tolist() == [[1.0, 0.75, -0.5]]


def test_real_refuses_a_temperature_of_0():
    with pytest.raises(ValueError, match="tau: expected a number other than 0"):
        slot(real, tau=0.0)(log_ratio=MASK, advantages=MASK, mask=MASK, correction=MASK)
