"""One step of gradient ascent

Medium, 3 points. GRADING.md says how answers are graded.

A policy writes a completion token by token. The *state* is the situation in which it chooses a
token: in a language model all the text so far, here the number of a row in a table of logits. The
softmax of the row gives the probability of each token.

Each completion has an *advantage* A: positive if the completion was better than expected, negative
if it was worse. One training step makes the tokens of good completions more likely and the tokens
of bad completions less likely.

## Your task

Write `update(logits, states, tokens, advantages, mask, learning_rate)`.

Take one step of gradient ascent on

    J = Σ m A log π(token | state) / Σ m,    π(· | s) = softmax(logits[s])

Both sums run over all tokens of all N completions, so every token of the batch has the same weight.
m is `mask`, and A is the advantage of the token's completion, a constant. π(· | s) is the row of
probabilities of state s. Return

    logits + learning_rate · ∂J/∂logits,    ∂ log π(a | s)/∂logits[s] = one-hot(a) - π(· | s)

one-hot(a) is 1 at token a and 0 elsewhere. The row of a state collects the gradients of all tokens
chosen in this state. A state without tokens keeps its logits.

| argument        | meaning                            | shape  | values               |
| --------------- | ---------------------------------- | ------ | -------------------- |
| `logits`        | one row per state                  | (S, V) | −1000 to 1000        |
| `states`        | row in which each token was chosen | (N, T) | integers, 0 to S - 1 |
| `tokens`        | the chosen tokens                  | (N, T) | integers, 0 to V - 1 |
| `advantages`    | A, one per completion              | (N,)   | −100 to 100          |
| `mask`          | m, 1 on tokens, 0 on padding       | (N, T) | 0 or 1               |
| `learning_rate` | step size                          | number | 0.001 to 100         |

* `mask`: zeros may be anywhere, and a row may be all zeros.
* S, V, N and T are at least 1.
* At least one entry of `mask` is 1.

Where `mask` is 0, `states` and `tokens` hold valid numbers, which must have no effect. Some logits
are too large for `np.exp`.

Return the new logits, an array of shape (S, V).

## Examples

**One good token.** Both tokens have probability 1/2, and token 0 was chosen.

    >>> update([[0.0, 0.0]], [[0]], [[0]], [1.0], [[1]], 1.0)
    [[0.5, -0.5]]

The step is [1, 0] - [1/2, 1/2] = [1/2, -1/2].

**An unlikely token.** The first logit is log 3, so π = [3/4, 1/4], and token 1 was chosen.

    >>> update([[1.0986123, 0.0]], [[0]], [[1]], [1.0], [[1]], 1.0)
    [[0.348612, 0.75]]

The step is [0, 1] - [3/4, 1/4] = [-3/4, 3/4].

**A state that is visited twice, and padding.**

    >>> update([[0.0, 0.0], [0.0, 0.0]], [[0, 0, 1]], [[0, 0, 1]], [1.0], [[1, 1, 0]], 2.0)
    [[1, -1], [0, 0]]

Two tokens count, each with weight 1/2. Both chose token 0 in state 0 and add 1/2 · [1/2, -1/2]. The
sum is [1/2, -1/2], times 2. The third token is padding, so state 1 keeps its logits.

**Two completions of different lengths.** The first has two tokens and advantage 1, the second has
one token and advantage -1.

    >>> update([[0.0, 0.0], [0.0, 0.0]], [[0, 1], [0, 0]], [[0, 1], [1, 0]], [1.0, -1.0],
    ...        [[1, 1], [1, 0]], 3.0)
    [[1, -1], [-0.5, 0.5]]

All three tokens have weight 1/3. In state 0, the first completion adds 1/3 · [1/2, -1/2], and the
second adds -1/3 · [-1/2, 1/2]: together 1/3 · [1, -1]. State 1 gets 1/3 · [-1/2, 1/2]. The learning
rate multiplies both by 3.

## When it is solved

This is REINFORCE with advantages. On a batch that the current policy has just sampled, PPO and GRPO
take the same step: every ratio is 1 and nothing is clipped. verl calls the weights m / Σ m
`token-mean`. The next exercise puts a loop around such a step.

## See also

* Source: Williams 1992, REINFORCE; verl `token-mean`, for the weights.
* Step 1 of the derivation, policy gradient, explains the formula.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade training/update
"""

import numpy as np


def update(logits, states, tokens, advantages, mask, learning_rate):
    """Return the logits after one step of gradient ascent."""
    raise NotImplementedError("training/update")
