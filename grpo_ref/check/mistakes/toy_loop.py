"""A small training loop made of exchangeable stages, for the training exercises of the course.

The stages are exchangeable so that an exercise can have wrong answers: the right answer is `RIGHT`, made of
the library's kernels, and a wrong answer is `replace(RIGHT, stage=...)`, often with a stage from `stages`.

There are two other loops. `grpo_ref.learning.loop` is the plain loop, with all recipes, tasks and metrics.
`grpo_ref.fast.many_seeds` computes the same numbers faster for many seeds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from grpo_ref.advantages import group_centered, group_normalized
from grpo_ref.aggregation import token_mean
from grpo_ref.learning.policies.table import gather, log_softmax, policy_of, pull_back
from grpo_ref.penalties import k3
from grpo_ref.surrogates import clipped

Walk = Callable[[Any, Any], tuple[Any, Any, Any]]
"""probs (N, V), uniforms (P, G, T) -> states, tokens, mask (P, G, T)."""
Verifier = Callable[[int, Any, Any], Any]
"""update, tokens (P, G, T), mask -> rewards (P, G)."""


def draw_tokens(probs: Any, uniforms: Any) -> Any:
    """Sample tokens (...) by inverting the cumulative distribution: probs (..., V), uniforms (...)."""
    return (probs.cumsum(-1)[..., :-1] <= uniforms[..., None]).sum(-1)


def arms(probs: Any, uniforms: Any) -> tuple[Any, Any, Any]:
    """Sample from a bandit: completions of one token, whose state is the prompt."""
    states = np.broadcast_to(np.arange(len(uniforms))[:, None, None], uniforms.shape)
    return states, draw_tokens(probs[states], uniforms), np.ones(uniforms.shape)


def chain(probs: Any, uniforms: Any) -> tuple[Any, Any, Any]:
    """Sample from a language whose state is the previous token; the table's last row is the start."""
    states, tokens = np.zeros((2, *uniforms.shape), dtype=int)
    state = np.full(uniforms.shape[:-1], len(probs) - 1)
    for t in range(uniforms.shape[-1]):
        states[..., t] = state
        tokens[..., t] = state = draw_tokens(probs[state], uniforms[..., t])
    return states, tokens, np.ones(uniforms.shape)


def countdown(probs: Any, uniforms: Any) -> tuple[Any, Any, Any]:
    """Sample from a language whose state is the position and whose token 0 ends the completion."""
    states = np.broadcast_to(np.arange(uniforms.shape[-1]), uniforms.shape)
    tokens = draw_tokens(probs[states], uniforms)
    ends = tokens == 0
    return states, tokens, (np.cumsum(ends, -1) - ends == 0).astype(float)


@dataclass(frozen=True)
class ToyLoop:
    """Gradient ascent on a table of logits, one batch at a time.

    Attributes:
      walk: (probs, uniforms) -> states, tokens and mask of the sampled completions.
      advantage: rewards (P, G) -> advantages.
      old: (log-probs when the batch was sampled, current log-probs) -> denominator of the ratio.
      slope: (log_ratio, advantages, clip) -> slope of the surrogate.
      reference: (log-probs at the start, current log-probs) -> log-probs of the reference policy.
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
        verify: Verifier,
        uniforms: Any,
        learning_rate: float,
        *,
        epochs: int = 1,
        clip: float = 0.2,
        kl_coef: float = 0.0,
    ) -> Any:
        """Train, and return the logits after all updates.

        Args:
          start: (N, V) initial logits.
          verify: computes the rewards.
          uniforms: (U, P, G, T) random numbers, for U updates.
          learning_rate, epochs, clip, kl_coef: settings.
        """
        logits, first = np.array(start, dtype=float), log_softmax(np.array(start, dtype=float))
        for update, numbers in enumerate(np.asarray(uniforms, dtype=float)):
            then = policy_of(logits)
            states, tokens, mask = self.walk(then.probs, numbers)
            advantages = self.advantage(verify(update, tokens, mask))[..., None]
            for _ in range(epochs):
                now = policy_of(logits)
                log_probs = gather(now.log_probs, states, tokens)
                log_ratio = log_probs - self.old(gather(then.log_probs, states, tokens), log_probs)
                ref = gather(self.reference(first, now.log_probs), states, tokens)
                pull = self.slope(log_ratio, advantages, clip) - kl_coef * self.penalty(log_probs, ref)
                step = self.back(self.weight(mask) * pull, states, tokens, now.probs)
                logits = logits + self.direction * learning_rate * step
        return logits


RIGHT = ToyLoop()
"""The right loop: centered advantages, clipped surrogate, k3, mean over the tokens of the batch."""


def normalized(rewards: Any) -> Any:
    """Return GRPO's advantages, with a standard deviation of divisor G: another right stage."""
    return group_normalized(rewards, ddof=0)
