"""The advantage of a turn of an agent, among turns that began in the same state."""

from typing import Any

import numpy as np

from grpo_ref.advantages import gigpo
from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.course.grading.domain.arguments import Mask, Real, Scalar, Whole
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import BINARY, CONSTANT, LEVELS, MIXED, ONE_FAR_OUT, SOME_CONSTANT
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import (
    Case,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    changing_inputs,
)
from grpo_ref.course.grading.sampled_check import FromDomain

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


def _reference(turn_rewards: Any, states: Any, mask: Any, gamma: float = 0.95) -> Any:
    rewards, taken = np.asarray(turn_rewards, dtype=float), np.asarray(mask) > 0
    turn_ids = np.where(taken, np.arange(taken.shape[1]), -1)
    no_outcome = np.zeros((1, len(rewards)))
    arrays = no_outcome, rewards[None], np.asarray(states)[None], turn_ids[None]
    return gigpo(*arrays, gamma=gamma, scale=False)[0]


def _with(returns: Any = None, mean: Any = None, read: Any = None) -> Function:
    """Return an answer with another way to compute the returns, or the mean that is subtracted."""

    def answer(turn_rewards: Any, states: Any, mask: Any, gamma: float = 0.95) -> Any:
        taken = np.asarray(mask) > 0
        rewards = (read or _read)(np.asarray(turn_rewards, dtype=float), taken)
        values = (returns or _returns)(rewards, gamma)
        return np.where(taken, values - (mean or _mean)(values, np.asarray(states), taken), 0.0)

    return answer


def _read(rewards: Floats, taken: Bools) -> Any:
    return np.where(taken, rewards, 0.0)


def _returns(rewards: Floats, gamma: float) -> Any:
    returns, following = np.zeros_like(rewards), np.zeros(len(rewards))
    for k in reversed(range(rewards.shape[1])):
        following = rewards[:, k] + gamma * following
        returns[:, k] = following
    return returns


def _from_the_start(rewards: Floats, gamma: float) -> Any:
    return _returns(rewards[:, ::-1], gamma)[:, ::-1]


def _from_the_first_turn(rewards: Floats, gamma: float) -> Any:
    """Discount every reward by its place in the episode, not by its distance from the turn."""
    return np.cumsum((rewards * gamma ** np.arange(rewards.shape[1]))[:, ::-1], 1)[:, ::-1]


def _among(alike: Bools, values: Floats) -> Any:
    """Return the mean of the values (G, K) over those that are alike, (G, K, G, K)."""
    sums = np.where(alike, values[None, None], 0.0).sum((2, 3))
    return sums / np.maximum(alike.sum((2, 3)), 1)


def _same_state(states: Integers, taken: Bools) -> Any:
    return (states[:, :, None, None] == states) & taken


def _mean(returns: Floats, states: Integers, taken: Bools) -> Any:
    return _among(_same_state(states, taken), returns)


def _mean_of_others(returns: Floats, states: Integers, taken: Bools) -> Any:
    alike = _same_state(states, taken)
    others = np.maximum(alike.sum((2, 3)) - 1, 1)
    return (np.where(alike, returns, 0.0).sum((2, 3)) - returns) / others


def _at_the_same_place(returns: Floats, states: Integers, taken: Bools) -> Any:
    turns = np.arange(returns.shape[1])
    return _among(_same_state(states, taken) & (turns[:, None, None] == turns), returns)


def _of_other_episodes(returns: Floats, states: Integers, taken: Bools) -> Any:
    episodes = np.arange(len(returns))
    other = episodes[:, None, None, None] != episodes[:, None]
    itself = np.eye(returns.size, dtype=bool).reshape((*returns.shape, *returns.shape))
    return _among(_same_state(states, taken) & (other | itself), returns)


def _one_visit_each(returns: Floats, states: Integers, taken: Bools) -> Any:
    """Take the mean of the episodes' means, so that an episode counts once for each state."""
    alike = _same_state(states, taken)
    counts = alike.sum(3)
    means = np.where(alike, returns, 0.0).sum(3) / np.maximum(counts, 1)
    return means.sum(2) / np.maximum((counts > 0).sum(2), 1)


def _kept_if_alone(returns: Floats, states: Integers, taken: Bools) -> Any:
    alone = _same_state(states, taken).sum((2, 3)) == 1
    return np.where(alone, 0.0, _mean(returns, states, taken))


def _runs_of_equal_states(returns: Floats, states: Integers, taken: Bools) -> Any:
    """Compare only turns of equal state without another state between them, in the order of the array."""
    flat = states.ravel()
    runs = np.cumsum(np.r_[0, flat[1:] != flat[:-1]]).reshape(states.shape)
    return _mean(returns, runs, taken)


def _standardized(turn_rewards: Any, states: Any, mask: Any, gamma: float = 0.95) -> Any:
    centered = _reference(turn_rewards, states, mask, gamma)
    taken = np.asarray(mask) > 0
    std = np.sqrt(_mean(centered**2, np.asarray(states), taken))
    return np.where(std > 0, centered / np.where(std > 0, std, 1.0), 0.0)


def _rewards_compared_first(turn_rewards: Any, states: Any, mask: Any, gamma: float = 0.95) -> Any:
    alone = _with(returns=lambda rewards, gamma: rewards)(turn_rewards, states, mask, gamma)
    return np.where(np.asarray(mask) > 0, _returns(alone, gamma), 0.0)


def _of_size(places: Any) -> Function:
    """Return an answer that is right for the first 128 entries along one axis, and 0 for the rest."""

    def answer(turn_rewards: Any, states: Any, mask: Any, gamma: float = 0.95) -> Any:
        whole = _reference(turn_rewards, states, mask, gamma)
        left = np.zeros_like(whole)
        left[places] = whole[places]
        return left

    return answer


REWARDS = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 9.0], [0.0, 0.5, 1.0]])
STATES = np.array([[4, 0, 4], [4, 4, 4], [0, 2, 0]])
TAKEN = np.array([[1, 1, 1], [1, 1, 0], [1, 1, 1]])


def _sums_to_zero(f: Function) -> str | None:
    advantages = np.asarray(f(REWARDS, STATES, TAKEN, 0.5))
    sums = [advantages[(STATES == state) & (TAKEN == 1)].sum() for state in (0, 2, 4)]
    return None if np.allclose(sums, 0.0, atol=1e-9) else "the advantages of each state should sum to 0"


def _names_do_not_matter(f: Function) -> str | None:
    same = np.allclose(f(REWARDS, STATES, TAKEN, 0.5), f(REWARDS, 7 - 3 * STATES, TAKEN, 0.5), atol=1e-9)
    return None if same else "other numbers for the same states should change nothing"


PROBLEM = Problem(
    id="advantages/gigpo",
    title="The advantage of a turn",
    function="step_advantages",
    reference=_reference,
    background=(
        "An agent answers in several turns: it calls a tool, reads the result, and calls again or answers. All"
        " turns together are an episode. With one advantage for the whole episode, a good call before a wrong"
        " answer is blamed like a bad one. GiGPO adds an advantage for each turn. It looks for turns of the"
        " group's episodes that began in the same state, such as the same web page, and compares what came of"
        " them."
    ),
    task=(
        "Write `step_advantages(turn_rewards, states, mask, gamma=0.95)` for the G episodes of one prompt."
        " The return of a turn is its own reward plus the discounted rewards of the later turns of the same"
        " episode. The advantage of a turn is its return minus the mean return of all turns that began in the same"
        " state:\n\n"
        "    Rᵢₖ = Σⱼ γ^(j - k) rᵢⱼ        over the turns j = k, k + 1, ... of episode i\n"
        "    Aᵢₖ = Rᵢₖ - mean(Rₘₙ)         over all turns (m, n) whose state equals the state of (i, k)\n\n"
        "The mean includes the turn itself. Turns with the same state are compared wherever they"
        " are: in other episodes, in the same episode, and at other places. `mask` is 1 on the turns of an"
        " episode. Where it is 0, there is no turn, and the entries of `turn_rewards` and `states` do not matter."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(G, K) advantages, one per turn.",
    constraints=(
        "Entries where mask is 0 get 0. `turn_rewards` may hold NaN or infinity there.\n"
        "A turn whose state occurs only once gets 0.\n"
        "States are only compared for equality. Any whole number may be the name of a state."
    ),
    notes=(
        "GiGPO adds this number to the advantage of the episode. The paper either divides by the standard deviation"
        " of the returns, or not, as here. The page docs/turns.md compares what the trainers do."
    ),
    kernel="grpo_ref.advantages.gigpo",
    source="Feng et al. 2025, GiGPO, eq. 5 to 7 with a divisor of 1 (arXiv:2505.10978).",
    hints=(
        "In which order must you visit the turns of an episode, so that each return needs only one addition?",
        "np.unique(states[taken], return_inverse=True) numbers the states from 0, and np.bincount with weights sums"
        " the returns of each.",
        "for k in reversed(range(K)): following = rewards[:, k] + gamma * following; then, for each state,"
        " at = taken & (states == state); out[at] = returns[at] - returns[at].mean()",
    ),
    checks=(
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
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "own reward alone",
            _with(returns=lambda r, gamma: r),
            "The later rewards of the episode are missing.",
        ),
        Mutant(
            "sums from the start",
            _with(returns=_from_the_start),
            "The return runs from the first turn to this one.",
        ),
        Mutant(
            "discounted from the first turn",
            _with(returns=_from_the_first_turn),
            "The discount of a reward counts from the first turn; it should count from the turn whose return it is.",
        ),
        Mutant(
            "one discount too many",
            _with(returns=lambda r, gamma: gamma * _returns(r, gamma)),
            "A turn's own reward is discounted too.",
        ),
        Mutant(
            "own reward omitted",
            _with(returns=lambda r, gamma: _returns(r, gamma) - r),
            "The return omits the reward of the turn itself.",
        ),
        Mutant(
            "not discounted",
            _with(returns=lambda r, gamma: _returns(r, 1.0)),
            "gamma is not used: all later rewards count fully.",
        ),
        Mutant(
            "gamma fixed", lambda r, s, m, gamma=0.95: _reference(r, s, m), "The argument gamma is not used."
        ),
        Mutant(
            "rewards compared before they are summed",
            _rewards_compared_first,
            "The mean is subtracted from the rewards, and the differences are summed; it is the other way round.",
        ),
        Mutant(
            "all turns compared",
            _with(mean=lambda returns, states, taken: _mean(returns, 0 * states, taken)),
            "All turns are compared with one another, whatever their state.",
        ),
        Mutant(
            "same place only",
            _with(mean=_at_the_same_place),
            "Only turns at the same place of their episodes are compared; a state may come at any place.",
        ),
        Mutant(
            "other episodes only",
            _with(mean=_of_other_episodes),
            "The mean omits other visits of the same episode.",
        ),
        Mutant(
            "each episode once",
            _with(mean=_one_visit_each),
            "The mean is that of the episodes' means; every turn counts once.",
        ),
        Mutant(
            "runs of equal states",
            _with(mean=_runs_of_equal_states),
            "Only neighbours with the same state are compared; sort the states first, or compare all pairs.",
        ),
        Mutant("mean of the others", _with(mean=_mean_of_others), "The turn itself belongs to the mean."),
        Mutant(
            "not centered",
            _with(mean=lambda returns, states, taken: 0.0 * returns),
            "The mean is not subtracted.",
        ),
        Mutant(
            "kept if alone",
            _with(mean=_kept_if_alone),
            "A turn whose state occurs once keeps its return; it is its own mean and gets 0.",
        ),
        Mutant("standardized", _standardized, "The advantage is divided by the standard deviation."),
        Mutant(
            "padding averaged",
            _with(mean=lambda returns, states, taken: _mean(returns, states, np.ones_like(taken))),
            "The mean includes entries without a turn.",
        ),
        Mutant(
            "rewards of padding",
            _with(read=lambda r, taken: np.where(np.isfinite(r), r, 0.0)),
            "The return includes rewards where there is no turn.",
        ),
        Mutant(
            "NaN times 0",
            _with(read=lambda r, taken: r * taken),
            "NaN where there is no turn spreads: NaN times 0 is NaN.",
        ),
        Mutant(
            "states below 0 ignored",
            lambda r, s, m, gamma=0.95: np.where(
                np.asarray(s) >= 0, _reference(r, s, (np.asarray(m) > 0) & (np.asarray(s) >= 0), gamma), 0.0
            ),
            "Negative numbers are taken for padding; only mask says what is padding.",
        ),
        Mutant(
            "128 episodes at most",
            _of_size(slice(128)),
            "Episodes of a large group get 0 from some place on.",
        ),
        Mutant(
            "128 turns at most",
            _of_size((slice(None), slice(128))),
            "Turns of a long episode get 0 from some place on.",
        ),
    ),
    others={"in the steps of the statement": _with()},
)
