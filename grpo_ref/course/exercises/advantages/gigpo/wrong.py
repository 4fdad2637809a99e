"""Wrong answers to `advantages/gigpo`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.advantages.gigpo.tests import reference


def _with(returns=None, mean=None, read=None):
    """Return an answer with another way to compute the returns, or the mean that is subtracted."""

    def answer(turn_rewards, states, mask, gamma=0.95):
        taken = np.asarray(mask) > 0
        rewards = (read or _read)(np.asarray(turn_rewards, dtype=float), taken)
        values = (returns or _returns)(rewards, gamma)
        return np.where(taken, values - (mean or _mean)(values, np.asarray(states), taken), 0.0)

    return answer


def _read(rewards, taken):
    return np.where(taken, rewards, 0.0)


def _returns(rewards, gamma):
    returns, following = np.zeros_like(rewards), np.zeros(len(rewards))
    for k in reversed(range(rewards.shape[1])):
        following = rewards[:, k] + gamma * following
        returns[:, k] = following
    return returns


def _from_the_start(rewards, gamma):
    return _returns(rewards[:, ::-1], gamma)[:, ::-1]


def _from_the_first_turn(rewards, gamma):
    """Discount every reward by its place in the episode, not by its distance from the turn."""
    return np.cumsum((rewards * gamma ** np.arange(rewards.shape[1]))[:, ::-1], 1)[:, ::-1]


def _among(alike, values):
    """Return the mean of the values (G, K) over those that are alike, (G, K, G, K)."""
    sums = np.where(alike, values[None, None], 0.0).sum((2, 3))
    return sums / np.maximum(alike.sum((2, 3)), 1)


def _same_state(states, taken):
    return (states[:, :, None, None] == states) & taken


def _mean(returns, states, taken):
    return _among(_same_state(states, taken), returns)


def _mean_of_others(returns, states, taken):
    alike = _same_state(states, taken)
    others = np.maximum(alike.sum((2, 3)) - 1, 1)
    return (np.where(alike, returns, 0.0).sum((2, 3)) - returns) / others


def _at_the_same_place(returns, states, taken):
    turns = np.arange(returns.shape[1])
    return _among(_same_state(states, taken) & (turns[:, None, None] == turns), returns)


def _of_other_episodes(returns, states, taken):
    episodes = np.arange(len(returns))
    other = episodes[:, None, None, None] != episodes[:, None]
    itself = np.eye(returns.size, dtype=bool).reshape((*returns.shape, *returns.shape))
    return _among(_same_state(states, taken) & (other | itself), returns)


def _one_visit_each(returns, states, taken):
    """Take the mean of the episodes' means, so that an episode counts once for each state."""
    alike = _same_state(states, taken)
    counts = alike.sum(3)
    means = np.where(alike, returns, 0.0).sum(3) / np.maximum(counts, 1)
    return means.sum(2) / np.maximum((counts > 0).sum(2), 1)


def _kept_if_alone(returns, states, taken):
    alone = _same_state(states, taken).sum((2, 3)) == 1
    return np.where(alone, 0.0, _mean(returns, states, taken))


def _runs_of_equal_states(returns, states, taken):
    """Compare only turns of equal state without another state between them, in the order of the array."""
    flat = states.ravel()
    runs = np.cumsum(np.r_[0, flat[1:] != flat[:-1]]).reshape(states.shape)
    return _mean(returns, runs, taken)


def _standardized(turn_rewards, states, mask, gamma=0.95):
    centered = reference(turn_rewards, states, mask, gamma)
    taken = np.asarray(mask) > 0
    std = np.sqrt(_mean(centered**2, np.asarray(states), taken))
    return np.where(std > 0, centered / np.where(std > 0, std, 1.0), 0.0)


def _rewards_compared_first(turn_rewards, states, mask, gamma=0.95):
    alone = _with(returns=lambda rewards, gamma: rewards)(turn_rewards, states, mask, gamma)
    return np.where(np.asarray(mask) > 0, _returns(alone, gamma), 0.0)


def _of_size(places):
    """Return an answer that is right for the first 128 entries along one axis, and 0 for the rest."""

    def answer(turn_rewards, states, mask, gamma=0.95):
        whole = reference(turn_rewards, states, mask, gamma)
        left = np.zeros_like(whole)
        left[places] = whole[places]
        return left

    return answer


WRONG = (
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
    Mutant("gamma fixed", lambda r, s, m, gamma=0.95: reference(r, s, m), "The argument gamma is not used."),
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
            np.asarray(s) >= 0, reference(r, s, (np.asarray(m) > 0) & (np.asarray(s) >= 0), gamma), 0.0
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
)
