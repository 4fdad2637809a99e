"""How far from the reference?  (easy, 1 point)

## Background

A language model is a policy: in every state it gives each token of its vocabulary a probability.
Training for reward changes these probabilities, and may drive the model far from sensible text. So
a frozen copy of the model from before the training is kept, the reference, and the distance between
the two is watched or punished. The distance is the Kullback-Leibler divergence, KL for short: how
much likelier, as a logarithm, the policy finds a token than the reference does, on average over the
tokens that the policy draws. It is 0 if both agree, and positive otherwise.

## Problem

Write `exact_kl(probs, ref_probs)`. It sums over the whole vocabulary, which is the last axis:

    KL(π ‖ πref) = Σₐ πₐ log(πₐ / πrefₐ)

The logarithm is the natural one. A token a that the policy never draws adds nothing: 0 log 0 counts
as 0, whatever the reference says of the token. Every other token counts, however small its
probability is.

## Input

- probs: π, the policy's probabilities, the V tokens of the vocabulary last; each row sums to 1;
  shape (V,) or (N, V) or (B, N, V); from 0 to 1.
- ref_probs: πref, the reference's; each row sums to 1; shape (V,) or (N, V) or (B, N, V); from 0 to
  1.

## Output

One number per row, in nats: the shape of probs without its last axis; a number for a single row.

## Examples

    exact_kl([[0.5, 0.5]], [[0.75, 0.25]])
    -> [0.143841]

The quotients are 1/2 : 3/4 = 2/3 and 1/2 : 1/4 = 2, so it is 1/2 log(2/3) + 1/2 log 2 = log 2 -
(log 3)/2.

## Constraints

- probs and ref_probs have the same shape.
- B, N and V are at least 1.
- Every number in probs and ref_probs is 0 or at least 1e-300 in size.
- Where ref_probs is 0, probs is 0 too, and the token adds 0.

## Notes

The order matters: KL(πref ‖ π) is another number. Trainers seldom have the whole vocabulary at
hand; how they estimate the KL from the sampled token is the subject of the next exercises.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

Kullback & Leibler 1951, On information and sufficiency, sec. 2.

## See also

- grpo_ref.exact_kl, the same in this package: look at it when you are done.
- notebooks/06_kl_and_reward_hacking.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade kl/exact_kl
"""

import numpy as np


def exact_kl(probs, ref_probs):
    """KL(policy || reference) along the last axis, in nats."""
    raise NotImplementedError("kl/exact_kl")
