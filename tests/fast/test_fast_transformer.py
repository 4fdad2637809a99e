"""The fast transformer beside the readable one: to the bit up to a tile of tokens, to rounding above."""

from dataclasses import replace

import numpy as np
import pytest
from small_network import beginning, letters, small_network
from small_training import equal_states

from grpo_ref import GRPO, RECIPES, TASKS, config_for, iter_train
from grpo_ref.fast import transformer as module
from grpo_ref.fast.transformer import FastTransformer, fast_network, fast_policy, gelu, gelu_value
from grpo_ref.learning.loop import plain_loop
from grpo_ref.learning.policies import layers, memory
from grpo_ref.learning.policies.mlp import MLP
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.policies.parameters import joined, views
from grpo_ref.learning.policies.transformer import Transformer

CHOICES = {
    "plain": {},
    "every other choice": {"norm": "layer", "activation": "swiglu", "positions": "rotary", "heads": 2},
}
RUNS, SEQUENCES, CONTEXT = 2, 3, 20


@pytest.fixture(params=CHOICES.values(), ids=CHOICES)
def network(request):
    return Transformer(vocabulary=7, context=CONTEXT, **{"width": 16, **request.param})


def weights_of(network, dtype, runs=RUNS):
    generator, shapes = np.random.default_rng(0), network.shapes()
    flat = [joined(network.init(generator), shapes) for _ in range(runs)]
    return views(4.0 * np.stack(flat).astype(dtype), shapes)


def tokens_of(network, length=CONTEXT, runs=RUNS):
    return np.random.default_rng(1).integers(network.vocabulary, size=(runs, SEQUENCES, length))


def both_ways(network, dtype):
    """Logits and the gradient of all weights, for a slope that is the same for every network."""
    weights, tokens = weights_of(network, dtype), tokens_of(network)
    logits, kept = network.forward(weights, tokens)
    slope = np.random.default_rng(2).normal(size=logits.shape).astype(dtype)
    return logits, joined(network.pull_back(weights, kept, slope), network.shapes())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logits_and_gradient_have_the_same_bits(network, dtype):
    for expected, found in zip(
        both_ways(network, dtype), both_ways(fast_network(network), dtype), strict=True
    ):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("sizes", [(8, 1), (7, 1 << 30), (CONTEXT - 1, 1 << 12)], ids=str)
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-4), (np.float64, 1e-13)])
def test_texts_longer_than_a_tile_agree_to_rounding(network, dtype, rtol, sizes, monkeypatch):
    monkeypatch.setattr(module, "TILE", sizes[0])
    monkeypatch.setattr(module, "TILE_BYTES", sizes[1])
    for expected, found in zip(
        both_ways(network, dtype), both_ways(fast_network(network), dtype), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * abs(expected).max())


@pytest.mark.parametrize("lengths", [(CONTEXT,), (6, 1, 1, 1), (1, 5, 1)], ids=str)
def test_reading_on_has_the_same_bits(network, lengths):
    weights, tokens, fast = weights_of(network, np.float32), tokens_of(network), fast_network(network)
    cache, cache_of_fast, start = [], [], 0
    for length in lengths:
        piece = tokens[..., start : start + length]
        expected, cache = network.extend(weights, piece, cache)
        found, cache_of_fast = fast.extend(weights, piece, cache_of_fast)
        start += length
        np.testing.assert_array_equal(found, expected)


def test_two_endings_of_one_text_do_not_mix(network):
    """The second ending finds the free places of the cache taken by the first."""
    weights, tokens, fast = weights_of(network, np.float64), tokens_of(network), fast_network(network)
    other = (tokens + 1) % network.vocabulary
    _, begun = fast.extend(weights, tokens[..., :5], [])
    _, first = fast.extend(weights, tokens[..., 5:6], begun)
    fast.extend(weights, other[..., 5:6], begun)
    found, _ = fast.extend(weights, tokens[..., 6:7], first)
    _, alone = network.extend(weights, tokens[..., :6], [])
    expected, _ = network.extend(weights, tokens[..., 6:7], alone)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_a_cache_whose_sequences_are_repeated_is_read_on(network):
    weights, tokens, fast = weights_of(network, np.float64), tokens_of(network), fast_network(network)
    _, cache = fast.extend(weights, tokens[..., :5], [])
    repeated = [[np.repeat(part, 2, axis=1) for part in layer] for layer in cache]
    found, _ = fast.extend(weights, np.repeat(tokens[..., 5:6], 2, axis=1), repeated)
    expected, _ = fast.extend(weights, tokens[..., 5:6], cache)
    np.testing.assert_allclose(found, np.repeat(expected, 2, axis=1), rtol=1e-12, atol=1e-12)


def test_too_many_tokens_are_refused(network):
    fast, tokens = fast_network(network), tokens_of(network, length=CONTEXT + 1)
    weights = weights_of(network, np.float32)
    with pytest.raises(ValueError, match="tokens: expected at most context=20 in all, got 21"):
        fast.forward(weights, tokens)
    _, cache = fast.extend(weights, tokens[..., :CONTEXT], [])
    with pytest.raises(ValueError, match="tokens: expected at most context=20 in all, got 21"):
        fast.extend(weights, tokens[..., CONTEXT:], cache)


@pytest.mark.parametrize("size", [1, 10, 16384, 16385])
def test_gelu_has_the_same_bits(size):
    a = np.random.default_rng(0).normal(scale=3.0, size=(1, size)).astype(np.float32)
    for expected, found in zip(layers.gelu(a), gelu(a), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(gelu_value(a), layers.gelu(a)[0])


def test_only_the_transformer_itself_is_replaced():
    class Derived(Transformer):
        """A network that computes something else."""

    sizes = {"vocabulary": 4, "context": 5, "width": 8, "heads": 2}
    found = fast_network(Transformer(**sizes))
    assert type(found) is FastTransformer
    assert vars(found) == vars(Transformer(**sizes))
    for other in (Derived(**sizes), MLP(vocabulary=4)):
        assert fast_network(other) is other
    policy = NeuralPolicy(MLP(vocabulary=4), np.zeros(sum(map(np.prod, MLP(4).shapes().values()))))
    assert fast_policy(policy) is policy


# ---- several runs ----------------------------------------------------------------------------------


def last_of(updates):
    *_, last = updates
    return last


@pytest.mark.parametrize("recipe", ["grpo", "dapo", "remax", "opd"])
@pytest.mark.parametrize(
    "parts", [{"runs_at_once": 1}, {"runs_at_once": 2}, {"threads": 2}, {"threads": 9}], ids=str
)
def test_runs_in_parts_give_the_bits_of_all_runs_in_one_array(recipe, parts):
    policy, config, state = beginning(
        small_network(), seeds=5, updates=3, epochs=2, minibatches=2, refilter_every=2, optimizer="adam"
    )
    teacher = policy.at(state.ref_params, 1.0) if RECIPES[recipe].needs_teacher else None
    arguments = letters(), RECIPES[recipe], config, state, policy, None, teacher
    expected, found = last_of(plain_loop(*arguments)), last_of(plain_loop(*arguments, **parts))
    assert equal_states(found.state, expected.state)
    assert found.metrics.keys() == expected.metrics.keys()
    for name, values in expected.metrics.items():
        np.testing.assert_array_equal(found.metrics[name], values, err_msg=name)


@pytest.mark.parametrize("kind", ["transformer", "mlp"])
def test_training_has_the_bits_of_the_readable_network_and_of_each_seed_alone(kind, monkeypatch):
    """`iter_train` chooses the fast network and the parts; `plain_loop` has all runs in one array."""
    policy, config, state = beginning(small_network(kind), seeds=3, updates=3, epochs=2, learning_rate=0.1)
    expected = last_of(plain_loop(letters(), GRPO, config, state, policy)).state.params
    for part_bytes in (1, memory.PART_BYTES):
        monkeypatch.setattr(memory, "PART_BYTES", part_bytes)
        found = last_of(iter_train(letters(), GRPO, config, state, policy=policy)).state.params
        np.testing.assert_array_equal(found, expected)
    assert (expected != state.params).any()
    alone_config = replace(config, seeds=1)
    policy_alone, _, state_alone = beginning(small_network(kind), seeds=1)
    alone = last_of(iter_train(letters(), GRPO, alone_config, state_alone, policy=policy_alone))
    np.testing.assert_array_equal(alone.state.params, expected[:1])


def test_the_error_of_a_part_names_the_run_of_all():
    policy, config, state = beginning(small_network(), seeds=3, updates=2)
    params = state.params.copy()
    params[2] = 1e300
    wrong = replace(state, params=params)
    with pytest.raises(FloatingPointError, match="update 1"):
        last_of(plain_loop(letters(), GRPO, config, wrong, policy, runs_at_once=1))


def test_fewer_runs_are_computed_at_once_if_each_is_large():
    task = TASKS["sums"](digits=1)
    network = Transformer(len(task.vocabulary), 12, width=16, layers=1, heads=2)
    small, large = (config_for(task, "transformer", seeds=6, prompts=count) for count in (1, 4000))
    assert memory.runs_at_once(task, network, small) == 6
    assert memory.runs_at_once(task, network, large) == 1


@pytest.mark.parametrize("threads", [0, -1, 1.5])
def test_a_number_of_threads_that_cannot_be_is_refused(threads):
    policy, config, _ = beginning(small_network())
    with pytest.raises(ValueError, match="threads: expected a whole number >= 1"):
        iter_train(letters(), GRPO, config, policy=policy, threads=threads)
