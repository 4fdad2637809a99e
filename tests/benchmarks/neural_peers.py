"""The transformer in other libraries: forward and backward, sampling with a cache, and a whole GRPO update.

Weights, names and shapes are those of `Transformer` (RMSNorm, GELU, learned positions); each library computes
in the way that its users write, PyTorch with its fused attention, JAX under jit.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.learning.policies.transformer import Transformer

THREADS = 1


class Work(NamedTuple):
    """What is timed.

    Attributes:
      network: its sizes.
      weights: float32, by name.
      tokens: (B, T) of one forward and backward pass.
      prompts: (P, L) of an update.
      group_size, length: completions of each prompt, and tokens of each.
      rewards: (P, G) that the update gets, whatever was written.
    """

    network: Transformer
    weights: Mapping[str, np.ndarray]
    tokens: np.ndarray
    prompts: np.ndarray
    group_size: int
    length: int
    rewards: np.ndarray


Actions = dict[str, Callable[[], Any]]
"""Name of the work -> do it once."""


# ---- PyTorch ---------------------------------------------------------------------------------------


def torch_eager(work: Work) -> Actions:
    """PyTorch, differentiated by autograd."""
    return _torch(work, lambda function: function)


def torch_compiled(work: Work) -> Actions:
    """torch.compile of forward and loss; the token-by-token sampling stays eager, as its shapes change."""
    import torch

    torch._dynamo.reset()
    return _torch(work, torch.compile)


def _torch(work: Work, wrap: Callable[[Any], Any]) -> Actions:
    import torch

    torch.set_num_threads(THREADS)
    network = work.network
    weights = {name: torch.tensor(x, requires_grad=True) for name, x in work.weights.items()}
    tokens, prompts = torch.from_numpy(work.tokens), torch.from_numpy(work.prompts)
    rewards = torch.from_numpy(work.rewards).float()
    optimizer = torch.optim.Adam(weights.values(), lr=3e-4)

    def extend(tokens: Any, past: list[Any] | None, start: int) -> tuple[Any, list[Any]]:
        return _torch_extend(network, weights, tokens, past, start)

    forward = wrap(lambda tokens: extend(tokens, None, 0)[0])

    def both_ways() -> Any:
        optimizer.zero_grad()
        targets = torch.roll(tokens, -1, 1)
        torch.nn.functional.cross_entropy(forward(tokens).flatten(0, 1), targets.flatten()).backward()
        return {name: weight.grad for name, weight in weights.items()}

    @torch.no_grad()
    def sample() -> Any:
        logits, past = extend(prompts, None, 0)
        logits = logits[:, -1:].repeat_interleave(work.group_size, 0)
        past = [[part.repeat_interleave(work.group_size, 0) for part in layer] for layer in past]
        written = []
        for step in range(work.length):
            written.append(torch.multinomial(torch.softmax(logits[:, -1], -1), 1))
            if step + 1 < work.length:
                logits, past = extend(written[-1], past, prompts.shape[1] + step)
        return torch.cat(written, 1)

    def update() -> None:
        written = sample()
        texts = torch.cat([prompts.repeat_interleave(work.group_size, 0), written], 1)
        scale = rewards.std(1, keepdim=True, unbiased=False) + 1e-4
        advantages = ((rewards - rewards.mean(1, keepdim=True)) / scale).flatten()[:, None]
        log_probs = torch.log_softmax(forward(texts[:, :-1])[:, prompts.shape[1] - 1 :], -1)
        log_probs = log_probs.gather(-1, written[..., None])[..., 0]
        ratio = torch.exp(log_probs - log_probs.detach())
        gain = torch.minimum(ratio * advantages, ratio.clip(0.8, 1.2) * advantages)
        optimizer.zero_grad()
        (-gain.mean()).backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        optimizer.step()

    return {"forward and backward": both_ways, "sampling": sample, "update": update}


def _torch_extend(
    network: Transformer, weights: Mapping[str, Any], tokens: Any, past: list[Any] | None, start: int
) -> tuple[Any, list[Any]]:
    import torch
    from torch.nn import functional

    batch, length, width = *tokens.shape, network.width
    x = functional.embedding(tokens, weights["embedding"]) + weights["positions"][start : start + length]
    grown = []
    for layer in range(network.layers):
        part = {name.partition(".")[2]: w for name, w in weights.items() if name.startswith(f"{layer}.")}
        rows = functional.rms_norm(x, (width,), part["norm"], 1e-6)
        heads = (rows @ part["qkv"]).view(batch, length, 3, network.heads, -1).permute(2, 0, 3, 1, 4)
        queries, keys, values = heads
        if past is not None:
            keys, values = (torch.cat(both, 2) for both in zip(past[layer], (keys, values), strict=True))
        grown.append((keys, values))
        outputs = functional.scaled_dot_product_attention(queries, keys, values, is_causal=past is None)
        x = x + outputs.transpose(1, 2).reshape(batch, length, width) @ part["out"]
        rows = functional.rms_norm(x, (width,), part["mlp_norm"], 1e-6)
        x = x + functional.gelu(rows @ part["up"], approximate="tanh") @ part["down"]
    return functional.rms_norm(x, (width,), weights["norm"], 1e-6) @ weights["embedding"].T, grown


# ---- JAX -------------------------------------------------------------------------------------------


def jax_jit(work: Work) -> Actions:
    """JAX, each work one compiled function; sampling is a scan over a cache of fixed size."""
    import jax
    import jax.numpy as jnp

    weights = {name: jnp.asarray(x) for name, x in work.weights.items()}
    tokens, prompts, rewards = jnp.asarray(work.tokens), jnp.asarray(work.prompts), jnp.asarray(work.rewards)
    forward = _jax_forward(work.network)
    state = {"weights": weights, "mean": jax.tree.map(jnp.zeros_like, weights), "steps": 0.0}
    state["square"] = state["mean"]
    source = iter(jax.random.split(jax.random.key(0), 100_000))

    @jax.jit
    def both_ways(weights: Any) -> Any:
        def loss(weights: Any) -> Any:
            log_probs = jax.nn.log_softmax(forward(weights, tokens))
            return -jnp.take_along_axis(log_probs, jnp.roll(tokens, -1, 1)[..., None], -1).mean()

        return jax.grad(loss)(weights)

    sample = jax.jit(lambda weights, key: _jax_sample(work, weights, prompts, key))

    @jax.jit
    def update(state: Any, key: Any) -> Any:
        written = _jax_sample(work, state["weights"], prompts, key)
        texts = jnp.concatenate([jnp.repeat(prompts, work.group_size, 0), written], 1)
        scale = rewards.std(1, keepdims=True) + 1e-4
        advantages = ((rewards - rewards.mean(1, keepdims=True)) / scale).reshape(-1, 1)

        def loss(weights: Any) -> Any:
            log_probs = jax.nn.log_softmax(forward(weights, texts[:, :-1])[:, prompts.shape[1] - 1 :])
            log_probs = jnp.take_along_axis(log_probs, written[..., None], -1)[..., 0]
            ratio = jnp.exp(log_probs - jax.lax.stop_gradient(log_probs))
            return -jnp.minimum(ratio * advantages, jnp.clip(ratio, 0.8, 1.2) * advantages).mean()

        return _jax_adam(state, jax.grad(loss)(state["weights"]))

    def next_update() -> None:
        state.update(jax.block_until_ready(update(state, next(source))))

    return {
        "forward and backward": lambda: jax.block_until_ready(both_ways(weights)),
        "sampling": lambda: jax.block_until_ready(sample(weights, next(source))),
        "update": next_update,
    }


def _jax_norm(x: Any, gain: Any) -> Any:
    import jax

    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * gain


def _jax_forward(network: Transformer) -> Callable[[Any, Any], Any]:
    """(weights, tokens (B, T)) -> logits (B, T, V)."""
    import jax
    import jax.numpy as jnp

    def forward(weights: Any, tokens: Any) -> Any:
        batch, length = tokens.shape
        x = weights["embedding"][tokens] + weights["positions"][:length]
        for layer in range(network.layers):
            rows = _jax_norm(x, weights[f"{layer}.norm"]) @ weights[f"{layer}.qkv"]
            queries, keys, values = jnp.moveaxis(rows.reshape(batch, length, 3, network.heads, -1), 2, 0)
            outputs = jax.nn.dot_product_attention(queries, keys, values, is_causal=True)
            x = x + outputs.reshape(batch, length, -1) @ weights[f"{layer}.out"]
            inner = _jax_norm(x, weights[f"{layer}.mlp_norm"]) @ weights[f"{layer}.up"]
            x = x + jax.nn.gelu(inner, approximate=True) @ weights[f"{layer}.down"]
        return _jax_norm(x, weights["norm"]) @ weights["embedding"].T

    return forward


def _jax_sample(work: Work, weights: Any, prompts: Any, key: Any) -> Any:
    """(P G, T) tokens, drawn in a scan over a cache of keys and values that has room for the whole text."""
    import jax
    import jax.numpy as jnp

    network, before = work.network, prompts.shape[1]
    prompts = jnp.repeat(prompts, work.group_size, 0)
    room = (
        network.layers,
        2,
        len(prompts),
        before + work.length,
        network.heads,
        network.width // network.heads,
    )
    read = _jax_reader(network, weights)

    def step(carry: Any, at: Any) -> tuple[Any, Any]:
        cache, token = carry
        place, given, key = at
        logits, cache = read(token, cache, place)
        drawn = jax.random.categorical(key, logits)
        following = jnp.where(place + 1 < before, given, drawn)
        return (cache, following), following

    steps = before + work.length - 1
    given = jnp.zeros((steps, len(prompts)), prompts.dtype).at[: before - 1].set(prompts.T[1:])
    ats = jnp.arange(steps), given, jax.random.split(key, steps)
    _, texts = jax.lax.scan(step, (jnp.zeros(room), prompts[:, 0]), ats)
    return texts[before - 1 :].T


def _jax_reader(network: Transformer, weights: Any) -> Callable[[Any, Any, Any], Any]:
    """(tokens (B,), cache, place) -> logits (B, V) after them, and the cache with their keys and values."""
    import jax
    import jax.numpy as jnp

    def read(tokens: Any, cache: Any, place: Any) -> Any:
        x = weights["embedding"][tokens] + weights["positions"][place]
        for layer in range(network.layers):
            rows = _jax_norm(x, weights[f"{layer}.norm"]) @ weights[f"{layer}.qkv"]
            queries, keys, values = jnp.moveaxis(rows.reshape(len(x), 3, network.heads, -1), 1, 0)
            cache = cache.at[layer, 0, :, place].set(keys).at[layer, 1, :, place].set(values)
            scores = jnp.einsum("bhd,bkhd->bhk", queries, cache[layer, 0]) * queries.shape[-1] ** -0.5
            scores = jnp.where(jnp.arange(cache.shape[3]) <= place, scores, -jnp.inf)
            outputs = jnp.einsum("bhk,bkhd->bhd", jax.nn.softmax(scores), cache[layer, 1])
            x = x + outputs.reshape(len(x), -1) @ weights[f"{layer}.out"]
            inner = _jax_norm(x, weights[f"{layer}.mlp_norm"]) @ weights[f"{layer}.up"]
            x = x + jax.nn.gelu(inner, approximate=True) @ weights[f"{layer}.down"]
        return _jax_norm(x, weights["norm"]) @ weights["embedding"].T, cache

    return read


def _jax_adam(state: Any, gradient: Any) -> Any:
    """Gradients clipped to norm 1, then Adam's step."""
    import jax
    import jax.numpy as jnp

    norm = jnp.sqrt(sum((g * g).sum() for g in jax.tree.leaves(gradient)))
    gradient = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / norm), gradient)
    steps = state["steps"] + 1.0
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["mean"], gradient)
    square = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, state["square"], gradient)
    size = 3e-4 * jnp.sqrt(1.0 - 0.999**steps) / (1.0 - 0.9**steps)
    weights = jax.tree.map(
        lambda w, m, v: w - size * m / (jnp.sqrt(v) + 1e-8), state["weights"], mean, square
    )
    return {"weights": weights, "mean": mean, "square": square, "steps": steps}


PEERS: dict[str, tuple[str, Callable[[Work], Actions]]] = {
    "PyTorch eager": ("torch", torch_eager),
    "torch.compile": ("torch", torch_compiled),
    "JAX jit": ("jax", jax_jit),
}
"""Name -> the module that it needs, and how it is prepared."""
