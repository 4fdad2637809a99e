"""A KL from one token  (medium, 2 points)

## Background

A trainer wants to know how far the policy πθ has moved from the frozen reference πref, which the KL
measures, but it sees only the sampled token with its two log-probabilities. The log-ratio of the
two is right on average and negative for every other token or so; its half square is never negative
and not right on average. Schulman's third estimate has both virtues. To the log-ratio it adds
πref/πθ - 1, which is 0 on average over tokens drawn from the policy and takes most of the swings
away. It is the penalty of the GRPO paper.

## Problem

Write `k3(log_probs, ref_log_probs)`, one estimate per token:

    v = log πθ - log πref,    k3 = e⁻ᵛ - 1 + v

πθ is the probability of the sampled token under the policy, πref that under the reference; the
inputs are their logarithms. Nothing is averaged or clipped.

For nearly equal policies v is small and k3 is about v²/2, far smaller still. There e⁻ᵛ is a number
near 1, and rounding it costs most of the digits that are left after 1 is taken off. Your answer has
to keep them: at v = 1e-5 the value 5e-11 must be right to nine digits.

## Input

- log_probs: log πθ of each sampled token, in nats; a number or shape (T,) or (N, T) or (B, N, T);
  from -1000 to 0.
- ref_log_probs: log πref of the same tokens; a number or shape (T,) or (N, T) or (B, N, T); from
  -1000 to 0.

## Output

An array of the shape of the inputs, in nats; a number for numbers. No value is negative.

## Examples

    k3([-0.693147], [-1.38629])
    -> [0.193147]

v = log 0.5 - log 0.25 = log 2, so e⁻ᵛ = 1/2 and k3 = 1/2 - 1 + log 2 = 0.193.

## Constraints

- log_probs and ref_log_probs have the same shape.
- B, N and T are at least 1.
- Every number in log_probs and ref_log_probs is 0 or at least 1e-15 in size.
- log_probs - ref_log_probs is 0, or at least 1e-5 in size.
- log_probs - ref_log_probs is at most 700 in size, so that e⁻ᵛ does not overflow.

## Notes

TRL computes it as it stands here. verl and RLinf limit v to ±20 and the value to ±10, Open Instruct
limits v to ±40.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

Schulman 2020, Approximating KL divergence, k3; DeepSeekMath, eq. 4 (arXiv:2402.03300).

## See also

- grpo_ref.k3, the same in this package: look at it when you are done.
- notebooks/06_kl_and_reward_hacking.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade kl/k3
"""

import numpy as np


def k3(log_probs, ref_log_probs):
    """Schulman's unbiased, never negative estimate, one per token."""
    raise NotImplementedError("kl/k3")
