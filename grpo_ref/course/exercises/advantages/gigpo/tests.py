"""The tests of `advantages/gigpo`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.advantages import gigpo
from grpo_ref.course.author import (
    BINARY,
    CONSTANT,
    LEVELS,
    MIXED,
    ONE_FAR_OUT,
    SOME_CONSTANT,
    Case,
    Domain,
    Holds,
    Mask,
    Real,
    Scalar,
    Unchanged,
    Whole,
)

DOMAIN = Domain(
    {
        "turn_rewards": Real(
            "G K",
            (-10, 10),
            rows=(MIXED, BINARY, LEVELS, CONSTANT, SOME_CONSTANT, ONE_FAR_OUT),
            padding="mask",
            meaning="the reward after each of the K turns of G episodes of one prompt",
        ),
        "states": Whole(
            (-3, 9),
            axes="G K",
            usual=((-1, 2), (-3, 9)),
            meaning="the number of the state in which each turn began",
        ),
        "mask": Mask("G K", gaps=False, meaning="1 on the turns of an episode, 0 on padding"),
        "gamma": Scalar(0.95, (0, 1), at=(0.5,), meaning="the discount per turn"),
    },
    sizes={"G": (1, 5), "K": (1, 5)},
    large={"G": 40, "K": 40},
)


def reference(turn_rewards, states, mask, gamma=0.95):
    rewards, taken = np.asarray(turn_rewards, dtype=float), np.asarray(mask) > 0
    turn_ids = np.where(taken, np.arange(taken.shape[1]), -1)
    no_outcome = np.zeros((1, len(rewards)))
    arrays = no_outcome, rewards[None], np.asarray(states)[None], turn_ids[None]
    return gigpo(*arrays, gamma=gamma, scale=False)[0]


REWARDS = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 9.0], [0.0, 0.5, 1.0]])

STATES = np.array([[4, 0, 4], [4, 4, 4], [0, 2, 0]])

TAKEN = np.array([[1, 1, 1], [1, 1, 0], [1, 1, 1]])


def _sums_to_zero(f):
    advantages = np.asarray(f(REWARDS, STATES, TAKEN, 0.5))
    sums = [advantages[(STATES == state) & (TAKEN == 1)].sum() for state in (0, 2, 4)]
    return None if np.allclose(sums, 0.0, atol=1e-9) else "the advantages of each state should sum to 0"


def _names_do_not_matter(f):
    same = np.allclose(f(REWARDS, STATES, TAKEN, 0.5), f(REWARDS, 7 - 3 * STATES, TAKEN, 0.5), atol=1e-9)
    return None if same else "other numbers for the same states should change nothing"


CHECKS = (
    Case(
        "Two episodes from the same state",
        ([[0, 1], [0, 0]], [[7, 3], [7, 4]], [[1, 1], [1, 1]], 0.5),
        np.array([[0.25, 0.0], [-0.25, 0.0]]),
        why=(
            "The returns are 0 + 0.5 · 1 = 0.5 and 1 in the first episode, and 0 and 0 in the second. Both first"
            " turns began in state 7, where the mean is 0.25. The states 3 and 4 occur once: 0."
        ),
        shown=True,
    ),
    Case(
        "A state that comes back",
        ([[1.0, 0.0], [2.0, np.nan]], [[0, 0], [0, 5]], [[1, 1], [1, 0]], 1),
        np.array([[0.0, -1.0], [1.0, 0.0]]),
        why=(
            "Three turns began in state 0, two of them in the first episode. Their returns are 1, 0 and 2 with"
            " the mean 1. The second episode has one turn; the NaN is padding."
        ),
        shown=True,
    ),
    Case(
        "The discount has a default",
        ([[0, 1]], [[5, 5]], [[1, 1]]),
        np.array([[-0.025, 0.025]]),
        why="returns 0.95 and 1 in the same state, with the mean 0.975",
    ),
    Case(
        "Without a future",
        ([[2, 8], [0, 6]], [[1, 2], [1, 2]], [[1, 1], [1, 1]], 0),
        np.array([[1.0, 1.0], [-1.0, -1.0]]),
        why="with gamma 0 the returns are the rewards: means 1 and 7",
    ),
    Case(
        "Three turns ahead",
        ([[1, 2, 4], [0, 0, 0]], [[1, 2, 3], [1, 2, 3]], [[1, 1, 1], [1, 1, 1]], 0.5),
        np.array([[1.5, 2.0, 2.0], [-1.5, -2.0, -2.0]]),
        why="returns 1 + 1 + 1 = 3, 2 + 2 = 4 and 4, against 0: half of each",
    ),
    Case(
        "The same state at another place",
        ([[2, 0], [0, 6]], [[1, 2], [2, 1]], [[1, 1], [1, 1]], 0),
        np.array([[-2.0, 0.0], [0.0, 2.0]]),
        why="state 1 has the returns 2 and 6 with the mean 4; state 2 has 0 and 0",
    ),
    Case(
        "The state of padding",
        ([[4, 0], [0, 8]], [[1, 1], [1, 1]], [[1, 0], [1, 0]], 1),
        np.array([[2.0, 0.0], [-2.0, 0.0]]),
        why="only 4 and 0 are returns: mean 2. The 8 is padding, so no turn has it as a reward",
    ),
    Case(
        "An episode without a turn",
        ([[3, 1], [5, 5]], [[0, 0], [0, 0]], [[1, 1], [0, 0]], 0),
        np.array([[1.0, -1.0], [0.0, 0.0]]),
        why="the mean of 3 and 1 is 2; the second episode has no part in it",
    ),
    Case(
        "States below 0",
        ([[1, 0], [3, 0]], [[-1, 0], [-1, 0]], [[1, 0], [1, 1]], 0),
        np.array([[-1.0, 0.0], [1.0, 0.0]]),
        why="-1 is the name of a state like any other: returns 1 and 3, mean 2",
    ),
    Case(
        "A group of 300 episodes",
        (np.tile([[1.0], [-1.0]], (150, 1)), np.zeros((300, 1), dtype=int), np.ones((300, 1)), 1),
        np.tile([[1.0], [-1.0]], (150, 1)),
        why="1 and -1 by turns have the mean 0",
    ),
    Case(
        "An episode of 300 turns",
        (np.tile([2.0, 0.0], 150)[None], np.zeros((1, 300), dtype=int), np.ones((1, 300)), 0),
        np.tile([1.0, -1.0], 150)[None],
        why="with gamma 0 the returns are 2 and 0 by turns, with the mean 1",
    ),
    Holds(
        "Each state sums to 0",
        _sums_to_zero,
        why="a mean is subtracted from all values of which it is the mean",
    ),
    Holds("The names do not matter", _names_do_not_matter, why="states are only compared for equality"),
    Unchanged((REWARDS, STATES, TAKEN)),
)
