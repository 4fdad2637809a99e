"""An estimate of the memory that a network needs in training, before any of it is allocated.

An update holds several copies of the weights, and for each completion the activations for the backward pass:

    bytes ≈ COPIES · weights + completions · (ACTIVATIONS · activations of one + PROBS · probabilities of one)

The activations of one completion are counted in a forward pass on a batch of one, for any network.
"""

import numpy as np

from grpo_ref.arrays import Array
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.policies.neural import Network, NeuralActor
from grpo_ref.learning.policies.parameters import size_of
from grpo_ref.learning.task import Task
from grpo_ref.memory import machine_memory

COPIES = 10
"""Copies of the weights: policy, reference, gradient and two moments, and in a step all but the reference
once more."""
ACTIVATIONS, PROBS = 1.8, 11.0
"""Measured factors: peak of an update divided by the activations of one forward pass, and by the float64
probabilities. On both networks at several sizes, the peak was 0.6 to 1.05 times the estimate."""
PART_BYTES = 1 << 26
"""Bytes of activations up to which an update computes several runs in one array.

Fewer calls save time as long as the arrays are small. Large arrays leave the cache: then several runs in one
array take longer than one run after another.
"""


def check_weights(network: Network, dtype: str = "float32", runs: int = 1) -> None:
    """Check that the machine has enough memory for the weights of all runs with their copies.

    Raises:
      MemoryError: if not; the message gives the memory that is needed.
    """
    weights = size_of(network.shapes())
    needed = COPIES * runs * weights * np.dtype(dtype).itemsize
    each = "" if runs == 1 else f" for each of seeds={runs} runs"
    _refuse(needed, f"network: {weights:,} weights{each}", "smaller sizes" if runs == 1 else "fewer seeds")


def check_update(task: Task, network: Network, config: TrainConfig, dtype: str = "float32") -> None:
    """Check that the machine has enough memory for an update of the network.

    Raises:
      MemoryError: if not; the message gives the memory that is needed.
    """
    check_weights(network, dtype, config.seeds)
    needed = update_memory(task, network, config, dtype)
    sizes = f"seeds={config.seeds}, prompts={config.prompts}, group_size={config.group_size}: an update"
    _refuse(needed, sizes, "fewer")


def check_imitation(task: Task, network: Network, batch: int, dtype: str = "float32") -> None:
    """Check that the machine has enough memory for a step of pretraining on `batch` examples.

    Raises:
      MemoryError: if not; the message gives the memory that is needed.
    """
    check_weights(network, dtype)
    _refuse(_batch_memory(task, network, batch, dtype), f"batch={batch}: a step of imitation", "fewer")


def runs_at_once(task: Task, network: Network, config: TrainConfig, dtype: str = "float32") -> int:
    """Return how many of the config.seeds runs an update computes in one array, at least 1."""
    of_one = _batch_memory(task, network, config.prompts * config.group_size, dtype)
    return min(config.seeds, max(1, int(PART_BYTES / of_one)))


def update_memory(task: Task, network: Network, config: TrainConfig, dtype: str = "float32") -> float:
    """Estimate the bytes that an update takes at its peak."""
    # With several epochs, the activations of the first step are alive beside those of the current step.
    runs = runs_at_once(task, network, config, dtype)
    completions = runs * config.prompts * config.group_size * (2 if config.epochs > 1 else 1)
    copies = COPIES * config.seeds * size_of(network.shapes()) * np.dtype(dtype).itemsize
    return copies + _batch_memory(task, network, completions, dtype)


def _batch_memory(task: Task, network: Network, completions: int, dtype: str) -> float:
    """Estimate the bytes for a forward and a backward pass on a number of completions."""
    actor = NeuralActor(network, np.zeros((1, size_of(network.shapes())), dtype=dtype), 1.0)
    prompts, tokens = np.zeros((1, 1), dtype=np.int64), np.zeros((1, 1, 1, task.max_length), dtype=np.int64)
    visited = actor.visit(task, prompts, tokens, tokens)
    return completions * (ACTIVATIONS * _bytes_of(visited.kept) + PROBS * visited.policy.probs.nbytes)


def _bytes_of(kept: Array) -> int:
    """Return the bytes of all arrays in nested tuples and lists."""
    if isinstance(kept, tuple | list):
        return sum(_bytes_of(part) for part in kept)
    return int(getattr(kept, "nbytes", 0))


def _refuse(needed: float, what: str, remedy: str) -> None:
    """Raise a MemoryError if the machine has less memory than needed."""
    available = machine_memory()
    if needed > available:
        raise MemoryError(
            f"{what} would need about {needed / 1e9:,.1f} GB, and this machine has {available / 1e9:,.1f} GB;"
            f" take {remedy}"
        )
