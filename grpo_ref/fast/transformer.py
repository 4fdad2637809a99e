"""The transformer of `learning.policies.transformer`, with fewer temporary arrays, for NumPy on the CPU.

The readable class is the reference. This one has the same weights and computes the same numbers: to the bit
up to `TILE` tokens, to rounding above. It is faster for four reasons.

    attention    the outputs and slopes of the heads are written where the next product reads them
    long texts   attention works on one tile of queries at a time, and omits the keys after the tile
    GELU         all steps reuse a few small arrays; sampling computes no derivative
    sampling     the cache has places for the whole text, so adding a token copies no cache

Training replaces a `Transformer` by this class, unless its arrays are those of another library.
"""

import math
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Array, Integers
from grpo_ref.learning.policies.layers import (
    BLOCK,
    Normed,
    linear,
    linear_back,
    one_hot,
    rotate,
    rotate_back,
    swapped,
)
from grpo_ref.learning.policies.neural import Network, NeuralPolicy
from grpo_ref.learning.policies.parameters import Parts
from grpo_ref.learning.policies.transformer import ACTIVATIONS, NORMS, Cache, Transformer, part_of

TILE = 64
"""Number of queries that attention processes at a time. With fewer, the matrix products become too small."""
TILE_BYTES = 1 << 18
"""Bytes of the scores of a tile, half of a common level-2 cache. It decides how many texts a tile has."""


class KeptLayer(NamedTuple):
    """Arrays that the forward pass of one layer keeps for the backward pass.

    Attributes:
      norm, mlp_norm: the arrays of the two norms.
      rows, heads, mlp_rows, active: (S, B T, ...) inputs of the products with qkv, out, up and down.
      queries, keys, values: (S, B, H, T, d).
      tiles: the attention weights of each tile, keys first.
      derivative: the derivative of the activation.
    """

    norm: Normed
    rows: Array
    queries: Array
    keys: Array
    values: Array
    tiles: list[Array]
    heads: Array
    mlp_norm: Normed
    mlp_rows: Array
    derivative: Array
    active: Array


class Kept(NamedTuple):
    """Arrays that the forward pass of the network keeps for the backward pass; as in `Transformer`."""

    tokens: Array
    layers: list[KeptLayer]
    rows: Array
    norm: Normed
    shape: tuple[int, ...]


class FastTransformer(Transformer):
    """A `Transformer` that computes the same numbers in less time. Its arrays must be NumPy's."""

    def forward(self, weights: Parts, tokens: Integers) -> tuple[Array, Any]:
        """Return the logits (S, B, T, V) after each token (S, B, T), and the arrays for `pull_back`."""
        _check_length(tokens.shape[-1], self.context)
        x = self._embedded(weights, tokens, 0)
        layers = []
        for layer in range(self.layers):
            x, kept = self._layer(x, part_of(weights, layer), tokens.shape)
            layers.append(kept)
        rows, norm = NORMS[self.norm][0](x, weights["norm"])
        hot = one_hot(tokens.reshape(len(tokens), -1), self.vocabulary, x)
        logits = (rows @ swapped(weights["embedding"])).reshape(*tokens.shape, -1)
        return logits, Kept(hot, layers, rows, norm, tokens.shape)

    def _embedded(self, weights: Parts, tokens: Integers, start: int) -> Array:
        """Return (S, B T, D) the embeddings of the tokens, with their positions if these are learned."""
        runs, sequences, length = tokens.shape
        # A look-up gives what the product with one-hot rows gives.
        x = weights["embedding"][np.arange(runs)[:, None, None], tokens]
        if self.positions == "learned":
            x += weights["positions"][:, None, start : start + length, :]
        return x.reshape(runs, sequences * length, self.width)

    def _layer(self, x: Array, weights: Parts, shape: tuple[int, ...]) -> tuple[Array, KeptLayer]:
        """Run one layer on x (S, B T, D); the steps are those of `Transformer`."""
        normalize = NORMS[self.norm][0]
        rows, norm = normalize(x, weights["norm"])
        queries, keys, values = self._split(linear(rows, weights["qkv"]), shape, 3)
        queries, keys = (self._turned(y, 0, rotate) for y in (queries, keys))

        heads = np.empty_like(x)
        (outputs,) = self._split(heads, shape, 1)
        tiles = attend(queries, keys, values, outputs)
        x = x + linear(heads, weights["out"])

        mlp_rows, mlp_norm = normalize(x, weights["mlp_norm"])
        active, derivative = self._activated(linear(mlp_rows, weights["up"]))
        kept = KeptLayer(
            norm, rows, queries, keys, values, tiles, heads, mlp_norm, mlp_rows, derivative, active
        )
        return x + linear(active, weights["down"]), kept

    def _activated(self, a: Array) -> tuple[Array, Array]:
        """Return the activation and its derivative."""
        return gelu(a) if self.activation == "gelu" else ACTIVATIONS[self.activation][0](a)

    # ---- backward ----------------------------------------------------------------------------------

    def pull_back(self, weights: Parts, kept: Any, slope: Array) -> Parts:
        """Return ∂L/∂weight of every weight, from ∂L/∂logits (S, B, T, V)."""
        table, back = weights["embedding"], NORMS[self.norm][1]
        slope = slope.reshape(*kept.rows.shape[:-1], -1)
        head_slope = swapped(slope) @ kept.rows
        slopes: Parts = {}
        slope, slopes["norm"] = back(slope @ table, kept.norm, weights["norm"])
        for layer in reversed(range(self.layers)):
            slope, of_layer = self._layer_back(slope, part_of(weights, layer), kept.layers[layer], kept.shape)
            slopes |= {f"{layer}.{name}": one for name, one in of_layer.items()}
        if self.positions == "learned":
            slopes["positions"] = np.zeros_like(weights["positions"])
            slopes["positions"][:, : kept.shape[-1]] = slope.reshape(*kept.shape, -1).sum(1)
        return slopes | {"embedding": head_slope + swapped(kept.tokens) @ slope}

    def _layer_back(
        self, slope: Array, weights: Parts, kept: KeptLayer, shape: tuple[int, ...]
    ) -> tuple[Array, Parts]:
        """Return the slope with respect to the layer's input, and the slopes of its weights."""
        back, activate_back = NORMS[self.norm][1], ACTIVATIONS[self.activation][1]
        slopes: Parts = {}
        inner, slopes["down"] = linear_back(slope, kept.active, weights["down"])
        inner = activate_back(inner, kept.derivative)
        inner, slopes["up"] = linear_back(inner, kept.mlp_rows, weights["up"])
        inner, slopes["mlp_norm"] = back(inner, kept.mlp_norm, weights["mlp_norm"])
        slope = slope + inner

        inner, slopes["out"] = linear_back(slope, kept.heads, weights["out"])
        together = np.empty((*inner.shape[:-1], 3 * self.width), inner.dtype)
        parts = self._split(together, shape, 3)
        attend_back(self._split(inner, shape, 1)[0], kept, self._split(kept.heads, shape, 1)[0], parts)
        for part in parts[:2] if self.positions == "rotary" else []:
            part[...] = self._turned(part, 0, rotate_back)

        inner, slopes["qkv"] = linear_back(together, kept.rows, weights["qkv"])
        inner, slopes["norm"] = back(inner, kept.norm, weights["norm"])
        return slope + inner, slopes

    # ---- sampling ----------------------------------------------------------------------------------

    def extend(self, weights: Parts, tokens: Integers, cache: Cache) -> tuple[Array, Cache]:
        """Return the logits (S, B, T, V) after more tokens (S, B, T), and the cache with these tokens."""
        start = cache[0][0].shape[-2] if cache else 0
        _check_length(start + tokens.shape[-1], self.context)
        x, normalize = self._embedded(weights, tokens, start), NORMS[self.norm][0]
        new_cache: Cache = []
        for layer in range(self.layers):
            part = part_of(weights, layer)
            rows, _ = normalize(x, part["norm"])
            queries, keys, values = self._split(linear(rows, part["qkv"]), tokens.shape, 3)
            queries, keys = (self._turned(y, start, rotate) for y in (queries, keys))
            new_cache.append(self._longer(cache[layer] if cache else [], keys, values))

            heads = np.empty_like(x)
            all_keys, all_values, _ = new_cache[layer]
            attend(queries, all_keys, all_values, self._split(heads, tokens.shape, 1)[0])
            x = x + linear(heads, part["out"])
            rows, _ = normalize(x, part["mlp_norm"])
            a = linear(rows, part["up"])
            active = gelu_value(a) if self.activation == "gelu" else ACTIVATIONS[self.activation][0](a)[0]
            x = x + linear(active, part["down"])
        rows, _ = normalize(x, weights["norm"])
        return (rows @ swapped(weights["embedding"])).reshape(*tokens.shape, -1), new_cache

    def _longer(self, past: list[Array], keys: Array, values: Array) -> list[Array]:
        """Return one layer of the cache with more keys and values (S, B, H, T, d).

        A layer is [keys, values, taken]. The first two are the beginning of arrays with places for the whole
        text, and `taken` (1, B, 1) is the number of places that are taken there. If this cache takes all of
        them, the new tokens go into the free places. Otherwise somebody has read on from this cache before,
        or its sequences were repeated; then it is copied first.
        """
        start = past[0].shape[-2] if past else 0
        end = start + keys.shape[-2]
        arrays = [part.base for part in past[:2]]
        if not past or any(one is None or one.shape[-2] < end for one in arrays) or past[2][0, 0, 0] != start:
            shape = (*keys.shape[:-2], self.context, keys.shape[-1])
            arrays = [np.empty(shape, keys.dtype) for _ in range(2)]
            for one, old in zip(arrays, past, strict=False):
                one[..., :start, :] = old
            past = [*arrays, np.empty((1, keys.shape[1], 1), np.int64)]
        for one, new in zip(arrays, (keys, values), strict=True):
            one[..., start:end, :] = new
        past[2][:] = end
        return [*(one[..., :end, :] for one in arrays), past[2]]


def _check_length(length: int, context: int) -> None:
    if length > context:
        raise ValueError(f"tokens: expected at most context={context} in all, got {length}")


# ---- attention -------------------------------------------------------------------------------------


class Tile(NamedTuple):
    """A piece of attention: some sequences of some queries, with the keys up to the last of these.

    Attributes:
      sequences, queries, keys: the pieces of the axes B, T and K.
    """

    sequences: slice
    queries: slice
    keys: slice


def tiles_of(shape: tuple[int, ...], count: int, itemsize: int) -> list[Tile]:
    """Return the tiles for queries (S, B, H, T, d), the last T of `count` tokens."""
    runs, sequences, heads, length, _ = shape
    tiles = []
    for begin in range(0, length, TILE):
        end = min(begin + TILE, length)
        keys = count - length + end
        # All sequences at once if the text is short: a call costs more than the cache saves.
        few = max(1, TILE_BYTES // (runs * heads * keys * (end - begin) * itemsize))
        step = sequences if length <= TILE else few
        tiles += [
            Tile(slice(first, first + step), slice(begin, end), slice(0, keys))
            for first in range(0, sequences, step)
        ]
    return tiles


def attend(queries: Array, keys: Array, values: Array, outputs: Array) -> list[Array]:
    """Write causal attention into `outputs` (S, B, H, T, d), and return the weights of each tile.

    `layers.attention` has the formula. The keys after a tile have the weight 0, so they are omitted.
    """
    length, count, weights = queries.shape[-2], keys.shape[-2], []
    scaled = queries * queries.shape[-1] ** -0.5
    for tile in tiles_of(queries.shape, count, queries.itemsize):
        before = count - length + tile.queries.start  # keys that every query of the tile sees
        scores = keys[:, tile.sequences, :, tile.keys] @ swapped(scaled[:, tile.sequences, :, tile.queries])
        size = scores.shape[-1]
        if size > 1:
            scores[..., before:, :] += _mask(size, scores.dtype)
        scores -= scores.max(axis=-2, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-2, keepdims=True)
        np.matmul(
            swapped(scores),
            values[:, tile.sequences, :, tile.keys],
            out=outputs[:, tile.sequences, :, tile.queries],
        )
        weights.append(scores)
    return weights


@cache
def _mask(size: int, dtype: Any) -> Array:
    """Return (size, size) minus infinity for the keys after each query, keys first, and 0 elsewhere."""
    later = np.arange(size)[:, None] > np.arange(size)
    return np.where(later, -math.inf, np.zeros((size, size), dtype))


def attend_back(slope: Array, kept: KeptLayer, outputs: Array, slopes: list[Array]) -> None:
    """Write the slopes of queries, keys and values (S, B, H, T, d) into `slopes`; see `attention_back`."""
    queries, keys, values, scale = kept.queries, kept.keys, kept.values, kept.queries.shape[-1] ** -0.5
    tiles = tiles_of(queries.shape, keys.shape[-2], queries.itemsize)
    several = queries.shape[-2] > TILE
    if several:  # a key belongs to several tiles, whose slopes are added
        for one in slopes[1:]:
            one[...] = 0.0
    delta = np.vecdot(slope, outputs)[..., None, :]
    for tile, weights in zip(tiles, kept.tiles, strict=True):
        at_queries, at_keys = (np.s_[:, tile.sequences, :, part] for part in (tile.queries, tile.keys))
        scores = values[at_keys] @ swapped(slope[at_queries])
        scores -= delta[:, tile.sequences, :, :, tile.queries]
        scores *= weights
        scores *= scale
        np.matmul(swapped(scores), keys[at_keys], out=slopes[0][at_queries])
        if several:
            slopes[1][at_keys] += scores @ queries[at_queries]
            slopes[2][at_keys] += weights @ slope[at_queries]
        else:
            np.matmul(scores, queries, out=slopes[1])
            np.matmul(weights, slope, out=slopes[2])


# ---- GELU ------------------------------------------------------------------------------------------


def gelu(a: Array) -> tuple[Array, Array]:
    """Return `layers.gelu`, the value and the derivative (..., F); the steps reuse four small arrays."""
    value, derivative = np.empty_like(a), np.empty_like(a)
    flat = [x.reshape(-1) for x in (a, value, derivative)]
    scratch = np.empty((4, min(BLOCK, a.size)), a.dtype)
    c = math.sqrt(2.0 / math.pi)
    for begin in range(0, a.size, BLOCK):
        x, y, slope = (one[begin : begin + BLOCK] for one in flat)
        square, tanh, half, bend = scratch[:, : x.size]
        _halved(x, square, tanh, half)
        np.multiply(x, half, out=y)
        np.subtract(1.0, tanh, out=bend)
        bend *= half
        bend *= x
        square *= c * 0.134145
        square += c
        bend *= square
        np.add(half, bend, out=slope)
    return value, derivative


def gelu_value(a: Array) -> Array:
    """Return the value of `layers.gelu` alone, (..., F)."""
    value = np.empty_like(a)
    flat = [x.reshape(-1) for x in (a, value)]
    scratch = np.empty((3, min(BLOCK, a.size)), a.dtype)
    for begin in range(0, a.size, BLOCK):
        x, y = (one[begin : begin + BLOCK] for one in flat)
        square, tanh, half = scratch[:, : x.size]
        _halved(x, square, tanh, half)
        np.multiply(x, half, out=y)
    return value


def _halved(x: Array, square: Array, tanh: Array, half: Array) -> None:
    """Write x², t = tanh(c (x + 0.044715 x³)) and (1 + t) / 2 into the three arrays after x."""
    c = math.sqrt(2.0 / math.pi)
    np.multiply(x, x, out=square)
    np.multiply(square, c * 0.044715, out=tanh)
    tanh += c
    tanh *= x
    np.tanh(tanh, out=tanh)
    np.multiply(tanh, 0.5, out=half)
    half += 0.5


# ---- choice ----------------------------------------------------------------------------------------


def fast_policy(policy: NeuralPolicy) -> NeuralPolicy:
    """Return the policy with its `Transformer` as a `FastTransformer`; with any other network, itself.

    The weights must be a NumPy array.
    """
    network = fast_network(policy.network)
    return policy if network is policy.network else NeuralPolicy(network, policy.weights)


def fast_network(network: Network) -> Network:
    """Return a `FastTransformer` with the sizes of a `Transformer`; any other network as it is.

    A class that is derived from `Transformer` may compute something else, so it stays.
    """
    if type(network) is not Transformer:
        return network
    return FastTransformer(**{field.name: getattr(network, field.name) for field in fields(network)})
