"""understand-r1-zero: what its arguments compute."""

import re

import numpy as np
import pytest

from grpo_ref.explain.dialects import understand_r1_zero
from grpo_ref.explain.dialects.understand_r1_zero.kernels import penalized, zero_if_cut_off

# configuration -> parts of the recipe, as text
PARTS = {
    "a penalty is the default": (
        {},
        {
            "advantage": "group_centered",
            "kl_coef": "0.1",
            "penalty": "k3(max_log_ratio=40.0)",
            "reward": "zero_if_cut_off",
        },
    ),
    "rewards of another size": ({"reward_scale": 2.0}, {"reward": "zero_if_cut_off(scale=2.0)"}),
    "a negative weight is none": ({"beta": -0.1}, {"kl_coef": "0.0"}),
    "no ratio": ({"reinforce_update": True}, {"surrogate": "reinforce"}),
    "what was cut off is left out": ({"ignore_no_eos": True}, {"admit": "ended_completions"}),
    "a KL in the reward": (
        {"kl_penalty_coef": 0.05, "beta": 0.0},
        {"advantage": "penalized(scores=group_centered, kl_coef=0.05)"},
    ),
    "a clip that is wider than 1": (
        {"cliprange": 1.5},
        {"surrogate": "clipped(clip_low=0.9999999999999999, clip_high=1.5)"},
    ),
    "no reference is loaded for a bonus alone": (
        {"kl_penalty_coef": -0.05, "beta": 0.0},
        {"advantage": "group_centered"},
    ),
    "a bonus beside a penalty": (
        {"kl_penalty_coef": -0.05, "beta": 0.1},
        {"advantage": "penalized(scores=group_centered, kl_coef=-0.05)"},
    ),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = understand_r1_zero.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


def test_a_flag_may_have_hyphens():
    flags = {"critic-type": "grpo", "kl-penalty-coef": 0.1, "zero-stage": 3}
    assert understand_r1_zero.recipe(**flags) == understand_r1_zero.recipe(
        critic_type="grpo", kl_penalty_coef=0.1
    )


REFUSED = {
    "a critic that is learned": ({"critic_type": "ppo"}, "critic_type: expected one of 'grpo', 'drgrpo'"),
    "a template that is none": (
        {"prompt_template": "chat"},
        "prompt_template: expected one of 'qwen_math', 'no'",
    ),
    "collocated": ({"asynchronous": True, "collocate": True}, "asynchronous: not with collocate"),
    "a reward model for nothing": ({"learn_rm": True}, "learn_rm: only with an exp_method"),
    "a reward model alone": ({"learn_rm_only": True}, "learn_rm_only: only with best_of_n_eval"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_told(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        understand_r1_zero.recipe(**config)


def test_a_clip_below_0_leaves_the_upper_bound():
    """Both bounds are 0.9: a fresh good token is stopped there; a bad one, smaller unclipped, is not."""
    part = understand_r1_zero.recipe(cliprange=-0.1).surrogate
    term = part(log_ratio=np.zeros(2), advantages=np.array([2.0, -2.0]))
    np.testing.assert_allclose(term.value, [1.8, -2.0], rtol=1e-15)
    assert term.slope.tolist() == [0.0, -2.0]


@pytest.mark.parametrize(("critic", "value"), [("grpo", float("nan")), ("drgrpo", 0.0)])
def test_a_completion_without_a_sibling(critic, value):
    part = understand_r1_zero.recipe(critic_type=critic, num_samples=1).advantage
    np.testing.assert_array_equal(part(rewards=np.array([[1.0], [3.0]])), [[value], [value]])


def test_what_was_cut_off_gets_nothing():
    rewards = zero_if_cut_off(np.array([[1.0, -1.0]]), np.array([[True, False]]), scale=2.0)
    assert rewards.tolist() == [[2.0, 0.0]]


def test_the_log_ratios_of_a_completion_are_summed_before_the_group_is_looked_at():
    """Two tokens of log-ratio 1 cost 0.2, one costs 0.1; around the mean of 0.8 and 0.9 that is ∓0.05."""
    mask = np.array([[[1, 1], [1, 0]]])
    found = penalized(
        np.ones((1, 2)),
        mask,
        np.zeros((1, 2, 2)),
        -np.ones((1, 2, 2)),
        scores=understand_r1_zero.objective.CRITICS["drgrpo"][0],
        kl_coef=0.1,
    )
    np.testing.assert_allclose(found, [[-0.05, 0.05]], rtol=1e-12)
