"""Two estimates from one token  (easy, 1 point)

## Background

The KL from the policy πθ to the frozen reference πref is an average over all tokens that the policy
could draw. A trainer looks at one token only, the one that was sampled, with its log-probability
under both. From these two numbers it estimates the KL; averaged over many tokens the estimate
should come near the true value. The first idea, k1, is the log-ratio itself: right on average, but
negative for every token that the policy likes less than the reference does, so it swings a lot.
Half its square, k2, is never negative and swings less, and its average is a little off the KL: it
is biased.

## Problem

Write `k1_and_k2(log_probs, ref_log_probs)`, which returns both estimates for every token:

    v = log πθ - log πref,    k1 = v,    k2 = v² / 2

πθ is the probability of the sampled token under the policy, πref that under the reference; the
inputs are their logarithms. Nothing is averaged or clipped.

## Input

- log_probs: log πθ of each sampled token, in nats; a number or shape (T,) or (N, T) or (B, N, T);
  from -1000 to 0.
- ref_log_probs: log πref of the same tokens; a number or shape (T,) or (N, T) or (B, N, T); from
  -1000 to 0.

## Output

Two arrays (k1, k2) in this order, each of the shape of the inputs, in nats; two numbers for
numbers.

## Examples

    k1_and_k2([-0.693147], [-1.38629])
    -> ([0.693147], [0.240227])

v = log 0.5 - log 0.25 = log 2 = 0.693, and half its square is 0.240.

## Constraints

- log_probs and ref_log_probs have the same shape.
- B, N and T are at least 1.
- Every number in log_probs and ref_log_probs is 0 or at least 1e-15 in size.

## Notes

In grpo_ref they are k1 and k2. verl, RLinf and Open Instruct offer both; Open Instruct limits v to
±40 beforehand, which is not asked for here.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude (of each array
by itself), and by 1e-09 where all expected values are 0; no test asks for a value that rounding
decides, such as what is left where numbers cancel. There are no points until the examples above are
right; then up to half of them for the tests that pass, and all of them when every test passes.

## Source

Schulman 2020, Approximating KL divergence; verl `kl_penalty`; Open Instruct `estimate_kl`.

## See also

- notebooks/06_kl_and_reward_hacking.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade kl/estimators
"""

import numpy as np


def k1_and_k2(log_probs, ref_log_probs):
    """The log-ratio to the reference, and half its square."""
    raise NotImplementedError("kl/estimators")
