"""The gradient of the logits

Medium, 2 points. GRADING.md says how answers are graded.

The policy has one number per token of its vocabulary, the logits. It samples tokens from π, the
softmax of the logits. The loss L depends on the log-probabilities of the sampled tokens. Suppose
that you know the derivative of L with respect to each of them. To train the policy, you still need
the derivatives with respect to the logits.

If you raise one logit, its token becomes more likely and all other tokens become less likely,
because probabilities sum to 1. So each sampled token gives all logits of its row a derivative.

## Your task

Write `logits_gradient(logits, tokens, gradient)`.

Return ∂L/∂logits, by the chain rule through the log-softmax:

    ∂L/∂logits[n, a] = g[n] (1[a = tokens[n]] - π[n, a])

n is the row, and a is a token of the vocabulary. g is `gradient`: g[n] is the derivative of L with
respect to log π[n, tokens[n]]. π[n] is the softmax of row n of `logits`. 1[a = tokens[n]] is 1 for
the sampled token of row n and 0 for all others. Rows do not affect each other, and nothing is
averaged over the rows.

Two logits of a row may differ by 1000 or more. The smaller one then has probability 0, and nothing
may overflow.

| argument   | meaning                             | shape  | values               |
| ---------- | ----------------------------------- | ------ | -------------------- |
| `logits`   | one row per sampled token           | (N, V) | −1000 to 1000        |
| `tokens`   | id of the sampled token in each row | (N,)   | integers, 0 to V - 1 |
| `gradient` | g: ∂L/∂log π of each sampled token  | (N,)   | −1e4 to 1e4          |

* N and V are at least 1.

Return an array of shape (N, V). Each row sums to 0, up to rounding. If V is 1, all entries are 0.

## Examples

**A fair coin.** Token 0 was sampled.

    >>> logits_gradient([[0, 0]], [0], [1])
    [[0.5, -0.5]]

π is 1/2 for both tokens. Sampled token: 1 · (1 - 1/2) = 0.5. Other token: 1 · (0 - 1/2) = -0.5.

**Two rows.** In the second row, 1.0986123 is log 3, so the probabilities are 3/4, 0 (rounded) and
1/4.

    >>> logits_gradient([[0, 0, -1000], [1.0986123, -1000, 0]], [0, 2], [1, -2])
    [[0.5, -0.5, 0], [1.5, 0, -1.5]]

The second row has g = -2, and token 2 was sampled: -2 · (0 - 3/4) = 1.5, -2 · (0 - 0) = 0 and -2 ·
(1 - 1/4) = -1.5.

**Large logits.** The token with probability 0 was sampled.

    >>> logits_gradient([[1000, 0]], [1], [1])
    [[-1, 1]]

π is 1 and 0, so the entries are 1 · (0 - 1) = -1 and 1 · (1 - 0) = 1.

## When it is solved

Trainers leave this step to automatic differentiation. grpo_ref writes it by hand, in
`grpo_ref.learning.policies.table.pull_back`. To lower the loss, an optimizer takes a step against
this gradient.

Next: `training/scatter_add`. In a batch, many tokens are sampled from the same row of a table, and
their derivatives must be added.

## See also

* Source: Williams 1992, Simple statistical gradient-following algorithms, sec. 6.
* Step 1 of the derivation, policy gradient, explains the formula.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade training/policy_gradient
"""

import numpy as np


def logits_gradient(logits, tokens, gradient):
    """Return ∂L/∂logits, by the chain rule through the log-softmax."""
    raise NotImplementedError("training/policy_gradient")
