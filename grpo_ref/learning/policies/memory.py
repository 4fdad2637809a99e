"""How much memory a network takes in training, told before any of it is taken.

An update holds the weights in several copies, and for each of its completions what the way back needs:

    bytes ≈ COPIES · weights + completions · (KEPT · way back of one + SAID · probabilities of one)

What one completion needs is not a formula for each network: it is counted on a batch of one.
"""

import numpy as np

from grpo_ref.arrays import Array
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.policies.neural import Network, NeuralActor
from grpo_ref.learning.policies.parameters import size_of
from grpo_ref.learning.task import Task
from grpo_ref.memory import machine_memory

COPIES = 10
"""Of the weights: policy, reference, gradient and two moments, each but the reference once more in a step."""
KEPT, SAID = 1.8, 11.0
"""Peak of an update over what one forward pass keeps and over the float64 probabilities, as measured on both
networks at several sizes: the peak was between 0.6 and 1.05 times what this gives."""


def check_weights(network: Network, dtype: str = "float32", runs: int = 1) -> None:
    """Nothing, if the machine could hold the weights of so many runs with all their copies.

    Raises:
      MemoryError: else; it says how many bytes are needed.
    """
    weights = size_of(network.shapes())
    needed = COPIES * runs * weights * np.dtype(dtype).itemsize
    each = "" if runs == 1 else f" for each of seeds={runs} runs"
    _refuse(needed, f"network: {weights:,} weights{each}", "smaller sizes" if runs == 1 else "fewer seeds")


def check_update(task: Task, network: Network, config: TrainConfig, dtype: str = "float32") -> None:
    """Nothing, if the machine could hold an update of the network.

    Raises:
      MemoryError: else; it says how many bytes are needed.
    """
    check_weights(network, dtype, config.seeds)
    needed = update_memory(task, network, config, dtype)
    sizes = f"seeds={config.seeds}, prompts={config.prompts}, group_size={config.group_size}: an update"
    _refuse(needed, sizes, "fewer")


def check_imitation(task: Task, network: Network, batch: int, dtype: str = "float32") -> None:
    """Nothing, if the machine could hold a step of imitation on so many examples.

    Raises:
      MemoryError: else; it says how many bytes are needed.
    """
    check_weights(network, dtype)
    _refuse(_batch_memory(task, network, batch, dtype), f"batch={batch}: a step of imitation", "fewer")


def update_memory(task: Task, network: Network, config: TrainConfig, dtype: str = "float32") -> float:
    """Bytes that an update takes at its peak, about; with more than one epoch two ways back are held."""
    completions = config.seeds * config.prompts * config.group_size * (2 if config.epochs > 1 else 1)
    copies = COPIES * config.seeds * size_of(network.shapes()) * np.dtype(dtype).itemsize
    return copies + _batch_memory(task, network, completions, dtype)


def _batch_memory(task: Task, network: Network, completions: int, dtype: str) -> float:
    """Bytes for a pass both ways through so many completions, about."""
    actor = NeuralActor(network, np.zeros((1, size_of(network.shapes())), dtype=dtype), 1.0)
    prompts, tokens = np.zeros((1, 1), dtype=np.int64), np.zeros((1, 1, 1, task.max_length), dtype=np.int64)
    visited = actor.visit(task, prompts, tokens, tokens)
    return completions * (KEPT * _bytes_of(visited.kept) + SAID * visited.policy.probs.nbytes)


def _bytes_of(kept: Array) -> int:
    """Of all arrays in nested tuples and lists."""
    if isinstance(kept, tuple | list):
        return sum(_bytes_of(part) for part in kept)
    return int(getattr(kept, "nbytes", 0))


def _refuse(needed: float, what: str, remedy: str) -> None:
    """Raise a MemoryError if the machine has not as much."""
    there = machine_memory()
    if needed > there:
        raise MemoryError(
            f"{what} would need about {needed / 1e9:,.1f} GB, and this machine has {there / 1e9:,.1f} GB;"
            f" take {remedy}"
        )
