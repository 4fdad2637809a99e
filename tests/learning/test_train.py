"""The training loop: it learns, it repeats itself to the bit, and runs do not see one another."""

from dataclasses import replace

import numpy as np
import pytest

from grpo_ref import (
    DAPO,
    GRPO,
    RECIPES,
    TASKS,
    config_for,
    exact_kl,
    initial_state,
    policy_loss,
    sample,
    train,
)
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.optim import SGD, Adam, clip_by_norm
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.rollout import draw, redraw
from grpo_ref.learning.tasks.arithmetic import arithmetic
from grpo_ref.learning.tasks.bandit import bandit
from grpo_ref.learning.tasks.names import names

SMALL = {"updates": 6, "prompts": 8, "group_size": 4}


def finish(task, recipe, **settings):
    """All updates of a run."""
    return list(train(task, recipe, config_for(task, **SMALL | settings)))


def equal_states(ours, theirs):
    same = np.array_equal(ours.logits, theirs.logits) and np.array_equal(ours.ref_logits, theirs.ref_logits)
    moments = all(np.array_equal(ours.optimizer[name], theirs.optimizer[name]) for name in theirs.optimizer)
    others = ("entropy_coef", "prompt_probs")
    same = same and all(np.array_equal(getattr(ours, name), getattr(theirs, name)) for name in others)
    return same and moments and ours.generators == theirs.generators


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
    assert not np.array_equal(ours.logits, other.logits)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
@pytest.mark.parametrize("alone", [1, 2])
def test_a_run_does_not_depend_on_its_neighbours(recipe, alone):
    settings = {"epochs": 2, "minibatches": 2, "entropy_coef": 0.01, "max_grad_norm": 0.01, "updates": 3}
    everyone, fewer = (finish(arithmetic(), recipe, seeds=seeds, **settings) for seeds in (3, alone))
    for ours, theirs in zip(everyone, fewer, strict=True):
        for name, values in theirs.metrics.items():
            assert np.array_equal(ours.metrics[name][:alone], values), name
    together, fewer = everyone[-1].state, fewer[-1].state
    assert np.array_equal(together.logits[:alone], fewer.logits)
    assert together.generators[:alone] == fewer.generators


def test_training_continues_from_any_state_to_the_bit():
    task, config = bandit(), config_for(bandit(), **SMALL, seeds=2, ref_refresh=2)
    updates = list(train(task, DAPO, config))
    *_, resumed = train(task, DAPO, config, updates[2].state)
    assert equal_states(updates[-1].state, resumed.state)
    assert all(np.array_equal(updates[-1].metrics[name], resumed.metrics[name]) for name in resumed.metrics)


def test_no_updates_are_left_after_the_last():
    task = bandit()
    last = finish(task, GRPO)[-1].state
    assert list(train(task, GRPO, config_for(task, **SMALL), last)) == []


def test_one_update_by_hand():
    """One SGD step on one batch is: logits - learning_rate * the gradient of policy_loss pulled back."""
    task = bandit(contexts=3, arms=4)
    config = config_for(
        task, prompts=5, group_size=4, optimizer="sgd", learning_rate=0.7, updates=1, temperature=0.5
    )
    start = initial_state(task, config)
    policy = policy_of(start.logits, temperature=0.5)
    batch = draw(task, policy.probs, [np.random.default_rng([0, 0])], prompts=5, group_size=4)
    token_log_probs = gather(policy.log_probs, batch.states, batch.tokens)
    advantages = GRPO.advantage(batch)
    expected = policy_loss(
        token_log_probs, advantages, batch.mask, recipe=GRPO, ref_log_probs=token_log_probs, max_length=1
    )
    gradient = pull_back(expected.gradient, batch.states, batch.tokens, policy.probs, temperature=0.5)
    (update,) = train(task, GRPO, config)
    np.testing.assert_array_equal(update.state.logits, start.logits - 0.7 * gradient)
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
    whole = finish(task, RECIPES["rloo"], updates=1, optimizer="sgd", learning_rate=1e-6)[-1].state.logits
    halves = finish(task, RECIPES["rloo"], updates=1, optimizer="sgd", learning_rate=5e-7, minibatches=2)
    np.testing.assert_allclose(halves[-1].state.logits, whole, rtol=1e-5, atol=1e-15)


def test_reference_stays_frozen_or_is_refreshed():
    task = bandit()
    frozen = finish(task, GRPO)
    assert np.array_equal(frozen[-1].state.ref_logits[0], task.ref_logits)
    refreshed = finish(task, GRPO, ref_refresh=2)
    assert np.array_equal(refreshed[1].state.ref_logits, refreshed[1].state.logits)
    assert np.array_equal(refreshed[2].state.ref_logits, refreshed[1].state.logits)
    assert refreshed[2].metrics["kl"] == 0.0


def test_an_entropy_bonus_keeps_entropy_up():
    plain = finish(bandit(), GRPO, updates=60)[-1].metrics["entropy"]
    bonus = finish(bandit(), GRPO, updates=60, entropy_coef=0.5)[-1].metrics["entropy"]
    assert bonus > plain + 0.3


def test_a_short_gradient_bound_is_a_short_step():
    task = bandit()
    start = initial_state(task, config_for(task)).logits
    moved = finish(task, GRPO, updates=1, optimizer="sgd", learning_rate=1.0, max_grad_norm=1e-3)[
        -1
    ].state.logits
    assert np.sqrt(((moved - start) ** 2).sum()) == pytest.approx(1e-3, rel=1e-12)


def test_dynamic_sampling_replaces_dead_groups_only():
    task = arithmetic()
    table = policy_of(task.ref_logits[None]).probs
    first = draw(task, table, [np.random.default_rng(0)], prompts=20, group_size=4)
    dead = ~DAPO.keep(first)
    assert dead.any()
    second = redraw(
        task,
        table,
        [np.random.default_rng(1)],
        first,
        replace_groups=dead,
        prompt_probs=task.prompt_probs[None],
    )
    assert np.array_equal(second.tokens[~dead], first.tokens[~dead])
    assert not np.array_equal(second.tokens[dead], first.tokens[dead])


def test_resampling_fills_the_batch_and_the_rest_is_left_out():
    kept = {n: finish(arithmetic(), DAPO, resamples=n, updates=1)[-1].metrics["kept_groups"] for n in (0, 5)}
    assert kept[0] < kept[5]
    all_dead = finish(bandit(arms=1), DAPO, updates=1)[-1]
    assert all_dead.metrics["kept_groups"] == all_dead.metrics["grad_norm"] == all_dead.metrics["loss"] == 0.0


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


def test_sample_uses_the_same_numbers_for_every_run():
    task = arithmetic()
    batch = sample(task, np.repeat(task.ref_logits[None], 2, axis=0), prompts=5, group_size=2, seed=3)
    assert np.array_equal(batch.tokens[0], batch.tokens[1])


BAD_SETTINGS = {
    "no updates": ({"updates": 0}, "updates: expected a whole number >= 1, got 0"),
    "cold": ({"temperature": 0.0}, "temperature: expected a number > 0, got 0.0"),
    "negative bonus": ({"entropy_coef": -0.1}, "entropy_coef: expected a number >= 0, got -0.1"),
    "more parts than prompts": (
        {"prompts": 2, "minibatches": 3},
        "minibatches: expected at most prompts=2, got 3",
    ),
    "unknown optimizer": ({"optimizer": "adan"}, "optimizer: expected one of sgd, adam, got 'adan'"),
}


@pytest.mark.parametrize(("settings", "message"), BAD_SETTINGS.values(), ids=BAD_SETTINGS)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        TrainConfig(**settings)


# ---- optimizers ----------------------------------------------------------------------------------


def test_sgd_by_hand():
    params, state = SGD(0.5).step(np.array([[1.0, 2.0]]), np.array([[2.0, -4.0]]), {})
    assert params.tolist() == [[0.0, 4.0]]
    assert state == {}


def test_adam_by_hand():
    """The first step is learning_rate * sign(g); with g = 1, then -1: m = -0.01 and v = 0.001999."""
    optimizer = Adam(0.1, eps=0.0)
    start = np.zeros((1, 2))
    first, state = optimizer.step(start, np.array([[1.0, -3.0]]), optimizer.init(start))
    np.testing.assert_allclose(first, [[-0.1, 0.1]], rtol=1e-12)
    second, _ = optimizer.step(first, np.array([[-1.0, -3.0]]), state)
    m_hat, v_hat = -0.01 / (1 - 0.81), 0.001999 / (1 - 0.998001)
    np.testing.assert_allclose(second[0], [-0.1 - 0.1 * m_hat / np.sqrt(v_hat), 0.2], rtol=1e-10)


def test_clip_by_norm_shortens_each_run_by_itself():
    gradient = np.array([[[3.0, 4.0]], [[0.3, 0.4]], [[0.0, 0.0]]])
    clipped, norm = clip_by_norm(gradient, 1.0)
    np.testing.assert_allclose(norm, [5.0, 0.5, 0.0], rtol=1e-15)
    np.testing.assert_allclose(clipped, [[[0.6, 0.8]], [[0.3, 0.4]], [[0.0, 0.0]]], rtol=1e-15)


def test_the_reported_kl_is_that_of_the_walk():
    """At the bandit a completion is one token: the KL is Σ π log(π/ref), averaged over the contexts drawn."""
    task = bandit()
    updates = finish(task, GRPO, updates=30)
    policy, reference = policy_of(updates[-2].state.logits[0]), policy_of(task.ref_logits)
    of_context = exact_kl(policy.log_probs, reference.log_probs).value
    assert of_context.min() <= updates[-1].metrics["kl"][0] <= of_context.max()
    np.testing.assert_allclose(policy.divergences(reference.log_probs), of_context, rtol=1e-12)


def test_groups_that_are_left_out_do_not_count_in_the_denominator():
    """DAPO without resampling: one SGD step by hand, with the tokens of the rejected groups masked out."""
    task = arithmetic()
    sizes = {"updates": 1, "prompts": 20, "group_size": 4}
    config = config_for(task, **sizes, optimizer="sgd", learning_rate=1.0, resamples=0)
    start = initial_state(task, config)
    policy = policy_of(start.logits)
    batch = draw(task, policy.probs, [np.random.default_rng([0, 0])], prompts=20, group_size=4)
    kept = DAPO.keep(batch)
    assert 0 < kept.sum() < kept.size
    advantages = DAPO.advantage(replace(batch, rewards=DAPO.reward(batch)))
    token_log_probs = gather(policy.log_probs, batch.states, batch.tokens)
    by_hand = policy_loss(token_log_probs, advantages, batch.mask & kept[..., None, None], recipe=DAPO)
    gradient = pull_back(by_hand.gradient, batch.states, batch.tokens, policy.probs)
    (update,) = train(task, DAPO, config)
    np.testing.assert_array_equal(update.state.logits, start.logits - gradient)


def test_metrics_tell_of_the_batch_as_drawn_not_as_resampled():
    task = arithmetic()
    config = config_for(task, updates=1, prompts=20, group_size=4)
    probs = policy_of(initial_state(task, config).logits).probs
    drawn = draw(task, probs, [np.random.default_rng([0, 0])], prompts=20, group_size=4)
    (update,) = train(task, DAPO, config)
    assert update.metrics["kept_groups"] > DAPO.keep(drawn).mean()
    np.testing.assert_array_equal(update.metrics["reward"], drawn.rewards.mean((-2, -1)))
    np.testing.assert_array_equal(update.metrics["dead_groups"], (~DAPO.keep(drawn)).mean(-1))


def test_an_adaptive_entropy_bonus_steps_toward_its_target():
    """Always below the target: up by 0.01 an update, to the bound; always above: down, to 0."""
    task = bandit()
    below = [
        u.state.entropy_coef for u in finish(task, GRPO, seeds=2, entropy_target=9.0, entropy_delta=0.01)
    ]
    np.testing.assert_allclose(np.array(below)[:, 0], 0.01 * np.arange(1, 7), rtol=1e-12)
    bounded = finish(task, GRPO, entropy_target=9.0, entropy_delta=0.4, entropy_max=0.5)[-1]
    assert bounded.state.entropy_coef.tolist() == [0.5]
    settings = {"entropy_target": 1e-9, "entropy_coef": 0.25, "entropy_delta": 0.1}
    above = finish(task, GRPO, **settings)
    np.testing.assert_allclose([u.state.entropy_coef[0] for u in above], [0.15, 0.05, 0, 0, 0, 0], atol=1e-15)
    plain = finish(task, GRPO)[-1]
    np.testing.assert_array_equal(above[-1].state.logits, plain.state.logits)


def test_an_entropy_target_holds_the_entropy_up():
    task, settings = bandit(), {"updates": 150, "seeds": 4}
    free = finish(task, GRPO, **settings)[-1].metrics["entropy"].mean()
    held = (
        finish(task, GRPO, **settings, entropy_target=0.8, entropy_delta=0.05)[-1].metrics["entropy"].mean()
    )
    assert held > free + 0.2


def test_prompts_outside_the_pass_rate_are_not_drawn_until_they_are_admitted_again():
    """With a bound that no prompt meets all are admitted; else only those whose own group was inside."""
    task = arithmetic()
    nobody = finish(task, GRPO, refilter_every=1, pass_reward=1e9, pass_low=0.5)[-1].state.prompt_probs
    np.testing.assert_allclose(nobody, task.prompt_probs[None], rtol=1e-12)
    updates = finish(task, GRPO, refilter_every=3, pass_reward=0.05, pass_low=0.1, pass_high=0.9, seeds=2)
    probs = [update.state.prompt_probs for update in updates]
    assert 0 < np.count_nonzero(probs[0]) < probs[0].size
    np.testing.assert_allclose(probs[0].sum(-1), 1.0)
    np.testing.assert_array_equal(probs[0], probs[2])
    assert not np.array_equal(probs[2], probs[3])
    assert not np.array_equal(probs[0][0], probs[0][1])


def test_a_prompt_of_probability_zero_is_never_drawn():
    task, probs = bandit(), policy_of(bandit().ref_logits[None]).probs
    weights = np.zeros((1, len(task.prompts)))
    weights[0, 1] = 1.0
    batch = draw(task, probs, [np.random.default_rng(0)], prompts=200, group_size=1, prompt_probs=weights)
    assert set(batch.prompts.reshape(-1).tolist()) == {1}


def test_training_with_a_filter_and_a_target_continues_to_the_bit():
    task = arithmetic()
    config = config_for(
        task, **SMALL, seeds=2, refilter_every=2, pass_reward=0.05, pass_low=0.1, entropy_target=2.0
    )
    updates = list(train(task, RECIPES["clip_cov"], config))
    *_, resumed = train(task, RECIPES["clip_cov"], config, updates[2].state)
    assert equal_states(resumed.state, updates[-1].state)
