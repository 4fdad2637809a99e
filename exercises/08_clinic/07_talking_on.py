"""Late positions that move

Medium, 2 points. GRADING.md says how answers are graded.

Token 0 ends a completion. Everything sampled after it is padding, which must not be trained. The
policy is a table with one row of logits per position t; its softmax gives π(· | t).

In the run below, one update moves the rows of late positions by 0.4, although both completions of
its batch ended earlier. The reward rises nearly as in a healthy run, so the mistake is easy to
miss.

The picture is in 07_talking_on.svg.

## Your task

Write `train(uniforms, vocabulary, learning_rate=8.0)`.

One line of the given `train` is wrong. Fix it. The logits, of shape (T, V), start at 0. Each update
must do this:

1. At every position of all G completions, sample the first token whose cumulative probability π(0 |
   t) + ... + π(token | t) is larger than its number in `uniforms`.
2. The mask m is 1 up to and including the first token 0, and 0 after it. Without a token 0, it is 1
   everywhere.
3. The reward is 1 if the third token is the first token 0, and otherwise 0.
4. The advantage A is the reward minus the mean of all G rewards.
5. With A constant: logits += learning_rate · ∂J/∂logits.

The objective is

    J = Σ m A log π(token | t) / Σ m

Both sums run over all positions of all completions. The gradient of log π(token | t) in row t is
one-hot(token) - π(· | t).

| argument        | meaning                            | shape     | values          |
| --------------- | ---------------------------------- | --------- | --------------- |
| `uniforms`      | random numbers, one for each token | (U, G, T) | 0 to 0.999      |
| `vocabulary`    | V, the number of tokens            | number    | integer, 2 to 4 |
| `learning_rate` | step size                          | number    | 0.01 to 10      |

* U, G and T are at least 1.
* Rounding never decides which token is sampled.

Return the logits after all updates, an array of shape (T, V).

The tolerance of this exercise is 1e-8.

## Examples

**Two lengths.** The completions are 1 1 0 and 0.

    >>> train([[[0.75, 0.75, 0.25, 0.25], [0.25, 0.75, 0.75, 0.75]]], 2, 1.0)
    [[-0.125, 0.125], [-0.0625, 0.0625], [0.0625, -0.0625], [0, 0]]

All probabilities are 1/2. The rewards are 1 and 0, so A is 1/2 and -1/2. Each of the four tokens
has weight 1/4. The first position gets (1/2 · [-1/2, 1/2] - 1/2 · [1/2, -1/2]) / 4. The second gets
1/2 · [-1/2, 1/2] / 4, the third 1/2 · [1/2, -1/2] / 4. At the fourth, both completions have ended.

**A completion without an end.** The completions are 1 1 0 and 1 1 1 1. The learning rate is 8, the
default.

    >>> train([[[0.75, 0.75, 0.25, 0.75], [0.75, 0.75, 0.75, 0.75]]], 2)
    [[0, 0], [0, 0], [0.571429, -0.571429], [0.285714, -0.285714]]

The rewards are 1 and 0 again, but the batch has 3 + 4 = 7 tokens. At the first two positions the
completions agree, and A and -A cancel. The third position gets 8/7 · (1/2 · [1/2, -1/2] - 1/2 ·
[-1/2, 1/2]), the fourth 8/7 · (-1/2) · [-1/2, 1/2].

**Corner cases.** If all rewards are equal, A is 0 up to rounding, and an exact 0 is accepted too.
This is always so for T less than 3.

**A long run.** In one test with V = 3 and T = 5, the program trains for 200 updates of 16
completions. The policy must then end a completion as its third token with a probability above 0.9.

## When it is solved

An issue of TRL (#6654) reports a mistake of this kind in a released trainer. The mean here is
verl's `token-mean`.

## See also

* Source: verl `token-mean`, for the mean over the tokens of the batch.
* Step 9 of the derivation, aggregation, explains the formula.
* The notebook 09_the_clinic.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade clinic/talking_on
"""

import numpy as np


def softmax(logits):
    """Return the probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def draw(probs, uniforms):
    """Sample one token for each uniform number. probs has one axis more than uniforms."""
    # The last column is omitted: its sum is 1, which is larger than every number.
    return (np.cumsum(probs, -1)[..., :-1] <= uniforms[..., None]).sum(-1)


def train(uniforms, vocabulary, learning_rate=8.0):
    """Train one row of logits per position; a completion is right if its third token is the end."""
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
