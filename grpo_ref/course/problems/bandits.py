"""What the exercises with a table of bandits share: the toy loop as their function, draws, and a proof that it learns."""

from collections.abc import Callable
from typing import Any

import numpy as np

from grpo_ref.learning.policies.table import policy_of
from grpo_ref.mistakes.toy_loop import ToyLoop


def on_bandits(loop: ToyLoop, **settings: Any) -> Callable[..., Any]:
    """The loop as a function (payoffs (U, P, G, V), uniforms (U, P, G), learning_rate) -> logits (P, V)."""

    def train(payoffs: Any, uniforms: Any, learning_rate: float = 2.0) -> Any:
        payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)

        def verify(update: int, tokens: Any, mask: Any) -> Any:
            return np.take_along_axis(payoffs[update], tokens, axis=-1)[..., 0]

        start = np.zeros((payoffs.shape[1], payoffs.shape[-1]))
        return loop(start, verify, uniforms[..., None], learning_rate, **settings)

    return train


def draw_bandits(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    """A few updates on two prompts of different difficulty."""
    shape = (size, 2, size + 1)
    payoffs = rng.integers(0, 3, (*shape, 3)) + 5.0 * np.arange(2)[:, None, None]
    return payoffs, rng.random(shape), rng.uniform(0.5, 2.0)


def learns_bandits(train: Callable[..., Any]) -> str | None:
    """None if the best arm of both prompts has a probability above 0.9 after 150 updates, else a sentence."""
    rng = np.random.default_rng(0)
    means = np.array([[0.1, 0.5, 0.2, 0.3], [0.9, 0.4, 0.6, 0.5]])
    payoffs = (rng.random((150, 2, 16, 4)) < means[:, None]).astype(float)
    probs = policy_of(np.asarray(train(payoffs, rng.random((150, 2, 16)), 4.0), dtype=float)).probs
    worst = probs[np.arange(2), means.argmax(-1)].min()
    if worst > 0.9:
        return None
    return f"after 150 updates the best arms should have probability 0.9, one has {worst:.2f}"
