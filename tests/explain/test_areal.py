"""AReaL: what its keys compute."""

import re
from math import exp, log

import numpy as np
import pytest

from grpo_ref import policy_loss
from grpo_ref.advantages import raw_rewards
from grpo_ref.explain.dialects import areal
from grpo_ref.explain.dialects.areal.kernels import (
    at_ratio_one,
    normalized,
    of_mean_advantage,
    of_what_is_kept,
    rejected,
    rescaled,
    returned,
    returned_with_penalty,
    returned_without_reference,
    second_moment_mask_then,
)
from grpo_ref.explain.dialects.areal.traps import TRAPS
from grpo_ref.explain.trap import sprung
from grpo_ref.penalties import k1
from grpo_ref.recipes import slot
from grpo_ref.surrogates import clipped

PLAIN = {"actor.kl_ctl": 0.0, "gconfig.n_samples": 4}
APART = PLAIN | {"use_decoupled_loss": True}
GROUP = {"reward_norm": {"mean_level": "group", "std_level": "group", "group_size": 4}}
ALONE = {"reward_norm": {"mean_level": "group", "std_level": None, "group_size": "${gconfig.n_samples}"}}
REUSE = {"prox_logp_method": "reuse_train_logp"}
TOKENS = {"adv_norm": {"mean_level": "batch", "std_level": "batch"}}
FILTER = "rejection_sampling"
# configuration -> parts of the recipe, as text
PARTS = {
    "a teacher beside the rewards": (
        PLAIN | {"teacher": {"rollout": {"backend": "sglang:d1"}}},
        {
            "penalty": "to_teacher(estimator=k1)",
            "kl_coef": "0.005",
            "surrogate": "clipped(clip_low=0.2, clip_high=0.2)",
        },
    ),
    "a teacher alone": (
        PLAIN | {"teacher": {"path": "large", "rl_loss_weight": 0.0, "distill_loss_weight": 0.1}},
        {
            "surrogate": "importance_weighted",
            "distill": "with_teacher(reward_coef=0.0, coef=0.1, student=current)",
            "kl_coef": "0.0",
        },
    ),
    "the defaults have a penalty against nothing": (
        {},
        {
            "advantage": "returned_without_reference(scores=raw_rewards, penalty=k1(max_log_ratio=10.0),"
            " kl_coef=0.1)",
            "aggregate": "token_mean",
            "reward": "rescaled",
        },
    ),
    "a reference": (
        {"ref": {"backend": "fsdp:d1"}, "kl_ctl": 0.05},
        {
            "advantage": "returned_with_penalty(scores=raw_rewards, penalty=k1(max_log_ratio=10.0),"
            " kl_coef=0.05)"
        },
    ),
    "a reference that is told the sampler's log-probabilities": (
        {"ref": {"backend": "fsdp:d1"}, "kl_ctl": 0.05, "use_decoupled_loss": True, "kl_estimator": "k3"},
        {
            "advantage": "returned_with_samplers_penalty(scores=raw_rewards, penalty=k3(max_value=10.0),"
            " kl_coef=0.05)"
        },
    ),
    "one group, one spread": (PLAIN | GROUP, {"advantage": "group_normalized(ddof=1, eps=1e-05)"}),
    "the size as the files write it": (PLAIN | ALONE, {"advantage": "group_centered"}),
    "a spread of the batch": (
        PLAIN | {"reward_norm.mean_level": "group"},
        {
            "advantage": "normalized(mean_level=group, std_level=batch, leave_one_out=False, ddof=1,"
            " eps=1e-05)"
        },
    ),
    "all others": (
        PLAIN | ALONE | {"reward_norm.mean_leave1out": True},
        {"advantage": "leave_one_out"},
    ),
    "normalized twice": (
        PLAIN | ALONE | TOKENS,
        {
            "advantage": "returned(scores=group_centered, norm=normalized(mean_level=batch, std_level=batch,"
            " leave_one_out=False, ddof=1, eps=1e-05))"
        },
    ),
    "cispo, bounded on both sides": (
        PLAIN | {"use_cispo_loss": True, "eps_clip_higher": 4.0},
        {"surrogate": "cispo(min_ratio=0.8, max_ratio=5.0)"},
    ),
    "a ratio that is always 1": (
        APART | REUSE | {f"{FILTER}.upper": 2.0},
        {
            "surrogate": "at_ratio_one(surrogate=clipped(clip_low=0.2, clip_high=0.2))",
            "corrections": "(of_learner(then=masked(min_ratio=0.0, max_ratio=2.0)))",
        },
    ),
    "the same to the old log-probabilities": (
        PLAIN | REUSE | {f"{FILTER}.upper": 2.0},
        {"corrections": "(of_learner_since(then=masked(min_ratio=0.0, max_ratio=2.0)))"},
    ),
    "sapo keeps its ratio": (
        PLAIN | REUSE | {"use_sapo_loss": True},
        {"surrogate": "sapo(tau_positive=1.0, tau_negative=1.05)"},
    ),
    "gspo": (
        PLAIN | {"importance_sampling_level": "sequence", "eps_clip_higher": 0.28},
        {
            "level": "sequence_mean_level",
            "surrogate": "of_mean_advantage(surrogate=clipped(clip_low=0.2, clip_high=0.28))",
        },
    ),
    "gspo with a filter of tokens": (
        APART | {"importance_sampling_level": "sequence", f"{FILTER}.upper": 2.0},
        {
            "level": "token_level",
            "surrogate": "of_what_is_kept(surrogate=clipped(clip_low=0.2, clip_high=0.2))",
            "corrections": "(masked(min_ratio=0.0, max_ratio=2.0))",
        },
    ),
    "sapo reads no filter": (
        PLAIN | {"use_sapo_loss": True, f"{FILTER}.upper": 2.0},
        {"surrogate": "sapo(tau_positive=1.0, tau_negative=1.05)", "corrections": "()"},
    ),
    "a filter without mismatch": (PLAIN | {f"{FILTER}.upper": 2.0}, {"corrections": "()"}),
    "a filter that leaves nothing": (
        PLAIN | {f"{FILTER}.lower": 1.5},
        {"corrections": "(of_one_weight(weight=0.0))"},
    ),
    "a clamp per completion": (
        APART | {f"{FILTER}.level": "sequence", f"{FILTER}.action": "clamp"},
        {"corrections": "(truncated(level=sequence_mean_level, min_ratio=0.0, max_ratio=5.0))"},
    ),
    "the second moment, then a KL": (
        APART | {"m2_threshold": 0.04, f"{FILTER}.metric": "kl_k3"},
        {
            "corrections": "(second_moment_mask_then(threshold=0.04, then=rejected(level=token, action=mask,"
            " metric=kl_k3, agg=mean, upper=5.0, lower=None)))"
        },
    ),
    "a budget of its own": (
        PLAIN
        | {"overlong_reward_penalty": True, "overlong_tokens": 16, "overlong_penalty_factor": 1.0}
        | {"actor.max_new_tokens": "${gconfig.max_new_tokens}", "gconfig.max_new_tokens": 64},
        {"reward": "rescaled(tail=16, factor=1.0, budget=64)"},
    ),
}


@pytest.mark.parametrize(("config", "parts"), PARTS.values(), ids=PARTS)
def test_a_configuration_becomes_a_recipe(config, parts):
    ours = {"corrections": "()"} | areal.recipe(**config).parts()
    assert {name: ours[name] for name in parts} == parts


REFUSED = {
    "a critic": ({"critic": {"backend": "fsdp:d1"}}, "A critic gives values"),
    "a teacher beside half of the loss": (
        {"teacher": {"path": "large", "rl_loss_weight": 0.5}},
        "teacher.rl_loss_weight: 0.5 cannot be expressed here, the loss of a recipe has a weight of 1",
    ),
    "a teacher and another old policy": (
        APART | {"teacher": {"path": "large", "rl_loss_weight": 0.0}},
        "with use_decoupled_loss, whose ratio is to another policy",
    ),
    "a teacher and a second moment": (
        {"teacher": {"path": "large"}, "m2_threshold": 0.1},
        "with m2_threshold, which changes the tokens that a teacher judges",
    ),
    "a guess": (
        {"use_decoupled_loss": True, "prox_logp_method": "loglinear"},
        "depends on how many steps ago each token was sampled",
    ),
    "a key that was taken out": (
        {"behave_imp_weight_cap": 5.0},
        "with the cap as upper, has taken its place",
    ),
    "a length that decides": ({"gae_lambda": "my.function"}, "gae_lambda: expected a number"),
    "turns": ({"gae_timestep_unit": "turn"}, "a batch here has no turns"),
    "cispo without a bound": ({"use_cispo_loss": True}, "AReaL refuses CISPO with None"),
    "a measure that only the loss knows": (
        {f"{FILTER}.metric": "binary_kl"},
        "rejection_sampling.metric: expected one of 'ratio', 'kl_k1', 'kl_k2', 'kl_k3', got 'binary_kl'",
    ),
    "cut off": ({"mask_no_eos_with_zero": True}, "The longest sequences of a batch"),
    "no second moment": ({"m2_threshold": 0.0}, "All tokens but one are excluded"),
    "a measure that is none": (
        {f"{FILTER}.metric": "tv"},
        "rejection_sampling.metric: expected one of 'ratio'",
    ),
    "a mean that is none": (
        {"adv_norm.mean_level": "token"},
        "adv_norm.mean_level: expected one of 'batch', 'group', None, got 'token'",
    ),
    "a word for a size": (
        {"reward_norm.mean_level": "group", "reward_norm.group_size": "many"},
        "reward_norm.group_size: expected a number, got 'many'",
    ),
    "no tail": ({"overlong_reward_penalty": True}, "overlong_tokens: expected a number > 0, got None"),
}


@pytest.mark.parametrize(("config", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_is_told(config, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        areal.recipe(**config)


def test_a_guess_without_decoupling_is_not_made():
    assert areal.recipe(prox_logp_method="loglinear") == areal.recipe()


def test_the_sections_without_effect_may_hold_anything():
    beside = {"ref": {"kl_ctl": 3.0}, "sglang": {"dtype": "x"}, "actor": {"optimizer": {"eps": 1e-8}}}
    assert areal.recipe(**beside) == areal.recipe()


# ---- its own kernels, by hand -------------------------------------------------------------------------

MASK = np.array([[[1, 1], [1, 0]]])
"""Two completions of one prompt, of two tokens and of one."""
RAW, CLIPPED = slot(raw_rewards), slot(clipped)


def test_a_reward_is_punished_before_it_is_moved_and_scaled():
    """Budget 10, tail 4: of 8 tokens 2 are too many, which cost half of 1; 12 are beyond it and cost 1.5."""
    found = rescaled(
        np.array([[1.0, 1.0, 1.0]]),
        np.array([[6, 8, 12]]),
        bias=1.0,
        scale=2.0,
        tail=4,
        factor=1.0,
        budget=10,
    )
    assert found.tolist() == [[4.0, 3.0, 1.0]]


def test_the_limit_is_of_the_scaled_reward():
    assert rescaled(np.array([[3.0, -3.0]]), np.ones((1, 2)), scale=10.0).tolist() == [[20.0, -20.0]]


NORMS = {
    "group and batch, around the groups' means": (
        {"mean_level": "group", "std_level": "batch", "ddof": 0, "eps": 0.0},
        [[1.0, -1.0], [1.0, -1.0]],
    ),
    "batch": (
        {"mean_level": "batch", "std_level": None},
        [[3.0, 1.0], [-1.0, -3.0]],
    ),
    "others": (
        {"mean_level": "group", "std_level": None, "leave_one_out": True},
        [[2, -2], [2, -2]],
    ),
    "a spread around 0": (
        {"mean_level": None, "std_level": "batch", "ddof": 0, "eps": 0.0},
        (np.array([[7.0, 5.0], [3.0, 1.0]]) / 21.0**0.5).tolist(),
    ),
}


@pytest.mark.parametrize(("settings", "expected"), NORMS.values(), ids=NORMS)
def test_rewards_are_normalized(settings, expected):
    """Of 7, 5 and 3, 1; their mean is 4, those of the groups 6 and 2."""
    np.testing.assert_allclose(
        normalized(np.array([[7.0, 5.0], [3.0, 1.0]]), **settings), expected, rtol=1e-12, atol=1e-12
    )


# settings -> what is left of 3 and 5, each alone in its group
ALONES = {
    "its own mean": ({"mean_level": "group", "std_level": "group"}, [[0.0], [0.0]]),
    "the mean of no others is its own": (
        {"mean_level": "group", "std_level": "group", "leave_one_out": True},
        [[0.0], [0.0]],
    ),
    "no mean, and a spread of 1": (
        {"mean_level": None, "std_level": "group", "eps": 0.0},
        [[3.0], [5.0]],
    ),
}


@pytest.mark.parametrize(("settings", "expected"), ALONES.values(), ids=ALONES)
def test_a_completion_alone_in_its_group(settings, expected):
    assert normalized(np.array([[3.0], [5.0]]), **settings).tolist() == expected


def test_a_reward_decays_over_the_tokens_that_count():
    """The hole in the middle is no step."""
    mask = np.array([[[1, 0, 1], [1, 1, 1]]])
    found = returned(np.array([[2.0, 4.0]]), mask, scores=RAW, decay=0.5)
    assert found.tolist() == [[[1.0, 0.0, 2.0], [1.0, 2.0, 4.0]]]


def test_a_penalty_counts_for_all_tokens_before_it():
    """Log-ratios of 1 and 2 at a tenth: 1 - 0.3 and 1 - 0.2."""
    old, ref = np.array([[[-1.0, -1.0], [-1.0, 5.0]]]), np.array([[[-2.0, -3.0], [-1.0, 7.0]]])
    penalty = slot(k1, max_log_ratio=10.0)
    found = returned_with_penalty(
        np.array([[1.0, 0.0]]), MASK, old, ref, scores=RAW, penalty=penalty, kl_coef=0.1
    )
    np.testing.assert_allclose(found, [[[0.7, 0.8], [0.0, 0.0]]], rtol=1e-12, atol=1e-12)


def test_without_a_reference_an_unlikely_token_is_paid():
    """A log-probability of -2 gives 0.2 more than one of 0."""
    found = returned_without_reference(
        np.zeros((1, 2)),
        MASK,
        np.array([[[-2.0, 0.0], [0.0, 0.0]]]),
        scores=RAW,
        penalty=slot(k1),
        kl_coef=0.1,
    )
    np.testing.assert_allclose(found, [[[0.2, 0.0], [0.0, 0.0]]], rtol=1e-12, atol=1e-12)


# the log-ratios of a completion of two tokens are log 4 and 0; settings -> weights
WEIGHTS = {
    "each its own": ({"upper": 3.0}, [0.0, 1.0]),
    "limited": ({"upper": 3.0, "action": "clamp"}, [3.0, 1.0]),
    "the geometric mean is both measure and weight": ({"level": "sequence", "upper": 3.0}, [2.0, 2.0]),
    "the product measures, the mean weighs": (
        {"level": "sequence", "agg": "sum", "upper": 5.0},
        [2.0, 2.0],
    ),
    "the product is too large": ({"level": "sequence", "agg": "sum", "upper": 3.0}, [0.0, 0.0]),
    "the largest one is too large": ({"level": "sequence", "agg": "max", "upper": 3.0}, [0.0, 0.0]),
    "a KL measures, each token weighs": (
        {"level": "sequence", "metric": "kl_k1", "upper": 0.7},
        [4.0, 1.0],
    ),
    "k3 of e^-v - 1 + v is 0.636": ({"metric": "kl_k3", "upper": 0.6}, [0.0, 1.0]),
    "k3 within": ({"metric": "kl_k3", "upper": 0.64}, [4.0, 1.0]),
}


@pytest.mark.parametrize(("settings", "expected"), WEIGHTS.values(), ids=WEIGHTS)
def test_what_is_stale_is_left_out_or_limited(settings, expected):
    found = rejected(np.array([[[log(4.0), 0.0]]]), np.zeros((1, 1, 2)), np.ones((1, 1, 2)), **settings)
    np.testing.assert_allclose(found, [[expected]], rtol=1e-12)


def test_at_ratio_one_a_token_pushes_as_on_policy():
    far = np.full((1, 1, 2), 3.0)
    term = at_ratio_one(far, far, np.array([[[1.0, -2.0]]]), np.ones((1, 1, 2)), surrogate=CLIPPED)
    assert term.value.tolist() == term.slope.tolist() == [[[1.0, -2.0]]]


def test_a_filter_sees_the_tokens_that_m2po_keeps():
    """Squares 4, 1 and 0.25: two of three are left and weigh 3/2. Of their ratios, only 1/e is below 1."""
    old, sampler = np.array([[[2.0, -1.0, 0.5, 9.0]]]), np.zeros((1, 1, 4))
    mask = np.array([[[1, 1, 1, 0]]])
    then = slot(rejected, upper=1.0)
    found = second_moment_mask_then(old, sampler, mask, threshold=0.7, then=then)
    np.testing.assert_allclose(found, [[[0.0, 1.5 * exp(-1.0), 0.0, 0.0]]], rtol=1e-12)


def test_a_completions_advantages_are_averaged():
    zeros = np.zeros((1, 2, 2))
    term = of_mean_advantage(zeros, np.array([[[1.0, 3.0], [5.0, 7.0]]]), MASK, surrogate=CLIPPED)
    assert term.value.tolist() == [[[2.0, 2.0], [5.0, 5.0]]]


def test_a_token_that_is_left_out_has_no_part_in_the_mean_ratio():
    """Of log-ratios 1 and 0.1 only the second counts; its slope is e^0.1."""
    ratio, kept = np.array([[[1.0, 0.1]]]), np.array([[[0.0, 1.0]]])
    term = of_what_is_kept(ratio, np.ones((1, 1, 2)), np.ones((1, 1, 2)), kept, surrogate=CLIPPED)
    np.testing.assert_allclose(term.value, [[[0.0, np.exp(0.1)]]], rtol=1e-12)
    np.testing.assert_allclose(term.slope, [[[0.0, np.exp(0.1)]]], rtol=1e-12)


def test_what_is_left_out_divides_all_the_same():
    """Two tokens of advantage 1, one of them stale: -1/2."""
    recipe = areal.recipe(**APART | {f"{FILTER}.upper": 2.0})
    old = np.array([[[-1.0, -1.0]]])
    stale = np.array([[[-3.0, -1.0]]])
    loss = policy_loss(
        old, np.ones((1, 1)), np.ones((1, 1, 2)), recipe=recipe, old_log_probs=old, rollout_log_probs=stale
    ).loss
    np.testing.assert_allclose(loss, -0.5, rtol=1e-12)


def test_the_default_is_warned_of():
    dialect = areal.DIALECT
    assert [trap.name for trap in sprung(TRAPS, dialect.settings({}), set())] == [
        "kl_ctl is set but there is no reference model"
    ]


def test_a_teacher_beside_the_rewards_has_no_effect_on_the_gradient():
    """Two tokens: the term adds 0.005 / 2 to each slope, whatever the teacher."""
    logs, ones = np.log([[[0.5, 0.25]]]), np.ones((1, 1, 2))
    for teacher in (0.1, 0.9):
        recipe = areal.recipe(**PLAIN, **{"teacher.path": "large"})
        taught = np.full((1, 1, 2), np.log(teacher))
        ours = policy_loss(logs, ones[..., 0], ones, recipe=recipe, teacher_log_probs=taught)
        plain = policy_loss(logs, ones[..., 0], ones, recipe=areal.recipe(**PLAIN))
        np.testing.assert_allclose(ours.gradient - plain.gradient, 0.0025, rtol=1e-9)
    names = [trap.name for trap in sprung(TRAPS, areal.DIALECT.settings({"teacher.path": "large"}), set())]
    assert "The teacher has no effect on the gradient" in names


def test_a_teacher_alone():
    """-0.1 / 2 times ratio and log-ratio to the current policy: ratio 2 and log 1/2, ratio 1 and log 2."""
    old, new, teacher = np.log([[[0.25, 0.25]]]), np.log([[[0.5, 0.25]]]), np.log([[[0.25, 0.5]]])
    recipe = areal.recipe(
        **PLAIN, teacher={"path": "large", "rl_loss_weight": 0.0, "distill_loss_weight": 0.1}
    )
    result = policy_loss(
        *(new, np.ones((1, 1)), np.ones((1, 1, 2))),
        recipe=recipe,
        old_log_probs=old,
        teacher_log_probs=teacher,
    )
    np.testing.assert_allclose(result.gradient, [[[0.1 * np.log(2), -0.05 * np.log(2)]]], rtol=1e-12)
