"""The transformer: gradients by central differences and by autograd, what it sees, what it refuses."""

from itertools import product

import numpy as np
import pytest
from devices import assert_close
from differences import differences_of_runs

from grpo_ref.learning.policies.parameters import joined, size_of, views
from grpo_ref.learning.policies.transformer import Transformer, part_of

CHOICES = list(product(("rms", "layer"), ("gelu", "swiglu"), ("learned", "rotary")))
CONTEXT = 5


@pytest.fixture(params=CHOICES, ids=", ".join)
def network(request):
    """Every combination of norm, activation and positions."""
    norm, activation, positions = request.param
    return Transformer(
        vocabulary=5,
        context=CONTEXT,
        width=8,
        heads=2,
        hidden=6,
        norm=norm,
        activation=activation,
        positions=positions,
    )


def weights_of(network, runs=1, seed=0):
    """(S, n) weights far enough from where training begins that every part matters."""
    generator = np.random.default_rng(seed)
    flat = [joined(network.init(generator), network.shapes()) for _ in range(runs)]
    return np.stack(flat) + generator.normal(scale=0.3, size=(runs, size_of(network.shapes())))


def tokens_of(network, runs=1, length=4, seed=1):
    return np.random.default_rng(seed).integers(network.vocabulary, size=(runs, 2, length))


def logits_of(network, flat, tokens):
    return network.forward(views(flat, network.shapes()), tokens)[0]


def gradient_of(network, flat, tokens, slope):
    """(S, n), by hand."""
    weights = views(flat, network.shapes())
    _, kept = network.forward(weights, tokens)
    return joined(network.pull_back(weights, kept, slope), network.shapes())


def slope_of(network, tokens):
    return np.random.default_rng(2).normal(size=(*tokens.shape, network.vocabulary))


# ---- gradients -----------------------------------------------------------------------------------------


def test_the_gradient_is_the_central_difference(network):
    flat, tokens = weights_of(network), tokens_of(network)
    slope = slope_of(network, tokens)

    def total(points):
        beside = np.repeat(tokens, len(points), axis=0)
        return (logits_of(network, points, beside) * slope).sum((1, 2, 3))

    ours = gradient_of(network, flat, tokens, slope)[0]
    numerical = differences_of_runs(total, flat[0], step=2e-4)
    assert np.abs(ours).max() > 1.0
    np.testing.assert_allclose(ours, numerical, rtol=1e-7, atol=1e-8)


def test_logits_and_gradient_are_autograds(network):
    torch = pytest.importorskip("torch")
    import torch_transformer

    flat, tokens = weights_of(network), tokens_of(network, length=CONTEXT)
    slope = slope_of(network, tokens)
    theirs = torch_transformer.parameters(views(flat[0], network.shapes()))
    logits = torch_transformer.logits_of(theirs, torch.tensor(tokens[0]), network)
    (logits * torch.tensor(slope[0])).sum().backward()
    np.testing.assert_allclose(logits_of(network, flat, tokens)[0], logits.detach(), rtol=1e-10, atol=1e-10)
    ours = views(gradient_of(network, flat, tokens, slope)[0], network.shapes())
    for name, tensor in theirs.items():
        np.testing.assert_allclose(ours[name], tensor.grad, rtol=1e-10, atol=1e-10, err_msg=name)


def test_positions_that_no_token_reached_have_no_slope():
    network = Transformer(vocabulary=5, context=CONTEXT, width=8, heads=2)
    tokens = tokens_of(network, length=3)
    gradient = gradient_of(network, weights_of(network), tokens, slope_of(network, tokens))
    positions = views(gradient, network.shapes())["positions"]
    np.testing.assert_array_equal(positions[:, 3:], 0.0)
    assert (positions[:, :3] != 0.0).all()


# ---- what it sees --------------------------------------------------------------------------------------


@pytest.mark.parametrize("changed", range(CONTEXT))
def test_a_later_token_leaves_earlier_logits_as_they_were_to_the_bit(network, changed):
    flat, tokens = weights_of(network), tokens_of(network, length=CONTEXT)
    others = tokens.copy()
    others[..., changed] = (tokens[..., changed] + 1) % network.vocabulary
    before, after = logits_of(network, flat, tokens), logits_of(network, flat, others)
    np.testing.assert_array_equal(before[:, :, :changed], after[:, :, :changed])
    assert (np.abs(before - after)[:, :, changed:].max(-1) > 1e-6).all()


@pytest.mark.parametrize("lengths", [(1, 1, 1, 1, 1), (3, 2), (1, 3, 1), (5,)], ids=str)
def test_reading_on_from_a_cache_gives_what_reading_at_once_gives(network, lengths):
    flat, tokens = weights_of(network, runs=2), tokens_of(network, runs=2, length=CONTEXT)
    weights, cache, pieces = views(flat, network.shapes()), [], []
    for piece in np.split(tokens, np.cumsum(lengths)[:-1], axis=-1):
        logits, cache = network.extend(weights, piece, cache)
        pieces.append(logits)
    together = np.concatenate(pieces, axis=2)
    np.testing.assert_allclose(together, logits_of(network, flat, tokens), rtol=1e-12, atol=1e-12)


def test_a_cache_is_not_changed_by_reading_on(network):
    """One prompt, two endings."""
    weights = views(weights_of(network), network.shapes())
    tokens = tokens_of(network)
    _, cache = network.extend(weights, tokens[..., :2], [])
    first, _ = network.extend(weights, tokens[..., 2:], cache)
    again, _ = network.extend(weights, tokens[..., 2:], cache)
    np.testing.assert_array_equal(first, again)


def test_a_run_does_not_depend_on_its_neighbours_to_the_bit(network):
    flat, tokens = weights_of(network, runs=3), tokens_of(network, runs=3)
    slope = slope_of(network, tokens)
    logits, gradient = logits_of(network, flat, tokens), gradient_of(network, flat, tokens, slope)
    for run in range(3):
        one = slice(run, run + 1)
        np.testing.assert_array_equal(logits_of(network, flat[one], tokens[one]), logits[one])
        alone = gradient_of(network, flat[one], tokens[one], slope[one])
        np.testing.assert_array_equal(alone, gradient[one])


def test_a_sequence_does_not_depend_on_its_neighbours(network):
    flat, tokens = weights_of(network), tokens_of(network)
    alone = logits_of(network, flat, tokens[:, 1:])
    np.testing.assert_allclose(alone, logits_of(network, flat, tokens)[:, 1:], rtol=1e-12, atol=1e-12)


# ---- libraries and precisions --------------------------------------------------------------------------


def test_libraries_and_precisions(network, asarray):
    flat, tokens = weights_of(network), tokens_of(network)
    slope, shapes = slope_of(network, tokens), network.shapes()
    weights = views(asarray(flat), shapes)
    logits, kept = network.forward(weights, asarray(tokens))
    slopes = network.pull_back(weights, kept, asarray(slope))
    asarray.rtol *= 10.0
    asarray.check(logits, logits_of(network, flat, tokens))
    asarray.check(joined(slopes, shapes), gradient_of(network, flat, tokens, slope))


def test_on_a_device(network, place):
    flat, tokens = weights_of(network), tokens_of(network)
    slope, shapes = slope_of(network, tokens), network.shapes()
    weights = views(place.xp.asarray(flat), shapes)
    _, kept = network.forward(weights, place.xp.asarray(tokens))
    slopes = network.pull_back(weights, kept, place.xp.asarray(slope))
    assert_close(joined(slopes, shapes), gradient_of(network, flat, tokens, slope), place.rtol)


def test_on_tensors(network):
    torch = pytest.importorskip("torch")
    flat, tokens = weights_of(network), tokens_of(network)
    slope, shapes = slope_of(network, tokens), network.shapes()
    weights = views(torch.tensor(flat), shapes)
    logits, kept = network.forward(weights, torch.tensor(tokens))
    slopes = joined(network.pull_back(weights, kept, torch.tensor(slope)), shapes)
    np.testing.assert_allclose(logits, logits_of(network, flat, tokens), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(slopes, gradient_of(network, flat, tokens, slope), rtol=1e-11, atol=1e-11)


# ---- sizes ---------------------------------------------------------------------------------------------

WRONG = {
    "no vocabulary": ({"vocabulary": 0}, "vocabulary: expected a whole number >= 1, got 0"),
    "no context": ({"context": 0}, "context: expected a whole number >= 1, got 0"),
    "no width": ({"width": 0}, "width: expected a whole number >= 1, got 0"),
    "no layers": ({"layers": 0}, "layers: expected a whole number >= 1, got 0"),
    "no heads": ({"heads": -1}, "heads: expected a whole number >= 1, got -1"),
    "negative hidden": ({"hidden": -1}, "hidden: expected a whole number >= 0, got -1"),
    "heads that do not share": ({"width": 8, "heads": 3}, "width: expected a multiple of 2 heads = 6, got 8"),
    "odd heads": ({"width": 4, "heads": 4}, "width: expected a multiple of 2 heads = 8, got 4"),
    "norm": ({"norm": "batch"}, "norm: expected one of rms, layer, got 'batch'"),
    "activation": ({"activation": "relu"}, "activation: expected one of gelu, swiglu, got 'relu'"),
    "positions": ({"positions": "none"}, "positions: expected one of learned, rotary, got 'none'"),
}


@pytest.mark.parametrize(("sizes", "message"), WRONG.values(), ids=WRONG)
def test_sizes_that_do_not_fit_are_named(sizes, message):
    with pytest.raises(ValueError, match=message):
        Transformer(**{"vocabulary": 5, "context": 4} | sizes)


def test_too_many_tokens_are_refused(network):
    weights = views(weights_of(network), network.shapes())
    with pytest.raises(ValueError, match="tokens: expected at most context=5 in all, got 6"):
        network.forward(weights, tokens_of(network, length=6))
    _, cache = network.extend(weights, tokens_of(network, length=4), [])
    with pytest.raises(ValueError, match="tokens: expected at most context=5 in all, got 6"):
        network.extend(weights, tokens_of(network, length=2), cache)


def test_how_many_weights_there_are():
    """V D + C D + layers (4 D² + 2 D F + 2 D) + D, and for SwiGLU another D F a layer, with F = 4 D."""
    gelu = Transformer(vocabulary=10, context=7, width=8)
    assert size_of(gelu.shapes()) == 10 * 8 + 7 * 8 + 2 * (4 * 64 + 2 * 8 * 32 + 16) + 8
    gated = Transformer(vocabulary=10, context=7, width=8, activation="swiglu", positions="rotary")
    assert size_of(gated.shapes()) == 10 * 8 + 2 * (4 * 64 + 3 * 8 * 32 + 16) + 8


def test_a_new_network_knows_nothing_yet():
    """Its gains are 1, and with embeddings of size 0.02 its logits are small: every token about as likely."""
    network = Transformer(vocabulary=10, context=7)
    weights = network.init(np.random.default_rng(0))
    assert {name for name, array in weights.items() if (array == 1.0).all()} == {
        "norm",
        *(f"{layer}.{name}" for layer in range(2) for name in ("norm", "mlp_norm")),
    }
    assert {name: array.shape for name, array in weights.items()} == network.shapes()
    logits = logits_of(network, joined(weights, network.shapes())[None], tokens_of(network))
    assert 0.01 < logits.std() < 1.0


def test_the_tenth_layer_is_not_the_first():
    assert part_of({"1.norm": "first", "10.norm": "tenth"}, 1) == {"norm": "first"}
