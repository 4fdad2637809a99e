"""Rollout: the same numbers give the same completions, and only what is asked for is drawn anew."""

import numpy as np
import pytest

from grpo_ref import DAPO
from grpo_ref.learning.policies.table import TABLE, policy_of
from grpo_ref.learning.rollout import (
    draw,
    draw_prompts,
    prompt_edges,
    redraw,
    rollout,
    sample,
    with_greedy_rewards,
    with_steps,
    with_turns,
)
from grpo_ref.learning.task import END
from grpo_ref.recipes import REINFORCE
from grpo_ref.tasks.arithmetic import arithmetic
from grpo_ref.tasks.bandit import bandit, bandit_with
from grpo_ref.tasks.names import names


def test_rollout_inverts_the_distribution_function():
    """With probabilities 1/2, 1/4, 1/4 the edges are 1/2 and 3/4, each the first number of the next token."""
    task = bandit_with(np.zeros((1, 3)))
    uniforms = np.array([0.0, 0.49, 0.5, 0.74, 0.75, 0.99]).reshape(1, 6, 1)
    batch = rollout(task, np.array([[0.5, 0.25, 0.25]]), np.array([0]), uniforms)
    assert batch.tokens[0, :, 0].tolist() == [0, 0, 1, 1, 2, 2]


def test_prompts_are_drawn_in_proportion():
    task = names()
    drawn = draw_prompts(prompt_edges(task.prompt_probs), (np.arange(51630) + 0.5) / 51630)
    np.testing.assert_allclose(np.bincount(drawn, minlength=26) / 51630, task.prompt_probs, atol=1e-4)


def test_rollout_names_the_shapes_that_do_not_fit():
    task = arithmetic()
    with pytest.raises(ValueError, match=r"uniforms: expected 4 on the last axis, got shape \(2, 3, 5\)"):
        rollout(task, policy_of(task.ref_logits).probs, np.zeros(2, dtype=int), np.zeros((2, 3, 5)))
    with pytest.raises(ValueError, match=r"same run axes, got \(400, 11\), \(2,\) and \(3, 3, 4\)"):
        rollout(task, policy_of(task.ref_logits).probs, np.zeros(2, dtype=int), np.zeros((3, 3, 4)))


def test_dynamic_sampling_replaces_dead_groups_only():
    task = arithmetic()
    table = policy_of(task.ref_logits[None])
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


def test_sample_uses_the_same_numbers_for_every_run():
    task = arithmetic()
    batch = sample(task, np.repeat(task.ref_logits[None], 2, axis=0), prompts=5, group_size=2, seed=3)
    assert np.array_equal(batch.tokens[0], batch.tokens[1])


def test_a_prompt_of_probability_zero_is_never_drawn():
    task, policy = bandit(), policy_of(bandit().ref_logits[None])
    weights = np.zeros((1, len(task.prompts)))
    weights[0, 1] = 1.0
    batch = draw(task, policy, [np.random.default_rng(0)], prompts=200, group_size=1, prompt_probs=weights)
    assert set(batch.prompts.reshape(-1).tolist()) == {1}


def test_a_task_judges_the_steps_of_its_completions():
    """3+9=12, and 13 was written: its 1 is right, and so is the end in third place."""
    task = arithmetic()
    prompts = np.array([task.prompts.index("3+9=")])
    certain = np.full((400, 11), 0.0)
    for place, token in enumerate((1, 3, 10, 0)):
        certain[task.starts[prompts[0]] + place, token] = 1.0
    batch = with_steps(task, rollout(task, certain, prompts, np.zeros((1, 1, 4))))
    assert batch.tokens[0, 0].tolist() == [1, 3, 10, 0]
    assert batch.step_ends[0, 0].tolist() == [True, True, True, False]
    assert batch.step_rewards[0, 0].tolist() == [1.0, 0.0, 1.0, 0.0]


def test_a_completion_of_a_task_is_one_turn_from_its_first_state():
    task = arithmetic()
    batch = sample(task, task.ref_logits[None], prompts=3, group_size=2, seed=3)
    turns = with_turns(batch)
    np.testing.assert_array_equal(turns.turn_ids, np.where(batch.mask, 0, -1))
    np.testing.assert_array_equal(turns.turn_rewards, batch.rewards[..., None])
    np.testing.assert_array_equal(turns.anchor_states[..., 0], task.starts[batch.prompts][..., None] + [0, 0])


def test_without_a_verdict_on_steps_a_completion_is_one_step():
    task = names()
    batch = rollout(
        task, policy_of(task.ref_logits).probs, np.array([0]), np.linspace(0, 0.99, 4 * 12).reshape(1, 4, 12)
    )
    stepped = with_steps(task, batch)
    assert (stepped.step_ends.sum(-1) == 1).all()
    assert (stepped.step_ends.argmax(-1) == batch.lengths - 1).all()
    np.testing.assert_array_equal(stepped.step_rewards.sum(-1), batch.rewards)


def test_the_greedy_completion_follows_the_largest_logits():
    """Walked by hand through the automaton, one prompt at a time."""
    task, rng = arithmetic(), np.random.default_rng(3)
    logits = rng.normal(size=(2, *task.ref_logits.shape))
    batch = sample(task, logits, prompts=5, group_size=3, seed=2)
    batch = with_greedy_rewards(task, REINFORCE, TABLE.at(logits, 1e-6), batch)
    for run, prompts in enumerate(batch.prompts):
        for row, prompt in enumerate(prompts):
            tokens, mask = np.zeros((1, 1, task.max_length), int), np.zeros((1, 1, task.max_length), bool)
            state = task.starts[prompt]
            for t in range(task.max_length):
                if state != END:
                    tokens[0, 0, t], mask[0, 0, t] = logits[run, state].argmax(), True
                    state = task.transitions[state, tokens[0, 0, t]]
            reward = (task.verify(np.array([prompt]), tokens, mask) @ task.weights).item()
            np.testing.assert_array_equal(batch.greedy_rewards[run, row], np.full(3, reward))
