"""The k3 estimate of the KL

Medium, 2 points. GRADING.md says how answers are graded.

The KL says how far the policy πθ has moved from the frozen reference πref. A trainer estimates the
KL from the sampled token and its log-probability under both models. The log-ratio, k1, is right on
average, but it is negative for every token that the policy finds less likely than the reference
does. Half its square, k2, is never negative, but biased.

Schulman's third estimate has both advantages. It adds πref/πθ - 1 to the log-ratio. On average over
the policy's own tokens this term is 0, and it removes most of the noise while the two models are
close. The GRPO paper uses k3 as its penalty.

## Your task

Write `k3(log_probs, ref_log_probs)`.

Return one estimate per token:

    v = log πθ - log πref,    k3 = e⁻ᵛ - 1 + v

πθ is the probability of the sampled token under the policy, and πref is its probability under the
reference. The inputs are the logarithms of these probabilities. Return every estimate as it is,
without averages and without limits.

If the models are nearly equal, e⁻ᵛ is close to 1, and k3 is about v²/2, which is far smaller. Then
the subtraction of 1 loses digits. In some tests every v of the call is near 1e-5 in absolute value,
and the values must be right to nine digits.

| argument        | meaning                       | shape                             | values     |
| --------------- | ----------------------------- | --------------------------------- | ---------- |
| `log_probs`     | log πθ of each token, in nats | number, (T,), (N, T) or (B, N, T) | −1000 to 0 |
| `ref_log_probs` | log πref of the same tokens   | number, (T,), (N, T) or (B, N, T) | −1000 to 0 |

* `log_probs` and `ref_log_probs` have the same shape.
* B, N and T are at least 1.
* `log_probs - ref_log_probs` is 0, or at least 1e-5 in absolute value.
* `log_probs - ref_log_probs` is at most 700 in absolute value, so e⁻ᵛ does not overflow.

Return an array of the shape of the inputs, or a number if the inputs are numbers. The unit is the
nat.

## Examples

**Twice as likely as under the reference.** The probabilities are 0.5 and 0.25.

    >>> k3([-0.6931472], [-1.3862944])
    [0.193147]

v = log 0.5 - log 0.25 = log 2, so e⁻ᵛ = 1/2 and k3 = 1/2 - 1 + log 2.

**Four tokens in two rows.** v is 2, -3, 0 and 0.5.

    >>> k3([[-1.0, -4.0], [-2.0, -0.5]], [[-3.0, -1.0], [-2.0, -1.0]])
    [[1.13534, 16.0855], [0, 0.106531]]

Second token: e³ - 1 - 3 = 16.0855. A token that has become much less likely than under the
reference has a large k3. Where both models agree, k3 is 0.

**Nearly equal models.** v = 1e-5.

    >>> k3([0.0], [-1e-5])
    [4.99998333e-11]

The series of e⁻ᵛ gives v²/2 - v³/6 = 5e-11 - 1.6667e-16. Here `np.exp(-v) - 1 + v` has only six
correct digits.

## When it is solved

TRL uses k3 without limits. verl and RLinf limit v to 20 and the value to 10, both in absolute
value. Open Instruct limits v to 40 in absolute value. Next: the slope of k3, which is what training
follows.

## See also

* Source: Schulman 2020, Approximating KL divergence, k3; Shao et al. 2024, DeepSeekMath, eq. 4
  (arXiv:2402.03300).
* `grpo_ref.penalties.k3` computes the same in this package. Look at it when you are done.
* Step 8 of the derivation, kl in the loss, explains the formula.
* Does it help? `grpo-ref experiment run kl_estimators --quick` tests a claim about it.
* The notebook 06_kl_and_reward_hacking.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade kl/k3
"""

import numpy as np


def k3(log_probs, ref_log_probs):
    """Return Schulman's estimate k3 for every token. It is unbiased and never negative."""
    raise NotImplementedError("kl/k3")
