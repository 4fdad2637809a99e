"""Stability of networks: exact right answers, falls, and batches that an older policy sampled."""

from dataclasses import replace

import numpy as np
import pytest

from grpo_ref.lab.framework.late_data import late_updates
from grpo_ref.lab.framework.network import sums
from grpo_ref.lab.framework.stability import FALL, measure_stability, right_answers
from grpo_ref.learning.config import config_for
from grpo_ref.learning.rollout import draw
from grpo_ref.recipes import GRPO
from grpo_ref.tasks.arithmetic import EOS
from grpo_ref.training import iter_train

SEED = 3
PLAIN = replace(GRPO, kl_coef=0.0)
SIZES = {"prompts": 4, "group_size": 4, "seeds": 2, "seed": SEED, "learning_rate": 0.003}


@pytest.fixture(scope="module")
def start():
    return sums(SEED)


def late(start, *, age, updates=3, **sizes):
    task, policy = start
    config = config_for(task, "transformer", updates=updates, **SIZES, **sizes)
    return list(late_updates(task, PLAIN, config, age=age, anchor="sampler", policy=policy))


def test_the_probability_of_the_true_sum_is_the_share_of_samples(start):
    task, policy = start
    actor = policy.at(policy.start(task, 1), 1.0)
    batch = draw(task, actor, [np.random.default_rng(0)], prompts=6000, group_size=1)
    right = 0
    for prompt, tokens, mask in zip(
        batch.prompts[0], batch.tokens[0, :, 0], batch.mask[0, :, 0], strict=True
    ):
        a, _, b, *_ = task.prompts[prompt]
        right += tokens[mask].tolist() == [*map(int, str(int(a) + int(b))), EOS]
    np.testing.assert_allclose(right_answers(start)(policy.weights[None]), right / 6000, atol=0.02)


def test_fresh_batches_train_a_network_as_the_training_loop_does(start):
    task, policy = start
    config = config_for(task, "transformer", updates=3, epochs=2, minibatches=2, **SIZES)
    *_, last = iter_train(task, PLAIN, config, metrics=("reward",), policy=policy)
    ours = late(start, age=0, epochs=2, minibatches=2)[-1].params
    np.testing.assert_allclose(ours, last.state.params, atol=1e-6)


def test_the_ratio_of_one_step_on_a_fresh_batch_is_one(start):
    for one in late(start, age=0):
        np.testing.assert_allclose(one.mean_ratio, 1.0, atol=1e-5)


def test_an_old_sampler_is_the_reference_at_first_and_lags_behind_later(start):
    first, *_, last = late(start, age=2, updates=4)
    np.testing.assert_allclose(first.mean_ratio, 1.0, atol=1e-5)
    assert (abs(last.mean_ratio - 1.0) > 1e-3).all()


def test_a_rate_that_is_too_fast_makes_runs_fall():
    # with this seed, the longest gradient of the fast runs is several times that of the slow runs
    sizes = {"updates": 24, "epochs": 4, "minibatches": 2, "seeds": 2, "seed": SEED, "age": 2}
    slow, fast = (measure_stability(recipe=PLAIN, learning_rate=rate, **sizes) for rate in (0.0003, 0.01))
    np.testing.assert_array_equal(slow["falls"], 0.0)
    np.testing.assert_array_equal(fast["falls"], fast["largest fall"] > FALL)
    assert fast["falls"].any()
    assert (fast["largest fall"] > slow["largest fall"]).all()
    assert (fast["longest gradient"] > slow["longest gradient"]).all()
