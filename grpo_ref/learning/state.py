"""What one update hands to the next: policies, references, optimizer, random numbers."""

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
    generators: Sequence[Mapping[str, Any]]


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
      ValueError: if the state is of another policy or task, was made with another optimizer, or cannot be
        continued, as `check_state` says.
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
    """Nothing, if the parts of a state fit one another and training could go on from there.

    Raises:
      ValueError: if a shape does not fit, a number is not finite, or the random numbers cannot be continued.
    """
    shape = tuple(state.params.shape)
    if len(shape) < 2:
        raise ValueError(f"params: expected shape (S, ...), one policy a run, got {shape}")
    if state.update < 0:
        raise ValueError(f"update: expected a whole number >= 0, got {state.update}")
    moments = {f"optimizer.{name}": array for name, array in state.optimizer.items()}
    expected = {"ref_params": shape, "entropy_coef": shape[:1]}
    expected |= {name: shape if array.ndim else () for name, array in moments.items()}
    expected["prompt_probs"] = (shape[0], *state.prompt_probs.shape[1:])
    arrays = {name: getattr(state, name) for name in ("params", "ref_params", "entropy_coef", "prompt_probs")}
    arrays |= moments
    for name, wanted in expected.items():
        if tuple(arrays[name].shape) != wanted:
            raise ValueError(
                f"{name}: expected shape {wanted} beside params of shape {shape}, got {arrays[name].shape}"
            )
    check_finite(**arrays)
    _check_generators(state.generators, shape[0])


def _check_generators(states: Sequence[Mapping[str, Any]], runs: int) -> None:
    if len(states) != runs:
        raise ValueError(f"generators: expected one for each of {runs} runs, got {len(states)}")
    try:
        generators_of(states)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"generators: expected what `saved` gives, got something else: {error}") from error


def check_runs(finite: Floats | Bools, config: TrainConfig, update: int) -> None:
    """Nothing, if the parameters of every run are still finite.

    Args:
      finite: (S,) 1 where all parameters of a run are finite, else 0.
      config: of the training.
      update: which was just made.

    Raises:
      FloatingPointError: if a run has diverged; it says when, and which runs.
    """
    lost = np.flatnonzero(finite == 0.0).tolist()
    if lost:
        of = f"run {lost[0]}" if len(lost) == 1 else f"runs {', '.join(map(str, lost))}"
        raise FloatingPointError(
            f"update {update}: the parameters of {of} are no longer finite numbers; {too_large(config)}"
        )


def too_large(config: TrainConfig) -> str:
    """The usual cause of numbers that are none."""
    return f"mostly the step size is too large (learning_rate={config.learning_rate:g})"


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


@dataclass(frozen=True, eq=False)
class Advanced(Sequence[Mapping[str, Any]]):
    """Saved generators, each after some more numbers from [0, 1): worked out for those that are looked at.

    Attributes:
      start: what was saved.
      numbers: how many each has given since.
    """

    start: Sequence[Mapping[str, Any]]
    numbers: int

    def __len__(self) -> int:
        return len(self.start)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __getitem__(self, run: Any) -> Any:
        """One, or with a slice some of them."""
        if isinstance(run, slice):
            return Advanced(self.start[run], self.numbers)
        (generator,) = generators_of([self.start[run]])
        generator.bit_generator.advance(self.numbers)  # type: ignore[attr-defined]
        return {**self.start[run], "state": generator.bit_generator.state["state"]}


def advanced(states: Sequence[Mapping[str, Any]], numbers: int) -> Advanced:
    """Saved generators, each so many numbers further on."""
    if isinstance(states, Advanced):
        return Advanced(states.start, states.numbers + numbers)
    return Advanced(states, numbers)
