"""The loss of GRPO, token by token

Hard, 3 points. GRADING.md says how answers are graded.

This is the number that a trainer minimizes. The policy πθ, the model in training, has answered a
prompt N times, and each answer (completion) has an advantage A: positive if it was better than the
others, negative if it was worse. The ratio r says how much likelier a token has become since πold,
the policy that wrote it. Making tokens of good completions likelier pays, but only until the clip
holds: beyond 1 ± ε nothing more is gained. A penalty keeps the policy near πref, the model from
before the training; it is the estimate of the divergence that is called k3, see the chapter on KL.
Then comes GRPO's average, over the tokens of each completion and over the completions, and a minus
sign, since a loss goes down where the policy improves.

## Your task

Write `grpo_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2,
kl_coef=0.04)`.

Write `grpo_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2,
kl_coef=0.04)`:

    L = -1/N Σᵢ 1/|oᵢ| Σₜ mᵢₜ [ min(r A, clip(r, 1-ε, 1+ε) A) - β k3 ]
    r = exp(log πθ - log πold),    k3 = e⁻ᵛ - 1 + v,    v = log πθ - log πref

Every token has its own r and v; A = Aᵢ is the same for all tokens of a completion. ε is `clip`, β
is `kl_coef`. m is the mask, which says what is a token, and |oᵢ| the number of tokens of completion
i. Where m is 0 stands padding: it is not counted, and what the three arrays of log-probabilities
hold there never matters, be it NaN or infinity.

| argument        | meaning                                  | shape  | values      |
| --------------- | ---------------------------------------- | ------ | ----------- |
| `log_probs`     | log πθ of the tokens, in nats            | (N, T) | −1000 to 0  |
| `old_log_probs` | log πold, at most 30 nats from log_probs | (N, T) | −1000 to 0  |
| `ref_log_probs` | log πref, at most 30 nats from log_probs | (N, T) | −1000 to 0  |
| `advantages`    | one per completion                       | (N,)   | −100 to 100 |
| `mask`          | 1 on tokens, 0 on padding                | (N, T) | 0 or 1      |
| `clip`          | ε                                        | number | 0 to 0.99   |
| `kl_coef`       | β                                        | number | 0 to 10     |

* `log_probs`, `old_log_probs` and `ref_log_probs` may hold anything where `mask` is 0, also NaN or
  infinity.
* `mask`: zeros may be anywhere, and every row has a one.
* N and T are at least 1.

A number, to be minimized.

## Examples

    >>> grpo_loss([[-0.510826, -0.693147], [-0.693147, -0.105361]], [[-0.693147, -0.693147], [-0.693147, -0.693147]], [[-0.693147, -0.693147], [-0.693147, -0.693147]], [1, -1], [[1, 1], [1, 0]], 0.1, 0.0)
    -0.025

clip is 0.1 and kl_coef 0. The first completion has A = 1 and the ratios 0.6 / 0.5 = 1.2, held at
1.1, and 1: mean 1.05. The second has A = -1 and one token of ratio 1: -1. Minus their mean is
-0.025.

## When it is solved

DeepSeekMath used β = 0.04; TRL's default is 0, no penalty. TRL takes the penalty's weight as `beta`
and ε as `epsilon`. `policy_loss` of this package computes the same with `recipe=GRPO`.

## See also

* Source: DeepSeekMath, eq. 3 (arXiv:2402.03300); TRL `loss_type="grpo"`.
* `grpo_ref.policy_loss` is the same function in this package. Look at it when you are done.
* The notebook 01_the_objective.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade objective/grpo_loss
"""

import numpy as np


def grpo_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    """Clipped surrogate minus penalty, averaged per completion, then over completions, negated."""
    raise NotImplementedError("objective/grpo_loss")
