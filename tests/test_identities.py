"""Identities: what must hold whatever the numbers are."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grpo_ref import (
    DAPO,
    DR_GRPO,
    GRPO,
    RECIPES,
    batch_scaled,
    clipped,
    dual_clipped,
    group_centred,
    group_normalized,
    importance_weighted,
    leave_one_out,
    policy_loss,
    sequence_mean_level,
    sequence_mean_token_mean,
    sequence_sum_level,
    slot,
    token_mean,
)

SHAPE = (2, 3, 4)
LOG_PROBS = hnp.arrays(float, SHAPE, elements=st.floats(-3.0, -0.01))
ADVANTAGES = hnp.arrays(float, SHAPE[:-1], elements=st.floats(-2.0, 2.0))
LENGTHS = hnp.arrays(int, SHAPE[:-1], elements=st.integers(0, SHAPE[-1]))
REWARDS = hnp.arrays(float, SHAPE[:-1], elements=st.integers(-8, 8).map(lambda n: n / 4))
EACH = pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)


@st.composite
def batches(draw):
    """log_probs, old, ref, advantages, mask."""
    mask = np.arange(SHAPE[-1]) < draw(LENGTHS)[..., None]
    return *(draw(LOG_PROBS) for _ in range(3)), draw(ADVANTAGES), mask


def loss_of(batch, recipe, **settings):
    log_probs, old, ref, advantages, mask = batch
    given = {"old_log_probs": old, "ref_log_probs": ref, "max_length": 6}
    return policy_loss(log_probs, advantages, mask, recipe=recipe, **given | settings)


def assert_close(ours, theirs):
    np.testing.assert_allclose(ours.loss, theirs.loss, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ours.gradient, theirs.gradient, rtol=1e-12, atol=1e-14)


@EACH
@given(batches())
def test_one_token_makes_all_levels_equal(recipe, batch):
    *arrays, advantages, mask = batch
    batch = (*(array[..., :1] for array in arrays), advantages, mask[..., :1])
    token, mean, total = (
        loss_of(batch, replace(recipe, level=level))
        for level in (recipe.level, sequence_mean_level, sequence_sum_level)
    )
    assert_close(token, mean)
    assert_close(token, total)


@pytest.mark.parametrize("recipe", [GRPO, DR_GRPO, DAPO], ids=["grpo", "dr_grpo", "dapo"])
@given(batches())
def test_on_policy_the_loss_is_minus_the_weighted_advantage(recipe, batch):
    """Every ratio is 1, so the value of each token is its advantage; the slope is too."""
    log_probs, _, _, advantages, mask = batch
    recipe = replace(recipe, kl_coef=0.0)
    result = policy_loss(log_probs, advantages, mask, recipe=recipe, max_length=6)
    weights = -policy_loss(np.zeros(SHAPE), np.ones(SHAPE[:-1]), mask, recipe=recipe, max_length=6).gradient
    np.testing.assert_allclose(result.loss, -(weights * advantages[..., None]).sum(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(result.gradient, -weights * advantages[..., None], rtol=1e-12, atol=1e-15)


@EACH
@given(batches(), st.permutations(range(SHAPE[1])))
def test_the_order_of_completions_does_not_matter(recipe, batch, order):
    plain = loss_of(batch, recipe)
    shuffled = loss_of([array[:, order] for array in batch], recipe)
    np.testing.assert_allclose(shuffled.loss, plain.loss, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(shuffled.gradient, plain.gradient[:, order], rtol=1e-12, atol=1e-15)


@EACH
@given(batches(), st.integers(1, 3))
def test_more_padding_changes_nothing(recipe, batch, extra):
    *arrays, advantages, mask = batch
    garbage = np.full((*SHAPE[:-1], extra), np.nan)
    longer = [np.concatenate([array, garbage], axis=-1) for array in arrays]
    longer_mask = np.concatenate([mask, np.zeros((*SHAPE[:-1], extra), dtype=bool)], axis=-1)
    plain, padded = loss_of(batch, recipe), loss_of((*longer, advantages, longer_mask), recipe)
    np.testing.assert_allclose(padded.loss, plain.loss, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(padded.gradient[..., : SHAPE[-1]], plain.gradient, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(padded.gradient[..., SHAPE[-1] :], 0.0)


@EACH
@given(st.lists(batches(), min_size=1, max_size=4))
def test_a_run_axis_is_as_many_separate_calls(recipe, runs):
    together = loss_of([np.stack(arrays) for arrays in zip(*runs, strict=True)], recipe)
    for index, run in enumerate(runs):
        alone = loss_of(run, recipe)
        np.testing.assert_allclose(together.loss[index], alone.loss, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(together.gradient[index], alone.gradient, rtol=1e-12, atol=1e-15)
        for name, value in alone.metrics.items():
            np.testing.assert_allclose(together.metrics[name][index], value, rtol=1e-12, err_msg=name)


@EACH
@given(batches())
def test_advantages_may_come_for_each_token(recipe, batch):
    *arrays, advantages, mask = batch
    each = np.where(mask, advantages[..., None], np.nan)
    assert_close(loss_of((*arrays, each, mask), recipe), loss_of(batch, recipe))


BASELINES = pytest.mark.parametrize("kernel", [group_normalized, group_centred, leave_one_out, batch_scaled])


@BASELINES
@given(REWARDS, st.integers(-20, 20))
def test_shifting_rewards_changes_nothing(kernel, rewards, shift):
    np.testing.assert_allclose(kernel(rewards + shift), kernel(rewards), rtol=1e-9, atol=1e-12)


@BASELINES
@given(REWARDS, st.permutations(range(SHAPE[1])))
def test_permuting_rewards_permutes_advantages(kernel, rewards, order):
    np.testing.assert_allclose(kernel(rewards[:, order]), kernel(rewards)[:, order], rtol=1e-12, atol=1e-14)


@BASELINES
@given(REWARDS)
def test_advantages_of_a_group_sum_to_zero(kernel, rewards):
    np.testing.assert_allclose(kernel(rewards).sum(-1), 0.0, atol=1e-11)


@pytest.mark.parametrize("kernel", [group_normalized, batch_scaled])
@given(REWARDS, st.floats(0.01, 100.0))
def test_scaling_rewards_leaves_normalised_advantages(kernel, rewards, scale):
    np.testing.assert_allclose(
        kernel(rewards * scale, eps=0.0), kernel(rewards, eps=0.0), rtol=1e-9, atol=1e-12
    )


@given(REWARDS)
def test_leave_one_out_is_centring_times_g_over_g_minus_one(rewards):
    """Also by its own definition: the mean of the others is taken off."""
    size = rewards.shape[-1]
    np.testing.assert_allclose(leave_one_out(rewards), group_centred(rewards) * size / (size - 1), rtol=1e-12)
    others = (rewards.sum(-1, keepdims=True) - rewards) / (size - 1)
    np.testing.assert_allclose(leave_one_out(rewards), rewards - others, rtol=1e-12, atol=1e-14)


LOG_RATIO = hnp.arrays(float, (6,), elements=st.floats(-2.0, 2.0))


@given(LOG_RATIO, hnp.arrays(float, (6,), elements=st.floats(-2.0, 2.0)))
def test_limits_of_the_clipped_surrogate(log_ratio, advantages):
    plain = importance_weighted(log_ratio, advantages)
    never = clipped(log_ratio, advantages, clip_low=1.0 - 1e-9, clip_high=1e9)
    np.testing.assert_array_equal(never.value, plain.value)
    np.testing.assert_array_equal(never.slope, plain.slope)
    once = clipped(log_ratio, advantages)
    twice = dual_clipped(log_ratio, advantages, max_ratio=1e9)
    np.testing.assert_array_equal(twice.value, once.value)
    np.testing.assert_array_equal(twice.slope, once.slope)
    assert (once.value <= plain.value).all()
    assert (dual_clipped(log_ratio, advantages, max_ratio=1.5).value >= once.value).all()


@given(LENGTHS)
def test_equal_lengths_make_token_mean_and_sequence_mean_equal(lengths):
    mask = np.broadcast_to(np.arange(5) < lengths.max(), (*lengths.shape, 5))
    np.testing.assert_allclose(token_mean(mask), sequence_mean_token_mean(mask), rtol=1e-14)


@pytest.mark.parametrize("name", ["float32", "float64"])
@EACH
def test_precision_is_kept(recipe, name):
    arrays = np.random.default_rng(0).uniform(-2, -0.1, (3, *SHAPE)).astype(name)
    result = loss_of((*arrays, np.ones(SHAPE[:-1], dtype=name), np.ones(SHAPE, dtype=bool)), recipe)
    assert result.loss.dtype == result.gradient.dtype == name
    assert all(value.dtype == name for value in result.metrics.values())


@EACH
def test_recipes_run_on_every_library(recipe, asarray):
    numbers = np.random.default_rng(0).uniform(-2, -0.1, (3, *SHAPE))
    advantages, mask = np.array([[1.0, -1.0, 0.5], [0.0, 2.0, -2.0]]), np.arange(4) < np.array([[[2]], [[4]]])
    mask = np.broadcast_to(mask, SHAPE)
    expected = loss_of((*numbers, advantages, mask), recipe)
    got = loss_of([asarray(array) for array in (*numbers, advantages, mask)], recipe)
    for ours, theirs in ((got.loss, expected.loss), (got.gradient, expected.gradient)):
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=20 * asarray.rtol, atol=asarray.rtol)


def test_gspo_is_the_sequence_level_and_nothing_else():
    """Two tokens with log-ratios 0.1 and 0.3 share the ratio exp(0.2); A = 1, so the loss is -exp(0.2)."""
    gspo = replace(GRPO, kl_coef=0.0, level=sequence_mean_level, surrogate=slot(clipped, clip_high=1.0))
    new, old = np.array([[[-0.9, -0.7]]]), np.array([[[-1.0, -1.0]]])
    result = policy_loss(new, np.array([[1.0]]), np.ones((1, 1, 2)), recipe=gspo, old_log_probs=old)
    assert result.loss == pytest.approx(-np.exp(0.2), rel=1e-14)
    np.testing.assert_allclose(result.gradient, -np.exp(0.2) / 2 * np.ones((1, 1, 2)), rtol=1e-14)
