"""The loss of DAPO

Hard, 3 points. GRADING.md says how answers are graded.

GRPO lets the policy answer each of P prompts G times. The G answers (*completions*) to one prompt
are a *group*, and GRPO compares their rewards. DAPO drops the KL penalty and makes four changes: a
higher upper bound of the clip (clip-higher), no groups with equal rewards (dynamic sampling), the
same weight for every token (token mean), and a soft penalty for completions that are too long.

The soft penalty belongs to the rewards (`aggregation/soft_overlong`). You write the rest here, from
rewards to loss.

## Your task

Write `dapo_loss(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28)`.

Return the loss:

    Aᵢ = (rᵢ - mean(r)) / (std(r) + 1e-4)
    L = -Σ min(ρ A, clip(ρ, 1 - clip_low, 1 + clip_high) A) / number of tokens
    ρ = exp(log πθ - log πold)

r are the rewards of one group. mean and std run over all its G completions, also over completions
without tokens. std divides by G. TRL and verl divide by G - 1; the paper leaves it open. All tokens
of completion i have the advantage A = Aᵢ. ρ is the ratio of a token: πθ is the policy, and πold
sampled the token. clip(ρ, a, b) is a where ρ < a, b where ρ > b, and ρ in between.

The sum and the number of tokens run over all tokens of the groups whose rewards are not all equal.
Two rewards that differ, however little, make a group count.

| argument        | meaning                                 | shape     | values      |
| --------------- | --------------------------------------- | --------- | ----------- |
| `log_probs`     | log πθ of each token                    | (P, G, T) | −1000 to 0  |
| `old_log_probs` | log πold of each token                  | (P, G, T) | −1000 to 0  |
| `rewards`       | one reward per completion               | (P, G)    | −1e4 to 1e4 |
| `mask`          | 1 on tokens, 0 on padding               | (P, G, T) | 0 or 1      |
| `clip_low`      | lower bound of the ratio: 1 - clip_low  | number    | 0 to 0.99   |
| `clip_high`     | upper bound of the ratio: 1 + clip_high | number    | 0 to 20     |

* `log_probs` and `old_log_probs` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and a row may be all zeros.
* P, G and T are at least 1.
* On tokens, `old_log_probs` differs from `log_probs` by at most 30.

Return a number, 0 if no tokens remain. Padding is not counted.

## Examples

**One group counts, the other one does not.** The bounds have their defaults.

    >>> dapo_loss([[[-0.5108256, -0.3566749], [-0.6931472, -1.2039728]],
    ...            [[-0.6931472, -0.6931472], [-0.6931472, -0.6931472]]],
    ...           [[[-0.6931472, -0.6931472], [-0.6931472, -0.6931472]],
    ...            [[-0.6931472, -0.6931472], [-0.6931472, -0.6931472]]],
    ...           [[1, 0], [1, 1]], [[[1, 1], [1, 1]], [[1, 1], [1, 1]]])
    -0.169966

The rewards of the second group are equal, so only the four tokens of the first group count. Its
advantages are ±0.5 / 0.5001 = ±0.9998. The good completion has the ratios 1.2 and 1.4, and 1.4 is
clipped at 1.28. The bad one has the ratios 1 and 0.6, and 0.6 is clipped at 0.8. L = -(1.2 + 1.28 -
1 - 0.8) / 4 · 0.9998.

**An advantage of 0, and a completion without tokens.** All ratios are 1.

    >>> dapo_loss([[[-0.5, -0.5], [-0.5, -0.5], [-0.5, -0.5]]],
    ...           [[[-0.5, -0.5], [-0.5, -0.5], [-0.5, -0.5]]],
    ...           [[2, 1, 0]], [[[1, 1], [1, 0], [0, 0]]])
    -0.816397

The mean of the three rewards is 1, and std = 0.816497. The advantages are 1.2246, 0 and -1.2246.
Three tokens count, two of them with A = 1.2246 and one with A = 0: L = -(1.2246 + 1.2246 + 0) / 3.

**No tokens remain.**

    >>> dapo_loss([[[-0.5], [-0.5]]], [[[-0.5], [-0.5]]], [[1, 1]], [[[1], [1]]])
    0

## When it is solved

The DAPO trainer samples new prompts until the batch is full of groups that count. TRL's
`loss_type="dapo"` does not filter groups. Their tokens stay in the number of tokens, so the loss
shrinks if the prompts become too easy or too hard. verl and TRL use one divisor for the whole
batch, as here. The paper divides by the tokens of each group: see `aggregation/group_token_mean`.

## See also

* Source: Yu et al. 2025, DAPO, eq. 8 to 12 (arXiv:2503.14476); TRL, loss_type="dapo", which does
  not filter groups.
* `grpo_ref.policy_loss` computes the same in this package. Look at it when you are done.
* `grpo-ref recipes dapo` shows the whole algorithm.
* Does it help? `grpo-ref experiment run dead_groups --quick` tests a claim about it.
* The notebook 01_the_objective.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade objective/dapo_loss
"""

import numpy as np


def dapo_loss(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28):
    """Return the loss with clip-higher and token mean, without the groups with equal rewards."""
    raise NotImplementedError("objective/dapo_loss")
