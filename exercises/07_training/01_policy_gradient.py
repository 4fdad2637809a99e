"""From log-probabilities to logits

Medium, 2 points. GRADING.md says how answers are graded.

The policy has one number for each token of its vocabulary, the logits, and draws tokens from π,
their softmax. The loss L does not see the logits: it knows the log-probability of the token that
was drawn, and says how L changes with it, ∂L/∂log π(token). To train, this must be carried on to
the logits. Making one token likelier makes all others less likely, since probabilities sum to 1; so
every logit of the row gets a share. This step is the whole policy gradient; what remains is to go a
little against it.

## Your task

Write `logits_gradient(logits, tokens, gradient)`.

Write `logits_gradient(logits, tokens, gradient)`, the chain rule through the log-softmax:

    ∂L/∂logits[n, a] = g[n] (1[a = tokens[n]] - π[n, a])

π[n] is the softmax of row n of the logits. 1[a = tokens[n]] is 1 at the token that was drawn in row
n and 0 at all others. The rows are independent, and nothing is averaged. Logits may be large: a
difference of a thousand is a probability of 0, not an overflow.

| argument   | meaning                                            | shape  | values               |
| ---------- | -------------------------------------------------- | ------ | -------------------- |
| `logits`   | one row for each token that was drawn              | (N, V) | −1000 to 1000        |
| `tokens`   | the number of the token that was drawn in each row | (N,)   | integers, 0 to V - 1 |
| `gradient` | g, the derivative ∂L/∂log π(token) of each row     | (N,)   | −1e4 to 1e4          |

* N and V are at least 1.

(N, V) ∂L/∂logits; each row sums to 0.

* With a vocabulary of one token, V = 1, the gradient is 0.

## Examples

    >>> logits_gradient([[0.0, 0.0]], [0], [1.0])
    [[0.5, -0.5]]

π = 1/2, 1/2. The token drawn is 0: 1 - 1/2 = 0.5, and for the other 0 - 1/2 = -0.5.

## When it is solved

Trainers leave this line to automatic differentiation; grpo_ref writes it by hand, in
grpo_ref.learning.policies.table.pull_back, where it also adds the rows of equal states.

## See also

* Source: Williams 1992, Simple statistical gradient-following algorithms, sec. 6.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade training/policy_gradient
"""

import numpy as np


def logits_gradient(logits, tokens, gradient):
    """The chain rule through the log-softmax."""
    raise NotImplementedError("training/policy_gradient")
