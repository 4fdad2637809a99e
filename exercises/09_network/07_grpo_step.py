"""One training step of GRPO

Hard, 5 points. GRADING.md says how answers are graded.

This is all of GRPO for one prompt, from rewards to weights. The policy has sampled a group of G
completions, each with a reward.

## Your task

Write `grpo_step(embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate,
clip=0.2)`.

Take one step of gradient ascent on

    J = Σ m min(ρ A, clip(ρ, 1 - ε, 1 + ε) A) / Σ m
    A[i] = (r[i] - mean(r)) / (std(r) + 1e-4)
    ρ[i, t] = exp(log π(tokens[i, t] | tokens[i, t - 1]) - old_log_probs[i, t])

r is `rewards`, m is `mask` and ε is `clip`. The sums of J run over all completions i and positions
t ≥ 1. Mean and std run over all G rewards, even if the mask of a completion is all zeros. std
divides by G. A and the old log-probabilities are constants. As in `network/imitation_step`, E is
`embeddings`, W is `weight`, and the policy after a token x is

    h = tanh(E[x] W),    z = E h,    π(· | x) = softmax(z)

A token is clipped if A > 0 and ρ > 1 + ε, or if A < 0 and ρ < 1 - ε. It counts in Σ m, but its
min(...) has derivative 0. For all other tokens, ∂ min(...)/∂ log π = ρ A.

| argument        | meaning                         | shape  | values               |
| --------------- | ------------------------------- | ------ | -------------------- |
| `embeddings`    | E, one row per token            | (V, D) | −1000 to 1000        |
| `weight`        | W                               | (D, D) | −10 to 10            |
| `tokens`        | the tokens of each text         | (G, T) | integers, 0 to V - 1 |
| `mask`          | m, 1 on sampled tokens, else 0  | (G, T) | 0 or 1               |
| `rewards`       | r, one per completion           | (G,)   | integers, -5 to 5    |
| `old_log_probs` | log πold of each token          | (G, T) | −10 to 0             |
| `learning_rate` | step size                       | number | 0.01 to 100          |
| `clip`          | ε, half-width of the clip range | number | 0.05 to 0.9          |

* `mask`: zeros may be anywhere, and a row may be all zeros.
* D is at least 1.
* G, T and V are at least 2.
* No ratio is within 1e-9 of 1 - ε or 1 + ε where m is 1.

Return a tuple: E + learning_rate · ∂J/∂E, W likewise, and the clip fraction, Σ m [clipped] / Σ m.
If no position counts or all rewards are equal, the weights stay and the fraction is 0.

## Examples

**On policy.** a = 0.5493061 is log 3 / 2. The old log-probabilities are log 1/4 and log 3/4.

    >>> grpo_step([[0.5493061, 0.0], [2.7465307, 2.0]], [[1.0, 0.0], [3.0, -1.0]],
    ...           [[0, 0], [0, 1]], [[0, 1], [0, 1]], [1, 0],
    ...           [[0.0, -1.3862944], [0.0, -0.2876821]], 1.0)
    ([[-0.0245384, -1.47158], [2.49658, 2]], [[0.547485, -0.549196], [3, -1]], 0)

E[0] W = (a, 0) and h = (1/2, 0). The logits a/2 and 5a/2 differ by log 3, so π is 1/4 and 3/4, and
ρ = 1. A is ±u with u = 0.5 / 0.5001. Each token has weight 1/2, so the gradient at the logits is
u/2 (3/4, -3/4) - u/2 (-1/4, 1/4) = u/2 (1, -1).

Output: E gets this times h. Input: the gradient of h is u/2 (E[0] - E[1]) = (-2au, -u), and that of
E[0] W is d = (-3au/2, -u). E[0] also gets d Wᵀ = (-3au/2, -9au/2 + u), and the first row of W gets
a d.

**One token is clipped.** One number per token, W = 1.

    >>> grpo_step([[0.5493061], [2.7465307]], [[1.0]],
    ...           [[0, 0], [0, 1]], [[0, 1], [0, 1]], [0, 1],
    ...           [[-1.0, -0.6931472], [-1.0, -0.2876821]], 2.0)
    ([[0.836228], [2.87151]], [[1.22626]], 0.5)

The first completion is bad, and its ratio (1/4) / (1/2) = 0.5 is below 0.8: clipped, but counted in
Σ m. The second has ρ = 1 and A = u. The gradient at the logits is u/2 (-1/4, 1/4).

## When it is solved

The mean over all tokens is the default of verl and TRL. The GRPO paper first averages within each
completion. With several prompts, each group has its own mean and std.

Next: `network/unmoved_end`, a broken run.

## See also

* Source: Shao et al. 2024, GRPO, sec. 4.1 (arXiv:2402.03300); verl, loss aggregation token-mean,
  for the mean.
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/grpo_step
"""

import numpy as np


def grpo_step(embeddings, weight, tokens, mask, rewards, old_log_probs, learning_rate, clip=0.2):
    """E and W after one step of ascent on the clipped objective, and the clip fraction."""
    raise NotImplementedError("network/grpo_step")
