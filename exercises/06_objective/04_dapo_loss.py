"""DAPO, from rewards to loss

Hard, 3 points. GRADING.md says how answers are graded.

GRPO lets the policy answer each of P prompts G times and compares the answers (completions) of a
prompt, its group. DAPO changes five things about it: good tokens may go further before they are
clipped (clip-higher); groups in which all rewards are equal teach nothing and are left out (dynamic
sampling); every token counts the same (token mean); there is no penalty that holds the policy near
a reference; and answers that are too long are punished softly, which is
`aggregation/soft_overlong`. The first four make up the loss that you write here, from the rewards
to the number that is minimized.

## Your task

Write `dapo_loss(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28)`.

Write `dapo_loss(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28)`:

    Aᵢ = (rᵢ - mean(r)) / (std(r) + 1e-4)
    L = -Σ min(ρ A, clip(ρ, 1 - clip_low, 1 + clip_high) A) / number of tokens
    ρ = exp(log πθ - log πold)

r are the rewards of one group; mean and std run over its G completions, and std divides by G, not
by G - 1. The advantage A of a completion holds for all its tokens. ρ is the ratio of a token: how
much likelier it has become since πold, the policy that wrote it.

The sum and the number of tokens run over all tokens of the groups whose rewards are not all equal,
and over no others: two rewards that differ, however little, make a group count. The mask says what
is a token: where it is 0 stands padding, which is not counted, and what the arrays of
log-probabilities hold there never matters, be it NaN or infinity. If no token is left, the loss is
0.

| argument        | meaning                                  | shape     | values      |
| --------------- | ---------------------------------------- | --------- | ----------- |
| `log_probs`     | log πθ of the tokens, in nats            | (P, G, T) | −1000 to 0  |
| `old_log_probs` | log πold, at most 30 nats from log_probs | (P, G, T) | −1000 to 0  |
| `rewards`       | one per completion, one row per prompt   | (P, G)    | −1e4 to 1e4 |
| `mask`          | 1 on tokens, 0 on padding                | (P, G, T) | 0 or 1      |
| `clip_low`      | how far the ratio may go down            | number    | 0 to 0.99   |
| `clip_high`     | how far it may go up                     | number    | 0 to 20     |

* `log_probs` and `old_log_probs` may hold anything where `mask` is 0, also NaN or infinity.
* `mask`: zeros may be anywhere, and a row may be all zeros.
* P, G and T are at least 1.

A number, to be minimized; 0 if no token is left.

## Examples

    >>> dapo_loss([[[-0.510826, -0.356675], [-0.693147, -1.20397]], [[-0.693147, -0.693147], [-0.693147, -0.693147]]], [[[-0.693147, -0.693147], [-0.693147, -0.693147]], [[-0.693147, -0.693147], [-0.693147, -0.693147]]], [[1, 0], [1, 1]], [[[1, 1], [1, 1]], [[1, 1], [1, 1]]])
    -0.16996600679864027

The second group agrees, so only the four tokens of the first count. Its advantages are 0.5 / 0.5001
and -0.5 / 0.5001; its ratios are 1.2 and 1.4, which is held at 1.28, and 1 and 0.6, for which 0.8
counts: -(1.2 + 1.28 - 1 - 0.8) / 4 · 0.9998.

## When it is solved

TRL's `loss_type="dapo"` does not filter groups. DAPO itself samples new prompts until the batch is
full of groups that count. Trainers that do neither keep the tokens of the other groups in the
number of tokens, so that their loss shrinks when the prompts become too easy or too hard.
`policy_loss` of this package, with `recipe=DAPO`, begins after the advantages and the filter. One
divisor for the whole batch is the form of verl and TRL; the paper divides by the tokens of each
group, see `aggregation/group_token_mean`.

## See also

* Source: Yu et al. 2025, DAPO (arXiv:2503.14476); TRL `loss_type="dapo"`, which does not filter
  groups.
* `grpo_ref.policy_loss` is the same function in this package. Look at it when you are done.
* The notebook 01_the_objective.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade objective/dapo_loss
"""

import numpy as np


def dapo_loss(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28):
    """Clip-higher, groups without contrast left out, every token counting the same."""
    raise NotImplementedError("objective/dapo_loss")
