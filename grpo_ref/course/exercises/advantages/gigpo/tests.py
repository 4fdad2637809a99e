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
            meaning="reward after each turn",
        ),
        "states": Whole(
            (-3, 9),
            axes="G K",
            usual=((-1, 2), (-3, 9)),
            meaning="state in which each turn began",
        ),
        "mask": Mask("G K", gaps=False, meaning="1 on the turns of an episode, 0 on padding"),
        "gamma": Scalar(0.95, (0, 1), at=(0.5,), meaning="γ, discount per turn"),
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


def sums_to_zero(answer):
    advantages = np.asarray(answer(REWARDS, STATES, TAKEN, 0.5))
    sums = [advantages[(STATES == state) & (TAKEN == 1)].sum() for state in (0, 2, 4)]
    return None if np.allclose(sums, 0.0, atol=1e-9) else "the advantages of each state should sum to 0"


def ignores_names(answer):
    renamed = 7 - 2 * STATES
    same = np.allclose(answer(REWARDS, STATES, TAKEN, 0.5), answer(REWARDS, renamed, TAKEN, 0.5), atol=1e-9)
    return None if same else "other numbers for the same states should change nothing"


CHECKS = (
    Case(
        "Two episodes that begin in the same state",
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
        ([[1, 0], [2, 9]], [[0, 0], [0, 0]], [[1, 1], [1, 0]], 1),
        np.array([[0.0, -1.0], [1.0, 0.0]]),
        why=(
            "Three turns began in state 0, two of them in the first episode. Their returns are 1, 0 and 2, with"
            " mean 1. The 9 is padding."
        ),
        shown=True,
    ),
    Case(
        "The default discount",
        ([[0, 1], [0, 0]], [[7, 3], [7, 3]], [[1, 1], [1, 1]]),
        np.array([[0.475, 0.5], [-0.475, -0.5]]),
        why="The returns are 0.95 and 1 in the first episode, and 0 and 0 in the second: half of each.",
        shown=True,
    ),
    Case(
        "NaN as padding",
        ([[1.0, 0.0], [2.0, np.nan]], [[0, 0], [0, 5]], [[1, 1], [1, 0]], 1),
        np.array([[0.0, -1.0], [1.0, 0.0]]),
        why="Padding counts neither in a return nor in a mean, whatever it holds.",
    ),
    Case(
        "No later rewards",
        ([[2, 8], [0, 6]], [[1, 2], [1, 2]], [[1, 1], [1, 1]], 0),
        np.array([[1.0, 1.0], [-1.0, -1.0]]),
        why="With gamma 0 the returns are the rewards, with means 1 and 7.",
    ),
    Case(
        "Three turns ahead",
        ([[1, 2, 4], [0, 0, 0]], [[1, 2, 3], [1, 2, 3]], [[1, 1, 1], [1, 1, 1]], 0.5),
        np.array([[1.5, 2.0, 2.0], [-1.5, -2.0, -2.0]]),
        why="The returns are 1 + 1 + 1 = 3, 2 + 2 = 4 and 4 in the first episode, 0 in the second: half of each.",
    ),
    Case(
        "The same state at another position",
        ([[2, 0], [0, 6]], [[1, 2], [2, 1]], [[1, 1], [1, 1]], 0),
        np.array([[-2.0, 0.0], [0.0, 2.0]]),
        why="State 1 has the returns 2 and 6 with the mean 4; state 2 has 0 and 0.",
    ),
    Case(
        "The state of padding",
        ([[4, 0], [0, 8]], [[1, 1], [1, 1]], [[1, 0], [1, 0]], 1),
        np.array([[2.0, 0.0], [-2.0, 0.0]]),
        why="Only 4 and 0 are returns, with mean 2. The 8 is padding.",
    ),
    Case(
        "An episode without a turn",
        ([[3, 1], [5, 5]], [[0, 0], [0, 0]], [[1, 1], [0, 0]], 0),
        np.array([[1.0, -1.0], [0.0, 0.0]]),
        why="The mean of 3 and 1 is 2; the second episode does not count in it.",
    ),
    Case(
        "States below 0",
        ([[1, 0], [3, 0]], [[-1, 0], [-1, 0]], [[1, 0], [1, 1]], 0),
        np.array([[-1.0, 0.0], [1.0, 0.0]]),
        why="-1 is a state like any other: returns 1 and 3, mean 2.",
    ),
    Case(
        "A group of 300 episodes",
        (np.tile([[1.0], [-1.0]], (150, 1)), np.zeros((300, 1), dtype=int), np.ones((300, 1)), 1),
        np.tile([[1.0], [-1.0]], (150, 1)),
        why="1 and -1 alternate, with mean 0.",
    ),
    Case(
        "An episode of 300 turns",
        (np.tile([2.0, 0.0], 150)[None], np.zeros((1, 300), dtype=int), np.ones((1, 300)), 0),
        np.tile([1.0, -1.0], 150)[None],
        why="With gamma 0 the returns 2 and 0 alternate, with mean 1.",
    ),
    Holds(
        "Each state sums to 0",
        sums_to_zero,
        why="The mean is subtracted from all returns of which it is the mean.",
    ),
    Holds("The names do not matter", ignores_names, why="States are only compared for equality."),
    Unchanged((REWARDS, STATES, TAKEN)),
)
