"""Two estimates of the KL, k1 and k2

Easy, 1 point. GRADING.md says how answers are graded.

The KL says how far the policy πθ has moved from the frozen reference πref. It is an average over
all tokens that the policy could sample. A trainer has only the token that the policy did sample,
with its log-probability under both models. From these two numbers it estimates the KL, and it
averages the estimates over many tokens.

The first estimate, k1, is the log-ratio itself. It is right on average, but it is negative for
every token that the policy finds less likely than the reference does, so it is noisy. The second,
k2, is half the square of the log-ratio. It is never negative, but it is *biased*: in general its
average is not the KL.

## Your task

Write `k1_and_k2(log_probs, ref_log_probs)`.

Return both estimates for every token:

    v = log πθ - log πref,    k1 = v,    k2 = v² / 2

πθ is the probability of the sampled token under the policy, and πref is its probability under the
reference. The inputs are the logarithms of these probabilities. Return every estimate as it is,
without averages and without limits.

| argument        | meaning                       | shape                             | values     |
| --------------- | ----------------------------- | --------------------------------- | ---------- |
| `log_probs`     | log πθ of each token, in nats | number, (T,), (N, T) or (B, N, T) | −1000 to 0 |
| `ref_log_probs` | log πref of the same tokens   | number, (T,), (N, T) or (B, N, T) | −1000 to 0 |

* `log_probs` and `ref_log_probs` have the same shape.
* B, N and T are at least 1.

Return a tuple of two arrays, k1 first; a list of the two is accepted too. Both have the shape of
the inputs. If the inputs are numbers, return two numbers. The unit is the nat.

## Examples

**Twice as likely as under the reference.** The probabilities are 0.5 and 0.25.

    >>> k1_and_k2([-0.6931472], [-1.3862944])
    ([0.693147], [0.240227])

v = log 0.5 - log 0.25 = log 2 = 0.693147, and half its square is 0.240227.

**Four tokens in two rows.**

    >>> k1_and_k2([[-1.0, -4.0], [-2.0, -0.5]], [[-3.0, -1.0], [-2.0, -1.0]])
    ([[2, -3], [0, 0.5]], [[2, 4.5], [0, 0.125]])

v is 2, -3, 0 and 0.5. The second token is less likely than under the reference: its k1 is negative,
but its k2 is 9 / 2 = 4.5. Where both models agree, both estimates are 0.

**Numbers.**

    >>> k1_and_k2(-4.0, -1.0)
    (-3, 4.5)

v = -4 - (-1) = -3.

## When it is solved

verl, RLinf and Open Instruct offer both estimates. Open Instruct first limits v to the range from
-40 to 40. In the library, `k1` and `k2` of `grpo_ref.penalties` also return the slope. The next
exercise has an estimate that is right on average and never negative.

## See also

* Source: Schulman 2020, Approximating KL divergence; verl `kl_penalty`; Open Instruct
  `estimate_kl`.
* Step 8 of the derivation, kl in the loss, explains the formula.
* The notebook 06_kl_and_reward_hacking.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade kl/estimators
"""

import numpy as np


def k1_and_k2(log_probs, ref_log_probs):
    """Return the log-ratio of policy and reference, and half its square, for every token."""
    raise NotImplementedError("kl/estimators")
