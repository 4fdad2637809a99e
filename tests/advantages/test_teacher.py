"""On-policy distillation: the teacher's share of the advantages, against the derivative of an exact KL."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from grpo_ref import GRPO, policy_loss, slot
from grpo_ref.advantages import with_teacher
from grpo_ref.aggregation import sequence_mean_token_sum, token_mean
from grpo_ref.penalties import k1, k2, k3, to_teacher
from grpo_ref.recipes import OPD, OPD_RL

HALF, QUARTER = math.log(1 / 2), math.log(1 / 4)
GIVEN = {
    "advantages": [[[1.0, 1.0, 1.0]]],
    "log_probs": [[[HALF, HALF, HALF]]],
    "old_log_probs": [[[HALF, QUARTER, HALF]]],
    "rollout_log_probs": [[[QUARTER, QUARTER, QUARTER]]],
    "teacher_log_probs": [[[QUARTER, HALF, np.nan]]],
    "mask": [[[1, 1, 0]]],
}
ONE = math.log(2.0)
"""The teacher differs from a student by a factor of 2, or not at all."""
# With the old policy as the student, the log-ratios are -ONE and ONE. The last token is padding.
ROWS = {
    "added to the advantages": ({}, [1.0 - ONE, 1.0 + ONE, 0.0]),
    "half as much": ({"coef": 0.5}, [1.0 - ONE / 2, 1.0 + ONE / 2, 0.0]),
    "instead of the advantages": ({"reward_coef": 0.0}, [-ONE, ONE, 0.0]),
    "the advantages weighted": ({"reward_coef": 3.0}, [3.0 - ONE, 3.0 + ONE, 0.0]),
    "the sampler is the student": ({"student": "rollout"}, [1.0, 1.0 + ONE, 0.0]),
    "the current policy is the student": ({"student": "current"}, [1.0 - ONE, 1.0, 0.0]),
    "limited": ({"max_log_ratio": 0.5}, [0.5, 1.5, 0.0]),
    "with all tokens to come": ({"discount": 1.0}, [1.0, 1.0 + ONE, 0.0]),
    "with half of the next token": ({"discount": 0.5}, [1.0 - ONE / 2, 1.0 + ONE, 0.0]),
}


@pytest.mark.parametrize(("settings", "expected"), ROWS.values(), ids=ROWS)
def test_by_hand(settings, expected, asarray):
    given = [asarray(array) for array in GIVEN.values()]
    asarray.check(with_teacher(*given, **settings), [[expected]])


MISTAKES = {
    "an unknown student": ({"student": "teacher"}, "student: expected one of 'old', 'rollout', 'current'"),
    "a discount above 1": ({"discount": 1.5}, "discount: expected 0 <= discount <= 1, got 1.5"),
}


@pytest.mark.parametrize(("settings", "message"), MISTAKES.values(), ids=MISTAKES)
def test_settings_out_of_range(settings, message):
    with pytest.raises(ValueError, match=message):
        with_teacher(*(np.asarray(array) for array in GIVEN.values()), **settings)


# ---- the expected gradient, by enumeration -----------------------------------------------------------

V, T = 3, 2
GENERATOR = np.random.default_rng(11)
STUDENT, TEACHER = GENERATOR.normal(size=(2, 1 + V, V))
"""Logits of two tokens: row 0 for the first token, row 1 + a for the second token after the token a."""
TOKENS = np.array(list(product(range(V), repeat=T)))
STATES = np.stack([np.zeros(len(TOKENS), dtype=int), 1 + TOKENS[:, 0]], axis=-1)


def log_softmax(logits):
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def of_tokens(logits):
    """(9, 2) log-probabilities of the tokens of every completion."""
    return log_softmax(logits)[STATES, TOKENS]


def expected_gradient(recipe):
    """∂E[loss]/∂logits: the gradient of each completion, weighted by its probability under the student."""
    log_probs = of_tokens(STUDENT)
    gradient = np.zeros_like(STUDENT)
    for i, probability in enumerate(np.exp(log_probs.sum(-1))):
        token_gradient = policy_loss(
            log_probs[None, None, i],
            np.zeros((1, 1)),
            np.ones((1, 1, T)),
            recipe=recipe,
            teacher_log_probs=of_tokens(TEACHER)[None, None, i],
        ).gradient[0, 0]
        for state, token, slope in zip(STATES[i], TOKENS[i], token_gradient, strict=True):
            one_hot = np.arange(V) == token
            gradient[state] += probability * slope * (one_hot - np.exp(log_softmax(STUDENT)[state]))
    return gradient


def kl_of_completions(logits, reverse=True):
    """KL of the distributions of whole completions: student to teacher, or teacher to student."""
    ours, theirs = of_tokens(logits).sum(-1), of_tokens(TEACHER).sum(-1)
    return (np.exp(ours) * (ours - theirs)).sum() if reverse else (np.exp(theirs) * (theirs - ours)).sum()


def kl_by_position(logits, reverse=True):
    """Mean KL of the next token, summed over both positions. STUDENT samples the first token."""
    ours, theirs = log_softmax(logits), log_softmax(TEACHER)
    of_states = np.exp(ours) * (ours - theirs) if reverse else np.exp(theirs) * (theirs - ours)
    visits = np.concatenate([[1.0], np.exp(log_softmax(STUDENT)[0])])
    return (visits * of_states.sum(-1)).sum()


def derivative(function):
    """Central differences at STUDENT, with steps of 1e-5: exact to about 1e-10."""
    steps = 1e-5 * np.eye(STUDENT.size).reshape(-1, *STUDENT.shape)
    slopes = [(function(STUDENT + step) - function(STUDENT - step)) / 2e-5 for step in steps]
    return np.reshape(slopes, STUDENT.shape)


SUMMED = replace(OPD, aggregate=slot(sequence_mean_token_sum))


def discounted(discount):
    return replace(SUMMED, distill=slot(with_teacher, reward_coef=0.0, discount=discount))


def penalized(estimator):
    return replace(SUMMED, distill=None, penalty=slot(to_teacher, estimator=estimator), kl_coef=1.0)


GRADIENTS = {
    "the advantage: the reverse KL by position": (SUMMED, kl_by_position),
    "discount 1: the reverse KL of completions": (discounted(1.0), kl_of_completions),
    "k2 as a loss: the reverse KL by position": (penalized(k2), kl_by_position),
    "k3 as a loss: the forward KL by position": (penalized(k3), lambda x: kl_by_position(x, reverse=False)),
    "k1 as a loss: nothing": (penalized(k1), lambda x: 0.0),
}


@pytest.mark.parametrize(("recipe", "objective"), GRADIENTS.values(), ids=GRADIENTS)
def test_the_expected_gradient_is_that_of_an_exact_kl(recipe, objective):
    np.testing.assert_allclose(expected_gradient(recipe), derivative(objective), rtol=1e-7, atol=1e-8)


def test_the_gradient_of_k1_as_a_loss_does_not_read_the_teacher():
    """Its derivative is 1 for every token, whatever the teacher."""
    log_probs = of_tokens(STUDENT)[None]
    ones = np.ones_like(log_probs)
    for teacher in (of_tokens(TEACHER)[None], log_probs - 3.0):
        result = policy_loss(log_probs, ones[..., 0], ones, recipe=penalized(k1), teacher_log_probs=teacher)
        ours = replace(SUMMED, distill=None)
        plain = policy_loss(log_probs, ones[..., 0], ones, recipe=ours)
        np.testing.assert_allclose(result.gradient - plain.gradient, 1.0 / 9.0, rtol=1e-12)


def test_an_estimate_other_than_k1_as_an_advantage_is_not_the_gradient_of_the_reverse_kl():
    """-k3 as an advantage, by the sum over the tokens a of one position with v = log π - log π_teacher:

    E[k3 ∇log π] = Σ π (π_teacher/π - 1 + v) ∇log π = -∇KL(π_teacher ‖ π) + ∇KL(π ‖ π_teacher)
    """
    log_probs = of_tokens(STUDENT)
    gradient = np.zeros_like(STUDENT)
    for i, probability in enumerate(np.exp(log_probs.sum(-1))):
        advantages = -k3(log_probs[i], of_tokens(TEACHER)[i]).value
        token_gradient = policy_loss(
            log_probs[None, None, i],
            advantages[None, None],
            np.ones((1, 1, T)),
            recipe=replace(SUMMED, distill=None),
        ).gradient[0, 0]
        for state, token, slope in zip(STATES[i], TOKENS[i], token_gradient, strict=True):
            one_hot = np.arange(V) == token
            gradient[state] += probability * slope * (one_hot - np.exp(log_softmax(STUDENT)[state]))
    expected = derivative(kl_by_position) - derivative(lambda x: kl_by_position(x, reverse=False))
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)


# ---- in a recipe ---------------------------------------------------------------------------------------

LOG_PROBS = np.log([[[0.5, 0.25], [0.5, 0.5]]])
MASK = np.array([[[1, 1], [1, 0]]])
BETTER = np.array([[1.0, -1.0]])
"""The first completion is the better one."""
TAUGHT = np.log([[[0.25, 0.5], [0.5, 0.1]]])
"""Log-ratios to the student: -log 2, log 2 and 0; the last token is padding."""


def test_opd_by_hand():
    """Three tokens of weight 1/3. The loss is minus the mean log-ratio: (log 2 - log 2 + 0) / 3."""
    result = policy_loss(LOG_PROBS, np.array([[7.0, -7.0]]), MASK, recipe="opd", teacher_log_probs=TAUGHT)
    np.testing.assert_allclose(result.loss, 0.0, atol=1e-15)
    np.testing.assert_allclose(result.gradient, [[[ONE / 3, -ONE / 3], [0.0, 0.0]]], atol=1e-15)


def test_opd_rl_by_hand():
    """GRPO gives 1/2 to each completion: 1/4 to each token of the first, 1/2 to the token of the second."""
    result = policy_loss(LOG_PROBS, BETTER, MASK, recipe="opd_rl", teacher_log_probs=TAUGHT)
    slopes = [[[-(1.0 - ONE) / 4, -(1.0 + ONE) / 4], [0.5, 0.0]]]
    np.testing.assert_allclose(result.gradient, slopes, atol=1e-15)


def test_without_the_teachers_coefficient_the_mix_is_grpo():
    recipe = replace(OPD_RL, distill=slot(with_teacher, coef=0.0))
    ours = policy_loss(LOG_PROBS, BETTER, MASK, recipe=recipe, teacher_log_probs=TAUGHT)
    grpo = policy_loss(LOG_PROBS, BETTER, MASK, recipe=replace(GRPO, kl_coef=0.0))
    np.testing.assert_array_equal(ours.gradient, grpo.gradient)


def test_a_teacher_that_agrees_teaches_nothing():
    result = policy_loss(LOG_PROBS, BETTER, MASK, recipe="opd", teacher_log_probs=LOG_PROBS)
    assert not result.gradient.any()


def test_the_penalty_is_the_metric_kl_and_may_be_mixed_with_a_reward():
    """k2 is (log 2)²/2 for two tokens and 0 for the third. Its slopes are the log-ratios to the teacher."""
    recipe = replace(GRPO, aggregate=slot(token_mean), penalty=slot(to_teacher), kl_coef=0.3)
    result = policy_loss(LOG_PROBS, BETTER, MASK, recipe=recipe, teacher_log_probs=TAUGHT)
    np.testing.assert_allclose(result.metrics["kl"], ONE**2 / 3, rtol=1e-14)
    slopes = [[[(-1.0 + 0.3 * ONE) / 3, (-1.0 - 0.3 * ONE) / 3], [1.0 / 3, 0.0]]]
    np.testing.assert_allclose(result.gradient, slopes, rtol=1e-14)


NEEDED = "teacher_log_probs: this recipe distills from a teacher and needs the teacher's log-probabilities"


@pytest.mark.parametrize("recipe", [OPD, OPD_RL, penalized(k2)], ids=["opd", "opd_rl", "penalty"])
def test_a_missing_teacher_is_named(recipe):
    assert recipe.needs_teacher
    with pytest.raises(ValueError, match=NEEDED):
        policy_loss(LOG_PROBS, BETTER, MASK, recipe=recipe)


def test_other_recipes_need_no_teacher():
    assert not GRPO.needs_teacher
    assert not replace(penalized(k2), kl_coef=0.0).needs_teacher


SLIPS = {
    "another shape": ({"teacher_log_probs": TAUGHT[:, :1]}, r"teacher_log_probs: expected shape \(1, 2, 2\)"),
    "probabilities": ({"teacher_log_probs": np.exp(TAUGHT)}, "teacher_log_probs: .* look like probabilities"),
    "no number": ({"teacher_log_probs": TAUGHT * np.nan}, "teacher_log_probs: expected numbers, got nan"),
}


@pytest.mark.parametrize(("given", "message"), SLIPS.values(), ids=SLIPS)
def test_wrong_arrays_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        policy_loss(LOG_PROBS, BETTER, MASK, recipe="opd", validate=True, **given)
