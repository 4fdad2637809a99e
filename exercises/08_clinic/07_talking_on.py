"""It goes on talking after the end

Medium, 2 points. GRADING.md says how answers are graded.

A small language: its tokens are 0 to V - 1, and token 0 ends a completion. Completions of different
lengths lie in one rectangular array; what was drawn after the end is padding, which nobody said and
which must not be trained. A mask has 1 on the tokens and 0 on the padding. The policy is a table
with one row of logits for each position; the softmax of a row gives the probability of each token
there. In the patient below the rows of late positions move although both completions of a batch
have ended long before: by 0.4 in one update, where they should stay at 0. It learns what it shall
all the same, which is why nobody noticed.

## Your task

Write `train(uniforms, vocabulary, learning_rate=8.0)`.

Find the fault in `train(uniforms, vocabulary, learning_rate=8.0)` below and mend it: one line is
wrong, the rest is right. The program shall do the following. The table of logits, (T, V), is zeros
at first. In each of the U updates

1. π is the softmax of each row. At every position t of each of the G completions a token is drawn:
   the first one whose cumulative probability π(0 | t) + ... + π(token | t) is larger than its
   number in `uniforms`
2. the mask m is 1 up to and including the first token 0, and 0 after it; without a token 0 it is 1
   everywhere
3. the reward of a completion is 1 if the third token ends it, so that it says two words and stops;
   otherwise it is 0
4. its advantage A is the reward minus the mean reward of the batch, all G completions
5. the logits take one step uphill, logits += learning_rate · ∂J/∂logits, with A held constant, on

    J = Σ m A log π(token | t) / Σ m

Both sums run over all positions of all completions of the batch. The gradient of log π(token | t)
with respect to row t is the one-hot vector of the token minus π.

| argument        | meaning                            | shape     | values          |
| --------------- | ---------------------------------- | --------- | --------------- |
| `uniforms`      | random numbers, one for each token | (U, G, T) | 0 to 0.999      |
| `vocabulary`    | V, the number of tokens            | number    | integer, 2 to 4 |
| `learning_rate` | length of a step                   | number    | 0.01 to 10      |

* U, G and T are at least 1.

(T, V) the logits after U updates.

* If T is less than 3 every reward is 0, and nothing moves.
* After 200 updates of 16 completions with V = 3 and T = 5 the program must say two words and stop
  with a probability above 0.9.

The tolerance of this exercise is 1e-8.

## Examples

    >>> train([[[0.75, 0.75, 0.25, 0.25], [0.25, 0.75, 0.75, 0.75]]], 2, 1.0)
    [[-0.125, 0.125], [-0.0625, 0.0625], [0.0625, -0.0625], [0, 0]]

Each token has probability 1/2. The completions are 1 1 0 and 0, so the rewards are 1 and 0, A = 1/2
and -1/2, and each of the four tokens has weight 1/4. The first position gets (1/2 · [-1/2, 1/2] -
1/2 · [1/2, -1/2]) / 4, the second 1/2 · [-1/2, 1/2] / 4, the third 1/2 · [1/2, -1/2] / 4. At the
fourth both have ended.

## When it is solved

An issue of TRL (#6654) reports a fault of this kind in a released trainer.

## See also

* Source: verl `token-mean`, for the mean over the tokens of the batch.
* The notebook 09_the_clinic.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade clinic/talking_on
"""

import numpy as np


def softmax(logits):
    """Probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def draw(probs, uniforms):
    """One token for each uniform number; probs has one axis more."""
    return (np.cumsum(probs, -1)[..., :-1] <= uniforms[..., None]).sum(-1)


def train(uniforms, vocabulary, learning_rate=8.0):
    """One row of logits a position; a completion is right if it ends as its third token."""
    uniforms = np.asarray(uniforms, dtype=float)
    _, group, length = uniforms.shape
    logits = np.zeros((length, vocabulary))
    positions = np.tile(np.arange(length), (group, 1))
    for numbers in uniforms:
        probs = softmax(logits)
        tokens = draw(probs[positions], numbers)
        is_end = tokens == 0
        mask = (np.cumsum(is_end, -1) - is_end == 0).astype(float)
        rewards = ((mask.sum(-1) == 3) & (mask * is_end).any(-1)).astype(float)
        advantages = (rewards - rewards.mean())[:, None]
        weights = 1 / mask.size
        slope = weights * advantages
        gradient = np.zeros_like(logits)
        np.add.at(gradient, positions, slope[..., None] * (np.eye(vocabulary)[tokens] - probs[positions]))
        logits = logits + learning_rate * gradient
    return logits
