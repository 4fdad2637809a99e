"""From a uniform number to a token

Medium, 2 points. GRADING.md says how answers are graded.

Before the policy, the language model in training, can learn from its answers it has to give some:
at every position it draws a token with the probabilities that it has for the vocabulary. Think of
the probabilities as lengths, laid end to end on the line from 0 to 1. A random number that falls on
the line evenly, a uniform number, falls on a token's stretch just as often as its probability says.
With the uniform numbers given from outside, sampling is an ordinary function: the same numbers give
the same tokens, and a bug can be repeated.

## Your task

Write `sample_tokens(probs, uniforms)`.

Write `sample_tokens(probs, uniforms)`. For each row it gives the first token at which the sum of
the probabilities so far is larger than the uniform number:

    token = min { a : p₀ + ... + pₐ > u }

Where u is exactly equal to a sum, that sum is not larger. Computed sums are rounded, and the last
one may come out a little below 1: if u is not below it, there is no such token, and the answer is
the last token whose probability is not 0.

* `probs`: p, a distribution over the vocabulary in each row; it sums to 1 up to rounding; (N, V); 0
  to 1.
* `uniforms`: u, one number below 1 for each row; (N,); 0 to 1.

* N and V are at least 1.
* Every number in `probs` is 0 or at least 1e-300 in absolute value.

(N,) tokens, whole numbers from 0 to V - 1.

* A token of probability 0 is never drawn, whatever u is; one of probability 1e-12 can be.
* How the sums are rounded does not matter: where u is equal to a sum, the probabilities are
  multiples of 1/4, whose sums are exact, or u and the sum are both 0.
* There is at least one row and one token.

## Examples

    >>> sample_tokens([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]], [0.1, 0.6, 0.9])
    [0, 1, 2]

The sums are 0.5, 0.75 and 1. The first that is larger than 0.1 is 0.5, for 0.6 it is 0.75, for 0.9
it is 1.

## When it is solved

Trainers call `torch.multinomial`. vLLM divides the probabilities by exponential random numbers and
takes the token with the largest quotient, which draws with the same probabilities.

## See also

* Source: Devroye 1986, Non-uniform random variate generation, ch. 3 (inversion by sequential
  search).
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade probabilities/sampling
"""

import numpy as np


def sample_tokens(probs, uniforms):
    """The first token whose cumulative probability is larger than the uniform number."""
    raise NotImplementedError("probabilities/sampling")
