import numpy as np

from grpo_ref.lab.framework.tasks.small_language import (
    SHAPE,
    STATES,
    TOKENS,
    completion_probs,
    divergence,
    expected_reward,
    expected_reward_gradient,
)
from grpo_ref.learning.policies.table import policy_of

RNG = np.random.default_rng(0)


def test_every_completion_and_every_beginning_is_there_once():
    assert len({tuple(one) for one in TOKENS[0]}) == 3**5
    assert SHAPE == (1 + 3 + 9 + 27 + 81, 3)
    written = {}
    for tokens, states in zip(TOKENS[0], STATES[0], strict=True):
        for place, state in enumerate(states):
            assert written.setdefault(int(state), tuple(tokens[:place])) == tuple(tokens[:place])
    assert len(set(written.values())) == len(written) == SHAPE[0]


def test_the_probabilities_of_the_completions_sum_to_one():
    np.testing.assert_allclose(completion_probs(policy_of(RNG.normal(size=(4, *SHAPE)))).sum(-1), 1.0)


def test_a_policy_is_at_no_distance_from_itself():
    policy = policy_of(RNG.normal(size=SHAPE))
    assert divergence(policy, policy) == 0.0
    assert divergence(policy, policy_of(np.zeros(SHAPE))) > 0.0


def test_the_gradient_is_that_of_the_expected_reward():
    logits, rewards = RNG.normal(size=SHAPE), RNG.random(TOKENS.shape[:-1])
    exact = expected_reward_gradient(rewards, policy_of(logits))
    for place in [(0, 0), (2, 1), (100, 2)]:
        step = np.zeros(SHAPE)
        step[place] = 1e-6
        ends = (expected_reward(rewards, policy_of(logits + sign * step)) for sign in (1.0, -1.0))
        np.testing.assert_allclose(exact[place], -np.diff(list(ends))[0] / 2e-6, rtol=1e-5, atol=1e-10)
