import numpy as np
import pytest

from grpo_ref.lab.framework.tasks.judged_by_model import judged_by_model
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.rollout import draw


def sampled(scores, seed=2):
    task = judged_by_model(seed, scores)
    policy = policy_of(task.ref_logits[None])
    batch = draw(task, policy, [np.random.default_rng(1)], prompts=500, group_size=8)
    return batch.components[0, ..., 0].ravel(), batch.components[0, ..., 1].ravel()


@pytest.mark.parametrize("seed", range(3))
def test_a_distortion_keeps_the_order_and_the_bounds(seed):
    (exact, gain), (distorted, same) = sampled("exact", seed), sampled("distorted", seed)
    order = np.argsort(exact)
    assert np.array_equal(gain, same)
    assert (np.diff(distorted[order]) >= 0.0).all()
    assert 0.0 <= distorted.min() <= distorted.max() <= 1.0


def test_the_reference_gains_nothing():
    np.testing.assert_allclose(sampled("exact")[1].mean(), 0.0, atol=0.03)


def test_a_test_is_passed_by_the_best_texts():
    (passed, gain), (jittered, _) = sampled("binary"), sampled("jittered")
    assert gain[passed == 1.0].min() >= gain[passed == 0.0].max()
    np.testing.assert_allclose(jittered, passed, atol=0.01)
