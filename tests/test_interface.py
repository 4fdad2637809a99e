"""The ways to call the library: recipes by name, lists, flat batches, rewards, and a history of training."""

from dataclasses import replace

import numpy as np
import pytest

from grpo_ref import (
    DAPO,
    RECIPES,
    TASKS,
    explain,
    group_normalized,
    iter_train,
    policy_loss,
    policy_loss_from_rewards,
    slot,
    train,
)
from grpo_ref.history import History
from grpo_ref.learning.config import config_for
from grpo_ref.learning.loop import prepare
from grpo_ref.learning.policies.table import TABLE, gather_states
from grpo_ref.learning.rollout import sample, with_greedy_rewards, with_steps, with_turns
from grpo_ref.rewards import soft_overlong

RNG = np.random.default_rng(0)
SHAPE = (3, 4, 5)
LENGTHS = np.array([[5, 2, 3, 1], [5, 5, 4, 2], [1, 2, 3, 4]])
MASK = (np.arange(5) < LENGTHS[..., None]) * 1
LOG_PROBS, OLD, REF = (-RNG.exponential(size=SHAPE) for _ in range(3))
REWARDS = np.array([[1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.5, 1.0]])
INPUTS = {"old_log_probs": OLD, "ref_log_probs": REF}


def assert_same(result, expected):
    np.testing.assert_allclose(result.loss, expected.loss, rtol=1e-14)
    np.testing.assert_allclose(result.gradient.reshape(SHAPE), expected.gradient, rtol=1e-14)
    assert result.metrics.keys() == expected.metrics.keys()


EXPECTED = policy_loss(LOG_PROBS, group_normalized(REWARDS), MASK, recipe=RECIPES["grpo"], **INPUTS)


def test_a_recipe_by_its_name():
    assert_same(policy_loss(LOG_PROBS, group_normalized(REWARDS), MASK, recipe="grpo", **INPUTS), EXPECTED)


def test_nested_lists():
    arrays = (LOG_PROBS, group_normalized(REWARDS), MASK)
    lists = {name: array.tolist() for name, array in INPUTS.items()}
    assert_same(policy_loss(*(array.tolist() for array in arrays), recipe="grpo", **lists), EXPECTED)


def test_a_list_among_arrays_is_refused():
    with pytest.raises(TypeError, match=r"mask: expected an array, got a list; use numpy.asarray\(mask\)"):
        policy_loss(LOG_PROBS, group_normalized(REWARDS), MASK.tolist(), recipe="grpo", **INPUTS)


def test_a_flat_batch():
    def flat(array):
        return array.reshape(12, *array.shape[2:])

    given = {name: flat(array) for name, array in INPUTS.items()}
    advantages = flat(group_normalized(REWARDS))
    result = policy_loss(flat(LOG_PROBS), advantages, flat(MASK), recipe="grpo", group_size=4, **given)
    assert result.gradient.shape == (12, 5)
    assert_same(result, EXPECTED)
    rewards = policy_loss_from_rewards(
        flat(LOG_PROBS), flat(REWARDS), flat(MASK), recipe="grpo", group_size=4, **given
    )
    assert rewards.gradient.shape == (12, 5)
    assert_same(rewards, EXPECTED)
    with pytest.raises(ValueError, match="group_size=5 does not divide the 12 completions of log_probs"):
        policy_loss(flat(LOG_PROBS), advantages, flat(MASK), recipe="grpo", group_size=5, **given)


def test_rewards_by_hand():
    """Dr. GRPO on one group: advantages 0.5 and -0.5, constant length 2, two completions."""
    result = policy_loss_from_rewards(
        [[[-1.0, -2.0], [-1.0, -0.5]]], [[1.0, 0.0]], [[[1, 1], [1, 0]]], recipe="dr_grpo"
    )
    np.testing.assert_allclose(result.gradient, [[[-0.125, -0.125], [0.125, 0.0]]])
    assert result.loss == -0.125


def test_tokens_of_the_environment_have_no_part_in_any_loss():
    """Dr. GRPO again: the tool wrote the second token, and the budget is still 2."""
    result = policy_loss_from_rewards(
        [[[-1.0, -2.0], [-1.0, -0.5]]],
        [[1.0, 0.0]],
        [[[1, 1], [1, 1]]],
        recipe="dr_grpo",
        turn_ids=[[[0, -1], [0, 1]]],
    )
    np.testing.assert_allclose(result.gradient, [[[-0.125, 0.0], [0.125, 0.125]]])
    with pytest.raises(ValueError, match=r"expected one common shape, got turn_ids \(3, 4, 2\), mask"):
        policy_loss_from_rewards(
            LOG_PROBS, REWARDS, MASK, recipe="grpo", turn_ids=np.zeros((3, 4, 2), int), **INPUTS
        )


def test_the_tools_tokens_count_in_the_length_but_not_in_the_mean():
    """DAPO, budget 4, buffer 1: 4 tokens cost 1 of the reward, the tool's included, and 3 tokens nothing.

    Rewards 2 - 1 and 0 give plus and minus 1/√2; the mean is over the 4 tokens that the policy wrote.
    """
    DAPO_4 = replace(
        DAPO, reward=slot(soft_overlong, buffer=0.25, weight=1.0), advantage=slot(group_normalized, eps=0.0)
    )
    arrays = np.zeros((1, 2, 4)), np.array([[2.0, 0.0]]), np.array([[[1, 1, 1, 1], [1, 1, 1, 0]]])
    turn_ids = np.array([[[0, -1, -1, 1], [0, -1, 1, -1]]])
    result = policy_loss_from_rewards(*arrays, recipe=DAPO_4, max_length=4, turn_ids=turn_ids)
    push = 0.25 / np.sqrt(2.0)
    np.testing.assert_allclose(result.gradient, [[[-push, 0, 0, -push], [push, 0, push, 0]]])


def test_recipes_of_agents_ask_for_what_they_read():
    with pytest.raises(ValueError, match="mt_grpo needs `turn_rewards`, but none was given"):
        policy_loss_from_rewards(
            LOG_PROBS, REWARDS, MASK, recipe="mt_grpo", turn_ids=np.where(MASK, 0, -1), **INPUTS
        )


def test_a_group_of_equal_rewards_is_filtered_out_of_dapos_denominator():
    """The second group has equal rewards: its 16 tokens count neither above nor below."""
    result = policy_loss_from_rewards(LOG_PROBS, REWARDS, MASK, recipe="dapo", max_length=100, **INPUTS)
    two = np.array([0, 2])
    kept = {name: array[two] for name, array in INPUTS.items()}
    expected = policy_loss(LOG_PROBS[two], group_normalized(REWARDS[two]), MASK[two], recipe=DAPO, **kept)
    np.testing.assert_allclose(result.loss, expected.loss, rtol=1e-14)
    np.testing.assert_allclose(result.gradient[two], expected.gradient, rtol=1e-14)
    assert not result.gradient[1].any()


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_from_rewards_is_what_training_computes(name):
    """On completions of a task: `policy_loss_from_rewards` against the training loop's preparation."""
    recipe, task = RECIPES[name], TASKS["arithmetic"]()
    params = np.stack([task.ref_logits, task.ref_logits + 0.1])
    batch = with_turns(with_steps(task, sample(task, params, prompts=3, group_size=4, seed=1)))
    batch = with_greedy_rewards(task, recipe, TABLE.at(params, 1e-6), batch)
    visited = TABLE.at(params, 1.0).visit(task, batch.prompts, batch.states, batch.tokens)
    ready = prepare(task, recipe, batch, recipe.keep(batch), visited, visited)
    squares = gather_states((visited.policy.probs**2).sum(-1), visited.states)
    shape = batch.tokens.shape
    rare = {"entropies": RNG.random(shape), "noise": RNG.random(shape)}
    rare |= {"top_log_probs": -RNG.exponential(size=(*shape, 3))}
    rare |= {"top_rollout_log_probs": rare["top_log_probs"] - 0.1}
    rare["teacher_log_probs"] = -RNG.exponential(size=shape)
    moved = visited.log_probs - 0.1 * RNG.random(shape)
    inputs = rare | {"old_log_probs": visited.log_probs, "ref_log_probs": visited.log_probs}
    expected = policy_loss(
        moved, ready.advantages, ready.mask, recipe=recipe, max_length=task.max_length, **inputs
    )
    result = policy_loss_from_rewards(
        moved,
        batch.rewards,
        batch.mask,
        recipe=name,
        max_length=task.max_length,
        ended=batch.ended,
        tokens=batch.tokens,
        components=batch.components,
        weights=batch.weights,
        step_rewards=batch.step_rewards,
        step_ends=batch.step_ends,
        turn_ids=batch.turn_ids,
        turn_rewards=batch.turn_rewards,
        anchor_states=batch.anchor_states,
        greedy_rewards=batch.greedy_rewards,
        score_norms=1.0 - 2.0 * np.exp(visited.log_probs) + squares,
        **inputs,
    )
    np.testing.assert_array_equal(result.loss, expected.loss)
    np.testing.assert_array_equal(result.gradient, expected.gradient)


# ---- training ----


def test_the_history_is_what_the_generator_yields():
    task = TASKS["bandit"]()
    config = config_for(task, "table", seeds=3, updates=6)
    updates = list(iter_train(task, "grpo", config))
    history = train("bandit", "grpo", seeds=3, updates=6)
    assert isinstance(history, History)
    assert len(history) == 6
    for update, metrics in zip(updates, history, strict=True):
        assert update.metrics.keys() == metrics.keys()
        for name, values in update.metrics.items():
            np.testing.assert_array_equal(metrics[name], values)
    np.testing.assert_array_equal(history.state.params, updates[-1].state.params)
    np.testing.assert_array_equal(history[-1]["reward"], history.metrics["reward"][5])
    assert len(history[1:3]) == 2


def test_a_history_is_a_table():
    history = train("bandit", "dapo", seeds=2, updates=25, metrics=("reward", "entropy"))
    columns = history.columns()
    assert list(columns) == ["update", "reward", "entropy"]
    np.testing.assert_array_equal(columns["reward"], history.metrics["reward"].mean(1))
    lines = str(history).splitlines()
    assert lines[0] == "bandit: 25 updates, means of 2 seeds"
    assert lines[1].split() == ["update", "reward", "entropy"]
    assert lines[-1].split() == ["25", f"{columns['reward'][-1]:.3f}", f"{columns['entropy'][-1]:.3f}"]
    assert len(lines) == 12
    assert repr(history) == str(history)


def test_a_history_can_be_drawn(tmp_path):
    from grpo_ref.plots import plot_dynamics

    plot_dynamics({"GRPO": train("bandit", "grpo", seeds=2, updates=3)}, tmp_path / "run.png")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


MISTAKES = {
    "an unknown task": ({"task": "bandits"}, "no task 'bandits'; did you mean 'bandit'"),
    "an unknown recipe": ({"recipe": "grop"}, "no recipe 'grop'; did you mean 'grpo'"),
    "no updates": ({"updates": 0}, "updates: expected a whole number >= 1, got 0"),
}


@pytest.mark.parametrize(("change", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named(change, message):
    with pytest.raises((ValueError, KeyError), match=message):
        train(**{"task": "bandit", "recipe": "grpo", "updates": 2} | change)


# ---- explain ----


def test_explain_reads_a_file(tmp_path):
    script = tmp_path / "train.sh"
    script.write_text("trl grpo --loss_type dapo --beta 0.01 --num_generations 4\n")
    report = explain(script)
    assert report.launch.trainer == "trl"
    assert report.recipe.kl_coef == 0.01
    assert report.sentence in str(report)
    assert report.data()["trainer"] == "trl"
    assert repr(report) == str(report)
    assert explain(script, "--beta", "0.02").recipe.kl_coef == 0.02
    assert explain(script, version="0.14.0").dialect.version == "TRL 0.14.0"
