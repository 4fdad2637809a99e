"""Train a small language model

Hard, 5 points. GRADING.md says how answers are graded.

A table of logits is a small language model: the previous token selects the row, whose softmax gives
the probabilities of the next token. It learns to count: 0 1 2 3 0 1 ...

## Your task

Write `train_language(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2)`.

The table has V + 1 rows: one per previous token, and row V for the start. Logits start at 0. Each
update does this:

1. Sample G completions of T tokens from πold, the softmax of each row. A token is the first one
   whose cumulative probability πold(0 | row) + ... + πold(token | row) is larger than its number in
   `uniforms`.
2. r is the fraction of the T - 1 transitions that go to the previous token plus 1, modulo V.
3. A = (r - mean(r)) / (std(r) + 1e-4) over the G completions. The standard deviation divides by G.
4. `steps` times, with constant πold and A: logits += learning_rate · ∂J/∂logits.

J sums over all tokens:

    J = 1/(G T) Σ min(ρ A, clip(ρ, 1 - clip, 1 + clip) A),    ρ = π(token | row) / πold(token | row)

π is the softmax of the current logits. A token has slope 0 if A > 0 and ρ > 1 + clip, or A < 0 and
ρ < 1 - clip. Otherwise, also on the bounds, its slope with respect to log π is ρ A. The gradient of
log π(token | row) in its row is one-hot(token) - π(· | row).

| argument        | meaning                              | shape     | values          |
| --------------- | ------------------------------------ | --------- | --------------- |
| `uniforms`      | random numbers, one for each token   | (U, G, T) | 0 to 0.999      |
| `vocabulary`    | V, the number of tokens              | number    | integer, 2 to 5 |
| `learning_rate` | step size                            | number    | 0.01 to 10      |
| `steps`         | number of steps on each batch        | number    | integer, 1 to 4 |
| `clip`          | half-width of the allowed range of ρ | number    | 0 to 0.9        |

* U and G are at least 1.
* T is at least 2.
* If `clip` is 0, `steps` is 1.
* Rounding never decides which token is sampled or clipped.

Return the logits, of shape (V + 1, V).

The tolerance of this exercise is 1e-8.

## Examples

**One step by hand.**

    >>> train_language([[[0.25, 0.75], [0.25, 0.25]]], 2, 1.0, 1)
    [[-0.24995, 0.24995], [0, 0], [0, 0]]

All probabilities are 1/2. The completions are 0 1 and 0 0, with rewards 1 and 0, so A = ±0.5 /
0.5001 = ±1/1.0002. Each token has weight 1/4. In row 2, the start, both completions chose 0, and A
and -A cancel. In row 0, the tokens add A/4 · [-1/2, 1/2] and -A/4 · [1/2, -1/2], with A = 1/1.0002.

**The second step is clipped.** All settings have their defaults.

    >>> train_language([[[0.25, 0.75], [0.25, 0.25]]], 2)
    [[-1.9996, 1.9996], [0, 0], [0, 0]]

After the first step, row 0 has probabilities 0.02 and 0.98, so the ratios are 0.04 and 1.96. Both
tokens are beyond their bound and have slope 0.

**Three tokens.** The completions are 2 0 1 and 0 0 0.

    >>> train_language([[[0.9, 0.1, 0.5], [0.1, 0.1, 0.1]]], 3, 1.0, 1)
    [[-0.277722, 0.222178, 0.0555444], [0, 0, 0], [0.111089, -0.0555444, -0.0555444],
     [-0.166633, 0, 0.166633]]

After 2 comes 0, so the rewards are 1 and 0, and A = ±1/1.0002. Row 3, the start, gets 1/6 · ([0, 0,
1] - [1, 0, 0]) / 1.0002.

**Corner cases.** In a group of one, or with equal rewards, A is 0 up to rounding, and an exact 0 is
accepted too.

**A long run.** In one test, 50 updates of 16 completions of 6 tokens, with V = 4 and the defaults,
must give the right next token a probability above 0.9 on average.

## When it is solved

All tokens of a completion share its advantage: the reward does not say which transitions were
right.

## See also

* Source: Shao et al. 2024, DeepSeekMath (arXiv:2402.03300), algorithm 1, with a table as the model
  and no penalty.
* Step 4 of the derivation, clip, explains the formula.
* `grpo-ref recipes grpo` shows the whole algorithm.
* The notebook 02_from_bandit_to_language.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade training/train_language
"""

import numpy as np


def softmax(logits):
    """Return the probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def train_language(uniforms, vocabulary, learning_rate=8.0, steps=2, clip=0.2):
    """Return the table of logits after all updates."""
    raise NotImplementedError("training/train_language")
