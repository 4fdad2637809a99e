"""Filters of groups and of completions, worked by hand."""

import numpy as np
import pytest

from grpo_ref.filters import (
    all_completions,
    all_groups,
    ended_completions,
    first_of_equals,
    mixed_groups,
    pass_rate_between,
    trained_tokens,
)

# rewards of one group -> whether its members differ
GROUPS = {
    "all wrong": ([0, 0, 0], False),
    "all right, by a number that binary cannot hold": ([0.1, 0.1, 0.1], False),
    "one of three": ([0, 1, 0], True),
    "a small difference is one": ([1, 1, 1 + 2**-20], True),
    "a group of one never differs": ([1], False),
}


@pytest.mark.parametrize(("group", "mixed"), GROUPS.values(), ids=GROUPS)
def test_filters(group, mixed, asarray):
    """Beside a group of zeros, which is never mixed."""
    rewards = asarray([group, [0] * len(group)])
    asarray.check(mixed_groups(rewards), [mixed, False])
    asarray.check(all_groups(rewards), [True, True])


def test_filters_of_completions(asarray):
    rewards = asarray([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]])
    asarray.check(pass_rate_between(rewards), [True, False, True, False])
    asarray.check(pass_rate_between(rewards, low=0.0, high=1.0), [True] * 4)
    asarray.check(all_completions(rewards), np.ones((4, 5), dtype=bool))
    with pytest.raises(ValueError, match="expected 0 <= low <= high <= 1"):
        pass_rate_between(rewards, low=0.9, high=0.1)
    tokens = asarray(np.array([[[1, 2, 7], [1, 2, 8], [1, 3, 7], [1, 2, 9]]]))
    mask = asarray(np.array([[[1, 1, 0]] * 4]) == 1)
    asarray.check(first_of_equals(tokens, mask), [[True, False, True, False]])
    ended = asarray(np.array([[True, False]]))
    assert ended_completions(ended) is ended


def test_tokens_of_the_environment_are_not_trained_on(asarray):
    """A call, the tool's answer, an answer, and padding whose turn id is that of a token."""
    turn_ids, mask = asarray(np.array([[[0, -1, 1, 1]]])), asarray(np.array([[[1, 1, 1, 0]]]))
    asarray.check(trained_tokens(turn_ids, mask), [[[True, False, True, False]]])
