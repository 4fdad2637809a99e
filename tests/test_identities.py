"""Identities: what must hold whatever the numbers are, of the loss and of every kernel."""

import inspect
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from every_kernel import EVERY, as_slot
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grpo_ref import DAPO, DR_GRPO, GRPO, RECIPES, group_normalized, policy_loss, slot
from grpo_ref.advantages import batch_scaled, group_centered, leave_one_out
from grpo_ref.aggregation import (
    fixed_length,
    sequence_mean_token_mean,
    sequence_mean_token_sum,
    token_mean,
    token_sum,
)
from grpo_ref.arrays import array_namespace
from grpo_ref.levels import sequence_mean_level, sequence_sum_level
from grpo_ref.surrogates import clip_cov, clipped, dual_clipped, importance_weighted, kl_cov

SHAPE = (2, 3, 4)
LOG_PROBS = hnp.arrays(float, SHAPE, elements=st.floats(-3.0, -0.01))
ADVANTAGES = hnp.arrays(float, SHAPE[:-1], elements=st.floats(-2.0, 2.0))
LENGTHS = hnp.arrays(int, SHAPE[:-1], elements=st.integers(0, SHAPE[-1]))
REWARDS = hnp.arrays(float, SHAPE[:-1], elements=st.integers(-8, 8).map(lambda n: n / 4))
EACH = pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)


CHOICE = {name for name, recipe in RECIPES.items() if recipe.surrogate.kernel in (clip_cov, kl_cov)}
"""They choose tokens by rank, so a rounding decides between equals."""
UNRANKED = pytest.mark.parametrize(
    "recipe",
    [recipe for name, recipe in RECIPES.items() if name not in CHOICE],
    ids=[name for name in RECIPES if name not in CHOICE],
)


@st.composite
def batches(draw):
    """log_probs, old, ref, advantages, mask."""
    mask = np.arange(SHAPE[-1]) < draw(LENGTHS)[..., None]
    return *(draw(LOG_PROBS) for _ in range(3)), draw(ADVANTAGES), mask


def loss_of(batch, recipe, **settings):
    log_probs, old, ref, advantages, mask = batch
    xp = array_namespace(log_probs)
    given = {"old_log_probs": old, "ref_log_probs": ref, "max_length": 6, "entropies": -old, "noise": -ref}
    given["teacher_log_probs"] = ref
    for name, array in (("top_log_probs", log_probs), ("top_rollout_log_probs", old)):
        given[name] = xp.stack([array - 1.0, array - 2.0], axis=-1)  # two tokens besides the sampled one
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
    weights = recipe.aggregate(SimpleNamespace(mask=mask, max_length=6))
    np.testing.assert_allclose(result.loss, -(weights * advantages[..., None]).sum(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(result.gradient, -weights * advantages[..., None], rtol=1e-12, atol=1e-15)


@UNRANKED
@given(batches(), st.permutations(range(SHAPE[1])))
def test_the_order_of_completions_does_not_matter(recipe, batch, order):
    plain = loss_of(batch, recipe)
    shuffled = loss_of([array[:, order] for array in batch], recipe)
    np.testing.assert_allclose(shuffled.loss, plain.loss, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(shuffled.gradient, plain.gradient[:, order], rtol=1e-12, atol=1e-15)


@UNRANKED
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


BASELINES = pytest.mark.parametrize("kernel", [group_normalized, group_centered, leave_one_out, batch_scaled])


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
    np.testing.assert_allclose(
        leave_one_out(rewards), group_centered(rewards) * size / (size - 1), rtol=1e-12
    )
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


@given(LENGTHS, st.booleans())
def test_what_the_weights_add_up_to(lengths, count_empty):
    mask = np.arange(SHAPE[-1]) < lengths[..., None]
    tokens, n = lengths.sum(), lengths.size if count_empty else np.count_nonzero(lengths)
    sums = [
        (token_sum(mask), tokens),
        (token_mean(mask), min(tokens, 1)),
        (sequence_mean_token_mean(mask, count_empty=count_empty), np.count_nonzero(lengths) / max(n, 1)),
        (sequence_mean_token_sum(mask, count_empty=count_empty), tokens / max(n, 1)),
        (fixed_length(mask, 6, count_empty=count_empty), tokens / max(n, 1) / 6),
    ]
    for weights, expected in sums:
        np.testing.assert_allclose(weights.sum(), expected, rtol=1e-14)


@given(LENGTHS)
def test_equal_lengths_make_token_mean_and_sequence_mean_equal(lengths):
    mask = np.broadcast_to(np.arange(5) < lengths.max(), (*lengths.shape, 5))
    np.testing.assert_allclose(token_mean(mask), sequence_mean_token_mean(mask), rtol=1e-14)


@EACH
def test_recipes_run_on_every_library(recipe, asarray):
    numbers = np.random.default_rng(0).uniform(-2, -0.1, (3, *SHAPE))
    advantages, mask = np.array([[1.0, -1.0, 0.5], [0.0, 2.0, -2.0]]), np.arange(4) < np.array([[[2]], [[4]]])
    mask = np.broadcast_to(mask, SHAPE)
    expected = loss_of((*numbers, advantages, mask), recipe)
    got = loss_of([asarray(array) for array in (*numbers, advantages, mask)], recipe)
    asarray.check(got.loss, expected.loss)
    asarray.check(got.gradient, expected.gradient)
    for name, value in expected.metrics.items():
        asarray.check(got.metrics[name], value)


def test_gspo_is_the_sequence_level_and_nothing_else():
    """Two tokens with log-ratios 0.1 and 0.3 share the ratio exp(0.2); A = 1, so the loss is -exp(0.2)."""
    gspo = replace(GRPO, kl_coef=0.0, level=sequence_mean_level, surrogate=slot(clipped, clip_high=1.0))
    new, old = np.array([[[-0.9, -0.7]]]), np.array([[[-1.0, -1.0]]])
    result = policy_loss(new, np.array([[1.0]]), np.ones((1, 1, 2)), recipe=gspo, old_log_probs=old)
    assert result.loss == pytest.approx(-np.exp(0.2), rel=1e-14)
    np.testing.assert_allclose(result.gradient, -np.exp(0.2) / 2 * np.ones((1, 1, 2)), rtol=1e-14)


# ---- every kernel ----------------------------------------------------------------------------------

SETTINGS = {
    "distinct_ngrams": {"n": 2, "vocabulary": 5},
    "kl_cov": {"share": 0.3},
    "clip_cov": {"share": 0.3, "cov_low": -1.0},
    "token_sum_over": {"tokens": 7.0},
    "off_policy_mask": {"threshold": 0.1},
    "rejection_sampled": {"keep": 2},
}
"""Settings with which a kernel does something on this batch; the others have their defaults or a recipe's."""
KERNELS = {
    name: slot(kernel, **SETTINGS[name]) if name in SETTINGS else as_slot(kernel)
    for name, kernel in EVERY.items()
    if name != "has_collapsed"  # its runs are on the last axes
}
EVERY_KERNEL = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def inputs():
    """Three runs of whatever a kernel may ask for; some completions are empty, others end early."""
    generator, shape = np.random.default_rng(5), (3, *SHAPE)
    lengths = generator.integers(0, SHAPE[-1] + 1, shape[:-1])
    all_log_probs, ref_all_log_probs = np.log(generator.dirichlet(np.ones(5), (2, *shape)))
    return {
        "rewards": generator.integers(0, 4, shape[:-1]) / 4,
        "components": generator.integers(0, 4, (*shape[:-1], 2)) / 4,
        "weights": np.array([1.0, 0.5]),
        "step_rewards": generator.normal(size=shape),
        "step_ends": (generator.random(shape) < 0.4).astype(float),
        "ended": generator.random(shape[:-1]) < 0.5,
        "rollout_log_probs": generator.normal(size=shape) - 2.0,
        "old_log_probs": generator.normal(size=shape) - 2.0,
        "correction": generator.uniform(0.5, 1.5, shape),
        "noise": generator.random(shape),
        "top_log_probs": all_log_probs[..., :3],
        "top_rollout_log_probs": ref_all_log_probs[..., :3],
        "lengths": lengths.astype(float),
        "mask": (np.arange(SHAPE[-1]) < lengths[..., None]).astype(float),
        "log_ratio": generator.normal(size=shape),
        "log_probs": -generator.uniform(0.5, 4.0, shape),
        "ref_log_probs": generator.normal(size=shape) - 2.0,
        "advantages": generator.normal(size=shape),
        "entropies": generator.uniform(size=shape),
        "teacher_log_probs": -np.random.default_rng(6).uniform(0.5, 4.0, shape),
        "all_log_probs": all_log_probs,
        "ref_all_log_probs": ref_all_log_probs,
        "tokens": generator.integers(0, 5, shape),
        "greedy_rewards": np.full(shape[:-1], 0.5),
        "score_norms": np.random.default_rng(7).uniform(0.1, 1.5, shape),
        "turn_ids": generator.integers(-1, 2, shape),
        "turn_rewards": generator.integers(0, 4, (*shape[:-1], 2)) / 4,
        "anchor_states": generator.integers(0, 2, (*shape[:-1], 2)),
        "group_ids": generator.integers(0, 3, shape[:-1]),
    }


def outputs(kernel, arrays):
    """What the kernel returns, always as a list; the parts of a `Term` that are plain zeros are left out."""
    term = clipped(arrays["log_ratio"], arrays["advantages"])
    got = kernel(SimpleNamespace(**arrays, term=term, max_length=SHAPE[-1]))
    return [part for part in (got if isinstance(got, tuple) else (got,)) if type(part) is not float]


@EVERY_KERNEL
def test_a_run_axis_of_a_kernel_is_as_many_separate_calls(kernel):
    arrays = inputs()
    together = outputs(kernel, arrays)
    for index in range(3):
        alone = outputs(kernel, {name: x if name == "weights" else x[index] for name, x in arrays.items()})
        for ours, theirs in zip(together, alone, strict=True):
            assert ours[index].shape == theirs.shape
            np.testing.assert_allclose(ours[index], theirs, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", sorted(KERNELS.keys() - {"distinct_ngrams"}))
def test_a_kernel_keeps_the_library_and_the_precision_of_its_inputs(name, asarray):
    """All but the one whose inputs are integers and which answers in float64."""
    kernel = KERNELS[name]
    expected = outputs(kernel, inputs())
    got = outputs(kernel, {name: asarray(array) for name, array in inputs().items()})
    for ours, theirs in zip(got, expected, strict=True):
        asarray.check(ours, theirs)


@pytest.mark.parametrize(
    "kernel",
    [kernel for kernel in KERNELS.values() if "mask" in inspect.signature(kernel.kernel).parameters],
    ids=str,
)
def test_what_the_padding_holds_does_not_matter_to_a_kernel_that_is_told_of_it(kernel):
    clean = inputs()
    present = clean["mask"] == 1.0
    dirty = dict(clean)
    for name in ("log_ratio", "log_probs", "advantages", "entropies", "noise", "correction", "step_rewards"):
        dirty[name] = np.where(present, clean[name], np.nan)
    dirty["tokens"] = np.where(present, clean["tokens"], -7)
    for ours, theirs in zip(outputs(kernel, dirty), outputs(kernel, clean), strict=True):
        where = present if theirs.shape == present.shape else ...
        np.testing.assert_array_equal(ours[where], theirs[where])
