"""A decoder-only transformer, from tokens to logits and from the slope of the logits back to every weight.

    x = embedding[token] + position
    x = x + attention(norm(x)) ;  x = x + mlp(norm(x))        in each of the layers
    logits = norm(x) embeddingᵀ

The layers are pre-norm, the head is tied to the embedding, no product has a bias. All arrays have the runs as
their first axis, so several networks are trained side by side: tokens are (S, B, T), weights (S, ...).

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
"""Value, way back, and how many numbers go in for each that comes out."""
POSITIONS = ("learned", "rotary")
MOST_LAYERS = 1000
"""Each has weights of its own with names of their own; the largest language models have a few hundred."""


class Kept(NamedTuple):
    """What the way back through the network needs.

    Attributes:
      tokens: (S, B T, V) one-hot.
      blocks: of each layer.
      rows: (S, B T, D) the last norm's value, which the head multiplies.
      norm: of the last norm.
      shape: (S, B, T).
    """

    tokens: Array
    blocks: list["KeptBlock"]
    rows: Array
    norm: Normed
    shape: tuple[int, ...]


class KeptBlock(NamedTuple):
    """What the way back through one layer needs: inputs of its four products, two norms, and two insides."""

    norm: Normed
    rows: Array
    attended: Attended
    heads: Array
    mlp_norm: Normed
    mlp_rows: Array
    derivative: Array
    active: Array


Cache = list[list[Array]]
"""Keys and values (S, B, H, K, d) of each layer, for the tokens so far."""


@dataclass(frozen=True)
class Transformer:
    """The sizes and choices of a transformer.

    Attributes:
      vocabulary: V, how many tokens there are.
      context: the longest sequence, in tokens.
      width: D, numbers a token.
      layers: how many.
      heads: H; each has D/H of the features.
      hidden: F, numbers inside the MLP; 4 D if left at 0.
      norm: "rms" or "layer".
      activation: "gelu" or "swiglu".
      positions: "learned", added to the embedding, or "rotary", turned into queries and keys.

    Raises:
      ValueError: if a size is no whole number or below 1, a choice is unknown, the heads do not share the
        width evenly, or there are more than `MOST_LAYERS` layers.
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
        """Name and shape of every weight."""
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
        """Weights to begin with: gains 1, embeddings small, each product keeping the size of what it gets.

        Args:
          generator: NumPy's source of random numbers.
        """
        weights = {}
        for name, shape in self.shapes().items():
            if len(shape) == 1:
                weights[name] = np.ones(shape)
                continue
            is_table = name in ("embedding", "positions")
            scale = 0.02 if is_table else shape[0] ** -0.5
            residual = (2 * self.layers) ** -0.5 if name.endswith(("out", "down")) else 1.0
            weights[name] = scale * residual * generator.normal(size=shape)
        return weights

    # ---- forward -----------------------------------------------------------------------------------

    def forward(self, weights: Parts, tokens: Integers) -> tuple[Array, Kept]:
        """The logits of what follows each token.

        Args:
          weights: by `shapes`, each with the runs before it.
          tokens: (S, B, T), T at most the context.

        Returns:
          (S, B, T, V) logits, and what `pull_back` needs.
        """
        logits, kept, _ = self._read(weights, tokens, [])
        return logits, kept

    def extend(self, weights: Parts, tokens: Integers, cache: Cache) -> tuple[Array, Cache]:
        """The logits (S, B, T, V) after some more tokens (S, B, T), and the keys and values with theirs."""
        logits, _, cache = self._read(weights, tokens, cache)
        return logits, cache

    def _read(self, weights: Parts, tokens: Integers, cache: Cache) -> tuple[Array, Kept, Cache]:
        runs, sequences, length = tokens.shape
        start = cache[0][0].shape[-2] if cache else 0
        if start + length > self.context:
            raise ValueError(f"tokens: expected at most context={self.context} in all, got {start + length}")
        xp, table = array_namespace(tokens), weights["embedding"]
        shape = (runs, sequences, length, -1)
        hot = one_hot(xp.reshape(tokens, (runs, -1)), self.vocabulary, table)
        x = hot @ table
        if self.positions == "learned":
            there = weights["positions"][:, None, start : start + length, :]
            x = xp.reshape(xp.reshape(x, shape) + there, x.shape)
        blocks, grown = [], []
        for layer in range(self.layers):
            past = cache[layer] if cache else []
            x, kept, keys_values = self._block(x, part_of(weights, layer), past, start, tokens.shape)
            blocks.append(kept)
            grown.append(keys_values)
        rows, norm = NORMS[self.norm][0](x, weights["norm"])
        logits = xp.reshape(rows @ swapped(table), shape)
        return logits, Kept(hot, blocks, rows, norm, tokens.shape), grown

    def _block(
        self, x: Array, weights: Parts, past: list[Array], start: int, shape: tuple[int, ...]
    ) -> tuple[Array, KeptBlock, list[Array]]:
        """One layer on x (S, B T, D): its value, what the way back needs, and the keys and values so far."""
        xp, normalize, activate = array_namespace(x), NORMS[self.norm][0], ACTIVATIONS[self.activation][0]
        rows, norm = normalize(x, weights["norm"])
        queries, keys, values = self._split(linear(rows, weights["qkv"]), shape, 3)
        queries, keys = (self._turned(y, start, rotate) for y in (queries, keys))
        if past:
            keys, values = (
                xp.concat([old, new], axis=-2) for old, new in zip(past, (keys, values), strict=True)
            )
        outputs, attended = attention(queries, keys, values)
        heads = self._merge([outputs])
        x = x + linear(heads, weights["out"])
        mlp_rows, mlp_norm = normalize(x, weights["mlp_norm"])
        active, derivative = activate(linear(mlp_rows, weights["up"]))
        x = x + linear(active, weights["down"])
        kept = KeptBlock(norm, rows, attended, heads, mlp_norm, mlp_rows, derivative, active)
        return x, kept, [keys, values]

    # ---- backward ----------------------------------------------------------------------------------

    def pull_back(self, weights: Parts, kept: Kept, slope: Array) -> Parts:
        """From ∂L/∂logits (S, B, T, V) to ∂L/∂weight of every weight, named as in `shapes`."""
        xp, table = array_namespace(slope), weights["embedding"]
        slope = xp.reshape(slope, (*kept.rows.shape[:-1], -1))
        slopes: Parts = {}
        rows_slope, head_slope = slope @ table, swapped(slope) @ kept.rows
        slope, slopes["norm"] = NORMS[self.norm][1](rows_slope, kept.norm, weights["norm"])
        for layer in reversed(range(self.layers)):
            slope, of_block = self._block_back(slope, part_of(weights, layer), kept.blocks[layer], kept.shape)
            slopes |= {f"{layer}.{name}": one for name, one in of_block.items()}
        if self.positions == "learned":
            by_place = xp.sum(xp.reshape(slope, (*kept.shape, -1)), axis=1)
            slopes["positions"] = xp.zeros_like(weights["positions"])
            slopes["positions"][:, : kept.shape[-1], :] = by_place
        return slopes | {"embedding": head_slope + swapped(kept.tokens) @ slope}

    def _block_back(
        self, slope: Array, weights: Parts, kept: KeptBlock, shape: tuple[int, ...]
    ) -> tuple[Array, Parts]:
        """The slope with respect to the layer's input, and those of its weights."""
        normalize_back, activate_back = NORMS[self.norm][1], ACTIVATIONS[self.activation][1]
        slopes: Parts = {}
        inner, slopes["down"] = linear_back(slope, kept.active, weights["down"])
        inner = activate_back(inner, kept.derivative)
        inner, slopes["up"] = linear_back(inner, kept.mlp_rows, weights["up"])
        inner, slopes["mlp_norm"] = normalize_back(inner, kept.mlp_norm, weights["mlp_norm"])
        slope = slope + inner
        inner, slopes["out"] = linear_back(slope, kept.heads, weights["out"])
        queries, keys, values = attention_back(self._split(inner, shape, 1)[0], kept.attended)
        queries, keys = (self._turned(y, 0, rotate_back) for y in (queries, keys))
        inner, slopes["qkv"] = linear_back(self._merge([queries, keys, values]), kept.rows, weights["qkv"])
        inner, slopes["norm"] = normalize_back(inner, kept.norm, weights["norm"])
        return slope + inner, slopes

    # ---- heads -------------------------------------------------------------------------------------

    def _split(self, x: Array, shape: tuple[int, ...], parts: int) -> list[Array]:
        """(S, B T, parts D) as so many (S, B, H, T, d)."""
        xp, size = array_namespace(x), self.width // self.heads
        apart = xp.reshape(x, (*shape, parts, self.heads, size))
        return [xp.moveaxis(apart[..., part, :, :], -2, -3) for part in range(parts)]

    def _merge(self, parts: list[Array]) -> Array:
        """The inverse of `_split`."""
        xp = array_namespace(parts[0])
        runs, sequences, _, length, _ = parts[0].shape
        together = xp.stack([xp.moveaxis(part, -3, -2) for part in parts], axis=-3)
        return xp.reshape(together, (runs, sequences * length, len(parts) * self.width))

    def _turned(self, x: Array, start: int, turn: Callable[[Array, Array, Array], Array]) -> Array:
        """Queries or keys (..., T, d), turned by their positions if these are rotary."""
        if self.positions != "rotary":
            return x
        positions = array_namespace(x).arange(start, start + x.shape[-2])
        return turn(x, *turns(positions, x.shape[-1], x))


def part_of(weights: Parts, layer: int) -> Parts:
    """The weights of one layer, by their names within it.

    >>> part_of({"0.norm": 1, "1.norm": 2, "norm": 3}, 1)
    {'norm': 2}
    """
    prefix = f"{layer}."
    return {name.removeprefix(prefix): one for name, one in weights.items() if name.startswith(prefix)}
