"""The slope of k3

Medium, 2 points. GRADING.md says how answers are graded.

k3 estimates, from one sampled token, how far the policy πθ is from the frozen reference πref. As a
*value* it is right on average. But a trainer adds k3 to its loss and follows the *slope*: the
derivative with respect to log πθ says how hard the penalty pushes the probability of the token,
down if the slope is positive and up if it is negative.

On average over the policy's own tokens, these slopes do not lead down KL(πθ ‖ πref), whose value k3
estimates. They lead down KL(πref ‖ πθ), the KL in the other direction. You see it only in the
slope, so write the slope down.

## Your task

Write `k3_slope(log_probs, ref_log_probs)`.

For each token, return the derivative with respect to log πθ of

    k3 = e⁻ᵛ - 1 + v,    v = log πθ - log πref

πθ is the probability of the sampled token under the policy, and πref is its probability under the
reference. The inputs are the logarithms of these probabilities. The reference is frozen, so log
πref is a constant.

If the models are nearly equal, v is close to 0, and the slope is close to v. In some tests every v
of the call is 1e-6 or smaller in absolute value, and the values must be right to nine digits.

| argument        | meaning                       | shape                             | values     |
| --------------- | ----------------------------- | --------------------------------- | ---------- |
| `log_probs`     | log πθ of each token, in nats | number, (T,), (N, T) or (B, N, T) | −1000 to 0 |
| `ref_log_probs` | log πref of the same tokens   | number, (T,), (N, T) or (B, N, T) | −1000 to 0 |

* `log_probs` and `ref_log_probs` have the same shape.
* B, N and T are at least 1.
* `log_probs - ref_log_probs` is at most 700 in absolute value, so e⁻ᵛ does not overflow.

Return an array of the shape of the inputs, or a number if the inputs are numbers.

## Examples

**Twice as likely as under the reference.** The probabilities are 0.5 and 0.25.

    >>> k3_slope([-0.6931472], [-1.3862944])
    [0.5]

Raise log πθ by 0.01: v grows from 0.693147 to 0.703147, and k3 from 0.193147 to 0.198172. The
quotient is 0.005025 / 0.01 = 0.5025. Smaller steps come closer to 0.5. The penalty pushes the token
down.

**Half as likely.**

    >>> k3_slope([-1.3862944], [-0.6931472])
    [-1]

Raise log πθ by 0.01 again: k3 falls from 0.306853 to 0.296953, so the quotient is -0.99. The
penalty pushes the token up.

**Four tokens in two rows.** v is 2, -3, 0 and 0.5.

    >>> k3_slope([[-1.0, -4.0], [-2.0, -0.5]], [[-3.0, -1.0], [-2.0, -1.0]])
    [[0.864665, -19.0855], [0, 0.393469]]

The slope is 0 where both models agree: this is the minimum of k3.

**Nearly equal models.** v = 1e-9.

    >>> k3_slope([0.0], [-1e-9])
    [9.999999995e-10]

The slope is about v - v²/2.

## When it is solved

TRL, verl, RLinf and Open Instruct leave this derivative to automatic differentiation. In verl and
RLinf the slope is 0 where v or the value of k3 is limited. The exercise on the expected gradient
compares the slopes of k1, k2 and k3.

## See also

* Source: TRL `GRPOTrainer._compute_loss`, differentiated.
* `grpo_ref.penalties.k3` computes the same in this package. Look at it when you are done.
* Step 8 of the derivation, kl in the loss, explains the formula.
* Does it help? `grpo-ref experiment run kl_estimators --quick` tests a claim about it.
* The notebook 06_kl_and_reward_hacking.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade kl/k3_slope
"""

import numpy as np


def k3_slope(log_probs, ref_log_probs):
    """Return the derivative of k3 with respect to log_probs, for every token."""
    raise NotImplementedError("kl/k3_slope")
