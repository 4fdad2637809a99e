"""What one update hands to the next: it begins at the reference, and continues to the bit."""

from dataclasses import replace

import numpy as np
import pytest
from small_network import letters, small_network, wavy

from grpo_ref import TASKS, config_for
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.state import (
    advanced,
    check_runs,
    generators_of,
    initial_state,
    optimizer_of,
    starting_state,
    states_of,
)

TASK = TASKS["bandit"]()
CONFIG = config_for(TASK, seeds=3, seed=7, entropy_coef=0.25)


def test_a_training_begins_at_the_reference_policy():
    state = initial_state(TASK, CONFIG)
    assert state.update == 0
    for run in range(3):
        np.testing.assert_array_equal(state.params[run], TASK.ref_logits)
        np.testing.assert_array_equal(state.ref_params[run], TASK.ref_logits)
        np.testing.assert_array_equal(state.prompt_probs[run], TASK.prompt_probs)
    assert state.entropy_coef.tolist() == [0.25, 0.25, 0.25]
    assert state.optimizer["steps"] == 0.0


def test_the_reference_is_no_view_of_the_policy():
    state = initial_state(TASK, CONFIG)
    state.params[0, 0, 0] = 5.0
    assert state.ref_params[0, 0, 0] == TASK.ref_logits[0, 0]


def test_each_run_has_the_random_numbers_of_its_own_seed():
    drawn = [generator.random() for generator in generators_of(initial_state(TASK, CONFIG).generators)]
    assert drawn == [np.random.default_rng([7, run]).random() for run in range(3)]


def test_saved_generators_can_be_advanced_without_being_run():
    generators = [np.random.default_rng(seed) for seed in (3, 4, 5)]
    generators[1].integers(0, 9, dtype=np.uint32)  # leaves half of a number for the next
    later = advanced(advanced(states_of(generators), 2), 5)
    drawn = [generator.random(7) for generator in generators]
    assert drawn[0].shape == (7,)
    assert later == states_of(generators)
    assert states_of(generators) == later
    assert later[1:] == states_of(generators[1:])
    assert later != states_of(generators[1:])
    assert len(later) == 3


def test_random_numbers_continue_where_they_were_saved():
    generators = [np.random.default_rng(1), np.random.default_rng(2)]
    for generator in generators:
        generator.random(5)
    continued = generators_of(states_of(generators))
    assert [one.random() for one in continued] == [one.random() for one in generators]


def test_a_state_that_is_given_is_the_one_to_start_from():
    state = initial_state(TASK, CONFIG)
    assert starting_state(TASK, CONFIG, state) is state
    assert starting_state(TASK, CONFIG, None).update == 0


@pytest.mark.parametrize(
    ("made", "asked", "message"),
    [
        ("sgd", "adam", r"state: expected what adam keeps \(mean, square, steps\), got nothing"),
        ("adam", "sgd", r"state: expected what sgd keeps \(nothing\), got mean, square, steps"),
    ],
)
def test_a_state_of_another_optimizer_is_refused(made, asked, message):
    state = initial_state(TASK, replace(CONFIG, optimizer=made))
    with pytest.raises(ValueError, match=message):
        starting_state(TASK, replace(CONFIG, optimizer=asked), state)


def test_the_optimizer_has_the_step_size_of_the_config():
    assert optimizer_of(TrainConfig(optimizer="sgd", learning_rate=0.5)).learning_rate == 0.5


def test_a_state_of_another_policy_is_refused():
    network = small_network()
    policy = NeuralPolicy(network, wavy(network))
    table, networks = initial_state(letters(), CONFIG), initial_state(letters(), CONFIG, policy)
    message = r"state: expected parameters of shape \(3, 248\), got \(3, 1, 4\): another policy's"
    with pytest.raises(ValueError, match=message):
        starting_state(letters(), CONFIG, table, policy)
    with pytest.raises(ValueError, match=r"expected parameters of shape \(3, 1, 4\), got \(3, 248\)"):
        starting_state(letters(), CONFIG, networks)


WHOLE = initial_state(TASK, CONFIG)
ONE_NAN = np.where(np.arange(3) == 1, np.nan, 0.0)
BROKEN = {
    "NaN in the policy": (
        {"params": WHOLE.params * np.nan},
        r"params: expected finite numbers, got nan at \(0, 0, 0\)",
    ),
    "NaN in the reference": ({"ref_params": WHOLE.params + np.inf}, "ref_params: expected finite numbers"),
    "NaN in a weight": (
        {"entropy_coef": ONE_NAN},
        r"entropy_coef: expected finite numbers, got nan at \(1,\)",
    ),
    "policy without runs": (
        {"params": np.zeros(3)},
        r"params: expected shape \(S, \.\.\.\), one policy a run, got \(3,\)",
    ),
    "reference of another shape": (
        {"ref_params": WHOLE.params[:, :2]},
        r"ref_params: expected shape \(3, 8, 10\) beside params of shape \(3, 8, 10\), got \(3, 2, 10\)",
    ),
    "moment of another shape": (
        {"optimizer": WHOLE.optimizer | {"mean": np.zeros((3, 8))}},
        r"optimizer.mean: expected shape \(3, 8, 10\) beside .* got \(3, 8\)",
    ),
    "weights of too few runs": ({"entropy_coef": np.zeros(2)}, r"entropy_coef: expected shape \(3,\)"),
    "prompts of too few runs": ({"prompt_probs": np.ones((2, 8))}, r"prompt_probs: expected shape \(3, 8\)"),
    "prompts of another task": (
        {"prompt_probs": np.ones((3, 5))},
        r"expected prompt_probs of 8 prompts, got shape \(3, 5\): another task's",
    ),
    "an update before the first": ({"update": -1}, "update: expected a whole number >= 0, got -1"),
    "random numbers of too few runs": (
        {"generators": WHOLE.generators[:2]},
        "generators: expected 3, one per run, got 2",
    ),
    "random numbers of something else": (
        {"generators": ({}, {}, {})},
        "generators: expected states of NumPy generators",
    ),
}


@pytest.mark.parametrize(("changes", "message"), BROKEN.values(), ids=BROKEN)
def test_a_state_that_cannot_be_continued_is_refused(changes, message):
    with pytest.raises(ValueError, match=f"state: {message}"):
        starting_state(TASK, CONFIG, replace(WHOLE, **changes))


def test_a_run_whose_parameters_are_not_finite_is_told_with_its_update():
    check_runs(np.ones(3), CONFIG, 7)
    message = r"update 7: the parameters of run 1 are no longer finite .*\(learning_rate=0.1\)"
    with pytest.raises(FloatingPointError, match=message):
        check_runs(np.array([1.0, 0.0, 1.0]), CONFIG, 7)
    with pytest.raises(FloatingPointError, match="the parameters of runs 0, 2 are"):
        check_runs(np.array([False, True, False]), CONFIG, 7)
