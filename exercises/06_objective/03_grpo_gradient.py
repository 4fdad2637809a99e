"""The gradient of GRPO's loss

Hard, 3 points. GRADING.md says how answers are graded.

A trainer lets an autograd engine differentiate the loss. If you differentiate by hand, you see
which tokens are pushed and how hard: the advantage pushes each token that is not clipped, and the
penalty pulls each token back toward the reference πref.

## Your task

Write `grpo_gradient(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2,
kl_coef=0.04)`.

Return the derivative of the loss of the exercise before, `grpo_loss`, with respect to each number
of `log_probs`:

    L = -1/N Σᵢ 1/|oᵢ| Σₜ mᵢₜ [ min(r A, clip(r, 1-ε, 1+ε) A) - β k3 ]
    r = exp(log πθ - log πold),    k3 = e⁻ᵛ - 1 + v,    v = log πθ - log πref

i runs over the completions and t over the positions. Every token has its own r and v. All tokens of
completion i have the same A = Aᵢ. ε is `clip`, β is `kl_coef`, and m is the mask. |oᵢ| is the
number of tokens of completion i, the sum of row i of the mask. log πold, log πref and the
advantages are constants.

The min has a kink where r is *exactly* 1+ε or 1-ε. There, use the slope of the unclipped term r A.
In the tests, r is exactly on a bound only if ε is 0 and log πθ = log πold.

| argument        | meaning                         | shape  | values      |
| --------------- | ------------------------------- | ------ | ----------- |
| `log_probs`     | log πθ of each token            | (N, T) | −1000 to 0  |
| `old_log_probs` | log πold of each token          | (N, T) | −1000 to 0  |
| `ref_log_probs` | log πref of each token          | (N, T) | −1000 to 0  |
| `advantages`    | A, one per completion           | (N,)   | −100 to 100 |
| `mask`          | 1 on tokens, 0 on padding       | (N, T) | 0 or 1      |
| `clip`          | ε, half-width of the clip range | number | 0 to 0.99   |
| `kl_coef`       | β, weight of the penalty        | number | 0 to 10     |

* `log_probs`, `old_log_probs` and `ref_log_probs` may hold anything where `mask` is 0, also NaN or
  infinity.
* `mask`: zeros may be anywhere, and every row has a one.
* N and T are at least 1.
* On tokens, `old_log_probs` and `ref_log_probs` differ from `log_probs` by at most 30.
* Rounding never decides the answer: a ratio is exactly on a bound, or at least 1e-12 away from it.

Return an array of shape (N, T): ∂L/∂log πθ of each token, and exactly 0 on padding.

## Examples

**One clipped token, no penalty.** ε is 0.1 and β is 0. The last position is padding.

    >>> grpo_gradient([[-0.5108256, -0.6931472], [-0.6931472, -0.1053605]],
    ...               [[-0.6931472, -0.6931472], [-0.6931472, -0.6931472]],
    ...               [[-0.6931472, -0.6931472], [-0.6931472, -0.6931472]],
    ...               [1, -1], [[1, 1], [1, 0]], 0.1, 0.0)
    [[0, -0.25], [0.5, 0]]

The first token has A = 1 and the ratio 0.6 / 0.5 = 1.2 > 1.1: it is clipped, so its slope is 0. The
other two tokens have ratio 1 and slope A. The weight of a token is 1/2 · 1/2 in the completion of
two tokens and 1/2 · 1 in the completion of one token. The minus sign of L comes last.

**A bad completion, with the defaults.** The ratios are 0.5 and 1.5, and πref = πθ.

    >>> grpo_gradient([[-1.3862944, -0.2876821]], [[-0.6931472, -0.6931472]],
    ...               [[-1.3862944, -0.2876821]], [-1.0], [[1, 1]])
    [[0, 0.75]]

The first token is clipped at 0.8. The second token is not clipped, although 1.5 > 1.2: its slope is
r A = -1.5, times the weight 1/2, with a minus sign.

**The penalty alone, with the defaults.** A is 0 and πθ/πref = 0.6 / 0.5 = 1.2.

    >>> grpo_gradient([[-0.5108256]], [[-0.5108256]], [[-0.6931472]], [0.0], [[1]])
    [[0.00666667]]

The slope of k3 is 1 - 1/1.2 = 1/6, and 0.04 / 6 = 0.00666667. A step downhill makes the token less
likely, so the token moves back toward πref.

**Exactly on a bound.** ε is 0 and r is 1.

    >>> grpo_gradient([[-0.5]], [[-0.5]], [[-0.5]], [2.0], [[1]], 0.0)
    [[-2]]

## When it is solved

You can check a gradient with numbers: change one log-probability by 1e-6 in both directions, and
divide the change of the loss by 2e-6. Away from the kinks the two agree in about six digits. In the
library, `policy_loss` returns the gradient together with the loss.

## See also

* Source: Shao et al. 2024, DeepSeekMath (arXiv:2402.03300); TRL, GRPOTrainer._compute_loss,
  differentiated.
* `grpo_ref.policy_loss` computes the same in this package. Look at it when you are done.
* `grpo-ref recipes grpo` shows the whole algorithm.
* The notebook 01_the_objective.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade objective/grpo_gradient
"""

import numpy as np


def grpo_gradient(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    """Return the derivative of the loss with respect to each token's log-probability."""
    raise NotImplementedError("objective/grpo_gradient")
