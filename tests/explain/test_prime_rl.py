"""prime-rl: what its keys compute."""

import re
from math import log

import numpy as np
import pytest

from grpo_ref import policy_loss
from grpo_ref.advantages import mean_scaled
from grpo_ref.explain.dialects import prime_rl
from grpo_ref.explain.dialects.prime_rl.kernels import (
    gated_groups,
    length_penalized,
    of_any_advantage,
    probability_gated,
    symmetrically_gated,
    unless_fallen,
)
from grpo_ref.explain.dialects.prime_rl.traps import TRAPS
from grpo_ref.explain.trap import sprung
from grpo_ref.recipes import slot

ALGO, LOSS = "orchestrator.algo", "trainer.loss"
GATE = {"curriculum": {"gates": {"low_signal": {"reject_min": -0.1, "reject_max": 0.1}}}}
# configuration -> parts of the recipe, as text
PARTS = {
    "the defaults": (
        {},
        {
            "advantage": "group_centered",
            "surrogate": "probability_gated(low=0.2, high=0.2, scale=1.0, pull=0.001)",
            "aggregate": "token_mean",
            "kl_coef": "0.0",
            "admit": "of_any_advantage(scores=group_centered)",
        },
    ),
    "ipo has one threshold, of 0.1": (
        {f"{LOSS}.type": "ipo"},
        {"surrogate": "symmetrically_gated(threshold=0.1, scale=1.0, pull=0.001)"},
    ),
    "nothing is taken out": ({"train.filter_zero_advantages": False}, {"admit": "all_completions"}),
    "a penalty for length, by any of its keys": (
        {f"{ALGO}.length_penalty.num_turns_weight": 0.5},
        {"advantage": "length_penalized(output=0.25)"},
    ),
    "max_rl": ({f"{ALGO}.type": "max_rl"}, {"advantage": "mean_scaled(eps=0.0)"}),
    "a teacher": (
        {f"{ALGO}.type": "opd", f"{ALGO}.teacher.name": "large"},
        {
            "surrogate": "unless_fallen",
            "distill": "with_teacher(reward_coef=0.0, student=current)",
            "admit": "all_completions",
        },
    ),
    "a source that teaches itself": (
        {"train.source": [{"algo": {"type": "opsd", "demo_key": "answer"}}]},
        {"distill": "with_teacher(reward_coef=0.0, student=current)"},
    ),
    "a source with its own algorithm and a gate": (
        {"orchestrator": {"train": {"source": [{"algo": {"type": "max_rl"}} | GATE]}}},
        {
            "advantage": "mean_scaled(eps=0.0)",
            "keep": "gated_groups(scores=mean_scaled(eps=0.0), ranges=((-0.1, 0.1)))",
        },
    ),
    "two sources that agree": (
        {"train.source": [{"name": "one", "ratio": 2.0}, {"name": "two", "algo": {"type": "grpo"}}]},
        {"advantage": "group_centered"},
    ),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"admit": "all_completions"} | prime_rl.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


REFUSED = {
    "two thresholds with ipo": (
        {"loss.type": "ipo", "loss.dppo_mask_low": 0.1},
        "prime-rl refuses it with loss.type='ipo'",
    ),
    "a threshold of ipo": (
        {"loss.ipo_threshold": 0.1},
        "loss.ipo_threshold: prime-rl refuses it with loss.type='default'",
    ),
    "another algorithm": ({"algo.type": "gspo"}, "algo.type: expected one of 'grpo', 'max_rl'"),
    "imitation": ({"algo.type": "sft"}, "Another model samples, and the policy imitates it"),
    "the tokens of tools": ({"algo.type": "echo"}, "The algorithm adds cross-entropy"),
    "a memory of rewards": ({"algo.type": "rae"}, "what the same agent got in earlier batches"),
    "a function of the user": ({"loss.type": "custom"}, "The loss is the user's own function"),
    "two algorithms at once": (
        {"train.source": [{"algo": {"type": "max_rl"}}, {}]},
        "train.source: the sources are trained in more than one way",
    ),
    "a source that is imitated": (
        {"train.source": [{"algo": {"type": "sft", "teacher": {"name": "x"}}}]},
        "train.source: algo.type = 'sft' cannot be expressed here",
    ),
    "a key that no source has": ({"train.source": [{"id": "x"}]}, "train.source: no key id in a source"),
    "no table": ({"train.source": ["x"]}, "train.source: expected tables, got 'x'"),
    "a batch of broken groups": ({"batch_size": 100, "group_size": 8}, "100 is not divisible by group_size"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_told(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        prime_rl.recipe(**config)


def test_the_sections_without_effect_may_hold_anything():
    beside = {
        "inference": {"vllm": {"group_size": 3}},
        "trainer": {"optim": {"type": "muon", "lr": 1e-6}},
        "orchestrator": {"eval": {"group_size": 32}, "group_size": 8},
    }
    assert prime_rl.recipe(**beside) == prime_rl.recipe()
    assert prime_rl.DIALECT.settings(beside).group_size == 8


# ---- its own kernels, by hand -------------------------------------------------------------------------

# probability under the sampler and now, advantage -> value and slope; thresholds 0.2, scale 2, no pull
TOKENS = {
    "moved far up, and wanted up": (0.5, 0.75, 1.0, 0.0),
    "moved up less": (0.5, 0.625, 1.0, 2.5),
    "moved far up, and wanted down": (0.5, 0.75, -1.0, -3.0),
    "moved far down, and wanted down": (0.5, 0.25, -1.0, 0.0),
    "rare, with a ratio of 15": (0.0078125, 0.1171875, 1.0, 30.0),
}


@pytest.mark.parametrize(("before", "now", "advantage", "value"), TOKENS.values(), ids=TOKENS)
def test_the_mask_is_of_probabilities(before, now, advantage, value):
    term = probability_gated(
        np.array([[[log(now / before)]]]),
        np.array([[[log(now)]]]),
        np.array([advantage]),
        scale=2.0,
        pull=0.0,
    )
    np.testing.assert_allclose([term.value.item(), term.slope.item()], [value, value], rtol=1e-12)


def test_ipo_leaves_out_what_moved_far_either_way():
    """From 0.5 to 0.75 against the advantage."""
    ratio, now = np.array([[[log(1.5)]]]), np.array([[[log(0.75)]]])
    term = symmetrically_gated(ratio, now, np.array([-1.0]), threshold=0.2, pull=0.0)
    assert term.value.item() == term.slope.item() == 0.0


def test_what_is_left_out_is_pulled_back_all_the_same():
    """(log 2)² times 0.1; its slope is twice 0.1 log 2."""
    ratio, now = np.array([[[log(2.0)]]]), np.array([[[log(0.5)]]])
    term = probability_gated(ratio, now, np.array([1.0]), high=0.1, pull=0.1)
    np.testing.assert_allclose(term.value, -0.1 * log(2.0) ** 2, rtol=1e-12)
    np.testing.assert_allclose(term.slope, -0.2 * log(2.0), rtol=1e-12)


def test_the_penalty_for_length_is_a_share_of_the_mean_reward():
    """Mean 1/2: the longer loses 1/8, the shorter half of that; 7/8 and -1/16 around their mean."""
    found = length_penalized(np.array([[1.0, 0.0]]), np.array([[8, 4]]))
    np.testing.assert_allclose(found, [[15 / 32, -15 / 32]], rtol=1e-12)


def test_a_penalty_in_a_group_that_fails_on_average_rewards_length():
    found = length_penalized(np.array([[-1.0, -1.0]]), np.array([[8, 4]]), output=1.0)
    assert found.tolist() == [[0.25, -0.25]]


def test_a_completion_at_its_groups_mean_is_taken_out():
    scores = prime_rl.recipe().advantage
    found = of_any_advantage(np.array([[1.0, 0.5, 0.0], [1.0, 1.0, 1.0]]), np.ones((2, 3)), scores=scores)
    assert found.tolist() == [[True, False, True], [False, False, False]]


def test_a_gate_looks_at_advantages():
    scores = slot(mean_scaled, eps=0.0)
    rewards = np.array([[1.0, 0.9], [1.0, 0.0]])
    found = gated_groups(rewards, np.ones((2, 2)), scores=scores, ranges=((-0.1, 0.1), (5.0, 6.0)))
    assert found.tolist() == [False, True]


def test_the_loss_is_a_mean_over_tokens():
    """Two tokens of advantage 1 and one of -1, on policy: -(1 + 1 - 1)/3."""
    mask = np.array([[[1, 1], [1, 0]]])
    logs = np.full((1, 2, 2), -1.0)
    loss = policy_loss(logs, np.array([[1.0, -1.0]]), mask, recipe=prime_rl.recipe()).loss
    np.testing.assert_allclose(loss, -1 / 3, rtol=1e-12)


def test_a_teacher_is_a_reward_for_each_token():
    """From 0.4: to 0.5; to 0.1, which is dropped, as it fell by 0.3; unchanged. Each is pulled back."""
    old, new = np.log([[[0.4, 0.4, 0.4]]]), np.log([[[0.5, 0.1, 0.4]]])
    teacher = np.log([[[0.25, 0.2, 0.8]]])
    recipe = prime_rl.recipe(**{"algo.type": "opd"})
    result = policy_loss(
        new, np.zeros((1, 1)), np.ones((1, 1, 3)), recipe=recipe, old_log_probs=old, teacher_log_probs=teacher
    )
    gain = np.array([-log(2.0) * 1.25, 0.0, log(2.0)])
    moved = np.log([1.25, 0.25, 1.0])
    np.testing.assert_allclose(result.gradient[0, 0], -(gain - 2e-3 * moved) / 3, rtol=1e-12)
    np.testing.assert_allclose(result.loss, -(gain - 1e-3 * moved**2).sum() / 3, rtol=1e-12)
    assert unless_fallen(new - old, new, np.ones((1, 1, 3)), most=0.5).slope[0, 0, 1] > 0.0


def test_a_gate_without_advantages_is_refused():
    with pytest.raises(ValueError, match="a gate reads advantages, and a teacher gives none"):
        prime_rl.recipe(**{"train.source": [{"algo": {"type": "opd"}} | GATE]})


def test_a_group_of_one_is_warned_of():
    dialect = prime_rl.DIALECT
    assert [trap.name for trap in sprung(TRAPS, dialect.settings({}), set())] == [
        "group_size is 1: nothing is trained"
    ]
    assert not sprung(TRAPS, dialect.settings({"algo.type": "opd"}), set())
    own = {"train.source": [{"group_size": 8}]}
    assert not sprung(TRAPS, dialect.settings(own), dialect.given(own))
