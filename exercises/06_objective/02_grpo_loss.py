"""The loss of GRPO, token by token  (hard, 3 points)

## Background

This is the number that a trainer minimizes. The policy πθ, the model in training, has answered a
prompt N times, and each answer (completion) has an advantage A: positive if it was better than the
others, negative if it was worse. The ratio r says how much likelier a token has become since πold,
the policy that wrote it. Making tokens of good completions likelier pays, but only until the clip
holds: beyond 1 ± ε nothing more is gained. A penalty keeps the policy near πref, the model from
before the training; it is the estimate of the divergence that is called k3, see the chapter on KL.
Then comes GRPO's average, over the tokens of each completion and over the completions, and a minus
sign, since a loss goes down where the policy improves.

## Problem

Write `grpo_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2,
kl_coef=0.04)`:

    L = -1/N Σᵢ 1/|oᵢ| Σₜ mᵢₜ [ min(r A, clip(r, 1-ε, 1+ε) A) - β k3 ]
    r = exp(log πθ - log πold),    k3 = e⁻ᵛ - 1 + v,    v = log πθ - log πref

Every token has its own r and v; A = Aᵢ is the same for all tokens of a completion. ε is `clip`, β
is `kl_coef`. m is the mask, which says what is a token, and |oᵢ| the number of tokens of completion
i. Where m is 0 stands padding: it is not counted, and what the three arrays of log-probabilities
hold there never matters, be it NaN or infinity.

## Input

- log_probs: log πθ of the tokens, in nats; shape (N, T); from -1000 to 0; where mask is 0 it may
  hold zeros, ordinary numbers, huge numbers, NaN or infinities.
- old_log_probs: log πold, at most 30 nats from log_probs; shape (N, T); from -1000 to 0; where mask
  is 0 it may hold zeros, ordinary numbers, huge numbers, NaN or infinities.
- ref_log_probs: log πref, at most 30 nats from log_probs; shape (N, T); from -1000 to 0; where mask
  is 0 it may hold zeros, ordinary numbers, huge numbers, NaN or infinities.
- advantages: one per completion; shape (N,); from -100 to 100.
- mask: 1 on tokens, 0 on padding; shape (N, T); numbers or truth values; the zeros may stand
  anywhere, and every row has a one.
- clip: ε; from 0 to 0.99; 0.2 if left out.
- kl_coef: β; from 0 to 10; 0.04 if left out.

## Output

A number, to be minimized.

## Examples

    grpo_loss(
        [[-0.510826, -0.693147], [-0.693147, -0.105361]],
        [[-0.693147, -0.693147], [-0.693147, -0.693147]],
        [[-0.693147, -0.693147], [-0.693147, -0.693147]],
        [1, -1],
        [[1, 1], [1, 0]],
        0.1,
        0.0,
    )
    -> -0.025

clip is 0.1 and kl_coef 0. The first completion has A = 1 and the ratios 0.6 / 0.5 = 1.2, held at
1.1, and 1: mean 1.05. The second has A = -1 and one token of ratio 1: -1. Minus their mean is
-0.025.

## Constraints

- N and T are at least 1.
- Every number in log_probs, old_log_probs, ref_log_probs and advantages is 0 or at least 1e-15 in
  size.

## Notes

DeepSeekMath used β = 0.04; TRL's default is 0, no penalty. TRL takes the penalty's weight as `beta`
and ε as `epsilon`. `policy_loss` of this package computes the same with `recipe=GRPO`.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

DeepSeekMath, eq. 3 (arXiv:2402.03300); TRL `loss_type="grpo"`.

## See also

- grpo_ref.policy_loss, the same in this package: look at it when you are done.
- notebooks/01_the_objective.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade objective/grpo_loss
"""

import numpy as np


def grpo_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    """Clipped surrogate minus penalty, averaged per completion, then over completions, negated."""
    raise NotImplementedError("objective/grpo_loss")
