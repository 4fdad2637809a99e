"""One step uphill

Medium, 3 points. GRADING.md says how answers are graded.

A policy writes a completion token by token. Where it is when it chooses a token is called the
state: in a language model all the text so far, here the number of a row in a table of logits. The
softmax of that row gives the probability of each token. Every completion has been given an
advantage A, which says whether it was better or worse than expected. One step of training makes the
tokens of good completions likelier and those of bad ones rarer. Softmax, token mean, chain rule and
scatter-add are all that it needs.

## Your task

Write `update(logits, states, tokens, advantages, mask, learning_rate)`.

Write `update(logits, states, tokens, advantages, mask, learning_rate)`: one step of gradient ascent
on

    J = Σ m A log π(token | state) / Σ m,    π(· | s) = softmax(logits[s])

Both sums run over all tokens of the N completions: every token of the batch has the same weight,
however long its completion is. A is constant, the same for all tokens of a completion. The result
is

    logits + learning_rate · ∂J/∂logits,    ∂ log π(a | s)/∂logits[s] = one-hot(a) - π(· | s)

A state that several tokens were chosen in collects the gradients of them all; a state that none was
chosen in stays as it is.

| argument        | meaning                              | shape  | values               |
| --------------- | ------------------------------------ | ------ | -------------------- |
| `logits`        | one row for each state               | (S, V) | −1000 to 1000        |
| `states`        | in which state each token was chosen | (N, T) | integers, 0 to S - 1 |
| `tokens`        | the tokens                           | (N, T) | integers, 0 to V - 1 |
| `advantages`    | A, one for each completion           | (N,)   | −100 to 100          |
| `mask`          | m, 1 on tokens, 0 on padding         | (N, T) | 0 or 1               |
| `learning_rate` | length of the step                   | number | 0.001 to 100         |

* `mask`: zeros may be anywhere, and a row may be all zeros.
* S, V, N and T are at least 1.
* At least one entry of mask is 1.

(S, V), the new logits.

* Padding holds valid states and tokens, which must not matter.
* Logits may lie 1000 apart: a softmax that does not take off the largest one first overflows.

## Examples

    >>> update([[0.0, 0.0]], [[0]], [[0]], [1.0], [[1]], 1.0)
    [[0.5, -0.5]]

Both tokens have probability 1/2, token 0 was chosen and was good: [1, 0] - [1/2, 1/2].

    >>> update([[0.0, 0.0], [0.0, 0.0]], [[0, 0, 1]], [[0, 0, 1]], [1.0], [[1, 1, 0]], 2.0)
    [[1, -1], [0, 0]]

Two tokens count, each with weight 1/2. Both chose token 0 in state 0 and add 1/2 · [1/2, -1/2]; the
sum [1/2, -1/2] times 2 is the step. The third token is padding: state 1 stays at 0.

## When it is solved

This is REINFORCE with advantages. On data that the policy has just written, GRPO and PPO take the
same step: the ratio is 1 and nothing is clipped.

## See also

* Source: Williams 1992, REINFORCE; verl `token-mean`, for the weights.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade training/update
"""

import numpy as np


def update(logits, states, tokens, advantages, mask, learning_rate):
    """One step of gradient ascent on the weighted log-probabilities of the tokens."""
    raise NotImplementedError("training/update")
