"""Kernels and losses away from the host: equal to NumPy's, and moved only where that is asked for.

Every test of results runs on a strict double of a GPU (`device_double`), and on CuPy where it finds a GPU.
"""

from dataclasses import fields, replace

import numpy as np
import pytest
from device_double import Device
from devices import GPU, NO_GPU, assert_close
from test_identities import KERNELS, inputs, outputs

from grpo_ref import RECIPES, policy_loss
from grpo_ref.arrays import array_namespace, sums_at, to_device, to_host
from grpo_ref.tasks.names import names


@pytest.mark.skipif(GPU is None, reason=f"what runs on a device was tried on the double alone: {NO_GPU}")
def test_a_gpu_was_tried():
    """Shows in the summary whether the tests below ran on a GPU too."""
    assert GPU.__name__.endswith("cupy")


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_every_kernel(kernel, place):
    expected, got = outputs(kernel, inputs()), outputs(kernel, to_device(inputs(), place.xp))
    for ours, theirs in zip(got, expected, strict=True):
        assert_close(ours, theirs, place.rtol)


FIELDS = ("old_log_probs", "ref_log_probs", "rollout_log_probs", "entropies", "noise")
FIELDS += ("top_log_probs", "top_rollout_log_probs", "teacher_log_probs")


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_every_recipe(recipe, place):
    def loss(batch):
        needed = [batch[name] for name in ("log_probs", "advantages", "mask")]
        return policy_loss(*needed, recipe=replace(recipe, kl_coef=0.1), **{n: batch[n] for n in FIELDS})

    expected, got = loss(inputs()), loss(to_device(inputs(), place.xp))
    assert_close(got.loss, expected.loss, place.rtol)
    assert_close(got.gradient, expected.gradient, place.rtol)
    for name, value in expected.metrics.items():
        assert_close(got.metrics[name], value, place.rtol)


def test_sums_at(place):
    index, weights = np.array([3, 0, 3, 1]), np.array([1.0, 2.0, 0.25, -1.0])
    assert_close(
        sums_at(*(to_device(x, place.xp) for x in (index, weights)), 5), np.array([2, -1, 0, 1.25, 0]), 0.0
    )


# ---- moving ----


def test_what_is_moved_comes_back_and_numpy_moves_nothing(place):
    task = names()
    there = to_device(task, place.xp)
    assert place.crossings() == (10, 0)  # six fields, three of the examples, and the list inside the verifier
    back = to_host(there)
    for field in fields(task):
        value = getattr(task, field.name)
        if isinstance(value, np.ndarray):
            assert array_namespace(getattr(there, field.name)) is place.xp
            np.testing.assert_array_equal(getattr(back, field.name), value)
    np.testing.assert_array_equal(back.verify.args[1], task.verify.args[1])
    assert to_device(task, np).ref_logits is task.ref_logits
    assert to_device(there, place.xp).ref_logits is there.ref_logits


HOST = np.ones(3)
SNEAKED = {
    "a NumPy array on the right": lambda x: x + HOST,
    "a NumPy array on the left": lambda x: HOST + x,
    "a NumPy array in place": lambda x: x.__iadd__(HOST),
    "a NumPy array among arguments": lambda x: array_namespace(x).where(x > 0, HOST, x),
    "a NumPy array in a list": lambda x: array_namespace(x).stack([x, HOST]),
    "a NumPy array as an index": lambda x: x[np.array([0, 1])],
    "a NumPy array assigned": lambda x: x.__setitem__(slice(None), HOST),
    "an index into a NumPy array": lambda x: HOST[x.astype(int)],
    "a list as an index": lambda x: x[[0, 1]],
    "truth values as an index": lambda x: x[x > 0],
    "a function of NumPy": lambda x: np.exp(x),
    "a function of NumPy that is no ufunc": lambda x: np.stack([x, x]),
    "a method that NumPy calls": lambda x: np.sum(x),
    "a truth value": lambda x: bool(x.sum() > 0),
    "an if": lambda x: 1 if (x > 0).all() else 0,
    "a number": lambda x: float(x.sum()),
    "a conversion": lambda x: np.asarray(x),
    "a loop": lambda x: list(x),
    "two namespaces": lambda x: array_namespace(x, HOST),
}


@pytest.mark.parametrize("sneak", SNEAKED.values(), ids=SNEAKED)
def test_the_double_refuses(sneak):
    with pytest.raises(TypeError):
        sneak(to_device(HOST, Device()))
