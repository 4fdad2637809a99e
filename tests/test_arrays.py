"""The array layer: which library works, axes by name, and sums that never look at the padding."""

import os

import array_api_strict
import numpy as np
import pytest

from grpo_ref import memory
from grpo_ref.arrays import (
    BATCH,
    COMPLETIONS,
    MEMBERS,
    TOKENS,
    array_namespace,
    as_floating,
    at_least,
    batch_sum,
    check_finite,
    check_same_shape,
    clamp,
    device_namespace,
    is_inside,
    is_set,
    masked_mean,
    masked_sum,
    sums_at,
    to_device,
    to_host,
    where_mask,
)

REWARDS = np.arange(6.0).reshape(1, 2, 3)
VALUES, MASK = [[[1.0, 2.0, np.nan], [4.0, np.inf, 9.0]]], [[[1, 1, 0], [1, 0, 1]]]


def test_the_axes_of_rewards_are_those_of_groups_and_completions():
    """Two groups of three: 0 1 2 and 3 4 5."""
    assert REWARDS.mean(MEMBERS).tolist() == [[1.0, 4.0]]
    assert REWARDS.mean(COMPLETIONS).tolist() == [2.5]


def test_the_axes_of_tokens_are_the_last_three():
    values = np.ones((5, 2, 3, 4))
    assert values.sum(TOKENS).shape == (5, 2, 3)
    assert values.sum(BATCH).tolist() == [24.0] * 5


def test_the_arrays_say_whose_functions_work_on_them():
    assert array_namespace(REWARDS, np.float64(1.0)) is np
    assert array_namespace(array_api_strict.asarray([1.0])) is array_api_strict
    with pytest.raises(TypeError, match="expected arrays, got a list or tuple; use numpy"):
        array_namespace([1.0])
    with pytest.raises(ValueError, match="device: expected cpu or gpu, got 'tpu'"):
        device_namespace("tpu")
    assert device_namespace("cpu") is np


def test_masked_sums_and_means_do_not_see_the_padding(asarray):
    values, mask = asarray(VALUES), asarray(MASK)
    asarray.check(where_mask(mask, values), [[[1, 2, 0], [4, 0, 9]]])
    asarray.check(masked_sum(values, mask, axis=TOKENS), [[3, 13]])
    asarray.check(masked_mean(values, mask, axis=TOKENS), [[1.5, 6.5]])
    asarray.check(masked_mean(values, mask, axis=BATCH), 4.0)
    asarray.check(masked_mean(values, asarray(np.zeros((1, 2, 3))), axis=BATCH, keepdims=True), [[[0.0]]])
    asarray.check(batch_sum(asarray([[[1.0, 2.0], [3.0, 4.0]]])), 10.0)


def test_masks_are_truth_values_or_numbers(asarray):
    expected = np.array([True, False])
    asarray.check(is_set(asarray(expected)), expected)
    asarray.check(is_set(asarray([1.0, 0.0])), expected)
    asarray.check(as_floating(asarray([0.5])), [0.5])
    assert as_floating(np.array([1, 0])).dtype == as_floating(expected).dtype == np.float64


def test_clamps(asarray):
    asarray.check(at_least(asarray([0.5, 2.0]), 1.0), [1, 2])
    asarray.check(clamp(asarray([-3.0, 0.5, 3.0]), 2.0), [-2, 0.5, 2])
    asarray.check(is_inside(asarray([-2.0, 2.0, 2.5]), 2.0), np.array([True, True, False]))
    endless = asarray([1e30])
    assert clamp(endless, np.inf) is endless


def test_weights_that_fall_on_one_index_are_added():
    np.testing.assert_array_equal(
        sums_at(np.array([0, 2, 2]), np.array([1.0, 0.5, 0.25]), 4), [1, 0, 0.75, 0]
    )


def test_records_travel_to_the_host_with_all_that_is_in_them():
    record = {"rewards": REWARDS, "name": "a run"}
    assert to_device(record, np)["rewards"] is to_host(record)["rewards"] is REWARDS
    assert to_host(record)["name"] == "a run"


def test_shapes_that_differ_are_named():
    check_same_shape(mask=REWARDS, log_probs=REWARDS)
    with pytest.raises(
        ValueError, match=r"expected one common shape, got mask \(1, 2, 3\), rewards \(2, 3\)"
    ):
        check_same_shape(mask=REWARDS, rewards=REWARDS[0])


def test_a_process_has_the_memory_of_the_machine_or_of_its_container(monkeypatch, tmp_path):
    allowed = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "CONTAINER", allowed)
    machine = memory.machine_memory()
    assert machine == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for text, expected in (("1000\n", 1000), ("max\n", machine), (f"{10**20}\n", machine)):
        allowed.write_text(text)
        assert memory.machine_memory() == expected


def test_the_first_number_that_is_not_finite_is_named():
    check_finite(one=np.array([[1.0, 2.0]]))
    with pytest.raises(ValueError, match=r"two: expected finite numbers, got nan at \(1, 0\)"):
        check_finite(one=np.ones(2), two=np.array([[1.0, 2.0], [np.nan, np.inf]]))
