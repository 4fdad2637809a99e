"""Train a little language

Hard, 5 points. GRADING.md says how answers are graded.

A language model in a table: the row is the token before, the columns are the next token, and the
softmax of a row gives its probabilities. It shall learn to count upwards, round and round: 0 1 2 3
0 1 ... Drawing completions is the expensive part of training, so each batch is used for several
steps. From the second step on the policy π is no longer the policy πold that drew the batch; the
ratio ρ = π / πold of a token's probabilities corrects for that, and the clip holds back what has
gone far enough.

## Your task

Write `train_language(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2)`.

Write `train_language(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2)`. The table of
logits has V + 1 rows, one for each token before and the last one, row V, for the start; it is all
zeros at first. In each of the U updates

1. πold is the softmax of each row. Draw G completions of T tokens: each token is the first one
   whose cumulative probability πold(0 | row) + ... + πold(token | row) is larger than its number in
   `uniforms`. The row of the first token is V, after that it is the token before
2. the reward r of a completion is the share of its T - 1 steps in which the next token is the one
   before plus 1, modulo V
3. A = (r - mean(r)) / (std(r) + 1e-4) over the G completions; the standard deviation divides by G,
   not by G - 1
4. `steps` times, with πold and A held constant, logits += learning_rate · ∂J/∂logits of

    J = 1/(G T) Σ min(ρ A, clip(ρ, 1 - clip, 1 + clip) A),    ρ = π(token | row) / πold(token | row)

with π the softmax of the logits of that moment. A token has no slope where A > 0 and ρ > 1 + clip,
and none where A < 0 and ρ < 1 - clip. Everywhere else, on the bound itself too, the slope of its
term with respect to log π(token | row) is ρ A, and the gradient of log π(token | row) with respect
to the row's logits is the one-hot vector of the token minus π(· | row).

| argument        | meaning                            | shape     | values          |
| --------------- | ---------------------------------- | --------- | --------------- |
| `uniforms`      | random numbers, one for each token | (U, G, T) | 0 to 0.999      |
| `vocabulary`    | V, the number of tokens            | number    | integer, 2 to 5 |
| `learning_rate` | length of a step                   | number    | 0.01 to 10      |
| `steps`         | how often each batch is used       | number    | integer, 1 to 4 |
| `clip`          | how far the ratio may go from 1    | number    | 0 to 0.9        |

* U and G are at least 1.
* T is at least 2.
* Where clip is 0, steps is 1: in later steps rounding would decide which side of the bound a ratio
  is on.

(V + 1, V) the logits after U updates.

* A group of one, or one in which all rewards are equal, has A = 0 and moves nothing.
* After 50 updates of 16 completions of 6 tokens with V = 4 and the defaults, the token after each
  of the four must be the right one with a probability above 0.9 on average.

The tolerance of this exercise is 1e-8.

## Examples

    >>> train_language([[[0.25, 0.75], [0.25, 0.25]]], 2, 1.0, 1)
    [[-0.24995, 0.24995], [0, 0], [0, 0]]

All probabilities are 1/2. The completions are 0 1 and 0 0, their rewards 1 and 0, so A =
±0.5/0.5001 = ±1/1.0002. Each of the four tokens has weight 1/4. At the start (row 2) both chose 0,
and A and -A cancel. In row 0 one chose 1, which adds A/4 · [-1/2, 1/2], the other chose 0, which
adds -A/4 · [1/2, -1/2]: together A/4 · [-1, 1].

## When it is solved

All tokens of a completion share its advantage: nobody tells the policy which of its steps were
right.

## See also

* Source: Shao et al. 2024, DeepSeekMath (arXiv:2402.03300), algorithm 1, with a table for a model
  and no penalty.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade training/train_language
"""

import numpy as np


def softmax(logits):
    """Probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def train_language(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2):
    """The table of logits after one batch of completions for each row of uniform numbers."""
    raise NotImplementedError("training/train_language")
