"""How much memory a network needs: what is told beforehand against what an update takes, and refusals."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from small_network import letters

from grpo_ref import GRPO, RECIPES, TASKS, config_for, iter_train
from grpo_ref.learning.policies import memory
from grpo_ref.learning.policies.kinds import network_for
from grpo_ref.learning.policies.memory import COPIES, check_imitation, check_update, check_weights
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.policies.parameters import joined
from grpo_ref.learning.pretraining import PretrainConfig, pretrain

TASK = letters()
LARGE = {"prompts": 16, "group_size": 8, "updates": 2}
MEASURED = {
    "a transformer": ("transformer", {}, {}),
    "of three layers with a gate": ("transformer", {"layers": 3, "activation": "swiglu"}, {}),
    "two epochs": ("transformer", {}, {"epochs": 2}),
    "a narrow one": ("transformer", {"width": 8, "heads": 2}, {}),
    "two runs": ("transformer", {"width": 32}, {"seeds": 2}),
    "the other network": ("mlp", {}, {}),
}


def beginning(kind, sizes):
    """Sums, a network for them and its policy in float32."""
    task = TASKS["sums"](digits=1)
    network = network_for(task, kind, sizes)
    weights = joined(network.init(np.random.default_rng(0)), network.shapes()).astype(np.float32)
    return task, network, NeuralPolicy(network, weights)


def peak_of(updates):
    """Bytes at the peak of all of them."""
    tracemalloc.start()
    for _ in updates:
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize(("kind", "sizes", "settings"), MEASURED.values(), ids=MEASURED)
def test_what_is_told_is_about_what_an_update_takes(kind, sizes, settings):
    task, network, policy = beginning(kind, sizes)
    config = config_for(task, kind, **LARGE | settings)
    next(iter_train(task, GRPO, config, policy=policy))  # what is only loaded once is not counted
    peak = peak_of(iter_train(task, GRPO, config, policy=policy))
    assert 0.5 < peak / memory.update_memory(task, network, config) < 1.1


def test_what_is_told_is_about_what_imitation_takes():
    task, network, _ = beginning("transformer", {})
    config = replace(config_for(task, **LARGE), prompts=256, group_size=1)
    peak = peak_of(pretrain(task, network, PretrainConfig(steps=2, batch=256, check_every=1)))
    assert 0.5 < peak / memory.update_memory(task, network, config) < 1.1


@pytest.mark.parametrize("recipe", ["grpo", "dapo", "cispo"])
def test_one_way_back_is_kept_at_a_time(recipe):
    """Neither the reference's nor that of a batch before groups were drawn anew: else it is twice as much."""
    task, network, policy = beginning("transformer", {})
    config = config_for(task, **LARGE)
    peak = peak_of(iter_train(task, RECIPES[recipe], config, policy=policy))
    assert peak < memory.update_memory(task, network, config)


# ---- refusals ------------------------------------------------------------------------------------------


def test_weights_that_the_machine_could_not_hold_are_refused_before_they_are_made(monkeypatch):
    """248 weights of 4 bytes, ten times each: 9920 bytes."""
    network = network_for(TASK, "transformer", {"width": 4, "heads": 2, "hidden": 4, "layers": 2})
    assert sum(np.prod(shape) for shape in network.shapes().values()) == 248
    monkeypatch.setattr(memory, "machine_memory", lambda: COPIES * 248 * 4)
    check_weights(network)
    with pytest.raises(MemoryError, match="network: 248 weights would need about"):
        check_weights(network, "float64")
    with pytest.raises(MemoryError, match=r"248 weights for each of seeds=2 runs .* take fewer seeds"):
        check_weights(network, runs=2)


def test_a_network_of_absurd_size_is_refused_with_the_bytes_that_it_needs():
    """A layer has 3 + 1 + 4 + 4 squares of the width: 12e10 weights, twice, of 4 bytes, ten times."""
    message = r"network: 240,00.* weights would need about 9,600\.1 GB, and this machine has .* GB"
    with pytest.raises(MemoryError, match=message):
        network_for(TASK, "transformer", {"width": 100_000})


def test_a_batch_that_the_machine_could_not_hold_is_refused_at_the_door(monkeypatch):
    task, network, policy = beginning("transformer", {"width": 8, "heads": 2})
    config = config_for(task, **LARGE)
    needed = memory.update_memory(task, network, config)
    monkeypatch.setattr(memory, "machine_memory", lambda: needed)
    check_update(task, network, config)
    message = r"seeds=1, prompts=17, group_size=8: an update would need about .* GB; take fewer"
    with pytest.raises(MemoryError, match=message):
        iter_train(task, GRPO, replace(config, prompts=17), policy=policy)
    with pytest.raises(MemoryError, match="batch=512: a step of imitation would need about"):
        check_imitation(task, network, 512)
    with pytest.raises(MemoryError, match="batch=512: a step of imitation would need about"):
        next(pretrain(task, network, PretrainConfig(batch=4, checked=512)))
