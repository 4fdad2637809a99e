"""The transformer in PyTorch's own functions, whose gradients are autograd's: for tests and recordings."""

import torch
import torch.nn.functional as F


def parameters(weights):
    """NumPy arrays by name as tensors that collect gradients."""
    return {name: torch.tensor(array, requires_grad=True) for name, array in weights.items()}


def logits_of(weights, tokens, sizes):
    """(B, T, V) logits of what follows each token.

    Args:
      weights: tensors by name, of one run.
      tokens: (B, T).
      sizes: the `Transformer`.
    """
    x = F.embedding(tokens, weights["embedding"])
    if sizes.positions == "learned":
        x = x + weights["positions"][: tokens.shape[1]]
    for layer in range(sizes.layers):
        x = x + _attended(weights, f"{layer}.", _normed(x, weights[f"{layer}.norm"], sizes), sizes)
        inner = _normed(x, weights[f"{layer}.mlp_norm"], sizes) @ weights[f"{layer}.up"]
        x = x + _active(inner, sizes) @ weights[f"{layer}.down"]
    return _normed(x, weights["norm"], sizes) @ weights["embedding"].T


def _normed(x, gain, sizes):
    if sizes.norm == "rms":
        return F.rms_norm(x, gain.shape, gain, 1e-6)
    return F.layer_norm(x, gain.shape, gain, None, 1e-6)


def _active(x, sizes):
    if sizes.activation == "gelu":
        return F.gelu(x, approximate="tanh")
    gate, up = x.chunk(2, dim=-1)
    return F.silu(gate) * up


def _attended(weights, layer, x, sizes):
    sequences, length, width = x.shape
    packed = (x @ weights[layer + "qkv"]).view(sequences, length, 3, sizes.heads, width // sizes.heads)
    queries, keys, values = packed.permute(2, 0, 3, 1, 4)
    if sizes.positions == "rotary":
        queries, keys = _turned(queries), _turned(keys)
    heads = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
    return heads.transpose(1, 2).reshape(sequences, length, width) @ weights[layer + "out"]


def _turned(x):
    """Each pair (i, i + d/2) as a complex number times exp(i angle)."""
    length, size = x.shape[-2:]
    speeds = 10000.0 ** (-2.0 * torch.arange(size // 2, dtype=x.dtype) / size)
    angles = torch.outer(torch.arange(length, dtype=x.dtype), speeds)
    first, second = x.chunk(2, dim=-1)
    turned = torch.complex(first, second) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], dim=-1)
