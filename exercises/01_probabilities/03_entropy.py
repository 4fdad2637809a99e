"""The entropy of a policy

Easy, 1 point. GRADING.md says how answers are graded.

The *policy*, the language model in training, gives every token of its vocabulary a probability of
coming next. The entropy is one number that measures how undecided the policy is. The entropy is 0
if one token is certain, and log V if all V tokens are equally likely.

Look at the entropy first when you watch a training run. A policy learns from the differences among
its own answers. If the entropy falls to 0, the policy always gives the same answer and has nothing
left to learn from.

## Your task

Write `entropy(probs)`.

Return the entropy along the last axis:

    H = -Σₐ pₐ log pₐ,    with 0 log 0 = 0

pₐ is the probability of token a, and log is the natural logarithm. A token of probability 0 adds
exactly 0. Each row along the last axis has an entropy of its own, whatever the axes before it are.

| argument | meaning                     | shape                     | values |
| -------- | --------------------------- | ------------------------- | ------ |
| `probs`  | p, one distribution per row | (V,), (N, V) or (B, N, V) | 0 to 1 |

* B, N and V are at least 1.
* Every number in `probs` is 0 or at least 1e-300 in absolute value.
* Each row of `probs` sums to 1 up to rounding.

Return one number per row, in nats: an array with the shape of `probs` without its last axis, or a
number for a single row. Every probability above 0 counts with its own logarithm, however small it
is.

## Examples

**A fair coin.**

    >>> entropy([[0.5, 0.5]])
    [0.693147]

Two terms of -1/2 log 1/2 each, together log 2 = 0.693147.

**Two rows with zeros.**

    >>> entropy([[0.5, 0.25, 0.25, 0.0], [0.0, 0.0, 1.0, 0.0]])
    [1.03972, 0]

First row: 1/2 log 2 + 2 · 1/4 log 4 + 0 = 3/2 log 2 = 1.03972. In the second row one token is
certain, so the entropy is 0.

**A tiny probability, in a single row.** Up to rounding, the two probabilities sum to 1.

    >>> entropy([1.0, 1e-300])
    6.90776e-298

The certain token adds 1 · log 1 = 0, and the other token adds -1e-300 · log 1e-300 = 1e-300 ·
690.776. The whole entropy comes from the tiny probability, so its logarithm has to be exact.

## When it is solved

TRL and verl compute the entropy from the logits z. verl uses log Σ exp(z) - Σ p z. This form needs
no special case for zeros, because no logit is -inf. Chapter 8 uses the entropy to debug training
runs.

## See also

* Source: Shannon 1948, A Mathematical Theory of Communication, sec. 6.
* Does it help? `grpo-ref experiment run entropy_law --quick` tests a claim about it.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade probabilities/entropy
"""

import numpy as np


def entropy(probs):
    """Return the entropy along the last axis, in nats."""
    raise NotImplementedError("probabilities/entropy")
