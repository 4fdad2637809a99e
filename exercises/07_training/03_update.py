"""One step uphill  (medium, 3 points)

## Background

A policy writes a completion token by token. Where it is when it chooses a token is called the
state: in a language model all the text so far, here the number of a row in a table of logits. The
softmax of that row gives the probability of each token. Every completion has been given an
advantage A, which says whether it was better or worse than expected. One step of training makes the
tokens of good completions likelier and those of bad ones rarer. Softmax, token mean, chain rule and
scatter-add are all that it needs.

## Problem

Write `update(logits, states, tokens, advantages, mask, learning_rate)`: one step of gradient ascent
on

    J = Σ m A log π(token | state) / Σ m,    π(· | s) = softmax(logits[s])

Both sums run over all tokens of the N completions: every token of the batch has the same weight,
however long its completion is. A is constant, the same for all tokens of a completion. The result
is

    logits + learning_rate · ∂J/∂logits,    ∂ log π(a | s)/∂logits[s] = one-hot(a) - π(· | s)

A state that several tokens were chosen in collects the gradients of them all; a state that none was
chosen in stays as it is.

## Input

- logits: one row for each state; shape (S, V); from -1000 to 1000.
- states: in which state each token was chosen; shape (N, T); whole, from 0 to S - 1.
- tokens: the tokens; shape (N, T); whole, from 0 to V - 1.
- advantages: A, one for each completion; shape (N,); from -100 to 100.
- mask: m, 1 on tokens, 0 on padding; shape (N, T); numbers or truth values; the zeros may stand
  anywhere, and a row may be all zeros.
- learning_rate: length of the step; from 0.001 to 100.

## Output

(S, V), the new logits.

## Examples

    update([[0.0, 0.0]], [[0]], [[0]], [1.0], [[1]], 1.0)
    -> [[0.5, -0.5]]

Both tokens have probability 1/2, token 0 was chosen and was good: [1, 0] - [1/2, 1/2].

    update([[0.0, 0.0], [0.0, 0.0]], [[0, 0, 1]], [[0, 0, 1]], [1.0], [[1, 1, 0]], 2.0)
    -> [[1, -1], [0, 0]]

Two tokens count, each with weight 1/2. Both chose token 0 in state 0 and add 1/2 · [1/2, -1/2]; the
sum [1/2, -1/2] times 2 is the step. The third token is padding: state 1 stays at 0.

## Constraints

- S, V, N and T are at least 1.
- Every number in logits and advantages is 0 or at least 1e-15 in size.
- At least one entry of mask is 1.
- Padding holds valid states and tokens, which must not matter.
- Logits may lie 1000 apart: a softmax that does not take off the largest one first overflows.

## Notes

This is REINFORCE with advantages. On data that the policy has just written, GRPO and PPO take the
same step: the ratio is 1 and nothing is clipped.

## Grading

Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come
as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any of
these, and where a number is asked for, also an array without axes. Numbers in the examples may be
rounded to six digits. Values may differ by 1e-09 of the largest expected magnitude, and by 1e-09
where all expected values are 0; no test asks for a value that rounding decides, such as what is
left where numbers cancel. There are no points until the examples above are right; then up to half
of them for the tests that pass, and all of them when every test passes.

## Source

Williams 1992, REINFORCE; verl `token-mean`, for the weights.

## See also

- notebooks/02_from_bandit_to_language.ipynb, written by `grpo-ref notebooks`.

Check me: grpo-ref grade training/update
"""

import numpy as np


def update(logits, states, tokens, advantages, mask, learning_rate):
    """One step of gradient ascent on the weighted log-probabilities of the tokens."""
    raise NotImplementedError("training/update")
