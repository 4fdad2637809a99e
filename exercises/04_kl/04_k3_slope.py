"""Which KL does it really pull on?

Medium, 2 points. GRADING.md says how answers are graded.

k3 = e⁻ᵛ - 1 + v estimates, from one sampled token, how far the policy πθ is from the frozen
reference πref; v = log πθ - log πref. As a *value* it is right on average. But a penalty acts by
its *slope*: the derivative with respect to log πθ says how hard each token's probability is pushed
up or down. Averaged over tokens of the policy, this slope leads down KL(πref ‖ πθ), the divergence
in the other direction, and not down the KL whose value k3 estimates. Only the slope shows it, so
write it down.

## Your task

Write `k3_slope(log_probs, ref_log_probs)`.

Write `k3_slope(log_probs, ref_log_probs)`: the derivative of k3 with respect to log πθ, for each
token.

    k3 = e⁻ᵛ - 1 + v,    v = log πθ - log πref

πθ is the probability of the sampled token under the policy, πref that under the reference; the
inputs are their logarithms. The reference is frozen, so it is a constant. Where the policies are
nearly equal, the slope is nearly v: do not lose it to rounding.

* `log_probs`: log πθ of each sampled token, in nats; number, (T,), (N, T) or (B, N, T); −1000 to 0.
* `ref_log_probs`: log πref of the same tokens; number, (T,), (N, T) or (B, N, T); −1000 to 0.

* `log_probs` and `ref_log_probs` have the same shape.
* B, N and T are at least 1.
* log_probs - ref_log_probs is at most 700 in size, so that e⁻ᵛ does not overflow.

∂k3/∂log πθ, of the shape of the inputs; a number for numbers.

## Examples

    >>> k3_slope([-0.693147], [-1.38629])
    [0.5]

v = log 2. The derivative turns out to be 1 - e⁻ᵛ, here 1 - 1/2: the token is pushed down.

## When it is solved

TRL, verl, RLinf and Open Instruct let automatic differentiation find this slope. In verl and RLinf
it is 0 where v or the value is clamped.

## See also

* Source: TRL `GRPOTrainer._compute_loss`, differentiated.
* `grpo_ref.k3` is the same function in this package. Look at it when you are done.
* The notebook 06_kl_and_reward_hacking.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade kl/k3_slope
"""

import numpy as np


def k3_slope(log_probs, ref_log_probs):
    """The derivative of k3 with respect to log_probs."""
    raise NotImplementedError("kl/k3_slope")
