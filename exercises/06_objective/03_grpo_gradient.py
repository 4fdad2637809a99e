"""The gradient of GRPO's loss, by hand

Hard, 3 points. GRADING.md says how answers are graded.

A trainer lets an autograd engine differentiate the loss. By hand you see which tokens are pushed,
and how hard: a token that the clip holds is not pushed by its advantage any more, whatever its
value adds to the loss; every other token is pushed by its ratio times its advantage; and the
penalty pulls each token back toward the reference.

## Your task

Write `grpo_gradient(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2,
kl_coef=0.04)`.

Write `grpo_gradient(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2,
kl_coef=0.04)`, the derivative of the loss of `objective/grpo_loss` with respect to each number of
`log_probs`:

    L = -1/N Σᵢ 1/|oᵢ| Σₜ mᵢₜ [ min(r A, clip(r, 1-ε, 1+ε) A) - β k3 ]
    r = exp(log πθ - log πold),    k3 = e⁻ᵛ - 1 + v,    v = log πθ - log πref

Every token has its own r and v; A = Aᵢ is the same for all tokens of a completion. ε is `clip`, β
is `kl_coef`. m is the mask, which says what is a token, and |oᵢ| the number of tokens of completion
i. log πold, log πref and the advantages are constants: only `log_probs` is varied. The min has a
kink where r is exactly 1+ε or 1-ε; there the slope is still that of the unclipped term r A. So with
A > 0 the advantage stops pushing where r > 1+ε, with A < 0 where r < 1-ε, and nowhere else. Where m
is 0 stands padding: the derivative is exactly 0 there, and what the arrays of log-probabilities
hold never matters, be it NaN or infinity.

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

(N, T) ∂L/∂log πθ of each token, exactly 0 on padding.

## Examples

    >>> grpo_gradient([[-0.510826, -0.693147], [-0.693147, -0.105361]], [[-0.693147, -0.693147], [-0.693147, -0.693147]], [[-0.693147, -0.693147], [-0.693147, -0.693147]], [1, -1], [[1, 1], [1, 0]], 0.1, 0.0)
    [[0, -0.25], [0.5, 0]]

clip is 0.1 and kl_coef 0. The first token has A = 1 and the ratio 0.6 / 0.5 = 1.2 > 1.1: it is
held, its slope is 0. The others have the ratio 1 and the slope A. The weights are 1/2 · 1/2 in the
completion of two tokens and 1/2 in that of one, and there is one minus sign; the last entry is
padding.

## When it is solved

The kernels of this package decide by the sign of A and by r, too. Asking which of the two products
is the smaller one gives the same on paper, but in low precision rounding makes products equal that
are not. `policy_loss` of this package gives the gradient beside the loss.

## See also

* Source: DeepSeekMath (arXiv:2402.03300); TRL `GRPOTrainer._compute_loss`, differentiated.
* `grpo_ref.policy_loss` is the same function in this package. Look at it when you are done.
* The notebook 01_the_objective.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade objective/grpo_gradient
"""

import numpy as np


def grpo_gradient(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    """The derivative of the loss with respect to each token's log-probability."""
    raise NotImplementedError("objective/grpo_gradient")
