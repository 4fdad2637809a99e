"""How far from the reference?

Easy, 1 point. GRADING.md says how answers are graded.

A language model is a policy: in every state it gives each token of its vocabulary a probability.
Training for reward changes these probabilities, and may drive the model far from sensible text. So
a frozen copy of the model from before the training is kept, the reference, and the distance between
the two is watched or punished. The distance is the Kullback-Leibler divergence, KL for short: how
much likelier, as a logarithm, the policy finds a token than the reference does, on average over the
tokens that the policy draws. It is 0 if both agree, and positive otherwise.

## Your task

Write `exact_kl(probs, ref_probs)`.

Write `exact_kl(probs, ref_probs)`. It sums over the whole vocabulary, which is the last axis:

    KL(π ‖ πref) = Σₐ πₐ log(πₐ / πrefₐ)

The logarithm is the natural one. A token a that the policy never draws adds nothing: 0 log 0 counts
as 0, whatever the reference says of the token. Every other token counts, however small its
probability is.

* `probs`: π, the policy's probabilities, the V tokens of the vocabulary last; each row sums to 1;
  (V,), (N, V) or (B, N, V); 0 to 1.
* `ref_probs`: πref, the reference's; each row sums to 1; (V,), (N, V) or (B, N, V); 0 to 1.

* `probs` and `ref_probs` have the same shape.
* B, N and V are at least 1.
* Every number in `probs` and `ref_probs` is 0 or at least 1e-300 in absolute value.
* Where ref_probs is 0, probs is 0 too, and the token adds 0.

One number per row, in nats: the shape of probs without its last axis; a number for a single row.

## Examples

    >>> exact_kl([[0.5, 0.5]], [[0.75, 0.25]])
    [0.143841]

The quotients are 1/2 : 3/4 = 2/3 and 1/2 : 1/4 = 2, so it is 1/2 log(2/3) + 1/2 log 2 = log 2 -
(log 3)/2.

## When it is solved

The order matters: KL(πref ‖ π) is another number. Trainers seldom have the whole vocabulary at
hand; how they estimate the KL from the sampled token is the subject of the next exercises.

## See also

* Source: Kullback & Leibler 1951, On information and sufficiency, sec. 2.
* `grpo_ref.exact_kl` is the same function in this package. Look at it when you are done.
* The notebook 06_kl_and_reward_hacking.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade kl/exact_kl
"""

import numpy as np


def exact_kl(probs, ref_probs):
    """KL(policy || reference) along the last axis, in nats."""
    raise NotImplementedError("kl/exact_kl")
