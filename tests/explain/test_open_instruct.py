"""Open Instruct: what its keys compute, and its numbered estimators."""

import numpy as np
import pytest

from conformance.calls.open_instruct import open_instruct_kl
from conformance.replay import rebuild
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


def test_equal_rewards_may_have_a_std():
    """The mean of three times 0.1 is rounded to another number."""
    rewards = np.array([[0.1, 0.1, 0.1], [1.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    np.testing.assert_array_equal(groups_with_std(rewards), [True, False, True])
    np.testing.assert_array_equal(open_instruct.recipe().keep(rewards=rewards), [True, False, True])


def case(call, config, **arrays):
    """A case of the arrays that are given by our names, with groups of two."""
    given = {name: name for name in arrays}
    return {"id": "", "trainer": "open_instruct", "call": call, "config": config, "given": given}, {
        **arrays,
        "group_size": 2,
    }


def test_what_is_logged_of_advantages_is_of_the_groups_that_are_left():
    """The second group has no contrast; with it the mean of the scores would be 3/4."""
    told, arrays = case("advantages", {}, rewards=[1.0, 0.0, 1.0, 1.0], mask=[[1]] * 4)
    told["metrics"] = {"scores": 0.5, "val/advantages_mean": 0.0, "val/advantages_max": 0.5}
    found = rebuild(told, arrays)
    np.testing.assert_array_equal(found["value"], [[0.5, -0.5], [0.0, 0.0]])
    assert found["logged"] == told["metrics"]


def test_groups_without_contrast_go_before_what_was_cut_off():
    """Of the second and third group, one completion each is left: one group, with scores 1 and 3."""
    rewards, ended = [1.0, 1.0, 1.0, 0.0, 0.0, 3.0], [1, 0, 1, 0, 0, 1]
    config = {"mask_truncated_completions": True}
    told, arrays = case("advantages of ended completions", config, rewards=rewards, ended=ended)
    np.testing.assert_array_equal(rebuild(told, arrays)["value"], [[0.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    told["config"] = config | {"filter_zero_std_samples": False}
    with pytest.raises(ValueError, match="reshape"):
        rebuild(told, arrays)


LENGTHS = {"log_probs": [[-1.0, -1.0], [-1.0, -2.0], [-1.0, -2.0]], "mask": [[1, 1], [1, 0], [1, 0]]}
CONFIG = {"use_rho_correction": False, "beta": 0.0, "loss_denominator": 1}


def test_a_micro_batch_of_packs_is_what_a_metric_is_a_mean_of():
    """Advantages 2, -3, 1: the rows' losses are -4 and 3, or -1 together, and -1; tokens are 3 and 1."""
    told, arrays = case("loss in packs of two", CONFIG, **LENGTHS, advantages=[2.0, -3.0, 1.0])
    arrays = {**arrays, "group_size": 3}
    told["metrics"] = {"loss/total_avg": 0.0}
    for size, logged in {1: -1.0, 2: -2.0}.items():
        told["config"] = {**CONFIG, "per_device_train_batch_size": size}
        assert rebuild(told, arrays)["logged"]["loss/total_avg"] == logged


def test_metrics_overflow_in_float32():
    """A ratio of exp(100), which no number of float32 is."""
    told, arrays = case("loss", CONFIG, log_probs=[[-1.0], [-1.0]], old_log_probs=[[-101.0], [-1.0]])
    arrays |= {"advantages": [1.0, -1.0], "mask": [[1], [1]]}
    told |= {"given": {name: name for name in arrays if name != "group_size"}, "metrics": {"val/ratio": 0.0}}
    assert rebuild(told, arrays)["logged"]["val/ratio"] == np.inf


def test_the_names_that_estimators_had_before_they_had_numbers():
    named = [open_instruct.recipe(kl_estimator=f"kl{number + 1}") for number in range(4)]
    assert named == [open_instruct.recipe(kl_estimator=number) for number in range(4)]
