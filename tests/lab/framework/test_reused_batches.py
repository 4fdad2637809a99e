"""The family of tasks whose batches are used for several steps."""

from dataclasses import replace

import numpy as np

from grpo_ref.lab.framework.reused_batches import reused
from grpo_ref.recipes import GRPO, GSPO

TOKEN = replace(GRPO, kl_coef=0.0)
SEQUENCE = replace(TOKEN, level=GSPO.level, surrogate=GSPO.surrogate)


def test_a_batch_that_is_used_once_knows_no_ratio_and_one_that_is_used_often_does():
    for use, same in (("once", True), ("often", False)):
        token, sequence = (
            reused(recipe=one, use=use, seeds=2, seed=3)["reward"] for one in (TOKEN, SEQUENCE)
        )
        assert np.allclose(token, sequence) == same


def test_the_task_is_drawn_from_the_seed():
    first, again, other = (reused(recipe=TOKEN, seeds=2, seed=seed)["reward"] for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.allclose(first[:, 0], other[:, 0])
