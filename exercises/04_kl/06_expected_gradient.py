"""Whose gradient is unbiased?

Medium, 2 points. GRADING.md says how answers are graded.

k1, k2 and k3 estimate from one sampled token how far the policy π is from the frozen reference
πref. A trainer adds such an estimate to its loss, as a penalty, and follows its gradient. But being
right on average as a *value* says nothing of the *gradient*: k1 is right on average, and as a
penalty useless, because on average its gradient is zero. k2 is not right on average, and its
gradient is exactly that of the KL. k3, which most trainers use, is right on average too, and its
gradient is that of KL(πref ‖ π), another divergence. In a single state with few tokens the averages
can be written out, and you can see it for yourself.

## Your task

Write `expected_gradients(logits, ref_log_probs)`.

Write `expected_gradients(logits, ref_log_probs)` for one state with V tokens and π =
softmax(logits).

A trainer draws a token a from π and follows the slope k'(vₐ) of an estimator k at that token: the
logits move along k'(vₐ) ∇ log πₐ. On average over the tokens drawn this is

    gₖ = Σₐ πₐ k'(vₐ) ∇ log πₐ,    vₐ = log πₐ - log πrefₐ,    ∇ log πₐ = (one-hot of a) - π

    k1' = 1,    k2' = v,    k3' = 1 - e⁻ᵛ

The one-hot vector of a is 1 at a and 0 elsewhere; ∇ is the gradient with respect to the V logits.
Beside these three give the true gradient of KL(π ‖ πref) = Σₐ πₐ vₐ, whose entry a is

    πₐ (vₐ - KL)

Logits may lie a thousand or more apart. Then π has entries that round to 0 and e⁻ᵛ overflows, but π
e⁻ᵛ does not: every gradient is finite, and an entry of k3 need not be 0 where π is 0.

| argument        | meaning                                      | shape | values        |
| --------------- | -------------------------------------------- | ----- | ------------- |
| `logits`        | of the V tokens in this state                | (V,)  | −1000 to 1000 |
| `ref_log_probs` | log πref in nats; the probabilities sum to 1 | (V,)  | −900 to 0     |

* V is at least 2.

A dict with the keys "kl", "k1", "k2" and "k3", each a (V,) array: a gradient with respect to the
logits. Its sign is that of the formulas, so it leads uphill.

## Examples

    >>> expected_gradients([0.0, 0.0], [-0.223144, -1.60944])
    {'kl': [-0.346574, 0.346574], 'k1': [0, 0], 'k2': [-0.346574, 0.346574], 'k3': [-0.3, 0.3]}

π = 1/2, 1/2, so v = log 5/8 and log 5/2. Their mean, the KL, is log 5/4: v - KL = -log 2 and log 2,
times π = 1/2 that is -0.347 and 0.347. k3' is 1 - 8/5 = -0.6 and 1 - 2/5 = 0.6 with mean 0.

## When it is solved

The drawing itself is not differentiated: trainers draw the tokens first, then differentiate k at
them. TRL, and verl with low_var_kl, use k3; verl can combine any value with the gradient of k2.

## See also

* Source: Schulman 2020, Approximating KL divergence; verl `kl_penalty`; TRL
  `GRPOTrainer._compute_loss`.
* The notebook 06_kl_and_reward_hacking.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade kl/expected_gradient
"""

import numpy as np


def expected_gradients(logits, ref_log_probs):
    """The gradient of the KL, and what each estimator's gradient is on average."""
    raise NotImplementedError("kl/expected_gradient")
