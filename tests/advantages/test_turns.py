"""Advantages of turns and of groups by id, worked by hand."""

from collections import defaultdict
from math import sqrt

import numpy as np
import pytest

from grpo_ref.advantages import (
    centered_by_id,
    discounted_over_turns,
    gigpo,
    gigpo_over_turns,
    group_normalized,
    mt_grpo,
    mt_grpo_first_turn,
    normalized_by_id,
    turn_returns,
)

NAN = np.nan
EXACT = {"ddof": 0, "eps": 0.0}
CALL_TOOL_ANSWER = np.array([[[0, -1, 1], [0, -1, 1]]])
ONE_AND_TWO_TURNS = np.array([[[0, 1, -1], [0, -1, -1]]])
ONE_AND_THREE_TURNS = np.array([[[0, -1, -1], [0, 1, 2]]])


def test_gigpo_adds_the_advantage_among_equal_states(asarray):
    """Returns with gamma 1/2: (1/2, 1) and (0, 0). Both began in state 7: mean and std 1/4, so ±1.

    The answers began in different states and get no step advantage. Episodes: ±1.
    """
    rewards, turn_rewards = asarray([[1, 0]]), asarray([[[0, 1], [0, 0]]])
    states = np.array([[[7, 3], [7, 4]]])
    arrays = rewards, turn_rewards, asarray(states), asarray(CALL_TOOL_ANSWER)
    got = gigpo(*arrays, step_weight=2.0, gamma=0.5, **EXACT)
    asarray.check(got, [[[1 + 2, 0, 1], [-1 - 2, 0, -1]]])


def test_a_state_that_an_episode_visits_twice_is_compared_with_itself(asarray):
    """Returns (1, 0) and 2, all in state 0: mean 1. Episodes 1 and 2: mean 3/2. One has no second turn."""
    arrays = asarray([[1, 2]]), asarray([[[1, 0], [2, NAN]]]), asarray(np.zeros((1, 2, 2), dtype=int))
    got = gigpo(*arrays, asarray(ONE_AND_TWO_TURNS), gamma=1.0, scale=False)
    asarray.check(got, [[[-0.5 + 0, -0.5 - 1, 0], [0.5 + 1, 0, 0]]])


def test_equal_states_of_different_prompts_are_compared_only_on_request(asarray):
    """One turn for each of two prompts, returns 1 and 0 in state 5: mean and std 1/2 across prompts."""
    arrays = asarray([[1], [0]]), asarray([[[1]], [[0]]]), asarray(np.full((2, 1, 1), 5))
    turn_ids = asarray(np.zeros((2, 1, 1), dtype=int))
    asarray.check(gigpo(*arrays, turn_ids, **EXACT), np.zeros((2, 1, 1)))
    asarray.check(gigpo_over_turns(*arrays, turn_ids, **EXACT), np.zeros((2, 1, 1)))
    across = gigpo_over_turns(*arrays, turn_ids, across_prompts=True, step_weight=3.0, **EXACT)
    asarray.check(across, [[[3]], [[-3]]])


def test_a_long_episode_counts_as_often_as_it_has_turns(asarray):
    """Rewards 1 and 0 on one turn and three: mean 1/4, variance (ddof 0) (9/16 + 3/16) / 4 = 3/16."""
    states = np.arange(6).reshape(1, 2, 3)
    arrays = asarray([[1, 0]]), asarray(np.zeros((1, 2, 3))), asarray(states), asarray(ONE_AND_THREE_TURNS)
    by_turns = gigpo_over_turns(*arrays, episode_weight=2.0, **EXACT)
    asarray.check(by_turns, [[[2 * sqrt(3), 0, 0], [-2 / sqrt(3)] * 3]])
    asarray.check(gigpo(*arrays, **EXACT), [[[1, 0, 0], [-1, -1, -1]]])


def test_the_only_turn_of_a_prompt_may_keep_its_reward(asarray):
    """3 / (1 + 1/2) = 2, or 3 without the division. Its step advantage is 0 all the same."""
    arrays = asarray([[3]]), asarray([[[3]]]), asarray(np.zeros((1, 1, 1), dtype=int))
    turn_ids = asarray(np.zeros((1, 1, 1), dtype=int))
    asarray.check(gigpo_over_turns(*arrays, turn_ids, eps=0.5), [[[0]]])
    asarray.check(gigpo_over_turns(*arrays, turn_ids, eps=0.5, keep_singletons=True), [[[2]]])
    asarray.check(gigpo_over_turns(*arrays, turn_ids, scale=False, keep_singletons=True), [[[3]]])


def test_gigpo_of_turns_as_samples_agrees_with_a_loop_over_samples():
    """A loop over samples with dictionaries: one sample per turn, as a trainer stores them."""
    rng = np.random.default_rng(11)
    turns, shape = 3, (2, 4)
    counts = rng.integers(1, turns + 1, shape)
    turn_ids = np.where(np.arange(turns) < counts[..., None], np.arange(turns), -1)
    turn_rewards, states = rng.random((*shape, turns)), rng.integers(0, 2, (*shape, turns))
    rewards = np.where(turn_ids >= 0, turn_rewards, 0.0).sum(-1)
    got = gigpo_over_turns(rewards, turn_rewards, states, turn_ids, gamma=0.9, eps=1e-6)

    of_prompt, of_state, samples = defaultdict(list), defaultdict(list), []
    for p, i in np.ndindex(shape):
        following = 0.0
        for k in reversed(range(counts[p, i])):
            following = turn_rewards[p, i, k] + 0.9 * following
            samples.append(((p, i, k), (p, states[p, i, k]), following))
            of_prompt[p].append(rewards[p, i])
            of_state[p, states[p, i, k]].append(following)
    expected = np.zeros_like(got)
    for (p, i, k), state, following in samples:
        expected[p, i, k] = (rewards[p, i] - np.mean(of_prompt[p])) / (np.std(of_prompt[p], ddof=1) + 1e-6)
        alike = of_state[state]
        if len(alike) > 1:
            expected[p, i, k] += (following - np.mean(alike)) / (np.std(alike, ddof=1) + 1e-6)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14)


def test_mt_grpo_adds_the_advantage_of_the_turn(asarray):
    """Turn rewards 1 and 0: plus and minus 1, times 2. Outcomes 0 and 1: minus and plus 1, times 3."""
    arrays = asarray([[0, 1]]), asarray([[[1, 0], [0, 0]]]), asarray(CALL_TOOL_ANSWER)
    got = mt_grpo(*arrays, turn_weight=2.0, outcome_weight=3.0, **EXACT)
    asarray.check(got, [[[2 - 3, 0, -3], [-2 + 3, 0, 3]]])


def test_mt_grpo_compares_a_turn_with_those_that_were_taken(asarray):
    """Only the first episode has a second turn, so the turn's reward of 5 gives no advantage."""
    arrays = asarray([[1, 1]]), asarray([[[0, 5], [0, NAN]]]), asarray(ONE_AND_TWO_TURNS)
    asarray.check(mt_grpo(*arrays, **EXACT), np.zeros((1, 2, 3)))


def test_the_authors_code_of_mt_grpo_sums_both_rewards_if_no_tool_answered(asarray):
    """Outcomes 1 and 0, first turns 0 and 1, so both sums are 1. The second has one turn."""
    arrays = asarray([[1, 0]]), asarray([[[0, 9], [1, 9]]]), asarray(ONE_AND_TWO_TURNS)
    got = mt_grpo_first_turn(*arrays, turn_weight=2.0, **EXACT)
    asarray.check(got, [[[1 - 2, 1, 0], [0, 0, 0]]])
    both = mt_grpo_first_turn(*arrays[:2], asarray(CALL_TOOL_ANSWER), turn_weight=2.0, **EXACT)
    asarray.check(both, [[[1 - 2, 0, 1], [-1 + 2, 0, -1]]])


def test_turn_returns_are_compared_over_all_turns_of_the_prompt(asarray):
    """Returns 1/2, 1 and 1 with gamma 1/2: mean 5/6. With gamma 0: mean 2/3, std √2/3."""
    arrays = asarray([[[0, 1], [1, NAN]]]), asarray(ONE_AND_TWO_TURNS)
    asarray.check(turn_returns(*arrays, gamma=0.5, scale=False), [[[-1 / 3, 1 / 6, 0], [1 / 6, 0, 0]]])
    got = turn_returns(*arrays, gamma=0.0, **EXACT)
    asarray.check(got, [[[-sqrt(2), 1 / sqrt(2), 0], [1 / sqrt(2), 0, 0]]])


def test_an_early_turn_of_a_long_episode_gets_less(asarray):
    """Plus and minus 1, and one turn that follows the first: gamma = 1/2."""
    got = discounted_over_turns(asarray([[1, 0]]), asarray(ONE_AND_TWO_TURNS), gamma=0.5, **EXACT)
    asarray.check(got, [[[0.5, 1, 0], [-1, 0, 0]]])


def test_groups_by_id_ignore_the_rows(asarray):
    """Id 0 has the rewards 3 and 1: mean 2, std 1. Id 1 has 2 and 2, id 4 has 6 alone: 6 / (1 + 1/2) = 4."""
    rewards, ids = asarray([[3, 2, 6], [1, 2, 6]]), asarray(np.array([[0, 1, 4], [0, 1, 5]]))
    asarray.check(normalized_by_id(rewards, ids, **EXACT), [[1, 0, 0], [-1, 0, 0]])
    asarray.check(centered_by_id(rewards, ids), [[1, 0, 0], [-1, 0, 0]])
    asarray.check(centered_by_id(rewards, ids, keep_singletons=True), [[1, 0, 6], [-1, 0, 6]])
    kept = normalized_by_id(rewards, ids, ddof=0, eps=0.5, keep_singletons=True)
    asarray.check(kept, [[2 / 3, 0, 4], [-2 / 3, 0, 4]])


def test_ids_that_name_the_rows_give_the_advantage_of_groups():
    rewards = np.random.default_rng(3).random((3, 5))
    ids = np.broadcast_to(np.arange(3)[:, None], (3, 5))
    got = normalized_by_id(rewards, ids, eps=1e-4)
    np.testing.assert_allclose(got, group_normalized(rewards, eps=1e-4), rtol=1e-12)


TURNS = np.zeros((1, 2, 2))
REFUSED = {
    "turn_rewards: expected shape \\(1, 2\\) and one axis of turns, got \\(1, 3, 2\\)": (
        mt_grpo,
        (np.zeros((1, 2)), np.zeros((1, 3, 2)), CALL_TOOL_ANSWER),
        {},
    ),
    "anchor_states: expected shape \\(1, 2\\)": (
        gigpo,
        (np.zeros((1, 2)), TURNS, np.zeros((2, 2, 2)), CALL_TOOL_ANSWER),
        {},
    ),
    "turn_ids: expected -1 to 0, because turn_rewards has 1 turns, got 1": (
        turn_returns,
        (np.zeros((1, 2, 1)), CALL_TOOL_ANSWER),
        {},
    ),
    "gamma: expected 0 <= gamma <= 1, got 1.5": (turn_returns, (TURNS, CALL_TOOL_ANSWER), {"gamma": 1.5}),
    "gamma: expected 0 <= gamma <= 1, got -1": (
        discounted_over_turns,
        (np.zeros((1, 2)), CALL_TOOL_ANSWER),
        {"gamma": -1.0},
    ),
    "ddof: expected 0": (turn_returns, (TURNS, CALL_TOOL_ANSWER), {"ddof": 2}),
    "eps: expected a number >= 0": (turn_returns, (TURNS, CALL_TOOL_ANSWER), {"eps": -1.0}),
    "group_ids: expected shape \\(1, 2\\), one for each reward, got \\(2,\\)": (
        normalized_by_id,
        (np.zeros((1, 2)), np.zeros(2, dtype=int)),
        {},
    ),
}


@pytest.mark.parametrize(("message", "call"), REFUSED.items(), ids=[text.split(":")[0] for text in REFUSED])
def test_an_error_names_the_argument(message, call):
    kernel, arrays, settings = call
    with pytest.raises(ValueError, match=message):
        kernel(*arrays, **settings)
