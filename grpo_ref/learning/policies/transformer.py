"""A decoder-only transformer: the forward pass from tokens to logits, and the backward pass by hand.

    x = embedding[token] + position
    x = x + attention(norm(x)) ;  x = x + mlp(norm(x))        in each layer
    logits = norm(x) embeddingᵀ

The layers are pre-norm, the head is tied to the embedding, and no product has a bias. The first axis of all
arrays is the runs, so that several networks are trained side by side: tokens are (S, B, T), weights (S, ...).
The steps of the backward pass have the numbers of the steps of the forward pass, in reverse order.

Vaswani et al. 2017 (arXiv:1706.03762); Radford et al. 2019, section 2.3, for the place of the norms.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Array, Floats, Integers, array_namespace
from grpo_ref.learning.policies.layers import (
    Attended,
    Normed,
    attention,
    attention_back,
    gelu,
    gelu_back,
    layer_norm,
    layer_norm_back,
    linear,
    linear_back,
    one_hot,
    rms_norm,
    rms_norm_back,
    rotate,
    rotate_back,
    swapped,
    swiglu,
    swiglu_back,
    turns,
)
from grpo_ref.learning.policies.parameters import Parts, Shapes, check_sizes

NORMS = {"rms": (rms_norm, rms_norm_back), "layer": (layer_norm, layer_norm_back)}
ACTIVATIONS = {"gelu": (gelu, gelu_back, 1), "swiglu": (swiglu, swiglu_back, 2)}
"""Name -> forward pass, backward pass, and the number of inputs per output."""
POSITIONS = ("learned", "rotary")
MOST_LAYERS = 1000
"""Largest number of layers. The largest language models have a few hundred."""


class Kept(NamedTuple):
    """Arrays that the forward pass of the network keeps for the backward pass.

    Attributes:
      tokens: (S, B T, V) one-hot tokens.
      blocks: the arrays of each layer.
      rows: (S, B T, D) output of the last norm, the input of the head.
      norm: the arrays of the last norm.
      shape: (S, B, T).
    """

    tokens: Array
    blocks: list["KeptBlock"]
    rows: Array
    norm: Normed
    shape: tuple[int, ...]


class KeptBlock(NamedTuple):
    """Arrays that the forward pass of one layer keeps for the backward pass.

    Attributes:
      norm, mlp_norm: the arrays of the two norms.
      rows, heads, mlp_rows, active: (S, B T, ...) inputs of the products with qkv, out, up and down.
      attended: the arrays of the attention.
      derivative: the derivative of the activation.
    """

    norm: Normed
    rows: Array
    attended: Attended
    heads: Array
    mlp_norm: Normed
    mlp_rows: Array
    derivative: Array
    active: Array


Cache = list[list[Array]]
"""The KV cache: keys and values (S, B, H, K, d) of each layer, for the tokens so far."""


@dataclass(frozen=True)
class Transformer:
    """A decoder-only transformer, given by its sizes and choices. It does not contain weights.

    Attributes:
      vocabulary: V, number of tokens in the vocabulary.
      context: length of the longest sequence, in tokens.
      width: D, features per token.
      layers: number of layers.
      heads: H, number of attention heads; each has D/H features.
      hidden: F, features inside the MLP. Default, 0: 4 D.
      norm: "rms" or "layer".
      activation: "gelu" or "swiglu".
      positions: "learned" (a vector added to the embedding) or "rotary" (a rotation of queries and keys).

    Raises:
      ValueError: if a size is not a whole number or too small, a choice is unknown, the width is not a
        multiple of 2 H, or there are more than `MOST_LAYERS` layers.
    """

    vocabulary: int
    context: int
    width: int = 64
    layers: int = 2
    heads: int = 4
    hidden: int = 0
    norm: str = "rms"
    activation: str = "gelu"
    positions: str = "learned"

    def __post_init__(self) -> None:
        sizes = {"vocabulary": 1, "context": 1, "width": 1, "layers": 1, "heads": 1, "hidden": 0}
        check_sizes(**{name: (getattr(self, name), least) for name, least in sizes.items()})
        if self.layers > MOST_LAYERS:
            raise ValueError(f"layers: expected at most {MOST_LAYERS}, got {self.layers}")
        if self.width % (2 * self.heads):
            raise ValueError(f"width: expected a multiple of 2 heads = {2 * self.heads}, got {self.width}")
        choices: dict[str, Collection[str]] = {
            "norm": NORMS,
            "activation": ACTIVATIONS,
            "positions": POSITIONS,
        }
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name}: expected one of {', '.join(known)}, got {getattr(self, name)!r}")

    def shapes(self) -> Shapes:
        """Return name and shape of every weight, without the axis of runs."""
        width, hidden = self.width, self.hidden or 4 * self.width
        into = ACTIVATIONS[self.activation][2] * hidden
        shapes: dict[str, tuple[int, ...]] = {"embedding": (self.vocabulary, width)}
        if self.positions == "learned":
            shapes["positions"] = (self.context, width)
        for layer in range(self.layers):
            block = {"norm": (width,), "qkv": (width, 3 * width), "out": (width, width)}
            block |= {"mlp_norm": (width,), "up": (width, into), "down": (hidden, width)}
            shapes |= {f"{layer}.{name}": shape for name, shape in block.items()}
        return shapes | {"norm": (width,)}

    def init(self, generator: np.random.Generator) -> dict[str, Floats]:
        """Return initial weights by name.

        Args:
          generator: a random generator.
        """
        weights = {}
        for name, shape in self.shapes().items():
            if len(shape) == 1:
                weights[name] = np.ones(shape)
                continue
            # Embeddings are small, as in GPT-2. A product keeps the variance of its inputs. The two products
            # that add to x in each layer are scaled down, so that x does not grow with the number of layers.
            is_table = name in ("embedding", "positions")
            scale = 0.02 if is_table else shape[0] ** -0.5
            residual = (2 * self.layers) ** -0.5 if name.endswith(("out", "down")) else 1.0
            weights[name] = scale * residual * generator.normal(size=shape)
        return weights

    # ---- forward -----------------------------------------------------------------------------------

    def forward(self, weights: Parts, tokens: Integers) -> tuple[Array, Kept]:
        """Return the logits of the next token after each token.

        Args:
          weights: name -> (S, *shape), named as in `shapes`.
          tokens: (S, B, T), T at most the context.

        Returns:
          (S, B, T, V) logits, and the arrays for `pull_back`.
        """
        logits, kept, _ = self._read(weights, tokens, [])
        return logits, kept

    def extend(self, weights: Parts, tokens: Integers, cache: Cache) -> tuple[Array, Cache]:
        """Return the logits (S, B, T, V) after more tokens (S, B, T), and the cache with these tokens.

        Sampling uses this: a new token needs the keys and values of the tokens before, but not their logits.
        """
        logits, _, cache = self._read(weights, tokens, cache)
        return logits, cache

    def _read(self, weights: Parts, tokens: Integers, cache: Cache) -> tuple[Array, Kept, Cache]:
        """Run the network on tokens that follow those of the cache."""
        runs, sequences, length = tokens.shape
        start = cache[0][0].shape[-2] if cache else 0
        if start + length > self.context:
            raise ValueError(f"tokens: expected at most context={self.context} in all, got {start + length}")
        xp, table = array_namespace(tokens), weights["embedding"]
        shape = (runs, sequences, length, -1)

        # 1. Embed the tokens. A product with one-hot rows, so that the backward pass is a product as well.
        hot = one_hot(xp.reshape(tokens, (runs, -1)), self.vocabulary, table)
        x = hot @ table

        # 2. Add the positions. Rotary positions enter in the attention instead.
        if self.positions == "learned":
            vectors = weights["positions"][:, None, start : start + length, :]
            x = xp.reshape(xp.reshape(x, shape) + vectors, x.shape)

        # 3. The layers.
        blocks, new_cache = [], []
        for layer in range(self.layers):
            past = cache[layer] if cache else []
            x, kept, keys_values = self._block(x, part_of(weights, layer), past, start, tokens.shape)
            blocks.append(kept)
            new_cache.append(keys_values)

        # 4. The last norm.
        rows, norm = NORMS[self.norm][0](x, weights["norm"])

        # 5. The head: logits by the same table as the embedding.
        logits = xp.reshape(rows @ swapped(table), shape)
        return logits, Kept(hot, blocks, rows, norm, tokens.shape), new_cache

    def _block(
        self, x: Array, weights: Parts, past: list[Array], start: int, shape: tuple[int, ...]
    ) -> tuple[Array, KeptBlock, list[Array]]:
        """Run one layer on x (S, B T, D). Return its output, the arrays to keep, and all keys and values."""
        xp, normalize, activate = array_namespace(x), NORMS[self.norm][0], ACTIVATIONS[self.activation][0]

        # 1. Normalize, and compute queries, keys and values of all heads in one product.
        rows, norm = normalize(x, weights["norm"])
        queries, keys, values = self._split(linear(rows, weights["qkv"]), shape, 3)

        # 2. Rotate queries and keys by their positions. Keys in the cache have been rotated already.
        queries, keys = (self._turned(y, start, rotate) for y in (queries, keys))
        if past:
            keys, values = (
                xp.concat([old, new], axis=-2) for old, new in zip(past, (keys, values), strict=True)
            )

        # 3. Attention. Its output is added to x.
        outputs, attended = attention(queries, keys, values)
        heads = self._merge([outputs])
        x = x + linear(heads, weights["out"])

        # 4. The MLP, on the sum. Its output is added to x.
        mlp_rows, mlp_norm = normalize(x, weights["mlp_norm"])
        active, derivative = activate(linear(mlp_rows, weights["up"]))
        x = x + linear(active, weights["down"])
        kept = KeptBlock(norm, rows, attended, heads, mlp_norm, mlp_rows, derivative, active)
        return x, kept, [keys, values]

    # ---- backward ----------------------------------------------------------------------------------

    def pull_back(self, weights: Parts, kept: Kept, slope: Array) -> Parts:
        """Return ∂L/∂weight of every weight, named as in `shapes`, from ∂L/∂logits (S, B, T, V)."""
        xp, table = array_namespace(slope), weights["embedding"]
        slope = xp.reshape(slope, (*kept.rows.shape[:-1], -1))
        slopes: Parts = {}

        # 5. The head.
        rows_slope, head_slope = slope @ table, swapped(slope) @ kept.rows

        # 4. The last norm.
        slope, slopes["norm"] = NORMS[self.norm][1](rows_slope, kept.norm, weights["norm"])

        # 3. The layers, from the last to the first.
        for layer in reversed(range(self.layers)):
            slope, of_block = self._block_back(slope, part_of(weights, layer), kept.blocks[layer], kept.shape)
            slopes |= {f"{layer}.{name}": one for name, one in of_block.items()}

        # 2. The positions: all sequences share them. Positions that no sequence reaches have a slope of 0.
        if self.positions == "learned":
            by_position = xp.sum(xp.reshape(slope, (*kept.shape, -1)), axis=1)
            slopes["positions"] = xp.zeros_like(weights["positions"])
            slopes["positions"][:, : kept.shape[-1], :] = by_position

        # 1. The embedding. The table is used twice, so its two slopes are added.
        return slopes | {"embedding": head_slope + swapped(kept.tokens) @ slope}

    def _block_back(
        self, slope: Array, weights: Parts, kept: KeptBlock, shape: tuple[int, ...]
    ) -> tuple[Array, Parts]:
        """Return the slope with respect to the layer's input, and the slopes of its weights."""
        normalize_back, activate_back = NORMS[self.norm][1], ACTIVATIONS[self.activation][1]
        slopes: Parts = {}

        # 4. The MLP. The slope reaches x in two ways: directly, and through the MLP.
        inner, slopes["down"] = linear_back(slope, kept.active, weights["down"])
        inner = activate_back(inner, kept.derivative)
        inner, slopes["up"] = linear_back(inner, kept.mlp_rows, weights["up"])
        inner, slopes["mlp_norm"] = normalize_back(inner, kept.mlp_norm, weights["mlp_norm"])
        slope = slope + inner

        # 3. Attention.
        inner, slopes["out"] = linear_back(slope, kept.heads, weights["out"])
        queries, keys, values = attention_back(self._split(inner, shape, 1)[0], kept.attended)

        # 2. The rotation.
        queries, keys = (self._turned(y, 0, rotate_back) for y in (queries, keys))

        # 1. Queries, keys and values, and the norm. Again the slope reaches x in two ways.
        inner, slopes["qkv"] = linear_back(self._merge([queries, keys, values]), kept.rows, weights["qkv"])
        inner, slopes["norm"] = normalize_back(inner, kept.norm, weights["norm"])
        return slope + inner, slopes

    # ---- heads -------------------------------------------------------------------------------------

    def _split(self, x: Array, shape: tuple[int, ...], parts: int) -> list[Array]:
        """Split (S, B T, parts D) into `parts` arrays (S, B, H, T, d), one row of features per head."""
        xp, size = array_namespace(x), self.width // self.heads
        apart = xp.reshape(x, (*shape, parts, self.heads, size))
        return [xp.moveaxis(apart[..., part, :, :], -2, -3) for part in range(parts)]

    def _merge(self, parts: list[Array]) -> Array:
        """Merge arrays (S, B, H, T, d) into (S, B T, parts D); the inverse of `_split`."""
        xp = array_namespace(parts[0])
        runs, sequences, _, length, _ = parts[0].shape
        together = xp.stack([xp.moveaxis(part, -3, -2) for part in parts], axis=-3)
        return xp.reshape(together, (runs, sequences * length, len(parts) * self.width))

    def _turned(self, x: Array, start: int, turn: Callable[[Array, Array, Array], Array]) -> Array:
        """Rotate queries or keys (..., T, d) by their positions, if these are rotary."""
        if self.positions != "rotary":
            return x
        positions = array_namespace(x).arange(start, start + x.shape[-2])
        return turn(x, *turns(positions, x.shape[-1], x))


def part_of(weights: Parts, layer: int) -> Parts:
    """Return the weights of one layer, by their names within the layer.

    >>> part_of({"0.norm": 1, "1.norm": 2, "norm": 3}, 1)
    {'norm': 2}
    """
    prefix = f"{layer}."
    return {name.removeprefix(prefix): one for name, one in weights.items() if name.startswith(prefix)}
