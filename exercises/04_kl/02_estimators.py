"""Two estimates from one token

Easy, 1 point. GRADING.md says how answers are graded.

The KL from the policy πθ to the frozen reference πref is an average over all tokens that the policy
could draw. A trainer looks at one token only, the one that was sampled, with its log-probability
under both. From these two numbers it estimates the KL; averaged over many tokens the estimate
should come near the true value. The first idea, k1, is the log-ratio itself: right on average, but
negative for every token that the policy likes less than the reference does, so it swings a lot.
Half its square, k2, is never negative and swings less, and its average is a little off the KL: it
is biased.

## Your task

Write `k1_and_k2(log_probs, ref_log_probs)`.

Write `k1_and_k2(log_probs, ref_log_probs)`, which returns both estimates for every token:

    v = log πθ - log πref,    k1 = v,    k2 = v² / 2

πθ is the probability of the sampled token under the policy, πref that under the reference; the
inputs are their logarithms. Nothing is averaged or clipped.

* `log_probs`: log πθ of each sampled token, in nats; number, (T,), (N, T) or (B, N, T); −1000 to 0.
* `ref_log_probs`: log πref of the same tokens; number, (T,), (N, T) or (B, N, T); −1000 to 0.

* `log_probs` and `ref_log_probs` have the same shape.
* B, N and T are at least 1.

Two arrays (k1, k2) in this order, each of the shape of the inputs, in nats; two numbers for
numbers.

## Examples

    >>> k1_and_k2([-0.693147], [-1.38629])
    ([0.693147], [0.240227])

v = log 0.5 - log 0.25 = log 2 = 0.693, and half its square is 0.240.

## When it is solved

In grpo_ref they are k1 and k2. verl, RLinf and Open Instruct offer both; Open Instruct limits v to
±40 beforehand, which is not asked for here.

## See also

* Source: Schulman 2020, Approximating KL divergence; verl `kl_penalty`; Open Instruct
  `estimate_kl`.
* The notebook 06_kl_and_reward_hacking.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade kl/estimators
"""

import numpy as np


def k1_and_k2(log_probs, ref_log_probs):
    """The log-ratio to the reference, and half its square."""
    raise NotImplementedError("kl/estimators")
