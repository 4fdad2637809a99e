"""Train a little language  (hard, 5 points)

## Background

A language model in a table: the row is the token before, the columns are the next token. It shall
learn to count upwards, round and round. Each batch is used for several steps, so the ratio and the
clip come in.

## Problem

Write `train_language(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2)`. The table has V
+ 1 rows, one for each token before and the last one for the start; it begins with zeros. In each
update

1. draw G completions of T tokens, one uniform number u per token: the first token whose cumulative
probability is larger than u; the row of the first token is V, after that it is the token before;
keep log πold of every token
2. r = share of the T - 1 steps in which the next token is the one before plus 1, modulo V
3. A = (r - mean(r)) / (std(r) + 1e-4), the std with divisor G
4. `steps` times: logits += learning_rate · gradient of  1/(G T) Σ min(ρ A, clip(ρ, 1 - clip, 1 +
clip) A),  ρ = π/πold with π from the logits of that moment

## Input

- uniforms: (U, G, T) numbers in [0, 1), T at least 2.
- vocabulary: V.
- learning_rate, clip: numbers.
- steps: how often each batch is used.

## Output

(V + 1, V) the logits after U updates.

## Examples

    train_language([[[0.25, 0.75], [0.25, 0.25]]], 2, 1.0, 1)
    -> [[-0.24995, 0.24995], [0, 0], [0, 0]]

completions 0 1 and 0 0, rewards 1 and 0, A = ±0.5/0.5001; four tokens of weight 1/4: at the start
both chose 0, which cancels; after 0 one chose 1 and one chose 0

## Constraints

- After 200 updates of 16 completions of 6 tokens it must count on with probability 0.9, for V = 4.

## Grading

Inputs are given as numbers, NumPy arrays or nested lists; the answer may be any of these. Values
may differ by 1e-08 of the largest expected magnitude, and by 1e-09 where all expected values are 0.
There are no points until the examples above are right; then up to half of them for the tests that
pass, and all of them when every test passes.

## Source

Shao et al. 2024, DeepSeekMath (arXiv:2402.03300), algorithm 1, with a table for a model and no
penalty.

## See also

- notebooks/02_from_bandit_to_language.ipynb, written by `grpo-ref notebooks`.

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
