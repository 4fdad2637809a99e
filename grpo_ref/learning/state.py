"""What one update hands to the next: policies, references, optimizer, random numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats, array_namespace
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.optim import OPTIMIZERS, SGD, Adam, State
from grpo_ref.learning.policies.policy import PolicyKind
from grpo_ref.learning.policies.table import TABLE
from grpo_ref.learning.tasks.task import Task

Metrics = dict[str, Floats]
"""Name -> (S,), one number per run; `curves.METRICS` says what each name means."""


@dataclass(frozen=True)
class TrainState:
    """All that the next update depends on: save it, and training continues to the bit.

    Attributes:
      update: how many updates are done.
      params: (S, ...) the policies' parameters: of a table (S, N, V) logits, of a network (S, n) weights.
      ref_params: (S, ...) the references'.
      optimizer: the optimizer's arrays by name.
      entropy_coef: (S,) weight of each run's entropy bonus.
      prompt_probs: (S, Q) how often each run draws each prompt.
      generators: the state of each run's random numbers.
    """

    update: int
    params: Floats
    ref_params: Floats
    optimizer: State
    entropy_coef: Floats
    prompt_probs: Floats
    generators: tuple[Mapping[str, Any], ...]


class Update(NamedTuple):
    """What `train` yields after each update.

    Attributes:
      metrics: name -> (S,), one number per run.
      state: to continue from.
    """

    metrics: Metrics
    state: TrainState


def initial_state(task: Task, config: TrainConfig, policy: PolicyKind = TABLE) -> TrainState:
    """The reference policy, S times, before any update, where the task's arrays are."""
    xp = array_namespace(task.ref_logits)
    params = policy.start(task, config.seeds)
    generators = [np.random.default_rng([config.seed, run]) for run in range(config.seeds)]
    return TrainState(
        update=0,
        params=params,
        ref_params=params.copy(),
        optimizer=optimizer_of(config).init(params),
        entropy_coef=xp.full(config.seeds, config.entropy_coef),
        prompt_probs=xp.repeat(task.prompt_probs[None], config.seeds, axis=0),
        generators=saved(generators),
    )


def starting_state(
    task: Task, config: TrainConfig, state: TrainState | None, policy: PolicyKind = TABLE
) -> TrainState:
    """The state to continue from, or a new one.

    Raises:
      ValueError: if the state is of another policy, or was made with another optimizer.
    """
    if state is None:
        return initial_state(task, config, policy)
    shape = policy.start(task, len(state.params)).shape
    if state.params.shape != shape:
        raise ValueError(
            f"state: expected parameters of shape {shape}, got {state.params.shape}: another policy's"
        )
    expected = optimizer_of(config).init(state.params[:0]).keys()
    if state.optimizer.keys() != expected:
        needed, got = (", ".join(names) or "nothing" for names in (expected, state.optimizer))
        raise ValueError(f"state: expected what {config.optimizer} keeps ({needed}), got {got}")
    return state


def optimizer_of(config: TrainConfig) -> SGD | Adam:
    """The optimizer of that name with that step size."""
    return OPTIMIZERS[config.optimizer](learning_rate=config.learning_rate)


def generators_of(states: Iterable[Mapping[str, Any]]) -> list[np.random.Generator]:
    """Sources of random numbers that continue from the saved states."""
    generators = []
    for state in states:
        generator = np.random.Generator(np.random.PCG64(0))
        generator.bit_generator.state = state
        generators.append(generator)
    return generators


def saved(generators: Iterable[np.random.Generator]) -> tuple[Mapping[str, Any], ...]:
    """What `generators_of` continues from."""
    return tuple(generator.bit_generator.state for generator in generators)
