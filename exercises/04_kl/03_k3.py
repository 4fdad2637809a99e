"""A KL from one token

Medium, 2 points. GRADING.md says how answers are graded.

A trainer wants to know how far the policy πθ has moved from the frozen reference πref, which the KL
measures, but it sees only the sampled token with its two log-probabilities. The log-ratio of the
two is right on average and negative for every other token or so; its half square is never negative
and not right on average. Schulman's third estimate has both virtues. To the log-ratio it adds
πref/πθ - 1, which is 0 on average over tokens drawn from the policy and takes most of the swings
away. It is the penalty of the GRPO paper.

## Your task

Write `k3(log_probs, ref_log_probs)`.

Write `k3(log_probs, ref_log_probs)`, one estimate per token:

    v = log πθ - log πref,    k3 = e⁻ᵛ - 1 + v

πθ is the probability of the sampled token under the policy, πref that under the reference; the
inputs are their logarithms. Nothing is averaged or clipped.

For nearly equal policies v is small and k3 is about v²/2, far smaller still. There e⁻ᵛ is a number
near 1, and rounding it costs most of the digits that are left after 1 is taken off. Your answer has
to keep them: at v = 1e-5 the value 5e-11 must be right to nine digits.

* `log_probs`: log πθ of each sampled token, in nats; number, (T,), (N, T) or (B, N, T); −1000 to 0.
* `ref_log_probs`: log πref of the same tokens; number, (T,), (N, T) or (B, N, T); −1000 to 0.

* `log_probs` and `ref_log_probs` have the same shape.
* B, N and T are at least 1.
* log_probs - ref_log_probs is 0, or at least 1e-5 in size.
* log_probs - ref_log_probs is at most 700 in size, so that e⁻ᵛ does not overflow.

An array of the shape of the inputs, in nats; a number for numbers. No value is negative.

## Examples

    >>> k3([-0.693147], [-1.38629])
    [0.193147]

v = log 0.5 - log 0.25 = log 2, so e⁻ᵛ = 1/2 and k3 = 1/2 - 1 + log 2 = 0.193.

## When it is solved

TRL computes it as it stands here. verl and RLinf limit v to ±20 and the value to ±10, Open Instruct
limits v to ±40.

## See also

* Source: Schulman 2020, Approximating KL divergence, k3; DeepSeekMath, eq. 4 (arXiv:2402.03300).
* `grpo_ref.k3` is the same function in this package. Look at it when you are done.
* The notebook 06_kl_and_reward_hacking.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade kl/k3
"""

import numpy as np


def k3(log_probs, ref_log_probs):
    """Schulman's unbiased, never negative estimate, one per token."""
    raise NotImplementedError("kl/k3")
