"""Trees, in which every beginning of a completion is a state, so that a table can be any policy.

The states of a kind of prompts are the nodes of a tree, numbered by the length of the beginning. The root is
0, and token a leads from node i to node V i + a + 1.
"""

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.task import END


def node_count(vocabulary: int, length: int) -> int:
    """Return the number of beginnings that are shorter than a completion.

    >>> node_count(3, 2)
    4
    """
    return int((vocabulary**length - 1) // (vocabulary - 1))


def tree_transitions(kinds: int, vocabulary: int, length: int) -> Integers:
    """Return (kinds * nodes, V) the state after each token, with one tree for each kind of prompts."""
    nodes = node_count(vocabulary, length)
    children = np.arange(nodes)[:, None] * vocabulary + np.arange(vocabulary) + 1
    roots = np.arange(kinds)[:, None, None] * nodes
    transitions: Integers = np.where(children < nodes, roots + children, END).reshape(-1, vocabulary)
    return transitions


def paths(completions: Integers, vocabulary: int) -> Integers:
    """Return the nodes in which the tokens of completions are sampled.

    Args:
      completions: (..., T) tokens.
      vocabulary: V.

    Returns:
      (..., T), the first of them 0.

    >>> paths(np.array([2, 0, 1]), 3).tolist()
    [0, 3, 10]
    """
    nodes = np.zeros_like(completions)
    for t in range(1, completions.shape[-1]):
        nodes[..., t] = nodes[..., t - 1] * vocabulary + completions[..., t - 1] + 1
    return nodes


def completions(vocabulary: int, length: int) -> Integers:
    """Return (M, T) all completions; the tokens are the digits of the completion's index to base V."""
    digits: Integers = np.arange(vocabulary**length)[:, None] // vocabulary ** np.arange(length)[::-1]
    return digits % vocabulary


def numbered(tokens: Integers, vocabulary: int) -> Integers:
    """Return (...) the index of each completion (..., T) in `completions`.

    >>> numbered(np.array([1, 2]), 3).tolist()
    5
    """
    numbers: Integers = (tokens * vocabulary ** np.arange(tokens.shape[-1])[::-1]).sum(-1)
    return numbers


def completion_log_probs(logits: Floats, *, kinds: int, length: int) -> Floats:
    """Return the log-probability of every completion for every kind of prompts.

    Args:
      logits: (..., kinds * nodes, V) logits.
      kinds: number of trees.
      length: number of tokens of a completion, T.

    Returns:
      (..., kinds, M) in nats.
    """
    *runs, _, vocabulary = logits.shape
    log_probs = log_softmax(logits).reshape(*runs, kinds, -1, vocabulary)
    tokens = completions(vocabulary, length)
    summed: Floats = log_probs[..., paths(tokens, vocabulary), tokens].sum(-1)
    return summed
