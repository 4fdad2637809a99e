"""What one update hands to the next: it begins at the reference, and continues to the bit."""

from dataclasses import replace

import numpy as np
import pytest
from small_network import small_network, wavy

from grpo_ref import TASKS, TrainConfig, config_for, initial_state
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.state import generators_of, optimizer_of, saved, starting_state

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


def test_random_numbers_continue_where_they_were_saved():
    generators = [np.random.default_rng(1), np.random.default_rng(2)]
    for generator in generators:
        generator.random(5)
    continued = generators_of(saved(generators))
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
    table, networks = initial_state(TASK, CONFIG), initial_state(TASK, CONFIG, policy)
    message = r"state: expected parameters of shape \(3, 248\), got \(3, 8, 10\): another policy's"
    with pytest.raises(ValueError, match=message):
        starting_state(TASK, CONFIG, table, policy)
    with pytest.raises(ValueError, match=r"expected parameters of shape \(3, 8, 10\), got \(3, 248\)"):
        starting_state(TASK, CONFIG, networks)
