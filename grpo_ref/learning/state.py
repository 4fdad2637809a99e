"""The state of a training run between two updates: policies, references, optimizer, random numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats, array_namespace, check_finite
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.curves import Metrics
from grpo_ref.learning.optim import OPTIMIZERS, SGD, Adam, State
from grpo_ref.learning.policies.policy import PolicyKind
from grpo_ref.learning.policies.table import TABLE
from grpo_ref.learning.task import Task


@dataclass(frozen=True)
class TrainState:
    """The state of a training run after an update; everything that the next update depends on.

    If you save it, training continues to the bit.

    Attributes:
      update: number of updates done.
      params: (S, ...) the policies' parameters: (S, N, V) logits of a table, (S, n) weights of a network.
      ref_params: (S, ...) the references' parameters.
      optimizer: the optimizer's arrays by name.
      entropy_coef: (S,) weight of each run's entropy bonus.
      prompt_probs: (S, Q) probability of each prompt in each run.
      generators: the state of each run's random generator.
    """

    update: int
    params: Floats
    ref_params: Floats
    optimizer: State
    entropy_coef: Floats
    prompt_probs: Floats
    generators: Sequence[Mapping[str, Any]]


class Update(NamedTuple):
    """The result of one update, as `iter_train` yields it.

    Attributes:
      metrics: name -> (S,), one number per run.
      state: the state after the update, to continue from.
    """

    metrics: Metrics
    state: TrainState


def initial_state(task: Task, config: TrainConfig, policy: PolicyKind = TABLE) -> TrainState:
    """Return the state before the first update: S copies of the reference policy, on the task's device."""
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
        generators=states_of(generators),
    )


def starting_state(
    task: Task, config: TrainConfig, state: TrainState | None, policy: PolicyKind = TABLE
) -> TrainState:
    """Return the given state after checking it, or a new one if there is none.

    Raises:
      ValueError: if the state belongs to another policy or task, was made with another optimizer, or cannot
        be continued (see `check_state`).
    """
    if state is None:
        return initial_state(task, config, policy)
    try:
        check_state(state)
    except ValueError as error:
        raise ValueError(f"state: {error}") from error
    shape = policy.start(task, len(state.params)).shape
    if state.params.shape != shape:
        raise ValueError(
            f"state: expected parameters of shape {shape}, got {state.params.shape}: another policy's"
        )
    expected = optimizer_of(config).init(state.params[:0]).keys()
    if state.optimizer.keys() != expected:
        needed, got = (", ".join(names) or "nothing" for names in (expected, state.optimizer))
        raise ValueError(f"state: expected what {config.optimizer} keeps ({needed}), got {got}")
    if state.prompt_probs.shape[-1] != len(task.prompts):
        raise ValueError(
            f"state: expected prompt_probs of {len(task.prompts)} prompts, got shape"
            f" {state.prompt_probs.shape}: another task's"
        )
    return state


def check_state(state: TrainState) -> None:
    """Check that the parts of a state fit one another and that training can continue from it.

    Raises:
      ValueError: if a shape does not fit, a number is not finite, or a random generator cannot be restored.
    """
    shape = tuple(state.params.shape)
    if len(shape) < 2:
        raise ValueError(f"params: expected shape (S, ...), one policy a run, got {shape}")
    if state.update < 0:
        raise ValueError(f"update: expected a whole number >= 0, got {state.update}")
    moments = {f"optimizer.{name}": array for name, array in state.optimizer.items()}
    expected = {"ref_params": shape, "entropy_coef": shape[:1]}
    # A moment has the shape of the parameters; Adam's count of steps is a single number.
    expected |= {name: shape if array.ndim else () for name, array in moments.items()}
    expected["prompt_probs"] = (shape[0], *state.prompt_probs.shape[1:])
    arrays = {name: getattr(state, name) for name in ("params", "ref_params", "entropy_coef", "prompt_probs")}
    arrays |= moments
    for name, expected_shape in expected.items():
        if tuple(arrays[name].shape) != expected_shape:
            raise ValueError(
                f"{name}: expected shape {expected_shape} beside params of shape {shape},"
                f" got {arrays[name].shape}"
            )
    check_finite(**arrays)
    if len(state.generators) != shape[0]:
        raise ValueError(f"generators: expected {shape[0]}, one per run, got {len(state.generators)}")
    try:
        generators_of(state.generators)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"generators: expected states of NumPy generators (PCG64): {error}") from error


def check_runs(finite: Floats | Bools, config: TrainConfig, update: int) -> None:
    """Check that the parameters of every run are still finite.

    Args:
      finite: (S,) 1 where all parameters of a run are finite, else 0.
      config: the settings of the training run.
      update: number of the update that was just done.

    Raises:
      FloatingPointError: if a run has diverged; the message names the update and the runs.
    """
    diverged = np.flatnonzero(finite == 0.0).tolist()
    if diverged:
        runs = f"run {diverged[0]}" if len(diverged) == 1 else f"runs {', '.join(map(str, diverged))}"
        raise FloatingPointError(
            f"update {update}: the parameters of {runs} are no longer finite numbers; {likely_cause(config)}"
        )


def likely_cause(config: TrainConfig) -> str:
    """Return the end of a message about numbers that are not finite: the usual cause."""
    return f"mostly the step size is too large (learning_rate={config.learning_rate:g})"


def optimizer_of(config: TrainConfig) -> SGD | Adam:
    """Return the optimizer that the settings name, with their learning rate."""
    return OPTIMIZERS[config.optimizer](learning_rate=config.learning_rate)


def generators_of(states: Iterable[Mapping[str, Any]]) -> list[np.random.Generator]:
    """Restore random generators from their saved states."""
    generators = []
    for state in states:
        generator = np.random.Generator(np.random.PCG64(0))
        generator.bit_generator.state = state
        generators.append(generator)
    return generators


def states_of(generators: Iterable[np.random.Generator]) -> tuple[Mapping[str, Any], ...]:
    """Return the states of random generators, from which `generators_of` restores them."""
    return tuple(generator.bit_generator.state for generator in generators)


@dataclass(frozen=True, eq=False)
class Advanced(Sequence[Mapping[str, Any]]):
    """The states of generators, each advanced by a number of samples from [0, 1).

    A state is computed when it is read. The fast loop has thousands of runs and rarely reads one.

    Attributes:
      start: the states before.
      numbers: samples that each generator has given since.
    """

    start: Sequence[Mapping[str, Any]]
    numbers: int

    def __len__(self) -> int:
        return len(self.start)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __getitem__(self, run: Any) -> Any:
        """Return the state of one run, or with a slice the states of several."""
        if isinstance(run, slice):
            return Advanced(self.start[run], self.numbers)
        (generator,) = generators_of([self.start[run]])
        generator.bit_generator.advance(self.numbers)  # type: ignore[attr-defined]
        return {**self.start[run], "state": generator.bit_generator.state["state"]}


def advanced(states: Sequence[Mapping[str, Any]], numbers: int) -> Advanced:
    """Return the states of generators after `numbers` more samples of each."""
    if isinstance(states, Advanced):
        return Advanced(states.start, states.numbers + numbers)
    return Advanced(states, numbers)
