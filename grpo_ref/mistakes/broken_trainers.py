"""A small trainer in exchangeable stages: the right answer of the exercises that train, and their wrong ones.

The right answer is `RIGHT`, made of the library's kernels; a wrong answer is `replace(RIGHT, stage=...)`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from grpo_ref.kernels.advantages import group_centered, group_normalized
from grpo_ref.kernels.aggregation import token_mean
from grpo_ref.kernels.penalties import k3
from grpo_ref.kernels.surrogates import clipped
from grpo_ref.learning.policies.table import gather, log_softmax, policy_of, pull_back, scatter_add

Walk = Callable[[Any, Any], tuple[Any, Any, Any]]
"""probs (N, V), uniforms (P, G, T) -> states, tokens, mask (P, G, T)."""
Judge = Callable[[int, Any, Any], Any]
"""update, tokens (P, G, T), mask -> rewards (P, G)."""


def draw_tokens(probs: Any, uniforms: Any) -> Any:
    """The inverse of the distribution function: probs (..., V), uniforms (...)."""
    return (probs.cumsum(-1)[..., :-1] <= uniforms[..., None]).sum(-1)


def arms(probs: Any, uniforms: Any) -> tuple[Any, Any, Any]:
    """A bandit: one token, in the state of its prompt."""
    states = np.broadcast_to(np.arange(len(uniforms))[:, None, None], uniforms.shape)
    return states, draw_tokens(probs[states], uniforms), np.ones(uniforms.shape)


def chain(probs: Any, uniforms: Any) -> tuple[Any, Any, Any]:
    """A language: the state is the token before; the last row of the table is the start."""
    states, tokens = np.zeros((2, *uniforms.shape), dtype=int)
    state = np.full(uniforms.shape[:-1], len(probs) - 1)
    for t in range(uniforms.shape[-1]):
        states[..., t] = state
        tokens[..., t] = state = draw_tokens(probs[state], uniforms[..., t])
    return states, tokens, np.ones(uniforms.shape)


def countdown(probs: Any, uniforms: Any) -> tuple[Any, Any, Any]:
    """A language whose state is the position and whose token 0 ends the completion."""
    states = np.broadcast_to(np.arange(uniforms.shape[-1]), uniforms.shape)
    tokens = draw_tokens(probs[states], uniforms)
    ends = tokens == 0
    return states, tokens, (np.cumsum(ends, -1) - ends == 0).astype(float)


@dataclass(frozen=True)
class Trainer:
    """Gradient ascent on a table of logits, a batch at a time.

    Attributes:
      walk: how completions are drawn.
      advantage: rewards (P, G) -> advantages.
      old: (log-probs when the batch was drawn, log-probs now) -> what the ratio is taken to.
      slope: (log_ratio, advantages, clip) -> slope of the surrogate.
      reference: (log-probs of the start, of now) -> reference.
      penalty: (log_probs, ref_log_probs) -> slope of the penalty.
      weight: mask -> weight of each token.
      back: (gradient, states, tokens, probs) -> gradient with respect to the logits.
      direction: +1 uphill, -1 downhill.
    """

    walk: Walk = arms
    advantage: Callable[[Any], Any] = group_centered
    old: Callable[[Any, Any], Any] = lambda then, now: then
    slope: Callable[[Any, Any, float], Any] = lambda x, a, clip: (
        clipped(x, a, clip_low=clip, clip_high=clip).slope
    )
    reference: Callable[[Any, Any], Any] = lambda start, now: start
    penalty: Callable[[Any, Any], Any] = lambda new, ref: k3(new, ref).direct
    weight: Callable[[Any], Any] = token_mean
    back: Callable[[Any, Any, Any, Any], Any] = pull_back
    direction: float = 1.0

    def __call__(
        self,
        start: Any,
        judge: Judge,
        uniforms: Any,
        learning_rate: float,
        *,
        epochs: int = 1,
        clip: float = 0.2,
        kl_coef: float = 0.0,
    ) -> Any:
        """The logits after all updates.

        Args:
          start: (N, V) logits.
          judge: gives the rewards.
          uniforms: (U, P, G, T), one update each.
          learning_rate, epochs, clip, kl_coef: settings.
        """
        logits, first = np.array(start, dtype=float), log_softmax(np.array(start, dtype=float))
        for update, numbers in enumerate(np.asarray(uniforms, dtype=float)):
            then = policy_of(logits)
            states, tokens, mask = self.walk(then.probs, numbers)
            advantages = self.advantage(judge(update, tokens, mask))[..., None]
            for _ in range(epochs):
                now = policy_of(logits)
                log_probs = gather(now.log_probs, states, tokens)
                log_ratio = log_probs - self.old(gather(then.log_probs, states, tokens), log_probs)
                ref = gather(self.reference(first, now.log_probs), states, tokens)
                pull = self.slope(log_ratio, advantages, clip) - kl_coef * self.penalty(log_probs, ref)
                step = self.back(self.weight(mask) * pull, states, tokens, now.probs)
                logits = logits + self.direction * learning_rate * step
        return logits


RIGHT = Trainer()


def on_bandits(trainer: Trainer, **settings: Any) -> Callable[..., Any]:
    """As a function (payoffs (U, P, G, V), uniforms (U, P, G), learning_rate) -> logits (P, V)."""

    def train(payoffs: Any, uniforms: Any, learning_rate: float = 2.0) -> Any:
        payoffs, uniforms = np.asarray(payoffs, dtype=float), np.asarray(uniforms, dtype=float)

        def judge(update: int, tokens: Any, mask: Any) -> Any:
            return np.take_along_axis(payoffs[update], tokens, axis=-1)[..., 0]

        start = np.zeros((payoffs.shape[1], payoffs.shape[-1]))
        return trainer(start, judge, uniforms[..., None], learning_rate, **settings)

    return train


def draw_bandits(rng: np.random.Generator, size: int) -> tuple[Any, ...]:
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
    return (
        None
        if worst > 0.9
        else f"after 150 updates the best arms should have probability 0.9, one has {worst:.2f}"
    )


# ---- stages that are wrong ------------------------------------------------------------------------


def normalized(rewards: Any) -> Any:
    """Divided by the std, of divisor G."""
    return group_normalized(rewards, ddof=0)


def batch_baseline(rewards: Any) -> Any:
    """The mean of the whole batch for a baseline."""
    return rewards - rewards.mean()


def raw(rewards: Any) -> Any:
    """No baseline."""
    return rewards


def greedy(probs: Any, uniforms: Any) -> tuple[Any, Any, Any]:
    """The likeliest arm instead of a sample."""
    states, tokens, mask = arms(probs, uniforms)
    return states, np.broadcast_to(probs.argmax(-1)[:, None, None], tokens.shape), mask


def repeats_lost(gradient: Any, states: Any, tokens: Any, probs: Any) -> Any:
    """Fancy assignment for the chosen entries: of several visits to an entry, one counts."""
    table = np.zeros_like(probs)
    table[states, tokens] += gradient
    visits = scatter_add(gradient, states, np.zeros_like(tokens), (len(probs), 1))
    return table - visits * probs


def one_hot_only(gradient: Any, states: Any, tokens: Any, probs: Any) -> Any:
    """The probabilities left out of the softmax's gradient."""
    return scatter_add(gradient, states, tokens, probs.shape)


def unweighted(mask: Any) -> Any:
    """A sum where a mean is due."""
    return np.asarray(mask, dtype=float)


def everywhere(mask: Any) -> Any:
    """The padding trained as well."""
    return np.full(mask.shape, 1.0 / mask.size)


def padded_mean(mask: Any) -> Any:
    """Divided by the padded length."""
    return mask / mask.size


def never_clipped(log_ratio: Any, advantages: Any, clip: float) -> Any:
    """The slope of ratio times advantage."""
    return np.exp(log_ratio) * advantages


def no_ratio(log_ratio: Any, advantages: Any, clip: float) -> Any:
    """Plain REINFORCE, whatever the ratio."""
    return advantages + 0.0 * log_ratio
