"""The expected gradient of each KL estimate

Medium, 2 points. GRADING.md says how answers are graded.

k1, k2 and k3 estimate, from one sampled token, how far the policy π is from the frozen reference
πref. A trainer adds such an estimate to its loss and follows its gradient. But an estimate that is
right on average need not have the right gradient on average. In one state with few tokens you can
compute these averages exactly.

## Your task

Write `expected_gradients(logits, ref_log_probs)`.

One state has V tokens, and π = softmax(logits). Return the expected gradient of each estimate and
the gradient of KL(π ‖ πref) itself, with respect to the V logits. For an estimate k with the slope
k',

    gₖ = Σₐ πₐ k'(vₐ) ∇ log πₐ,    vₐ = log πₐ - log πrefₐ,    ∇ log πₐ = (one-hot of a) - π

    k1' = 1,    k2' = v,    k3' = 1 - e⁻ᵛ

For a sampled token a, the gradient is k'(vₐ) ∇ log πₐ, and gₖ is the average. The one-hot vector of
a is 1 at a and 0 elsewhere. Entry a of the KL's gradient is

    πₐ (vₐ - KL)

where KL is the number Σₐ πₐ vₐ.

Logits may differ by 1000. Then some πₐ round to 0 and e⁻ᵛ overflows, but every gradient is finite.
In the tests, no value depends on digits that cancel in vₐ - KL.

| argument        | meaning                              | shape | values        |
| --------------- | ------------------------------------ | ----- | ------------- |
| `logits`        | one logit per token of the state     | (V,)  | −1000 to 1000 |
| `ref_log_probs` | log πref of the same tokens, in nats | (V,)  | −900 to 0     |

* V is at least 2.
* The probabilities of the reference sum to 1, up to rounding.

Return a dict with the keys `"kl"`, `"k1"`, `"k2"` and `"k3"`. Each value is an array of shape (V,)
with the sign of its formula, so it points uphill.

## Examples

**A fair coin against 4 : 1.** The reference has the probabilities 0.8 and 0.2.

    >>> expected_gradients([0.0, 0.0], [-0.2231436, -1.6094379])
    {'kl': [-0.346574, 0.346574], 'k1': [0, 0], 'k2': [-0.346574, 0.346574], 'k3': [-0.3, 0.3]}

v = log(5/8), log(5/2), with the mean KL = log(5/4). So v - KL = -log 2, log 2; half of it is
∓0.346574. The slopes of k3 are 1 - 8/5 = -0.6 and 1 - 2/5 = 0.6. In the first entry of k3, the
tokens add 1/2 · (-0.6) · 1/2 = -0.15 and 1/2 · 0.6 · (-1/2) = -0.15.

**Three tokens.** π = 1/2, 1/4, 1/4 and πref = 1/4, 1/4, 1/2.

    >>> expected_gradients([0.6931472, 0.0, 0.0], [-1.3862944, -1.3862944, -0.6931472])
    {'kl': [0.25993, -0.0433217, -0.216608], 'k1': [0, 0, 0],
     'k2': [0.25993, -0.0433217, -0.216608], 'k3': [0.25, 0, -0.25]}

v = log 2, 0, -log 2 and KL = (log 2)/4. The first entry of `"kl"` is 1/2 · 3/4 log 2 = 0.25993.

**A token that the policy never samples.** The second π is e⁻⁸⁰⁰, which rounds to 0; πref = 3/4,
1/4.

    >>> expected_gradients([0.0, -800.0], [-0.28768207, -1.38629436])
    {'kl': [0, 0], 'k1': [0, 0], 'k2': [0, 0], 'k3': [0.25, -0.25]}

v is about -800 + 1.4, so e⁻ᵛ overflows. The exact product π e⁻ᵛ is 1/4, so k3 still pulls.

## When it is solved

As a penalty, k1 does nothing on average. k2 has the gradient of the KL, although its value is
biased. k3 has the gradient of KL(πref ‖ π). TRL, and verl with `low_var_kl`, use k3; verl can
combine any value with the gradient of k2.

## See also

* Source: Schulman 2020, Approximating KL divergence; Tang & Munos 2025 (arXiv:2506.09477); verl
  `kl_penalty`; TRL `GRPOTrainer._compute_loss`.
* Step 8 of the derivation, kl in the loss, explains the formula.
* Does it help? `grpo-ref experiment run kl_optimum --quick` tests a claim about it.
* The notebook 06_kl_and_reward_hacking.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade kl/expected_gradient
"""

import numpy as np


def expected_gradients(logits, ref_log_probs):
    """Return the gradient of the KL and the expected gradients of k1, k2 and k3, by name."""
    raise NotImplementedError("kl/expected_gradient")
