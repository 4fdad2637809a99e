"""NeMo-RL: what its keys compute."""

import re

import numpy as np
import pytest

from grpo_ref.explain.description import explain
from grpo_ref.explain.dialects import nemo_rl
from grpo_ref.explain.dialects.nemo_rl.kernels import (
    close_to_sampler,
    compared_after_filter,
    compared_with_others,
    each_compared_then_summed,
    finite_geometric_filter,
    finite_ratio,
    finite_window,
    less_if_cut_off,
    less_overlong,
    limited,
    others_differ,
    scaled,
    scored,
    scored_against_sampler,
    whitened_after_filter,
    whitened_over_tokens,
    whitened_with_penalty,
)
from grpo_ref.recipes import slot

BY_COMPLETION = {"token_level_loss": False}
GSPO = BY_COMPLETION | {"sequence_level_importance_ratios": True}
FILTERED = {"use_dynamic_sampling": True}
BY_GROUP = FILTERED | {"use_leave_one_out_baseline": False}
ON = {"use_importance_sampling_correction": True}
TIS = {"truncated_importance_sampling_type": "tis", "truncated_importance_sampling_ratio": 2.0}
SCALED = {"reward_scaling": {"enabled": True, "target_min": -1.0}}
SOURCE = "source=(0.0, 1.0), target=(-1.0, 1.0)"
# configuration -> parts of the recipe, as text
PARTS = {
    "as it comes": (
        {},
        {
            "advantage": "compared_with_others",
            "penalty": "scored(estimator=k3, max_log_ratio=20.0, max_value=10.0)",
            "kl_coef": "0.01",
            "aggregate": "token_mean(eps=1e-08)",
        },
    ),
    "a teacher replaces the rewards": (
        {"adv_estimator.name": "opd", "advantage_clip_low": -5.0, "advantage_clip_high": 5.0},
        {"advantage": "raw_rewards", "distill": "with_teacher(reward_coef=0.0, max_log_ratio=5.0)"},
    ),
    "the published recipe of a teacher": (
        {
            "adv_estimator.name": "opd",
            "disable_ppo_ratio": True,
            "use_importance_sampling_correction": True,
            "truncated_importance_sampling_type": "icepop",
            "truncated_importance_sampling_ratio_min": 0.5,
            "truncated_importance_sampling_ratio": 5.0,
            "reference_policy_kl_penalty": 0.0,
        },
        {
            "surrogate": "reinforce",
            "corrections": "(finite_window(min_ratio=0.5, max_ratio=5.0))",
            "kl_coef": "0.0",
            "distill": "with_teacher(reward_coef=0.0)",
        },
    ),
    "GRPO as it was published": (
        {"use_leave_one_out_baseline": False},
        {"advantage": "group_normalized(ddof=1, eps=1e-06)"},
    ),
    "the key of the estimator goes before": (
        {"normalize_rewards": True, "adv_estimator": {"normalize_rewards": False}},
        {"advantage": "leave_one_out"},
    ),
    "an interpolation is the key that it names": (
        {
            "normalize_rewards": False,
            "adv_estimator": {"normalize_rewards": "${grpo.normalize_rewards}"},
        },
        {"advantage": "leave_one_out"},
    ),
    "gspo": (
        GSPO,
        {
            "level": "sequence_mean_level",
            "aggregate": "sequence_mean_token_mean(count_empty=True, eps=1e-08)",
        },
    ),
    "what is filtered counts in no denominator": (
        GSPO | {"overlong_filtering": True},
        {"admit": "ended_completions", "aggregate": "sequence_mean_token_mean(count_empty=False, eps=1e-08)"},
    ),
    "two-sided cispo": ({"use_cispo": True}, {"surrogate": "cispo(min_ratio=0.8, max_ratio=1.2)"}),
    "a clip without lower bound": (
        {"use_cispo": True, "ratio_clip_min": 1.5},
        {"surrogate": "cispo(min_ratio=0.0, max_ratio=1.2)"},
    ),
    "no ratio, at no level": (
        GSPO | {"disable_ppo_ratio": True},
        {"surrogate": "reinforce", "level": "token_level"},
    ),
    "weights of the policy itself": (
        {"force_on_policy_ratio": True} | ON | TIS,
        {
            "surrogate": "ratio_of_one",
            "corrections": "(of_the_policy(weights=finite_ratio(min_ratio=0.0, max_ratio=2.0)))",
        },
    ),
    "two parts of one correction": (
        ON
        | {
            "truncated_importance_sampling_type": "seq-mask-tis",
            "truncated_importance_sampling_ratio": 1.002,
            "truncated_importance_sampling_ratio_min": 0.999,
        },
        {"corrections": "(finite_geometric_filter(min_ratio=0.999, max_ratio=1.002), finite_ratio)"},
    ),
    "the filter of groups": (BY_GROUP, {"keep": "mixed_groups"}),
    "the filter of completions": (
        FILTERED,
        {
            "keep": "any_others_differ",
            "admit": "others_differ",
            "advantage": "compared_after_filter(leave_one_out=True, normalized=True)",
        },
    ),
    "the filter sees the limited reward": (
        BY_GROUP | SCALED,
        {"keep": "varied_inside(limits=(0.0, 1.0))", "reward": f"scaled({SOURCE})"},
    ),
    "the longest text is the longest response": (
        {"reward_shaping": {"enabled": True}, "policy": {"max_total_sequence_length": 4096}},
        {"reward": "less_overlong(longest=4096, buffer=128)"},
    ),
    "what was cut off, after the scaling": (
        SCALED | {"reward_shaping": {"enabled": True, "stop_properly_penalty_coef": 0.0}},
        {"reward": f"less_if_cut_off(share=0.0, {SOURCE})"},
    ),
    "limits at the end": (
        {"advantage_clip_low": -5, "use_leave_one_out_baseline": False},
        {"advantage": "limited(scores=group_normalized(ddof=1, eps=1e-06), limits=(-5, inf))"},
    ),
    "a KL in the reward": (
        {"adv_estimator.name": "reinforce_plus_plus", "use_kl_in_reward": True},
        {
            "advantage": "whitened_with_penalty(penalty=k3, kl_coef=0.01, baseline=True)",
            "kl_coef": "0.0",
        },
    ),
    "both filters of completions": (
        {"overlong_filtering": True, "seq_logprob_error_threshold": 2},
        {"admit": "ended_and_close(threshold=2)"},
    ),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()"} | nemo_rl.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


REFUSED = {
    "gspo by token": ({"sequence_level_importance_ratios": True}, "refuses this with token_level_loss"),
    "a bound without its kind": (
        ON | {"truncated_importance_sampling_ratio": 2.0},
        "truncated_importance_sampling_ratio: NeMo-RL refuses this without",
    ),
    "a teacher without old log-probabilities": (
        {"adv_estimator.name": "opd", "force_on_policy_ratio": True},
        "NeMo-RL refuses this 'opd' with force_on_policy_ratio and no seq_logprob_error_threshold",
    ),
    "a teacher with one limit": (
        {"adv_estimator.name": "opd", "advantage_clip_high": 5.0},
        "with limits of the advantages that are not symmetric",
    ),
    "mini-batches that are taken as on-policy": (
        {"force_on_policy_ratio": True, "policy.train_global_batch_size": 256},
        "unless policy.train_global_batch_size is the 512 completions of a step, got 256",
    ),
    "a narrowed distribution": ({"policy.generation.top_p": 0.9}, "The ratio is taken of the narrowed"),
    "experts in balance": (
        {"policy.megatron_cfg": {"enabled": True, "moe_router_load_balancing_type": "aux_loss"}},
        "moe_router_load_balancing_type = 'aux_loss' cannot be expressed here.",
    ),
    "further heads": (
        {
            "policy.megatron_cfg": {
                "enabled": True,
                "mtp_num_layers": 1,
                "mtp_loss_scaling_factor": 0.3,
            }
        },
        "A loss of further heads, which predict several tokens at once, is added",
    ),
    "overwritten advantages": ({"invalid_tool_call_advantage": -5.0}, "only the environment knows"),
    "a key of the other group": ({"grpo.ratio_clip_min": 0.1}, "nemo_rl has no key 'grpo.ratio_clip_min'"),
    "the other loop with shaping": (
        BY_GROUP | {"reward_shaping": {"enabled": True}, "data_plane": {"enabled": True}},
        "The filter asks for the spread of the shaped rewards",
    ),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_told(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        nemo_rl.recipe(**config)


def test_narrowing_without_a_penalty_is_another_policy_and_no_other_objective():
    config = {"policy.generation": {"top_p": 0.9, "top_k": 50}, "reference_policy_kl_penalty": 0.0}
    assert nemo_rl.recipe(**config).kl_coef == 0.0


def test_the_filter_of_prorl_is_warned_of():
    """Its configuration starts from grpo_math_1B.yaml, and so do its keys that are not spelt out."""
    config = FILTERED | {
        "adv_estimator": {"name": "reinforce_plus_plus", "use_leave_one_out_baseline": False},
        "reward_shaping": {"enabled": True, "stop_properly_penalty_coef": 0.0},
    }
    told = explain(nemo_rl.DIALECT, config)
    assert "use_leave_one_out_baseline drops a group's only right answer" in [
        trap.name for trap in told.traps
    ]
    assert told.recipe.advantage.kernel is whitened_after_filter


# ---- its own kernels, by hand -------------------------------------------------------------------------

ONE_RIGHT = np.array([[1.0, 0.0, 0.0, 0.0]])
TWO_RIGHT = np.array([[1.0, 1.0, 0.0, 0.0]])
TOKENS = np.ones((1, 4, 1))


def test_the_one_right_answer_is_not_divided():
    """Of a wrong one the others are 1, 0, 0: mean 1/3, variance (4/9 + 1/9 + 1/9)/2 = 1/3."""
    wrong = -(1 / 3) / (np.sqrt(1 / 3) + 1e-6)
    np.testing.assert_allclose(compared_with_others(ONE_RIGHT), [[1.0, wrong, wrong, wrong]], rtol=1e-14)


def test_two_have_no_spread_of_the_others():
    assert compared_with_others(np.array([[3.0, 1.0]])).tolist() == [[2.0, -2.0]]


def test_a_group_of_one_and_a_group_that_agrees_get_nothing():
    assert compared_with_others(np.array([[3.0]])).tolist() == [[0.0]]
    assert compared_with_others(np.array([[0.3, 0.3, 0.3]])).tolist() == [[0.0, 0.0, 0.0]]


def test_the_filter_drops_the_one_right_answer():
    assert others_differ(ONE_RIGHT).tolist() == [[False, True, True, True]]
    assert others_differ(TWO_RIGHT).tolist() == [[True, True, True, True]]
    assert others_differ(np.array([[1.0, 0.0]])).tolist() == [[False, False]]
    assert others_differ(np.array([[2.0, 1.0, 0.5]]), limits=(0.0, 1.0)).tolist() == [[True, True, False]]


def test_what_the_filter_leaves_of_it_teaches_nothing():
    found = compared_after_filter(ONE_RIGHT, ONE_RIGHT[..., None], np.ones(1))
    assert found.tolist() == [[0.0, 0.0, 0.0, 0.0]]
    shaped = np.array([[1.0, 0.0, 0.0, -0.6]])
    found = compared_after_filter(
        shaped, ONE_RIGHT[..., None], np.ones(1), leave_one_out=False, normalized=False
    )
    np.testing.assert_allclose(found, [[0.0, 0.2, 0.2, -0.4]], rtol=1e-14)


def test_reinforce_plus_plus_sees_the_tokens_that_are_left():
    """Centered, 1, 1, 0, 0 are ±1/2, whose variance is 1/4."""
    both = np.concatenate([ONE_RIGHT, TWO_RIGHT])
    found = whitened_after_filter(both, both[..., None], np.ones(1), np.ones((2, 4, 1)))
    scale = np.sqrt(4 * 0.25 / 7)
    expected = np.array([[0.0] * 4, [0.5, 0.5, -0.5, -0.5]]) / scale
    np.testing.assert_allclose(found[..., 0], expected, rtol=1e-14)


def test_a_long_completion_has_more_of_the_mean():
    """Of 2, 2 and -1 the mean is 1 and the variance 2."""
    mask = np.array([[[1, 1], [1, 0]]])
    found = whitened_over_tokens(np.array([[2.0, -1.0]]), mask, baseline=False)
    np.testing.assert_allclose(found, np.array([[[1.0, 1.0], [-2.0, 0.0]]]) / np.sqrt(2.0), rtol=1e-14)


def test_a_token_answers_for_its_own_kl_alone():
    """k1 is 1 and 3: with a weight of 1/2 that is -1/2 and -3/2, and ±1/2 around the mean."""
    old, ref = np.array([[[-1.0, -1.0]]]), np.array([[[-2.0, -4.0]]])
    k1 = nemo_rl.objective.PENALTIES["k1"]
    found = whitened_with_penalty(np.ones((1, 1)), np.ones((1, 1, 2)), old, ref, penalty=k1, kl_coef=0.5)
    np.testing.assert_allclose(found, [[[1.0, -1.0]]], rtol=1e-14)


def test_criteria_are_summed_and_divided_by_their_own_spread():
    """Without a group's division: 1, -1/2, -1/2 and its double for the second; their sum has mean 0."""
    components = np.array([[[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]])
    found = each_compared_then_summed(components, reward_weights=(1.0, 0.5), normalized=False)
    np.testing.assert_allclose(found, np.array([[2.0, -1.0, -1.0]]) / np.sqrt(3.0), rtol=1e-14)
    limits = {"normalized": False, "limits": (-0.5, 0.5)}
    assert each_compared_then_summed(components, **limits).tolist() == [[0.5, -0.5, -0.5]]


def test_the_slope_of_a_penalty_counts_who_drew_the_token():
    """v = log 2: k1 has 1 + v, k2 has v + v²/2, and k3 has v."""
    v, policy = np.log(2.0), np.zeros((1, 1, 1))
    slopes = {"k1": 1.0 + v, "k2": v + v**2 / 2, "k3": v}
    for name, slope in slopes.items():
        assert scored(policy, policy - v, estimator=name).direct.item() == pytest.approx(slope, rel=1e-14)
    weighted = scored_against_sampler(policy, policy - v, policy - np.log(3.0), estimator="k3")
    assert weighted.value.item() == pytest.approx(3.0 * (v - 0.5), rel=1e-14)
    assert weighted.direct.item() == pytest.approx(3.0 * v, rel=1e-14)


def test_beyond_a_limit_of_the_penalty_there_is_no_slope():
    policy = np.zeros((1, 1, 1))
    held = scored(policy, policy - 2.0, estimator="k1", max_log_ratio=1.0)
    assert (held.value.item(), held.direct.item()) == (1.0, 0.0)
    held = scored(policy, policy - 2.0, estimator="k1", max_value=1.5)
    assert (held.value.item(), held.direct.item()) == (1.5, 0.0)


def test_a_ratio_that_is_no_number_counts_as_0_before_its_limits():
    sampler = np.array([[[np.nan, -800.0, -np.log(2.0), -np.log(4.0)]]])
    fields = (np.zeros((1, 1, 4)), sampler, np.ones((1, 1, 4)))
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(finite_ratio(*fields), [[[0.0, 0.0, 2.0, 4.0]]], rtol=1e-14)
        limits = {"min_ratio": 0.5, "max_ratio": 3.0}
        np.testing.assert_allclose(finite_ratio(*fields, **limits), [[[0.5, 0.5, 2.0, 3.0]]], rtol=1e-14)
        np.testing.assert_allclose(finite_window(*fields, **limits), [[[0.0, 0.0, 2.0, 0.0]]], rtol=1e-14)


def test_the_weight_of_a_whole_completion_is_a_product():
    sampler = np.log(np.array([[[0.5, 0.25]]]))
    fields = (np.zeros((1, 1, 2)), sampler, np.ones((1, 1, 2)))
    np.testing.assert_allclose(finite_ratio(*fields, whole=True), [[[8.0, 8.0]]], rtol=1e-14)
    inside = finite_geometric_filter(*fields, min_ratio=2.0, max_ratio=2.9)
    assert inside.tolist() == [[[1.0, 1.0]]]


def test_learner_and_sampler_are_compared_by_the_size_of_the_error():
    """Factors of 2 and 1/2 are both an error of 2, which a mean of ratios would not see."""
    sampler = np.log(np.array([[[2.0, 0.5]]]))
    fields = (np.zeros((1, 1, 2)), sampler, np.ones((1, 1, 2)))
    assert close_to_sampler(*fields, threshold=2.0 + 1e-9).item()
    assert not close_to_sampler(*fields, threshold=1.9).item()


def test_the_punishment_of_long_texts_has_no_end():
    """The buffer is the tokens from 4 to 6; the tenth is two buffers beyond its end."""
    rewards, lengths = np.array([[1.0, 1.0, 1.0]]), np.array([[4, 5, 10]])
    assert less_overlong(rewards, lengths, longest=6, buffer=2).tolist() == [[1.0, 0.5, -2.0]]


def test_a_share_of_a_bad_reward_is_a_better_one():
    rewards, ended = np.array([[1.0, 0.0, 1.0]]), np.array([[False, False, True]])
    interval = {"source": (0.0, 1.0), "target": (-1.0, 1.0)}
    assert scaled(rewards, **interval).tolist() == [[1.0, -1.0, 1.0]]
    assert less_if_cut_off(rewards, ended, share=0.5, **interval).tolist() == [[0.5, -0.5, 1.0]]


def test_limits_are_of_the_advantage():
    scores = slot(compared_with_others)
    assert limited(ONE_RIGHT, scores=scores, limits=(-0.25, 0.5)).tolist() == [[0.5, -0.25, -0.25, -0.25]]
