"""The network on the last few characters: its windows by hand, its gradients, what it sees and refuses."""

import numpy as np
import pytest
from devices import assert_close
from differences import differences_of_runs

from grpo_ref.learning.policies.mlp import MLP
from grpo_ref.learning.policies.parameters import joined, size_of, views

NETWORK = MLP(vocabulary=4, context=3, width=2, hidden=5)
SHAPES = NETWORK.shapes()
TOKENS = np.array([[[0, 3, 1, 1, 2], [2, 2, 0, 3, 1]]])


def weights(runs=1):
    return np.random.default_rng(0).normal(size=(runs, size_of(SHAPES)))


def beside(tokens, runs):
    return np.repeat(tokens, runs, axis=0)


def logits_of(flat, tokens):
    return NETWORK.forward(views(flat, SHAPES), tokens)[0]


def gradient_of(flat, tokens, slope):
    _, kept = NETWORK.forward(views(flat, SHAPES), tokens)
    return joined(NETWORK.pull_back(views(flat, SHAPES), kept, slope), SHAPES)


SLOPE = np.random.default_rng(1).normal(size=(*TOKENS.shape, 4))


def test_one_token_by_hand():
    """One feature and one hidden unit far above 0, where GELU is the identity: 3 · 20 · (1, -1)."""
    network = MLP(vocabulary=2, context=1, width=1, hidden=1)
    by_hand = {"embedding": [[5.0], [20.0], [7.0]], "up": [[3.0]], "down": [[1.0, -1.0]]}
    parts = {name: np.array([rows]) for name, rows in by_hand.items()}
    logits, _ = network.forward(parts, np.array([[[0, 1]]]))
    np.testing.assert_allclose(logits, [[[[15.0, -15.0], [60.0, -60.0]]]], rtol=1e-12)


def test_before_the_first_token_there_is_a_token_of_its_own():
    """Each of the windows has as many numbers as the context; 4 stands for what is before the text."""
    network = MLP(vocabulary=4, context=3, width=1, hidden=3)
    parts = {
        "embedding": 100.0 + np.arange(5.0)[None, :, None],
        "up": np.eye(3)[None],
        "down": np.eye(3)[None],
    }
    logits, _ = network.forward(parts, np.array([[[0, 3, 1, 2]]]))
    seen = [[4, 4, 0], [4, 0, 3], [0, 3, 1], [3, 1, 2]]
    np.testing.assert_allclose(logits[0, 0], 100.0 + np.array(seen), rtol=1e-12)


def test_the_gradient_is_the_central_difference():
    def total(points):
        return (logits_of(points, beside(TOKENS, len(points))) * SLOPE).sum((1, 2, 3))

    (flat,) = weights()
    ours = gradient_of(flat[None], TOKENS, SLOPE)[0]
    assert (ours != 0.0).all()
    np.testing.assert_allclose(ours, differences_of_runs(total, flat), rtol=1e-8, atol=1e-9)


def test_logits_and_gradient_are_autograds():
    torch = pytest.importorskip("torch")
    parts = {
        name: torch.tensor(part, requires_grad=True) for name, part in views(weights()[0], SHAPES).items()
    }
    padded = torch.nn.functional.pad(torch.tensor(TOKENS[0]), (3, 0), value=4)
    windows = padded.unfold(1, 3, 1)[:, 1:]
    embedded = torch.nn.functional.embedding(windows, parts["embedding"]).flatten(-2)
    inside = torch.nn.functional.gelu(embedded @ parts["up"], approximate="tanh")
    logits = inside @ parts["down"]
    (logits * torch.tensor(SLOPE[0])).sum().backward()
    np.testing.assert_allclose(logits_of(weights(), TOKENS)[0], logits.detach(), rtol=1e-12, atol=1e-12)
    ours = views(gradient_of(weights(), TOKENS, SLOPE)[0], SHAPES)
    for name, tensor in parts.items():
        np.testing.assert_allclose(ours[name], tensor.grad, rtol=1e-10, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("changed", range(5))
def test_a_token_is_seen_as_long_as_it_is_in_the_window(changed):
    others = TOKENS.copy()
    others[..., changed] = (TOKENS[..., changed] + 1) % 4
    same = (logits_of(weights(), TOKENS) == logits_of(weights(), others)).all(-1)
    places = np.arange(5)
    expected = (places < changed) | (places >= changed + NETWORK.context)
    np.testing.assert_array_equal(same[0], [expected] * 2)


@pytest.mark.parametrize("lengths", [(1, 1, 1, 1, 1), (4, 1), (1, 3, 1), (5,)], ids=str)
def test_reading_on_gives_what_reading_at_once_gives(lengths):
    flat, tokens = weights(2), beside(TOKENS, 2)
    cache, pieces = [], []
    for piece in np.split(tokens, np.cumsum(lengths)[:-1], axis=-1):
        logits, cache = NETWORK.extend(views(flat, SHAPES), piece, cache)
        pieces.append(logits)
    together = np.concatenate(pieces, axis=2)
    np.testing.assert_allclose(together, logits_of(flat, tokens), rtol=1e-12, atol=1e-12)


def test_a_run_does_not_depend_on_its_neighbours_to_the_bit():
    flat, tokens, slope = weights(3), beside(TOKENS, 3), beside(SLOPE, 3)
    logits, gradient = logits_of(flat, tokens), gradient_of(flat, tokens, slope)
    for run in range(3):
        one = slice(run, run + 1)
        np.testing.assert_array_equal(logits_of(flat[one], TOKENS), logits[one])
        np.testing.assert_array_equal(gradient_of(flat[one], TOKENS, SLOPE), gradient[one])


def test_libraries_and_precisions(asarray):
    parts = views(asarray(weights()), SHAPES)
    logits, kept = NETWORK.forward(parts, asarray(TOKENS))
    asarray.check(logits, logits_of(weights(), TOKENS))
    slopes = NETWORK.pull_back(parts, kept, asarray(SLOPE))
    asarray.check(joined(slopes, SHAPES), gradient_of(weights(), TOKENS, SLOPE))


def test_on_a_device(place):
    parts = views(place.xp.asarray(weights()), SHAPES)
    _, kept = NETWORK.forward(parts, place.xp.asarray(TOKENS))
    slopes = joined(NETWORK.pull_back(parts, kept, place.xp.asarray(SLOPE)), SHAPES)
    assert_close(slopes, gradient_of(weights(), TOKENS, SLOPE), place.rtol)


@pytest.mark.parametrize("name", ["vocabulary", "context", "width", "hidden"])
def test_sizes_that_do_not_fit_are_named(name):
    with pytest.raises(ValueError, match=f"{name}: expected a whole number >= 1, got 0"):
        MLP(**{"vocabulary": 4} | {name: 0})


def test_a_new_network_knows_nothing_yet():
    network = MLP(vocabulary=10)
    parts = network.init(np.random.default_rng(0))
    assert {name: part.shape for name, part in parts.items()} == network.shapes()
    flat = joined(parts, network.shapes())[None]
    logits = network.forward(views(flat, network.shapes()), TOKENS)[0]
    assert 0.01 < logits.std() < 1.0
