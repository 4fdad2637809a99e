"""The toy loop: a small training loop in exchangeable stages, for the exercises that train.

Every stage of it can be replaced by a wrong one, which is what it is for: the right answer of an exercise is
`RIGHT`, made of the library's kernels, and a wrong answer is `replace(RIGHT, stage=...)`, often with one of
`stages`. There are two other loops: `grpo_ref.learning.loop` is the plain one, with every recipe, task and
metric, and `grpo_ref.fast.many_seeds` trains many seeds to the same numbers faster.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from grpo_ref.kernels.advantages import group_centered, group_normalized
from grpo_ref.kernels.aggregation import token_mean
from grpo_ref.kernels.penalties import k3
from grpo_ref.kernels.surrogates import clipped
from grpo_ref.learning.policies.table import gather, log_softmax, policy_of, pull_back

Walk = Callable[[Any, Any], tuple[Any, Any, Any]]
"""probs (N, V), uniforms (P, G, T) -> states, tokens, mask (P, G, T)."""
Verifier = Callable[[int, Any, Any], Any]
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
class ToyLoop:
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
        verify: Verifier,
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
          verify: gives the rewards.
          uniforms: (U, P, G, T), one update each.
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
"""The right loop: centered advantages, the clipped surrogate, k3, the mean over tokens."""


def normalized(rewards: Any) -> Any:
    """Another right advantage: also divided by the std of divisor G, as GRPO does."""
    return group_normalized(rewards, ddof=0)
