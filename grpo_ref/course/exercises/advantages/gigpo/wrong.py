"""Wrong answers to `advantages/gigpo`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.advantages.gigpo.tests import reference


def changed(returns=None, mean=None, read=None):
    """Return an answer with another way to compute the returns, or the mean that is subtracted."""

    def answer(turn_rewards, states, mask, gamma=0.95):
        taken = np.asarray(mask) > 0
        rewards = (read or without_padding)(np.asarray(turn_rewards, dtype=float), taken)
        values = (returns or discounted_sums)(rewards, gamma)
        return np.where(taken, values - (mean or mean_of_the_state)(values, np.asarray(states), taken), 0.0)

    return answer


def without_padding(rewards, taken):
    return np.where(taken, rewards, 0.0)


def discounted_sums(rewards, gamma):
    returns, following = np.zeros_like(rewards), np.zeros(len(rewards))
    for k in reversed(range(rewards.shape[1])):
        following = rewards[:, k] + gamma * following
        returns[:, k] = following
    return returns


def sums_from_the_start(rewards, gamma):
    return discounted_sums(rewards[:, ::-1], gamma)[:, ::-1]


def discounted_from_the_first_turn(rewards, gamma):
    """Discount every reward by its position in the episode, not by its distance from the turn."""
    return np.cumsum((rewards * gamma ** np.arange(rewards.shape[1]))[:, ::-1], 1)[:, ::-1]


def mean_among(alike, values):
    """Return the mean of the values (G, K) over those that are alike, (G, K, G, K)."""
    sums = np.where(alike, values[None, None], 0.0).sum((2, 3))
    return sums / np.maximum(alike.sum((2, 3)), 1)


def with_the_same_state(states, taken):
    return (states[:, :, None, None] == states) & taken


def mean_of_the_state(returns, states, taken):
    return mean_among(with_the_same_state(states, taken), returns)


def mean_of_the_others(returns, states, taken):
    alike = with_the_same_state(states, taken)
    others = np.maximum(alike.sum((2, 3)) - 1, 1)
    return (np.where(alike, returns, 0.0).sum((2, 3)) - returns) / others


def mean_at_the_same_position(returns, states, taken):
    turns = np.arange(returns.shape[1])
    return mean_among(with_the_same_state(states, taken) & (turns[:, None, None] == turns), returns)


def mean_of_other_episodes(returns, states, taken):
    episodes = np.arange(len(returns))
    other = episodes[:, None, None, None] != episodes[:, None]
    itself = np.eye(returns.size, dtype=bool).reshape((*returns.shape, *returns.shape))
    return mean_among(with_the_same_state(states, taken) & (other | itself), returns)


def mean_of_the_episodes_means(returns, states, taken):
    """Take the mean of the episodes' means, so that an episode counts once for each state."""
    alike = with_the_same_state(states, taken)
    counts = alike.sum(3)
    means = np.where(alike, returns, 0.0).sum(3) / np.maximum(counts, 1)
    return means.sum(2) / np.maximum((counts > 0).sum(2), 1)


def mean_unless_alone(returns, states, taken):
    alone = with_the_same_state(states, taken).sum((2, 3)) == 1
    return np.where(alone, 0.0, mean_of_the_state(returns, states, taken))


def mean_of_neighbors(returns, states, taken):
    """Compare only turns of equal state without another state between them, in the order of the array."""
    flat = states.ravel()
    runs = np.cumsum(np.r_[0, flat[1:] != flat[:-1]]).reshape(states.shape)
    return mean_of_the_state(returns, runs, taken)


def standardized(turn_rewards, states, mask, gamma=0.95):
    centered = reference(turn_rewards, states, mask, gamma)
    taken = np.asarray(mask) > 0
    std = np.sqrt(mean_of_the_state(centered**2, np.asarray(states), taken))
    return np.where(std > 0, centered / np.where(std > 0, std, 1.0), 0.0)


def rewards_compared_first(turn_rewards, states, mask, gamma=0.95):
    alone = changed(returns=lambda rewards, gamma: rewards)(turn_rewards, states, mask, gamma)
    return np.where(np.asarray(mask) > 0, discounted_sums(alone, gamma), 0.0)


def right_only_at(places):
    """Return an answer that is right at these places and 0 elsewhere."""

    def answer(turn_rewards, states, mask, gamma=0.95):
        whole = reference(turn_rewards, states, mask, gamma)
        left = np.zeros_like(whole)
        left[places] = whole[places]
        return left

    return answer


def padding_kept(turn_rewards, states, mask, gamma=0.95):
    taken, states = np.asarray(mask) > 0, np.asarray(states)
    returns = discounted_sums(without_padding(np.asarray(turn_rewards, dtype=float), taken), gamma)
    return returns - mean_of_the_state(returns, states, taken)


WRONG = (
    Mutant(
        "own reward alone",
        changed(returns=lambda r, gamma: r),
        "Omits the rewards of later turns from the returns.",
    ),
    Mutant(
        "sums from the start",
        changed(returns=sums_from_the_start),
        "Adds the rewards from the first turn to this one; a return runs from this turn to the last.",
    ),
    Mutant(
        "discounted from the first turn",
        changed(returns=discounted_from_the_first_turn),
        "Counts the exponent of γ from the first turn of the episode; it counts from the turn of the return.",
    ),
    Mutant(
        "one discount too many",
        changed(returns=lambda r, gamma: gamma * discounted_sums(r, gamma)),
        "Multiplies every reward by γ once too often; the turn's own reward is not discounted.",
    ),
    Mutant(
        "own reward omitted",
        changed(returns=lambda r, gamma: discounted_sums(r, gamma) - r),
        "Omits the turn's own reward from its return.",
    ),
    Mutant(
        "not discounted",
        changed(returns=lambda r, gamma: discounted_sums(r, 1.0)),
        "Ignores `gamma`: all later rewards count fully.",
    ),
    Mutant(
        "gamma fixed",
        lambda r, s, m, gamma=0.95: reference(r, s, m),
        "Uses 0.95 whatever `gamma` is.",
    ),
    Mutant(
        "default 0.99",
        lambda r, s, m, gamma=0.99: reference(r, s, m, gamma),
        "Uses 0.99 if `gamma` is omitted; the default is 0.95.",
    ),
    Mutant(
        "default 1",
        lambda r, s, m, gamma=1.0: reference(r, s, m, gamma),
        "Uses 1 if `gamma` is omitted; the default is 0.95.",
    ),
    Mutant(
        "rewards compared before they are summed",
        rewards_compared_first,
        "Subtracts a mean from the rewards and then sums the differences; compute the returns first.",
    ),
    Mutant(
        "all turns compared",
        changed(mean=lambda returns, states, taken: mean_of_the_state(returns, 0 * states, taken)),
        "Subtracts the mean of all turns, whatever their state.",
    ),
    Mutant(
        "same position only",
        changed(mean=mean_at_the_same_position),
        "Compares only turns at the same position of their episodes; only the state must be the same.",
    ),
    Mutant(
        "other episodes only",
        changed(mean=mean_of_other_episodes),
        "Omits the other turns of the same episode from the mean.",
    ),
    Mutant(
        "each episode once",
        changed(mean=mean_of_the_episodes_means),
        "Averages the means of the episodes; every turn counts once.",
    ),
    Mutant(
        "neighbors only",
        changed(mean=mean_of_neighbors),
        "Compares only neighbors with the same state, row after row; turns with other states may lie between.",
    ),
    Mutant(
        "mean of the others",
        changed(mean=mean_of_the_others),
        "Omits the turn itself from the mean.",
    ),
    Mutant(
        "not centered",
        changed(mean=lambda returns, states, taken: 0.0 * returns),
        "Returns the returns; the mean of the state is not subtracted.",
    ),
    Mutant(
        "kept if alone",
        changed(mean=mean_unless_alone),
        "Gives a turn whose state occurs once its return; such a turn is its own mean and gets 0.",
    ),
    Mutant(
        "standardized",
        standardized,
        "Divides by the standard deviation of the returns with the same state.",
    ),
    Mutant(
        "padding averaged",
        changed(mean=lambda returns, states, taken: mean_of_the_state(returns, states, np.ones_like(taken))),
        "Counts padding as turns.",
    ),
    Mutant(
        "rewards of padding",
        changed(read=lambda r, taken: np.where(np.isfinite(r), r, 0.0)),
        "Adds the rewards of padding to the returns.",
    ),
    Mutant(
        "padding kept",
        padding_kept,
        "Does not set the result of padding to 0.",
    ),
    Mutant(
        "mask ignored",
        lambda r, s, m, gamma=0.95: reference(r, s, np.ones(np.shape(m)), gamma),
        "Ignores `mask`: padding counts like a turn.",
    ),
    Mutant(
        "mask used at the end",
        lambda r, s, m, gamma=0.95: np.where(
            np.asarray(m) > 0, reference(r, s, np.ones(np.shape(m)), gamma), 0.0
        ),
        "Uses `mask` only to set results to 0; padding counts in the returns and the means.",
    ),
    Mutant(
        "NaN times 0",
        changed(read=lambda r, taken: r * taken),
        "Lets a NaN of padding into the returns: NaN times 0 is NaN.",
    ),
    Mutant(
        "states below 0 ignored",
        lambda r, s, m, gamma=0.95: np.where(
            np.asarray(s) >= 0, reference(r, s, (np.asarray(m) > 0) & (np.asarray(s) >= 0), gamma), 0.0
        ),
        "Treats turns with a negative state as padding; only `mask` marks padding.",
    ),
    Mutant(
        "128 episodes at most",
        right_only_at(slice(128)),
        "Gives 0 from the 129th episode on.",
    ),
    Mutant(
        "128 turns at most",
        right_only_at((slice(None), slice(128))),
        "Gives 0 from the 129th turn on.",
    ),
)
