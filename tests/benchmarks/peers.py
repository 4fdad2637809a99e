"""The same loss from logits by other libraries: a function that returns loss and gradient, or None if absent.

DAPO's surrogate with a k3 penalty, mean over all tokens: -(min(r A, clip(r, 0.8, 1.28) A) - 0.04 k3).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref import DAPO

RECIPE = replace(DAPO, kl_coef=0.04)
THREADS = 2
Run = Callable[[], tuple[float, Any]]


def objective(xp: Any, log_probs: Any, old: Any, ref: Any, advantages: Any) -> Any:
    """From log-probabilities of the sampled tokens to the loss, in the words of either library."""
    ratio = xp.exp(log_probs - old)
    gain = xp.minimum(ratio * advantages, xp.clip(ratio, 0.8, 1.28) * advantages)
    away = ref - log_probs
    return -(gain - 0.04 * (xp.exp(away) - away - 1)).mean()


def eager(arrays: dict[str, np.ndarray]) -> Run:
    """PyTorch, differentiated by autograd."""
    return _torch(arrays, lambda loss: loss)


def compiled(arrays: dict[str, np.ndarray]) -> Run:
    """torch.compile of the same function, compiled anew for each shape."""
    import torch

    torch._dynamo.reset()
    return _torch(arrays, torch.compile)


def _torch(arrays: dict[str, np.ndarray], wrap: Callable[[Any], Any]) -> Run:
    import torch

    torch.set_num_threads(THREADS)
    dtype = torch.from_numpy(arrays["logits"]).dtype
    logits, tokens = torch.from_numpy(arrays["logits"]), torch.from_numpy(arrays["tokens"])[..., None]
    old, ref, advantages = (torch.from_numpy(arrays[name]).to(dtype) for name in ("old", "ref", "advantages"))

    def loss(leaf: Any) -> Any:
        log_probs = torch.log_softmax(leaf, -1).gather(-1, tokens)[..., 0]
        return objective(torch, log_probs, old, ref, advantages[:, None])

    function = wrap(loss)

    def run() -> tuple[float, Any]:
        leaf = logits.detach().requires_grad_()
        value = function(leaf)
        value.backward()
        return float(value.detach()), leaf.grad.numpy()

    return run


def jitted(arrays: dict[str, np.ndarray]) -> Run:
    """JAX, jit of value_and_grad."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", arrays["logits"].dtype == np.float64)
    dtype = arrays["logits"].dtype
    logits, tokens = jnp.asarray(arrays["logits"]), jnp.asarray(arrays["tokens"])[..., None]
    old, ref, advantages = (jnp.asarray(arrays[name].astype(dtype)) for name in ("old", "ref", "advantages"))

    @jax.jit
    @jax.value_and_grad
    def function(leaf: Any, tokens: Any, old: Any, ref: Any, advantages: Any) -> Any:
        log_probs = jnp.take_along_axis(jax.nn.log_softmax(leaf, -1), tokens, -1)[..., 0]
        return objective(jnp, log_probs, old, ref, advantages[:, None])

    def run() -> tuple[float, Any]:
        value, gradient = jax.block_until_ready(function(logits, tokens, old, ref, advantages))
        return float(value), gradient

    return run


PEERS = {
    "PyTorch eager": ("torch", eager),
    "torch.compile": ("torch", compiled),
    "JAX jit": ("jax", jitted),
}
"""Name -> the module it needs, and how to prepare it."""
