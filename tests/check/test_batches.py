"""The generated batches are what they say."""

import numpy as np

from grpo_ref import GRPO
from grpo_ref.check.batches import trials


def test_the_batches_are_what_they_say():
    batches = [batch for batch, _ in zip(trials(GRPO, 0), range(18), strict=False)]
    by_kind = {batch.kind: batch for batch in batches}
    assert len(by_kind) == 18
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
