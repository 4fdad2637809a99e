"""Open Instruct: what its keys compute, and its numbered estimators."""

import numpy as np
import pytest

from grpo_ref.explain.dialects import open_instruct
from grpo_ref.explain.dialects.open_instruct.kernels import groups_with_std, rho_clamp, rho_window, vaco_mask
from grpo_ref.levels import sequence_mean_level

# configuration -> parts of the recipe, as text
PARTS = {
    "defaults": (
        {},
        {
            "advantage": "group_centered",
            "keep": "groups_with_std",
            "surrogate": "clipped(clip_low=0.2, clip_high=0.272)",
            "kl_coef": "0.05",
            "corrections": "(rho_clamp(min_ratio=0.0, max_ratio=2.0, level=token_level))",
        },
    ),
    "without a reference": ({"load_ref_policy": False, "beta": 0.0}, {"kl_coef": "0.0"}),
    "a window": (
        {"rho_mask_lower_bound": 0.5, "rho_clamp_upper_bound": 0.0},
        {
            "corrections": "(rho_clamp(min_ratio=0.0, max_ratio=inf, level=token_level),"
            " rho_window(min_ratio=0.5, max_ratio=inf, level=token_level))"
        },
    ),
    "VACO": (
        {"rho_mask_tv_divergence": True, "rho_mask_upper_bound": 1.5},
        {
            "corrections": "(rho_clamp(min_ratio=0.0, max_ratio=2.0, level=token_level),"
            " vaco_mask(min_divergence=0.0, max_divergence=1.5))"
        },
    ),
    "no ratio too low": (
        {"clip_lower": 1.0},
        {"surrogate": f"clipped(clip_low={1 - 2**-53}, clip_high=0.272)"},
    ),
    "a word that is a number": ({"loss_denominator": "40"}, {"aggregate": "token_sum_over(tokens=40.0)"}),
    "bounds that are none": (
        {"rho_clamp_lower_bound": -1.0, "rho_clamp_upper_bound": -1.0},
        {"corrections": "(rho_clamp(min_ratio=0.0, max_ratio=inf, level=token_level))"},
    ),
    "a number divides": ({"loss_denominator": 40}, {"aggregate": "token_sum_over(tokens=40.0)"}),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()"} | open_instruct.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


REFUSED = {
    "a weight for no reference": ({"load_ref_policy": False}, "beta has to be 0"),
    "the sampler twice": ({"use_vllm_logprobs": True}, "refused together with use_rho_correction"),
    "a window that 1 is not in": (
        {"rho_mask_lower_bound": 1.0},
        "rho_mask_lower_bound: expected a number below 1",
    ),
    "nor here": ({"rho_mask_upper_bound": 0.9}, "rho_mask_upper_bound: expected a number above 1"),
    "a clamp above 1": ({"rho_clamp_lower_bound": 1.0}, "rho_clamp_lower_bound: expected a number below 1"),
    "a clamp at 1": ({"rho_clamp_upper_bound": 1.0}, "rho_clamp_upper_bound: expected a number above 1"),
    "groups of one": ({"num_samples_per_prompt_rollout": 1}, "groups of one have no spread"),
    "new groups for none": (
        {"active_sampling": True, "filter_zero_std_samples": False},
        "expected filter_zero_std_samples to be on",
    ),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_open_instruct_refuses_is_refused(config, message):
    with pytest.raises(ValueError, match=message):
        open_instruct.recipe(**config)


def test_bounds_are_not_looked_at_without_the_correction():
    assert open_instruct.recipe(use_rho_correction=False, rho_clamp_upper_bound=0.5).corrections == ()


LOG2 = np.log(2.0)
HALF = np.full((1, 1, 2), -LOG2)
UNKNOWN = np.array([[[-LOG2, np.nan]]])
ONES = np.ones((1, 1, 2))


def test_a_token_that_the_sampler_does_not_know_weighs_its_probability_over_e():
    """The sampler's 1.0 is taken for a log-probability: 1/2 over e, where no mismatch would be 1."""
    np.testing.assert_allclose(rho_clamp(HALF, UNKNOWN, ONES), [[[1.0, 0.5 / np.e]]], rtol=1e-12)
    np.testing.assert_array_equal(rho_window(HALF, UNKNOWN, ONES, min_ratio=0.5), [[[1.0, 0.0]]])


def test_an_unknown_token_counts_in_the_mean_of_its_completion():
    """The mean of 0 and of log 1/2 - 1."""
    weights = rho_clamp(HALF, UNKNOWN, ONES, level=sequence_mean_level)
    np.testing.assert_allclose(weights, np.full((1, 1, 2), np.sqrt(0.5 / np.e)), rtol=1e-12)


# probabilities 1/2 and 1/2 now, 1/4 and 3/4 at the sampler: ratios 2 and 2/3, a divergence of (1 + 1/3) / 2
SAMPLER = np.log([[[0.25, 0.75]]])
VACO = {
    "near enough": (1.0, {"max_divergence": 0.7}, [1.0, 1.0]),
    "far, and a good completion: the token above would rise": (1.0, {"max_divergence": 0.6}, [0.0, 1.0]),
    "far, and a bad completion: the token below would fall": (-1.0, {"max_divergence": 0.6}, [1.0, 0.0]),
    "far, and nothing moves": (0.0, {"max_divergence": 0.6}, [1.0, 1.0]),
    "near, with a lower bound": (1.0, {"min_divergence": 0.7}, [0.0, 1.0]),
}


@pytest.mark.parametrize(("advantage", "bounds", "weights"), VACO.values(), ids=VACO)
def test_vaco_masks_what_moves_away_in_a_completion_that_is_far(advantage, bounds, weights):
    np.testing.assert_array_equal(vaco_mask(HALF, SAMPLER, advantage * ONES, ONES, **bounds), [[weights]])


def test_equal_rewards_may_have_a_std():
    """The mean of three times 0.1 is rounded to another number."""
    rewards = np.array([[0.1, 0.1, 0.1], [1.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    np.testing.assert_array_equal(groups_with_std(rewards), [True, False, True])
    np.testing.assert_array_equal(open_instruct.recipe().keep(rewards=rewards), [True, False, True])


def test_the_names_that_estimators_had_before_they_had_numbers():
    before, after = open_instruct.DIALECT.at("2025.11"), open_instruct.DIALECT.at("2025.12")
    named = [before.recipe(kl_estimator=f"kl{number + 1}").penalty for number in range(4)]
    assert named == [after.recipe(kl_estimator=number).penalty for number in range(4)]
