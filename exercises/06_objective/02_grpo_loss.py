"""The loss of GRPO

Hard, 3 points. GRADING.md says how answers are graded.

A trainer minimizes this number. The policy πθ, the model in training, has answered a prompt N
times. Each answer (a *completion*) has an advantage A, positive if the completion was better than
the others and negative if it was worse. The ratio r measures how much more likely a token has
become since πold, the policy that sampled it.

The loss combines the earlier chapters: the clipped surrogate, the penalty k3 for the distance from
the reference πref (the model before training), the mean over tokens and completions, and a minus
sign. The loss falls when the policy improves.

## Your task

Write `grpo_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2,
kl_coef=0.04)`.

Return the loss:

    L = -1/N Σᵢ 1/|oᵢ| Σₜ mᵢₜ [ min(r A, clip(r, 1-ε, 1+ε) A) - β k3 ]
    r = exp(log πθ - log πold),    k3 = e⁻ᵛ - 1 + v,    v = log πθ - log πref

i runs over the completions and t over the positions. Every token has its own r and v. All tokens of
completion i have the same A = Aᵢ. clip(r, a, b) is a where r < a, b where r > b, and r in between.
ε is `clip`, β is `kl_coef`, and m is the mask. |oᵢ| is the number of tokens of completion i, the
sum of row i of the mask.

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

Return a number. Padding, where the mask is 0, is not counted.

## Examples

**One clipped token, no penalty.** ε is 0.1 and β is 0. The last position is padding.

    >>> grpo_loss([[-0.5108256, -0.6931472], [-0.6931472, -0.1053605]],
    ...           [[-0.6931472, -0.6931472], [-0.6931472, -0.6931472]],
    ...           [[-0.6931472, -0.6931472], [-0.6931472, -0.6931472]],
    ...           [1, -1], [[1, 1], [1, 0]], 0.1, 0.0)
    -0.025

The first completion has A = 1 and the ratios 0.6 / 0.5 = 1.2, clipped at 1.1, and 1: mean 1.05. The
second completion has A = -1 and one token of ratio 1: mean -1. L is minus the mean of 1.05 and -1.

**The lower bound, with the defaults.** A bad completion. The ratios are 0.5 and 1.5, and πref = πθ.

    >>> grpo_loss([[-1.3862944, -0.2876821]], [[-0.6931472, -0.6931472]],
    ...           [[-1.3862944, -0.2876821]], [-1.0], [[1, 1]])
    1.15

min(-0.5, -0.8) = -0.8 is clipped, min(-1.5, -1.2) = -1.5 is not. The mean is -1.15, and k3 is 0.

**The penalty alone, with the defaults.** A is 0 and πθ/πref = 0.6 / 0.5 = 1.2.

    >>> grpo_loss([[-0.5108256]], [[-0.5108256]], [[-0.6931472]], [0.0], [[1]])
    0.000626196

v = log 1.2 = 0.182322, so k3 = 1/1.2 - 1 + 0.182322 = 0.0156549. The loss is 0.04 times k3.

## When it is solved

DeepSeekMath used β = 0.04. The default of TRL is 0, no penalty. TRL calls ε `epsilon` and β `beta`.
In the library, use `policy_loss` with `recipe=GRPO`. The next exercise is the gradient of this
loss.

## See also

* Source: Shao et al. 2024, DeepSeekMath, eq. 3 (arXiv:2402.03300); TRL, loss_type="grpo".
* `grpo_ref.policy_loss` computes the same in this package. Look at it when you are done.
* `grpo-ref recipes grpo` shows the whole algorithm.
* The notebook 01_the_objective.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade objective/grpo_loss
"""

import numpy as np


def grpo_loss(log_probs, old_log_probs, ref_log_probs, advantages, mask, clip=0.2, kl_coef=0.04):
    """Return minus the mean of surrogate - penalty: over each completion, then over completions."""
    raise NotImplementedError("objective/grpo_loss")
