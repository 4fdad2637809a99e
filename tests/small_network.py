"""A task and networks so small that every entry of a gradient can be looked at, for tests."""

from dataclasses import replace

import numpy as np

from grpo_ref import config_for
from grpo_ref.learning.policies.kinds import network_for
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.policies.parameters import size_of
from grpo_ref.learning.state import initial_state
from grpo_ref.learning.task import END, Examples, Task

LETTERS = ("a", "b", "c", "")
EOS = 3
SIZES = {
    "transformer": {"width": 4, "heads": 2, "hidden": 4},
    "mlp": {"context": 2, "width": 4, "hidden": 6},
}


def says_b(prompts, tokens, mask):
    """(S, P, G, 1): is a b among the tokens?"""
    return ((tokens == 1) & mask).any(-1, keepdims=True).astype(np.float64)


def letters():
    """After two letters say up to four tokens, of which one should be b; the examples say "ab" and "c"."""
    transitions = np.zeros((1, len(LETTERS)), dtype=np.int64)
    transitions[:, EOS] = END
    return Task(
        name="letters",
        vocabulary=LETTERS,
        transitions=transitions,
        prompts=("aa", "bc", "ca"),
        starts=np.zeros(3, dtype=np.int64),
        prompt_probs=np.array([0.5, 0.25, 0.25]),
        max_length=4,
        ref_logits=np.zeros((1, len(LETTERS))),
        verify=says_b,
        criteria=("says_b",),
        weights=np.ones(1),
        prompt_tokens=np.array([[0, 0], [1, 2], [2, 0]]),
        examples=Examples(
            prompts=np.array([0, 1, 2]),
            tokens=np.array([[0, 1, EOS, 0], [2, EOS, 0, 0], [0, 1, EOS, 0]]),
            mask=np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, 0]], dtype=bool),
        ),
        policy="transformer",
    )


def small_network(kind="transformer"):
    """A network of a few hundred weights for the task."""
    return network_for(letters(), kind, SIZES[kind])


def wavy(network, phase=0.0):
    """(n,) weights in (-1, 1) that need no random numbers: all of them matter, and none is like another."""
    return np.sin(1.5 + phase + np.arange(size_of(network.shapes())) ** 2)


def beginning(network, seeds=1, **settings):
    """The kind of policy, a configuration, and a state whose reference is not its policy."""
    policy = NeuralPolicy(network, np.stack([wavy(network, run) for run in range(seeds)]))
    config = config_for(letters(), seeds=seeds, prompts=4, group_size=4, **{"optimizer": "sgd"} | settings)
    state = initial_state(letters(), config, policy)
    return policy, config, replace(state, ref_params=0.95 * state.params)
