"""A language with long completions, whose learner and sampler differ, and whose gradients are exact.

A completion is right if enough of its tokens are good. The policy sees one of a few states, so that the
number of good tokens so far and the state are all that the future depends on. Expectations are sums over
both.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.learning.policies.table import Policy, policy_of, pull_back
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import Recipe

STATES, VOCABULARY, LONGEST = 4, 3, 64
"""Number of states and of tokens; the largest number of tokens in a completion."""
SIZES = (0.1, 0.5)
"""Range of the size of the mismatch: the standard deviation of the differences between logits."""
FAMILY = (
    f"A language has {VOCABULARY} tokens. The policy sees one of {STATES} states, and each token leads to the"
    " next state. Half of the tokens are good, at random. A completion of a fixed length is right if it has"
    " enough good tokens; at first about 10 to 50 % of the completions are right, at each length. The logits"
    " of the learner are normal with a standard deviation of 1. The logits of the sampler differ from them by"
    f" normal noise with a standard deviation of {SIZES[0]} to {SIZES[1]} (log-uniform). In half of the tasks"
    " each position has noise of its own, in the other half it is the same at all positions. The"
    " sampler's probabilities are normalized, so the ratios are true importance weights."
)


class LongLanguage(NamedTuple):
    """A sampled task for S runs: K states, V tokens, completions of up to L tokens.

    Attributes:
      logits: (S, K, V) logits of the learner.
      noise: (S, L, K, V) what the sampler adds to the logits at each position.
      good: (S, K, V) 1 for a good token, else 0.
      following: (S, K, V, K) 1 for the state that a token leads to, else 0.
      right: probability of a right completion that the required number of good tokens aims at.
    """

    logits: Floats
    noise: Floats
    good: Integers
    following: Floats
    right: float

    def sampler(self, logits: Floats, length: int) -> Floats:
        """Return the sampler's probabilities (S, T, K, V) for the given logits of the learner."""
        return policy_of(logits[:, None] + self.noise[:, :length]).probs


class Sampled(NamedTuple):
    """Completions: states, tokens and log-probabilities (S, N, 1, 1, T), and rewards (S, N).

    Each completion is a batch of its own, so that each has its own gradient.
    """

    states: Integers
    tokens: Integers
    sampler_log_probs: Floats
    rewards: Floats


def drawn_language(seeds: int, seed: int, sizes: tuple[float, float] = SIZES) -> LongLanguage:
    """Sample a task, with a separate language for each run.

    Args:
      seeds, seed: number of runs; base seed of the random numbers.
      sizes: range of the size of the mismatch.
    """
    task = np.random.default_rng([seed, 64])
    size = np.exp(task.uniform(*np.log(sizes)))
    right, fixed = task.uniform(0.1, 0.5), bool(task.random() < 0.5)
    runs = [np.random.default_rng([seed, run, 64]) for run in range(seeds)]
    shape = (STATES, VOCABULARY)
    logits = np.stack([one.normal(size=shape) for one in runs])
    noise = np.stack([one.normal(size=(LONGEST, *shape)) for one in runs])
    good = np.stack(
        [one.random(shape).argsort(-1) < one.integers(1, VOCABULARY, (STATES, 1)) for one in runs]
    )
    next_states = np.stack([one.integers(0, STATES, shape) for one in runs])
    noise = np.broadcast_to(noise[:, :1], noise.shape) if fixed else noise
    return LongLanguage(logits, size * noise, good.astype(int), np.eye(STATES)[next_states], right)


def _forward(language: LongLanguage, probs: Floats) -> Iterator[Floats]:
    """Generate the probabilities (S, K, T + 1) of states and numbers of good tokens before each position."""
    runs, length = probs.shape[:2]
    here = np.zeros((runs, STATES, length + 1))
    here[:, 0, 0] = 1.0
    for position in range(length):
        yield here
        chosen = probs[:, position, :, :, None] * here[:, :, None]
        here = np.einsum("skvc,skvj->sjc", _counted(language, chosen, 1), language.following)
    yield here


def _counted(language: LongLanguage, values: Floats, step: int) -> Floats:
    """Move values (S, K, V, C) of good tokens along the axis of counts, by +1 or -1."""
    moved = np.zeros_like(values)
    if step > 0:
        moved[..., 1:] = values[..., :-1]
    else:
        moved[..., :-1] = values[..., 1:]
    return np.where(language.good[..., None] == 1, moved, values)


def required(language: LongLanguage, length: int) -> Integers:
    """Return (S,) the number of good tokens that a right completion needs.

    With this number the learner's probability to be right is as near as possible to `language.right`.
    """
    *_, last = _forward(language, _learner(language, length))
    at_least = last.sum(1)[:, ::-1].cumsum(-1)[:, ::-1]
    number: Integers = abs(at_least - language.right)[:, 1:].argmin(-1) + 1
    return number


def _learner(language: LongLanguage, length: int) -> Floats:
    probs = policy_of(language.logits).probs[:, None]
    return np.broadcast_to(probs, (probs.shape[0], length, *probs.shape[2:]))


def _values(language: LongLanguage, probs: Floats, needed: Integers) -> list[Floats]:
    """Return, for each position, (S, K, V, T + 1) the probability to be right after each token."""
    length = probs.shape[1]
    right = (np.arange(length + 1) >= needed[:, None]).astype(float)
    value = np.repeat(right[:, None], STATES, axis=1)
    after: list[Floats] = []
    for position in reversed(range(length)):
        of_token = np.einsum("skvj,sjc->skvc", language.following, value)
        after.append(_counted(language, of_token, -1))
        value = (probs[:, position, :, :, None] * after[-1]).sum(2)
    return after[::-1]


def expected_reward(language: LongLanguage, probs: Floats, needed: Integers) -> Floats:
    """Return (S,) the probability that a completion of a policy (S, T, K, V) is right."""
    *_, last = _forward(language, probs)
    right = np.arange(last.shape[-1]) >= needed[:, None]
    reward: Floats = (last.sum(1) * right).sum(-1)
    return reward


def expected_step(
    language: LongLanguage,
    needed: Integers,
    *,
    before: Floats,
    token: Floats,
    after: Floats,
    baseline: Floats,
) -> Floats:
    """Return (S, K, V) the expected ascent direction of one completion in the logits of the learner.

        Σ_t Σ_s d_t(s) Σ_a x_t(a|s) ∂log π(a|s) (Q_t(s, a) - b)

    Each of the three can be the learner's policy, where weights correct it, or the sampler's policy.

    Args:
      language: the task.
      needed: (S,) number of good tokens that a right completion needs.
      before: (S, T, K, V) policy of the tokens before t, which determines d_t.
      token: (S, T, K, V) x, the probability of the token times its weight.
      after: (S, T, K, V) policy of the tokens after t, which determines Q_t.
      baseline: (S,) b.
    """
    probs = policy_of(language.logits).probs
    moves = np.zeros_like(probs)
    values = _values(language, after, needed)
    for position, (here, value) in enumerate(zip(_forward(language, before), values, strict=False)):
        gains = (here[:, :, None] * (value - baseline[:, None, None, None])).sum(-1)
        moves += token[:, position] * gains
    step: Floats = moves - probs * moves.sum(-1, keepdims=True)
    return step


def gradient(language: LongLanguage, needed: Integers, length: int) -> Floats:
    """Return (S, K, V) the exact gradient of the learner's expected reward."""
    learner = _learner(language, length)
    zero = np.zeros(len(needed))
    return expected_step(language, needed, before=learner, token=learner, after=learner, baseline=zero)


def sampled(language: LongLanguage, probs: Floats, needed: Integers, uniforms: Floats) -> Sampled:
    """Sample completions of a policy (S, T, K, V) by uniform random numbers (S, N, T)."""
    runs, number, length = uniforms.shape
    run = np.arange(runs)[:, None]
    states, tokens = (np.zeros((runs, number, length), dtype=int) for _ in range(2))
    log_probs = np.zeros((runs, number, length))
    next_states, cumulative = language.following.argmax(-1), probs.cumsum(-1)
    state, count = (np.zeros((runs, number), dtype=int) for _ in range(2))
    for position in range(length):
        above = uniforms[:, :, position, None] > cumulative[run, position, state, :-1]
        token = above.sum(-1)
        states[..., position], tokens[..., position] = state, token
        log_probs[..., position] = np.log(probs[run, position, state, token])
        count += language.good[run, state, token]
        state = next_states[run, state, token]
    alone = (runs, number, 1, 1, length)
    rewards = (count >= needed[:, None]).astype(float)
    return Sampled(states.reshape(alone), tokens.reshape(alone), log_probs.reshape(alone), rewards)


def ascent(recipe: Recipe, learner: Policy, batch: Sampled, baseline: Floats) -> Floats:
    """Return (S, N, K, V) minus the gradient of each completion's loss."""
    runs, number = batch.rewards.shape
    table = (runs, number, *learner.probs.shape[1:])
    log_probs = np.take_along_axis(
        learner.log_probs.reshape(runs, -1),
        (batch.states * VOCABULARY + batch.tokens).reshape(runs, -1),
        axis=-1,
    ).reshape(batch.states.shape)
    loss = policy_loss(
        log_probs,
        (batch.rewards - baseline[:, None])[..., None, None],
        np.ones(log_probs.shape),
        recipe=recipe,
        rollout_log_probs=batch.sampler_log_probs,
        metrics=(),
    )
    probs = np.broadcast_to(learner.probs[:, None], table)
    return -pull_back(loss.gradient, batch.states, batch.tokens, probs)
