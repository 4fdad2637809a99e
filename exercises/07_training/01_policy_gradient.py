"""From log-probabilities to logits  (medium, 2 points)

## Background

The policy has one number for each token of its vocabulary, the logits, and draws tokens from π,
their softmax. The loss L does not see the logits: it knows the log-probability of the token that
was drawn, and says how L changes with it, ∂L/∂log π(token). To train, this must be carried on to
the logits. Making one token likelier makes all others less likely, since probabilities sum to 1; so
every logit of the row gets a share. This step is the whole policy gradient; what remains is to go a
little against it.

## Problem

Write `logits_gradient(logits, tokens, gradient)`, the chain rule through the log-softmax:

    ∂L/∂logits[n, a] = g[n] (1[a = tokens[n]] - π[n, a])

π[n] is the softmax of row n of the logits. 1[a = tokens[n]] is 1 at the token that was drawn in row
n and 0 at all others. The rows are independent, and nothing is averaged. Logits may be large: a
difference of a thousand is a probability of 0, not an overflow.

## Input

- logits: one row for each token that was drawn; shape (N, V); from -1000 to 1000.
- tokens: the number of the token that was drawn in each row; shape (N,); whole, from 0 to V - 1.
- gradient: g, the derivative ∂L/∂log π(token) of each row; shape (N,); from -10000 to 10000.

## Output

(N, V) ∂L/∂logits; each row sums to 0.

## Examples

    logits_gradient([[0.0, 0.0]], [0], [1.0])
    -> [[0.5, -0.5]]

π = 1/2, 1/2. The token drawn is 0: 1 - 1/2 = 0.5, and for the other 0 - 1/2 = -0.5.

## Constraints

- N and V are at least 1.
- Every number in logits and gradient is 0 or at least 1e-15 in size.
- With a vocabulary of one token, V = 1, the gradient is 0.

## Notes

Trainers leave this line to automatic differentiation; grpo_ref writes it by hand, in
grpo_ref.learning.policies.table.pull_back, where it also adds the rows of equal states.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

Williams 1992, Simple statistical gradient-following algorithms, sec. 6.

## See also

- notebooks/02_from_bandit_to_language.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade training/policy_gradient
"""

import numpy as np


def logits_gradient(logits, tokens, gradient):
    """The chain rule through the log-softmax."""
    raise NotImplementedError("training/policy_gradient")
