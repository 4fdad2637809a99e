"""The full stop never moves

Medium, 2 points. GRADING.md says how answers are graded.

This is a patient, as in chapter 8: a program with one fault. It trains a small network to imitate
texts. The embedding, a table with a row of numbers for each token, is used in two places. It
*reads*: the row of a token is what the network gets. And it *writes*: the logit of each possible
next token is the product of the last layer with that token's row. Many language models tie reading
and writing in this way, which saves a large table of weights.

The owner trains it on eight names of five letters, each with a full stop at its end. The loss
falls, from 2.92 nats a token to 1.56 after 50 steps. But a colleague reaches 0.93 with the same
names and the same start (all are means of 16 runs). And the owner has seen something strange: the
full stop, which stands only at the end, where nothing is read any more, still has exactly the row
of numbers that it began with.

## Your task

Write `train(embedding, mix, texts, learning_rate=1.0, steps=1)`.

Find the fault in `train(embedding, mix, texts, learning_rate=1.0, steps=1)` below and mend it: one
line is wrong, the rest is right. The program shall do the following. With E the embedding and W the
weights `mix`, the network says what follows a token s by

    h = tanh(E[s] W),    z[v] = h · E[v],    π(v | s) = exp(z[v]) / Σ_u exp(z[u])

The loss is the mean over all pairs of a token and the one right after it in the same text,

    L = - 1/(N (T - 1)) Σ log π(next token | token)

and each of the U `steps` goes downhill, with both slopes taken before anything is changed:

    E -= learning_rate · ∂L/∂E,    W -= learning_rate · ∂L/∂W

∂L/∂E is the whole derivative, with E in both of its places.

| argument        | meaning                     | shape  | values               |
| --------------- | --------------------------- | ------ | -------------------- |
| `embedding`     | E, a row for each token     | (V, D) | −4 to 4              |
| `mix`           | W, the other weights        | (D, D) | −4 to 4              |
| `texts`         | N texts of T tokens each    | (N, T) | integers, 0 to V - 1 |
| `learning_rate` | length of a step            | number | 0.01 to 4            |
| `steps`         | U, how many steps are taken | number | integer, 1 to 4      |

* D and N are at least 1.
* V and T are at least 2.

A tuple of two arrays: E, (V, D), and W, (D, D), after the steps.

* The first token of a text is only read, the last one is only written.
* One test takes more steps: after 50 on eight names of five letters, the loss must be below 1.1
  nats.

The tolerance of this exercise is 1e-8.

## Examples

    >>> train([[1.0986122886681098], [-1.0986122886681098]], [[0.5]], [[0, 1]], 1.0, 1)
    ([[0.105643], [-0.723612]], [[-0.857818]])

Token 0 is read and token 1 should follow. h = tanh(1/2 · log 3) = 1/2, so the logits are 1/2 · log
3 and -1/2 · log 3, and π is 3/4 and 1/4. The slope of the loss with respect to the logits is π
minus one-hot, [3/4, -3/4]. As writers, both rows of E get h times this: 3/8 and -3/8. On the way
back, h gets 3/4 · log 3 + 3/4 · log 3, and tanh leaves 1 - h² = 3/4 of it: 9/8 · log 3. Times the
row that was read, log 3, that is the slope of W; times W = 1/2 it is the slope of E[0] as reader,
9/16 · log 3, which is added to 3/8.

## When it is solved

Automatic differentiation adds up the slopes of all uses by itself, as long as both uses are the
same tensor on the same machine. Where the first and the last layer lie on different machines,
somebody has to add them; an issue of Megatron-LM (#844) reports a wrong sum of this kind.

## See also

* Source: Press & Wolf 2017, Using the output embedding to improve language models
  (arXiv:1608.05859).
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/unmoved_end
"""

import numpy as np


def softmax(logits):
    """Probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def train(embedding, mix, texts, learning_rate=1.0, steps=1):
    """Imitation of texts by a network that reads and writes with the same embedding."""
    embedding, mix = np.array(embedding, dtype=float), np.array(mix, dtype=float)
    texts, one_hot = np.asarray(texts), np.eye(len(embedding))
    seen, said = texts[:, :-1].ravel(), texts[:, 1:].ravel()
    for _ in range(steps):
        rows = embedding[seen]
        hidden = np.tanh(rows @ mix)
        probs = softmax(hidden @ embedding.T)
        slope = (probs - one_hot[said]) / len(said)
        embedding_slope = slope.T @ hidden
        inner = (slope @ embedding) * (1 - hidden**2)
        mix_slope = rows.T @ inner
        embedding_slope = one_hot[seen].T @ (inner @ mix.T)
        embedding = embedding - learning_rate * embedding_slope
        mix = mix - learning_rate * mix_slope
    return embedding, mix
