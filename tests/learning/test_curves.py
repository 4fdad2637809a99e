"""The curves of a training: what is measured, and of which batch."""

import numpy as np
import pytest
from small_training import finish

from grpo_ref import DAPO, GRPO, RECIPES, TASKS, config_for, iter_train
from grpo_ref.learning.curves import METRICS, metric_names
from grpo_ref.learning.loop import plain_loop
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.rollout import draw
from grpo_ref.learning.state import initial_state
from grpo_ref.penalties import exact_kl
from grpo_ref.tasks.arithmetic import arithmetic
from grpo_ref.tasks.bandit import bandit


def test_the_reported_kl_is_that_of_the_walk():
    """At the bandit a completion is one token: the KL is Σ π log(π/ref), averaged over the contexts drawn."""
    task = bandit()
    updates = finish(task, GRPO, updates=30)
    policy, reference = policy_of(updates[-2].state.params[0]), policy_of(task.ref_logits)
    of_context = exact_kl(policy.log_probs, reference.log_probs).value
    assert of_context.min() <= updates[-1].metrics["kl"][0] <= of_context.max()
    np.testing.assert_allclose(policy.divergences(reference.log_probs), of_context, rtol=1e-12)


def test_metrics_tell_of_the_batch_as_drawn_not_as_resampled():
    task = arithmetic()
    config = config_for(task, updates=1, prompts=20, group_size=4)
    policy = policy_of(initial_state(task, config).params)
    drawn = draw(task, policy, [np.random.default_rng([0, 0])], prompts=20, group_size=4)
    (update,) = iter_train(task, DAPO, config)
    assert update.metrics["kept_groups"] > DAPO.keep(drawn).mean()
    np.testing.assert_array_equal(update.metrics["reward"], drawn.rewards.mean((-2, -1)))
    np.testing.assert_array_equal(update.metrics["dead_groups"], (~DAPO.keep(drawn)).mean(-1))


@pytest.mark.parametrize("name", TASKS)
def test_every_metric_is_listed_with_its_meaning(name):
    task = TASKS[name]()
    metrics = finish(task, GRPO, updates=1)[-1].metrics
    assert set(metrics) == set(metric_names(task)) == {*task.criteria, *METRICS}
    assert all(METRICS.values())


@pytest.mark.parametrize("recipe", ["grpo", "dapo", "gspo"])
@pytest.mark.parametrize(
    "wanted", [(), ("reward",), ("loss", "kl", "clip_low"), ("ess", "correct", "entropy")]
)
def test_asking_for_fewer_metrics_changes_no_number(recipe, wanted):
    task = arithmetic(largest=3)
    config = config_for(task, updates=3, seeds=2, minibatches=2, entropy_target=1.0)
    everything = list(iter_train(task, RECIPES[recipe], config))
    for whole, part in zip(
        everything, plain_loop(task, RECIPES[recipe], config, metrics=wanted), strict=True
    ):
        assert tuple(part.metrics) == wanted
        for name in wanted:
            np.testing.assert_array_equal(part.metrics[name], whole.metrics[name])
        np.testing.assert_array_equal(part.state.params, whole.state.params)
        np.testing.assert_array_equal(part.state.entropy_coef, whole.state.entropy_coef)
