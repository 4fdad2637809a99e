"""The same training loop by other libraries, from sampling to Adam: a function that trains all seeds.

GRPO on `arithmetic`: advantages from each group, ratios clipped at 0.8 and 1.2, a k3 penalty of 0.04 to the
frozen initial policy, the mean over completions of the mean over tokens. The automaton is walked as in
`grpo_ref.learning.rollout`. Given uniform numbers, a peer computes in float64 and uses these, in the order of
`grpo_ref.learning.loop`; else it draws its own and computes in float32, as is usual there.
"""

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.task import END, Task
from grpo_ref.tasks.arithmetic import EOS

Run = Callable[[], tuple[Any, Any]]
"""Trains anew each time; returns the mean rewards (S, updates) and the logits (S, N, V)."""


def objective(xp: Any, log_probs: Any, old: Any, ref: Any, advantages: Any, weights: Any) -> Any:
    """From log-probabilities of the sampled tokens to the loss, in the words of either library."""
    ratio = xp.exp(log_probs - old)
    gain = xp.minimum(ratio * advantages, xp.clip(ratio, 0.8, 1.2) * advantages)
    away = ref - log_probs
    return -((gain - 0.04 * (xp.exp(away) - away - 1)) * weights).sum()


def tenths(xp: Any, right: Any, tokens: Any, mask: Any) -> Any:
    """(..., G) ten times the reward, a whole number: 1 for a well-formed number, 10 for the right one."""
    written = xp.where(mask, tokens, -1)
    correct = (written == right).all(-1)
    length = mask.sum(-1)
    ended = (written == EOS).any(-1)
    well_formed = ended & (length >= 2) & ~((written[..., 0] == 0) & (length > 2))
    return 1 * well_formed + 10 * correct


def answers_of(task: Task) -> np.ndarray:
    """(Q, T) the right tokens of each prompt, -1 after the end, as the verifier has them."""
    return np.asarray(task.verify.args[0]).T


# ---- PyTorch ---------------------------------------------------------------------------------------


def eager(threads: int, task: Task, config: TrainConfig, numbers: np.ndarray | None = None) -> Run:
    """PyTorch, differentiated by autograd, all seeds in one tensor."""
    import torch

    dtype = torch.float32 if numbers is None else torch.float64
    generator = torch.Generator().manual_seed(config.seed)
    shape = (config.seeds, config.prompts, 1 + config.group_size * task.max_length)
    batches = None if numbers is None else torch.from_numpy(numbers)
    parts = {
        "starts": torch.from_numpy(task.starts),
        "transitions": torch.from_numpy(task.transitions),
        "answers": torch.from_numpy(answers_of(task)),
        "prompt_edges": torch.from_numpy(task.prompt_probs.cumsum()[:-1]).to(dtype),
    }
    initial = torch.from_numpy(task.ref_logits).to(dtype).expand(config.seeds, -1, -1)
    ref = torch.log_softmax(initial, -1)

    def run() -> tuple[Any, Any]:
        torch.set_num_threads(threads)
        logits = initial.clone().requires_grad_()
        adam = torch.optim.Adam([logits], lr=config.learning_rate, fused=True)
        curve = []
        for update in range(config.updates):
            drawn = torch.rand(shape, generator=generator) if batches is None else batches[update]
            curve.append(_update(torch, parts, config, logits, adam, ref, drawn))
        return torch.stack(curve, -1).numpy(), logits.detach().numpy()

    return run


def _update(
    torch: ModuleType,
    parts: dict[str, Any],
    config: TrainConfig,
    logits: Any,
    adam: Any,
    ref: Any,
    drawn: Any,
) -> Any:
    """Sample, judge, and take config.epochs steps of PyTorch's optimizer; the mean reward of each seed."""
    table = torch.log_softmax(logits, -1)  # the first epoch is differentiated through what was sampled from
    with torch.no_grad():
        prompts = torch.searchsorted(parts["prompt_edges"], drawn[..., 0].contiguous(), right=True)
        uniforms = drawn[..., 1:].reshape(*prompts.shape, config.group_size, -1)
        index, tokens, mask = _walk(torch, parts, table, prompts, uniforms)
        right = parts["answers"][prompts][..., None, :]
        rewards = tenths(torch, right, tokens, mask).to(table.dtype) / 10
        spread = rewards.std(-1, keepdim=True, correction=1)
        advantages = ((rewards - rewards.mean(-1, keepdim=True)) / (spread + 1e-4))[..., None]
        weights = mask.to(table.dtype) / mask.sum(-1, keepdim=True) / rewards[0].numel()
        old, ref = (_pick(one, index) for one in (table, ref))
    for epoch in range(config.epochs):
        table = table if epoch == 0 else torch.log_softmax(logits, -1)
        loss = objective(torch, _pick(table, index), old, ref, advantages, weights)  # seeds share no term
        adam.zero_grad()
        loss.backward()
        adam.step()
    return rewards.mean((-2, -1))


def _walk(
    torch: ModuleType, parts: dict[str, Any], table: Any, prompts: Any, uniforms: Any
) -> tuple[Any, Any, Any]:
    """Where each token's log-probability stands in its seed's table, the tokens, and which are real."""
    seeds, states, vocabulary = table.shape
    edges = table.exp().cumsum(-1)[..., :-1].reshape(seeds * states, vocabulary - 1)
    first = (states * torch.arange(seeds))[:, None, None]
    state = parts["starts"][prompts][..., None].expand(uniforms.shape[:-1])
    places, tokens, mask = [], [], []
    for uniform in uniforms.unbind(-1):
        alive = state != END
        here = state.clamp(min=0)
        rows = edges.index_select(0, (first + here).reshape(-1)).reshape(*here.shape, -1)
        token = (rows <= uniform[..., None]).sum(-1) * alive
        places.append(here * vocabulary + token)
        tokens.append(token)
        mask.append(alive)
        state = torch.where(alive, parts["transitions"][here, token], END)
    index, tokens, mask = (torch.stack(one, -1) for one in (places, tokens, mask))
    return index, tokens, mask


def _pick(table: Any, index: Any) -> Any:
    return table.flatten(1).gather(1, index.flatten(1)).reshape(index.shape)


# ---- JAX -------------------------------------------------------------------------------------------


def jitted(
    draw: Callable[..., Any], task: Task, config: TrainConfig, numbers: np.ndarray | None = None
) -> Run:
    """JAX: jit of vmap over the seeds of scan over the updates."""
    import jax

    jax.config.update("jax_enable_x64", numbers is not None)
    if numbers is None:
        source = jax.random.split(jax.random.key(config.seed), (config.seeds, config.updates))
    else:
        draw, source = given, jax.numpy.asarray(numbers.swapaxes(0, 1))
    function = jax.jit(jax.vmap(partial(_train_one, jax, task, config, draw)))
    return lambda: jax.block_until_ready(function(source))


def given(jax: ModuleType, task: Task, config: TrainConfig, table: Any, numbers: Any) -> tuple[Any, Any]:
    """Prompts, and a function that chooses tokens, both by inverse distribution functions."""
    jnp = jax.numpy
    prompts = (jnp.asarray(task.prompt_probs.cumsum()[:-1]) <= numbers[:, :1]).sum(-1)
    uniforms = numbers[:, 1:].reshape(config.prompts, config.group_size, task.max_length)
    edges = jnp.exp(table).cumsum(-1)[:, :-1]
    return prompts, lambda t, states: (edges[states] <= uniforms[..., t, None]).sum(-1)


def inverse(jax: ModuleType, task: Task, config: TrainConfig, table: Any, key: Any) -> tuple[Any, Any]:
    """The same with numbers of one's own, one per token."""
    numbers = jax.random.uniform(key, (config.prompts, 1 + config.group_size * task.max_length))
    return given(jax, task, config, table, numbers)


def categorical(jax: ModuleType, task: Task, config: TrainConfig, table: Any, key: Any) -> tuple[Any, Any]:
    """By the library's own categorical distribution, which draws one number for each token there is."""
    first, *others = jax.random.split(key, 1 + task.max_length)
    prompts = jax.random.choice(
        first, len(task.prompts), (config.prompts,), p=jax.numpy.asarray(task.prompt_probs)
    )
    return prompts, lambda t, states: jax.random.categorical(others[t], table[states])


def _train_one(jax: ModuleType, task: Task, config: TrainConfig, draw: Any, source: Any) -> tuple[Any, Any]:
    """All updates of one seed."""
    logits = jax.numpy.asarray(task.ref_logits, float)
    begin = (logits, 0.0 * logits, 0.0 * logits, 0)
    end, curve = jax.lax.scan(partial(_update_one, jax, task, config, draw), begin, source)
    return curve, end[0]


def _update_one(
    jax: ModuleType, task: Task, config: TrainConfig, draw: Any, state: Any, source: Any
) -> tuple[Any, Any]:
    """Sample, judge, and take config.epochs steps of Adam; the mean reward is the result."""
    jnp = jax.numpy
    table = jax.nn.log_softmax(state[0])
    prompts, choose = draw(jax, task, config, table, source)
    states, tokens, mask = _walk_one(jnp, task, config, prompts, choose)
    rewards = tenths(jnp, jnp.asarray(answers_of(task))[prompts][:, None], tokens, mask) / 10
    spread = rewards.std(-1, ddof=1, keepdims=True)
    advantages = ((rewards - rewards.mean(-1, keepdims=True)) / (spread + 1e-4))[..., None]
    weights = mask / mask.sum(-1, keepdims=True) / rewards.size
    old, ref = (
        one[states, tokens] for one in (table, jax.nn.log_softmax(jnp.asarray(task.ref_logits, float)))
    )

    def loss(logits: Any) -> Any:
        return objective(jnp, jax.nn.log_softmax(logits)[states, tokens], old, ref, advantages, weights)

    for _ in range(config.epochs):
        state = adam(jnp, config.learning_rate, *state, jax.grad(loss)(state[0]))
    return state, rewards.mean()


def _walk_one(
    jnp: ModuleType, task: Task, config: TrainConfig, prompts: Any, choose: Any
) -> tuple[Any, Any, Any]:
    """States, tokens, and which are real, each (P, G, T)."""
    starts, transitions = jnp.asarray(task.starts), jnp.asarray(task.transitions)
    state = jnp.broadcast_to(starts[prompts][:, None], (config.prompts, config.group_size))
    steps = []
    for t in range(task.max_length):
        alive, here = state != END, jnp.maximum(state, 0)
        token = jnp.where(alive, choose(t, here), 0)
        steps.append((here, token, alive))
        state = jnp.where(alive, transitions[here, token], END)
    states, tokens, mask = (jnp.stack(one, -1) for one in zip(*steps, strict=True))
    return states, tokens, mask


def adam(
    jnp: ModuleType, rate: float, logits: Any, mean: Any, square: Any, steps: Any, gradient: Any
) -> tuple[Any, Any, Any, Any]:
    """One step, as in `grpo_ref.learning.optim.Adam`."""
    steps, mean, square = steps + 1, 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
    scale = jnp.sqrt(square / (1 - 0.999**steps)) + 1e-8
    return logits - rate * mean / (1 - 0.9**steps) / scale, mean, square, steps


PEERS = {
    "PyTorch, 2 threads": ("torch", partial(eager, 2)),
    "PyTorch, 1 thread": ("torch", partial(eager, 1)),
    "JAX inverse CDF": ("jax", partial(jitted, inverse)),
    "JAX categorical": ("jax", partial(jitted, categorical)),
}
"""Name -> the module it needs, and how to prepare it. On a busy machine two threads of PyTorch wait for each
other, up to a hundred times as long as they compute; one thread does not."""
