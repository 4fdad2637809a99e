"""Networks, weights and prompts that cannot be meant: each is named, with what was expected and what came."""

import re
from dataclasses import replace

import numpy as np
import pytest
from small_network import LETTERS, letters, small_network, wavy

from grpo_ref import GRPO, config_for, iter_train
from grpo_ref.learning.held_out import held_out_rates
from grpo_ref.learning.policies.kinds import NETWORKS, network_for
from grpo_ref.learning.policies.mlp import MLP
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.policies.transformer import Transformer

TASK = letters()
NETWORK = small_network()
WEIGHTS = wavy(NETWORK)
POLICY = NeuralPolicy(NETWORK, WEIGHTS)
CONFIG = config_for(TASK, updates=3, prompts=4, group_size=4)
NOT_FINITE = np.where(np.arange(248) == 5, np.nan, WEIGHTS)

WEIGHTS_REFUSED = {
    "a weight missing": (
        WEIGHTS[1:],
        "weights: expected the network's, of shape (248,) or (runs, 248), got (247,)",
    ),
    "an axis too many": (WEIGHTS[None, None], "or (runs, 248), got (1, 1, 248)"),
    "a number": (np.array(3.0), "or (runs, 248), got ()"),
    "NaN": (NOT_FINITE, "weights: expected finite numbers, got nan at (5,)"),
    "infinity": (np.full((2, 248), -np.inf), "weights: expected finite numbers, got -inf at (0, 0)"),
    "whole numbers": (np.arange(248), "weights: expected an array of float32 or float64, got int64"),
    "half precision": (WEIGHTS.astype(np.float16), "float32 or float64, got float16"),
    "complex numbers": (WEIGHTS + 0j, "float32 or float64, got complex128"),
    "text": (WEIGHTS.astype(str), "float32 or float64, got <U"),
    "a list": (WEIGHTS.tolist(), "float32 or float64, got list"),
    "weights by name": ({"norm": WEIGHTS}, "float32 or float64, got dict"),
}


@pytest.mark.parametrize(("weights", "message"), WEIGHTS_REFUSED.values(), ids=WEIGHTS_REFUSED)
def test_weights_that_cannot_be_are_refused(weights, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        NeuralPolicy(NETWORK, weights)


NO_NETWORKS = {
    "class": (Transformer, "the class Transformer"),
    "text": ("mlp", "'mlp'"),
    "nothing": (None, "None"),
}


@pytest.mark.parametrize(("network", "got"), NO_NETWORKS.values(), ids=NO_NETWORKS)
def test_what_is_no_network_is_refused(network, got):
    message = f"network: expected a Transformer or an MLP, such as network_for makes, got {got}"
    with pytest.raises(TypeError, match=message):
        NeuralPolicy(network, WEIGHTS)


PROMPTS_REFUSED = {
    "an unknown token": ([[0, 9], [1, 2], [2, 0]], "prompt_tokens: expected numbers from 0 to 3, got 0 to 9"),
    "what an MLP reads as the beginning": ([[0, 4], [1, 2], [2, 0]], "from 0 to 3, got 0 to 4"),
    "a negative token": ([[0, -1], [1, 2], [2, 0]], "from 0 to 3, got -1 to 2"),
    "half a token": ([[0, 1.5], [1, 2], [2, 0]], "prompt_tokens: expected whole numbers, got float64"),
    "no tokens": ([[], [], []], "a row of at least one token for each prompt of letters, got (3, 0)"),
    "no row for each prompt": ([[0, 1]], "prompt_tokens: expected an array of shape (3, L)"),
    "one row for all": ([0, 1, 2], "expected an array of shape (3, L)"),
}


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize(("tokens", "message"), PROMPTS_REFUSED.values(), ids=PROMPTS_REFUSED)
def test_prompts_that_cannot_be_read_are_refused(kind, tokens, message):
    task, network = replace(TASK, prompt_tokens=np.array(tokens)), small_network(kind)
    policy = NeuralPolicy(network, wavy(network))
    with pytest.raises(ValueError, match=re.escape(message)):
        iter_train(task, GRPO, CONFIG, policy=policy)
    with pytest.raises(ValueError, match=re.escape(message)):
        policy.start(task, 1)


def test_a_list_of_prompts_is_refused():
    task = replace(TASK, prompt_tokens=TASK.prompt_tokens.tolist())
    with pytest.raises(ValueError, match=r"for each prompt of letters, got a list"):
        iter_train(task, GRPO, CONFIG, policy=POLICY)


@pytest.mark.parametrize("tokens", [3, 7])
@pytest.mark.parametrize("kind", NETWORKS)
def test_a_network_of_another_vocabulary_is_refused(kind, tokens):
    """With fewer tokens it would never say some, with more it would leave the automaton."""
    network = network_for(replace(TASK, vocabulary=LETTERS[:1] * tokens), kind, {"width": 8})
    with pytest.raises(
        ValueError, match=f"network: expected vocabulary=4, the tokens of letters, got {tokens}"
    ):
        iter_train(TASK, GRPO, CONFIG, policy=NeuralPolicy(network, wavy(network)))


@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_a_network_that_cannot_read_the_longest_text_is_refused(positions):
    """Two tokens of prompt and three of four of the completion: the last one is read by nobody."""
    short, enough = (Transformer(4, context, 4, 1, 2, positions=positions) for context in (4, 5))
    iter_train(TASK, GRPO, CONFIG, policy=NeuralPolicy(enough, wavy(enough)))
    with pytest.raises(ValueError, match="tokens: expected at most context=4 in all, got 5"):
        iter_train(TASK, GRPO, CONFIG, policy=NeuralPolicy(short, wavy(short)))


SIZES_REFUSED = {
    "half a token": (Transformer, {"context": 5.5}, "context: expected a whole number >= 1, got 5.5"),
    "a text": (Transformer, {"context": "5"}, "context: expected a whole number >= 1, got '5'"),
    "a truth value": (Transformer, {"layers": True}, "layers: expected a whole number >= 1, got True"),
    "no heads": (Transformer, {"heads": 0}, "heads: expected a whole number >= 1, got 0"),
    "negative hidden": (Transformer, {"hidden": -1}, "hidden: expected a whole number >= 0, got -1"),
    "heads with an odd size": (
        Transformer,
        {"width": 12, "heads": 4},
        "expected a multiple of 2 heads = 8, got 12",
    ),
    "layers without end": (Transformer, {"layers": 10**8}, "layers: expected at most 1000, got 100000000"),
    "an infinite size": (MLP, {"hidden": float("inf")}, "hidden: expected a whole number >= 1, got inf"),
}


@pytest.mark.parametrize(("kind", "sizes", "message"), SIZES_REFUSED.values(), ids=SIZES_REFUSED)
def test_sizes_that_cannot_be_are_refused(kind, sizes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        kind(**{"vocabulary": 4, "context": 5} | sizes)


def test_a_network_for_something_that_is_no_task_is_refused():
    with pytest.raises(TypeError, match="task: expected a Task, as in network_for"):
        network_for("sums", "mlp")


# ---- looking at a policy -------------------------------------------------------------------------------

HELD_OUT = replace(TASK, prompt_probs=np.array([0.5, 0.5, 0.0]))
LOOKS = {
    "weights with NaN": ({"params": NOT_FINITE[None]}, "params: expected finite numbers, got nan at (0, 5)"),
    "weights without runs": (
        {"params": WEIGHTS},
        "params: expected weights of shape (S, n), a row a run, got shape (248,)",
    ),
    "no prompts": ({"prompts": 0}, "prompts and group_size: expected at least 1, got 0 and 1"),
    "a temperature of 0": ({"temperature": 0.0}, "temperature: expected a number > 0, got 0.0"),
}


@pytest.mark.parametrize(("arguments", "message"), LOOKS.values(), ids=LOOKS)
def test_what_cannot_be_looked_at_is_refused(arguments, message):
    given = {"params": WEIGHTS[None], "policy": POLICY} | arguments
    with pytest.raises(ValueError, match=re.escape(message)):
        held_out_rates(HELD_OUT, **given)


# ---- numbers at the edge -------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [1e-6, 1e6])
@pytest.mark.parametrize("kind", NETWORKS)
def test_extreme_temperatures_give_finite_and_right_values(kind, temperature):
    """Against a softmax in double precision that is worked out by itself; hot ones are all but uniform."""
    network = small_network(kind)
    places = np.array([[0, 1, 2]]), np.zeros((1, 3, 1, 4), int), np.full((1, 3, 1, 4), 1)
    actors = [NeuralPolicy(network, wavy(network)).at(wavy(network)[None], one) for one in (1.0, temperature)]
    plain, extreme = (actor.visit(TASK, *places).policy for actor in actors)
    logits = plain.log_probs / temperature
    expected = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    np.testing.assert_allclose(extreme.log_probs, expected, rtol=1e-9, atol=1e-9)
    assert np.isfinite(extreme.entropies()).all()
    if temperature > 1.0:
        np.testing.assert_allclose(extreme.entropies(), np.log(4.0), rtol=1e-9)
    else:
        np.testing.assert_allclose(extreme.entropies(), 0.0, atol=1e-9)


def loud(dtype):
    """A transformer whose last gain is 1e4, so that its logits are thousands."""
    weights = WEIGHTS.copy()
    weights[-4:] *= 1e4
    return NeuralPolicy(NETWORK, weights.astype(dtype))


def test_logits_of_thousands_in_single_precision_are_finite_and_those_of_double():
    """Rounding of logits of 1e4 is at most a few 1e-3; every number of an update stays finite."""
    places = np.array([[0, 1, 2]]), np.zeros((1, 3, 1, 4), int), np.full((1, 3, 1, 4), 1)
    single, double = (
        policy.at(policy.weights[None], 1.0).visit(TASK, *places).policy
        for policy in (loud(np.float32), loud(np.float64))
    )
    assert double.log_probs.min() < -5e3
    np.testing.assert_allclose(single.log_probs, double.log_probs, rtol=1e-5, atol=0.02)
    np.testing.assert_allclose(single.probs, double.probs, atol=0.02)
    policy = loud(np.float32)
    *_, last = iter_train(TASK, GRPO, CONFIG, policy=policy)
    assert all(np.isfinite(values).all() for values in last.metrics.values())
    assert np.isfinite(last.state.params).all()


def test_weights_too_large_for_the_network_are_told_instead_of_giving_uniform_tokens():
    """A root mean square of 1e30 overflows in single precision, and what is divided by infinity is 0."""
    policy = NeuralPolicy(NETWORK, (1e30 * WEIGHTS).astype(np.float32))
    for look in (
        lambda: held_out_rates(HELD_OUT, policy.weights[None], policy),
        lambda: next(iter_train(TASK, GRPO, CONFIG, policy=policy)),
    ):
        with pytest.raises(FloatingPointError, match="the weights are too large for the network: overflow"):
            look()
