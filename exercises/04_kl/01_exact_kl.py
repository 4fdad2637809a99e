"""The exact KL

Easy, 1 point. GRADING.md says how answers are graded.

A language model is a policy: in every state, it gives each token of its vocabulary a probability.
Training for reward changes these probabilities and may drive the model far from sensible text.
Trainers therefore keep a frozen copy of the model from before the training, the *reference*, and
measure how far the policy has moved away from it.

The measure is the Kullback-Leibler divergence, KL for short. For each token, take the logarithm of
how much more likely the policy finds the token than the reference does. The KL is the average of
these logarithms over the policy's own tokens. It is 0 if the two models agree, and positive
otherwise.

## Your task

Write `exact_kl(probs, ref_probs)`.

Return the KL of each row:

    KL(π ‖ πref) = Σₐ πₐ log(πₐ / πrefₐ)

π is the policy, πref is the reference, and the sum runs over the tokens a of the vocabulary, which
is the last axis. The logarithm is the natural one, so the unit of the KL is the *nat*. If πₐ is 0,
token a adds 0, even where the reference is 0 too. Every other token counts, however small its
probability is.

| argument    | meaning                            | shape                     | values |
| ----------- | ---------------------------------- | ------------------------- | ------ |
| `probs`     | π, the probabilities of the policy | (V,), (N, V) or (B, N, V) | 0 to 1 |
| `ref_probs` | πref, those of the reference       | (V,), (N, V) or (B, N, V) | 0 to 1 |

* `probs` and `ref_probs` have the same shape.
* B, N and V are at least 1.
* Every number in `probs` and `ref_probs` is 0 or at least 1e-300 in absolute value.
* Where `ref_probs` is 0, `probs` is 0 too.
* Each row of `probs` and of `ref_probs` sums to 1, up to rounding.

Return one number per row: an array with the shape of `probs` without its last axis, or a number for
a single row. For equal rows the KL is 0 up to rounding, and an exact 0 is accepted too.

## Examples

**A fair coin against 3 : 1.**

    >>> exact_kl([[0.5, 0.5]], [[0.75, 0.25]])
    [0.143841]

The quotients are (1/2) / (3/4) = 2/3 and (1/2) / (1/4) = 2. The KL is 1/2 log(2/3) + 1/2 log 2 =
0.143841.

**Two rows, and tokens with probability 0.** The policy never samples the second and third token of
the first row.

    >>> exact_kl([[1.0, 0.0, 0.0], [0.25, 0.25, 0.5]],
    ...          [[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]])
    [0.693147, 0.173287]

First row: 1 log(1 / 0.5) = log 2, and the other two tokens add 0. Second row: 1/4 log 1 + 1/4
log(1/2) + 1/2 log 2 = 1/4 log 2. A single term can be negative; the sum cannot.

**The order matters.** These are the distributions of the first example, exchanged, as single rows.

    >>> exact_kl([0.75, 0.25], [0.5, 0.5])
    0.130812

3/4 log(3/2) + 1/4 log(1/2) = 0.130812, and not 0.143841.

## When it is solved

An objective subtracts β KL from the reward, where the weight β says how strongly the policy is kept
near the reference. Trainers rarely have the probabilities of the whole vocabulary. The next
exercises estimate the KL from the sampled token alone.

## See also

* Source: Kullback & Leibler 1951, On information and sufficiency, sec. 2.
* `grpo_ref.penalties.exact_kl` computes the same in this package. Look at it when you are done.
* Step 7 of the derivation, kl in the reward, explains the formula.
* Does it help? `grpo-ref experiment run reward_hacking --quick` tests a claim about it.
* The notebook 06_kl_and_reward_hacking.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade kl/exact_kl
"""

import numpy as np


def exact_kl(probs, ref_probs):
    """Return KL(policy ‖ reference) of each row, in nats."""
    raise NotImplementedError("kl/exact_kl")
