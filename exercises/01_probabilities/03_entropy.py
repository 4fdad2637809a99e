"""How undecided is the policy?

Easy, 1 point. GRADING.md says how answers are graded.

The policy, that is the language model in training, gives every token of its vocabulary a
probability of coming next. The entropy says in one number how undecided it is: 0 if one token is
certain, log V if all V tokens are equally likely. It is the first curve to look at during training.
A policy learns from the differences among its own answers; when its entropy falls to 0 it always
gives the same answer, and there is nothing left to learn from.

## Your task

Write `entropy(probs)`.

Write `entropy(probs)`, the entropy along the last axis:

    H = -Σₐ pₐ log pₐ,    with 0 log 0 = 0

pₐ is the probability of token a, and the logarithm is the natural one. A token of probability 0
adds nothing; np.log(0) is -inf, and 0 times -inf is NaN, so it needs care. Whatever axes come
before the last one, each row has an entropy of its own.

* `probs`: p, probabilities; each row along the last axis, the vocabulary, sums to 1 up to rounding;
  (V,), (N, V) or (B, N, V); 0 to 1.

* B, N and V are at least 1.
* Every number in `probs` is 0 or at least 1e-300 in absolute value.

One number per row, in nats: the shape of probs without its last axis, for a single row a number.

* A probability may be 0 or 1, and a tiny one counts with its own logarithm.
* A certain token gives 0. No axis is empty.

## Examples

    >>> entropy([[0.5, 0.5]])
    [0.693147]

Two terms of -1/2 log 1/2 each, together log 2 = 0.693147.

    >>> entropy([[0.5, 0.25, 0.25, 0], [0, 0, 1, 0]])
    [1.03972, 0]

1/2 log 2 + 2 · 1/4 log 4 + 0 = 3/2 log 2 = 1.03972; and a certain token leaves no doubt.

## When it is solved

TRL and verl compute it from the logits z, verl as log Σ exp(z) - Σ p z; there the zeros need no
care, because no logit is -inf.

## See also

* Source: Shannon 1948, A Mathematical Theory of Communication, sec. 6.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade probabilities/entropy
"""

import numpy as np


def entropy(probs):
    """Entropy along the last axis, in nats."""
    raise NotImplementedError("probabilities/entropy")
