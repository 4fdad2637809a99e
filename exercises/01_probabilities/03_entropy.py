"""How undecided is the policy?  (easy, 1 point)

## Background

The policy, that is the language model in training, gives every token of its vocabulary a
probability of coming next. The entropy says in one number how undecided it is: 0 if one token is
certain, log V if all V tokens are equally likely. It is the first curve to look at during training.
A policy learns from the differences among its own answers; when its entropy falls to 0 it always
gives the same answer, and there is nothing left to learn from.

## Problem

Write `entropy(probs)`, the entropy along the last axis:

    H = -Σₐ pₐ log pₐ,    with 0 log 0 = 0

pₐ is the probability of token a, and the logarithm is the natural one. A token of probability 0
adds nothing; np.log(0) is -inf, and 0 times -inf is NaN, so it needs care. Whatever axes come
before the last one, each row has an entropy of its own.

## Input

- probs: p, probabilities; each row along the last axis, the vocabulary, sums to 1 up to rounding;
  shape (V,) or (N, V) or (B, N, V); from 0 to 1.

## Output

One number per row, in nats: the shape of probs without its last axis, for a single row a number.

## Examples

    entropy([[0.5, 0.5]])
    -> [0.693147]

Two terms of -1/2 log 1/2 each, together log 2 = 0.693147.

    entropy([[0.5, 0.25, 0.25, 0], [0, 0, 1, 0]])
    -> [1.03972, 0]

1/2 log 2 + 2 · 1/4 log 4 + 0 = 3/2 log 2 = 1.03972; and a certain token leaves no doubt.

## Constraints

- B, N and V are at least 1.
- Every number in probs is 0 or at least 1e-300 in size.
- A probability may be 0 or 1, and a tiny one counts with its own logarithm.
- A certain token gives 0. No axis is empty.

## Notes

TRL and verl compute it from the logits z, verl as log Σ exp(z) - Σ p z; there the zeros need no
care, because no logit is -inf.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

Shannon 1948, A Mathematical Theory of Communication, sec. 6.

## See also

- notebooks/02_from_bandit_to_language.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade probabilities/entropy
"""

import numpy as np


def entropy(probs):
    """Entropy along the last axis, in nats."""
    raise NotImplementedError("probabilities/entropy")
