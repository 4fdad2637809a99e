"""The generated batches are what they say."""

import itertools

import numpy as np
import pytest

from grpo_ref import GRPO, RECIPES, slot
from grpo_ref.advantages import group_centered, group_normalized, leave_one_out
from grpo_ref.check.batches import is_defined_for_one, trials
from grpo_ref.check.reference import reference


def test_the_batches_are_what_they_say():
    batches = [batch for batch, _ in zip(trials(GRPO, 0), range(39), strict=False)]
    by_kind = {batch.kind: batch for batch in batches}
    assert len(by_kind) == 39
    assert np.isnan(by_kind["ragged, NaN in the padding"].log_probs).any()
    holed = by_kind["a tool's output masked out, zeros in the padding"].mask
    assert (np.diff(holed) > 0).any()
    assert (by_kind["an empty completion, zeros in the padding"].mask.sum(-1) == 0).any()
    dead = by_kind["a group with equal rewards, zeros in the padding"]
    assert (dead.advantages[:3] == 0.0).all()
    fresh = by_kind["on policy, zeros in the padding"]
    np.testing.assert_array_equal(fresh.log_probs, fresh.old_log_probs)
    far = by_kind["extreme ratios, zeros in the padding"]
    assert np.abs(far.log_probs - far.old_log_probs).max() > 2.0
    assert not by_kind["no token at all, zeros in the padding"].mask.any()
    left = by_kind["all completions empty but one, zeros in the padding"].mask.sum(-1)
    assert (left > 0).tolist() == [True] + [False] * 5
    assert not by_kind["padding beyond the longest completion, zeros in the padding"].mask[:, -2:].any()
    single = by_kind["a single group, zeros in the padding"]
    assert len(single.mask) == single.group_size == 4
    assert by_kind["groups of one, zeros in the padding"].group_size == 1


ALONE = {
    "a sample std of one reward is 0/0": (slot(group_normalized), False),
    "a population std of one reward is 0": (slot(group_normalized, ddof=0), True),
    "verl has a rule": (slot(group_normalized, keep_singletons=True), True),
    "the mean of the others is 0/0": (slot(leave_one_out), False),
    "the mean of one reward is the reward": (slot(group_centered), True),
}


@pytest.mark.parametrize(("part", "defined"), ALONE.values(), ids=ALONE)
def test_an_advantage_may_be_undefined_for_a_group_of_one(part, defined):
    assert is_defined_for_one(part) == defined


@pytest.mark.parametrize("name", RECIPES)
def test_a_batch_without_tokens_has_no_loss_and_no_gradient(name):
    recipe = RECIPES[name]
    (trial,) = [t for t in itertools.islice(trials(recipe, 0), 13) if t.kind.startswith("no token at all")]
    needs = {"entropies", "noise", "top_log_probs", "top_rollout_log_probs"}
    parts = [recipe.surrogate, recipe.penalty, *recipe.corrections]
    if any(needs & set(part.reads) for part in parts):
        pytest.skip("reads arrays that a trial does not have")
    answer = reference(recipe, trial, None)
    assert answer.loss == 0.0
    assert not np.any(answer.gradient)
