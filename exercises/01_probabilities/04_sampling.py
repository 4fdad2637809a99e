"""Sampling a token

Medium, 2 points. GRADING.md says how answers are graded.

The policy, the language model in training, learns from its own answers. To write an answer, the
policy samples one token at every position, with the probabilities that it gives to the tokens of
the vocabulary.

Think of the probabilities as lengths, placed end to end on the line from 0 to 1. A uniform random
number falls on the part of a token as often as the token's probability says. If the uniform numbers
are arguments, sampling is an ordinary function: the same numbers give the same tokens, and you can
reproduce a bug.

## Your task

Write `sample_tokens(probs, uniforms)`.

For each row, return the first token at which the sum of the probabilities so far is larger than the
uniform number:

    token = min { a : p₀ + ... + pₐ > u }

p₀, p₁, ... are the probabilities of the row, and u is its uniform number. A sum that is exactly
equal to u is not larger. Computed sums are rounded, so the last sum may be a little below 1. If u
is not below the last sum, return the last token whose probability is not 0.

| argument   | meaning                               | shape  | values |
| ---------- | ------------------------------------- | ------ | ------ |
| `probs`    | p, one distribution per row           | (N, V) | 0 to 1 |
| `uniforms` | u, one uniform number below 1 per row | (N,)   | 0 to 1 |

* N and V are at least 1.
* Every number in `probs` is 0 or at least 1e-300 in absolute value.
* Each row of `probs` sums to 1 up to rounding.
* Apart from the last sum, u is never within 1e-13 of a sum, unless the probabilities are multiples
  of 1/4. So rounding never decides the answer.

Return an array of shape (N,) of integers from 0 to V - 1.

## Examples

**Three samples from the same probabilities.**

    >>> sample_tokens([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]], [0.1, 0.6, 0.9])
    [0, 1, 2]

The sums are 0.5, 0.75 and 1. The first sum larger than 0.1 is 0.5. For 0.6 it is 0.75, and for 0.9
it is 1.

**A sum that is equal to u.** A token of probability 0 is never sampled.

    >>> sample_tokens([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5]], [0.5, 0.0, 0.5])
    [1, 1, 2]

In the first row 0.5 is not larger than 0.5, so the next token is sampled. In the second row the
first sum is 0, which is not larger than 0. In the third row the sums are 0.5, 0.5 and 1, and only
the last one is larger than 0.5.

**A last sum below 1.** Ten probabilities of 0.1 and one of 0.

    >>> sample_tokens([[0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.0]],
    ...               [0.9999999999999999])
    [9]

`np.cumsum` gives 0.9999999999999999 as the last sum. This is not larger than u, so the answer is
the last token whose probability is not 0.

## When it is solved

Trainers call `torch.multinomial`. vLLM divides the probabilities by random numbers with an
exponential distribution and takes the token with the largest quotient. This samples with the same
probabilities. You will need the function of this exercise again in chapter 7, where you train a
policy.

## See also

* Source: Devroye 1986, Non-uniform Random Variate Generation, ch. 3 (inversion by sequential
  search).
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade probabilities/sampling
"""

import numpy as np


def sample_tokens(probs, uniforms):
    """Return the first token of each row whose cumulative probability is larger than the uniform number."""
    raise NotImplementedError("probabilities/sampling")
