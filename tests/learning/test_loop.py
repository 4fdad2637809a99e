"""The plain loop: it learns, it repeats itself to the bit, and runs do not see one another."""

from dataclasses import replace

import numpy as np
import pytest
from small_network import beginning, letters, small_network
from small_training import SMALL, equal_states, finish

from grpo_ref import DAPO, GRPO, RECIPES, TASKS, config_for, iter_train, policy_loss
from grpo_ref.learning.policies.table import TABLE, gather, policy_of, pull_back
from grpo_ref.learning.rollout import draw
from grpo_ref.learning.state import initial_state
from grpo_ref.tasks.arithmetic import arithmetic
from grpo_ref.tasks.bandit import bandit
from grpo_ref.tasks.names import names


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
@pytest.mark.parametrize("build", TASKS.values(), ids=TASKS)
def test_every_recipe_trains_on_every_task(build, recipe):
    last = finish(build(), recipe, seeds=2, updates=2)[-1]
    assert all(values.shape == (2,) and np.isfinite(values).all() for values in last.metrics.values())


@pytest.mark.parametrize("recipe", [GRPO, DAPO], ids=["grpo", "dapo"])
def test_equal_seeds_give_equal_runs(recipe):
    ours, theirs = (finish(arithmetic(), recipe, seeds=2)[-1].state for _ in range(2))
    assert equal_states(ours, theirs)
    other = finish(arithmetic(), recipe, seeds=2, seed=1)[-1].state
    assert not np.array_equal(ours.params, other.params)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
@pytest.mark.parametrize("alone", [1, 2])
def test_a_run_does_not_depend_on_its_neighbours(recipe, alone):
    settings = {"epochs": 2, "minibatches": 2, "entropy_coef": 0.01, "max_grad_norm": 0.01, "updates": 3}
    everyone, fewer = (finish(arithmetic(), recipe, seeds=seeds, **settings) for seeds in (3, alone))
    for ours, theirs in zip(everyone, fewer, strict=True):
        for name, values in theirs.metrics.items():
            assert np.array_equal(ours.metrics[name][:alone], values), name
    together, fewer = everyone[-1].state, fewer[-1].state
    assert np.array_equal(together.params[:alone], fewer.params)
    assert together.generators[:alone] == fewer.generators


def test_training_continues_from_any_state_to_the_bit():
    task, config = bandit(), config_for(bandit(), **SMALL, seeds=2, ref_refresh=2)
    updates = list(iter_train(task, DAPO, config))
    *_, resumed = iter_train(task, DAPO, config, updates[2].state)
    assert equal_states(updates[-1].state, resumed.state)
    assert all(np.array_equal(updates[-1].metrics[name], resumed.metrics[name]) for name in resumed.metrics)


def test_no_updates_are_left_after_the_last():
    task = bandit()
    last = finish(task, GRPO)[-1].state
    assert list(iter_train(task, GRPO, config_for(task, **SMALL), last)) == []


def test_one_update_by_hand():
    """One SGD step on one batch is: logits - learning_rate * the gradient of policy_loss pulled back."""
    task = bandit(contexts=3, arms=4)
    config = config_for(
        task, prompts=5, group_size=4, optimizer="sgd", learning_rate=0.7, updates=1, temperature=0.5
    )
    start = initial_state(task, config)
    policy = policy_of(start.params, temperature=0.5)
    batch = draw(task, policy, [np.random.default_rng([0, 0])], prompts=5, group_size=4)
    token_log_probs = gather(policy.log_probs, batch.states, batch.tokens)
    advantages = GRPO.advantage(batch)
    expected = policy_loss(
        token_log_probs, advantages, batch.mask, recipe=GRPO, ref_log_probs=token_log_probs, max_length=1
    )
    gradient = pull_back(expected.gradient, batch.states, batch.tokens, policy.probs, temperature=0.5)
    (update,) = iter_train(task, GRPO, config)
    np.testing.assert_array_equal(update.state.params, start.params - 0.7 * gradient)
    np.testing.assert_array_equal(update.metrics["loss"], expected.loss)
    np.testing.assert_array_equal(update.metrics["reward"], batch.rewards.mean((-2, -1)))


def test_the_first_step_of_a_batch_is_on_policy_and_later_ones_are_not():
    once = finish(arithmetic(), GRPO, learning_rate=1.0)[-1].metrics
    assert once["ratio_min"] == once["ratio_max"] == once["ess"] == 1.0
    assert once["approx_kl"] == once["clip_low"] == once["clip_high"] == 0.0
    often = finish(arithmetic(), GRPO, learning_rate=1.0, epochs=4)[-1].metrics
    assert often["ratio_max"] > 1.2
    assert often["clip_high"] > 0.0
    assert often["approx_kl"] > 0.0


def test_minibatches_take_their_share_of_the_prompts():
    """With tiny SGD steps, one step on the whole is the mean of the steps on its halves."""
    task = bandit()
    whole = finish(task, RECIPES["rloo"], updates=1, optimizer="sgd", learning_rate=1e-6)[-1].state.params
    halves = finish(task, RECIPES["rloo"], updates=1, optimizer="sgd", learning_rate=5e-7, minibatches=2)
    np.testing.assert_allclose(halves[-1].state.params, whole, rtol=1e-5, atol=1e-15)


def test_reference_stays_frozen_or_is_refreshed():
    task = bandit()
    frozen = finish(task, GRPO)
    assert np.array_equal(frozen[-1].state.ref_params[0], task.ref_logits)
    refreshed = finish(task, GRPO, ref_refresh=2)
    assert np.array_equal(refreshed[1].state.ref_params, refreshed[1].state.params)
    assert np.array_equal(refreshed[2].state.ref_params, refreshed[1].state.params)
    assert refreshed[2].metrics["kl"] == 0.0


def test_a_short_gradient_bound_is_a_short_step():
    task = bandit()
    start = initial_state(task, config_for(task)).params
    moved = finish(task, GRPO, updates=1, optimizer="sgd", learning_rate=1.0, max_grad_norm=1e-3)[
        -1
    ].state.params
    assert np.sqrt(((moved - start) ** 2).sum()) == pytest.approx(1e-3, rel=1e-12)


def test_bandit_learns():
    updates = finish(bandit(), GRPO, seeds=4, updates=200, prompts=16, group_size=8)
    assert (updates[-1].metrics["reward"] > updates[0].metrics["reward"] + 0.3).all()


def test_arithmetic_learns_its_first_sums():
    updates = finish(arithmetic(), GRPO, seeds=2, updates=60, prompts=64, group_size=16)
    assert (updates[-1].metrics["correct"] > 0.4).all()
    assert (updates[0].metrics["correct"] < 0.05).all()


def test_names_move_toward_the_goal_within_reach_of_the_reference():
    strict = replace(GRPO, kl_coef=0.5)
    updates = finish(names(goal="alternates"), strict, seeds=2, updates=40, prompts=16, group_size=16)
    assert (updates[-1].metrics["alternates"] > 1.5 * updates[0].metrics["alternates"]).all()
    assert (updates[-1].metrics["kl"] < 1.5).all()


def test_training_with_a_filter_and_a_target_continues_to_the_bit():
    task = arithmetic()
    config = config_for(
        task, **SMALL, seeds=2, refilter_every=2, pass_reward=0.05, pass_low=0.1, entropy_target=2.0
    )
    updates = list(iter_train(task, RECIPES["clip_cov"], config))
    *_, resumed = iter_train(task, RECIPES["clip_cov"], config, updates[2].state)
    assert equal_states(resumed.state, updates[-1].state)


LOST = {
    "a table": (None, 1e308),
    "a network": (small_network("transformer"), 1e300),
    "the other network": (small_network("mlp"), 1e300),
}


NO_MORE = "of run 0 are no longer finite numbers|the weights are too large for the network: .* encountered"


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered")
@pytest.mark.parametrize(("network", "rate"), LOST.values(), ids=LOST)
@pytest.mark.parametrize("metrics", [None, ("reward",)], ids=["all metrics", "one metric"])
def test_a_training_that_is_lost_says_so_and_yields_finite_policies_only(network, rate, metrics):
    """Logits of 1e300 are still numbers; what follows from such weights is none."""
    settings = {"updates": 9, "learning_rate": rate, "optimizer": "adam"}
    policy, config, state = beginning(network or small_network(), **settings)
    policy, state = (TABLE, None) if network is None else (policy, state)
    updates, reached = iter_train(letters(), GRPO, config, state, policy=policy, metrics=metrics), []
    with pytest.raises(FloatingPointError, match=NO_MORE) as told:
        reached.extend(updates)
    assert str(told.value).startswith(f"update {len(reached) + 1}: ")
    assert str(told.value).endswith(f"mostly the step size is too large (learning_rate={rate:g})")
    assert all(np.isfinite(update.state.params).all() for update in reached)
