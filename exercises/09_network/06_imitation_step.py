"""One step of imitation

Medium, 3 points. GRADING.md says how answers are graded.

A network that knows nothing writes noise, and noise is never rewarded. So it is pretrained: it
reads texts, and every token in them is made likelier after what comes before it. The slope begins
at the logits, as in `network/cross_entropy`, and goes back through every layer until it arrives at
the weights. Here the network is the smallest one that has all the parts. It looks at one token
only, the one before: takes the row of numbers that stands for it (its embedding), multiplies it
with a weight, bends the result, and compares it with the rows of all tokens. One table serves at
the entrance and at the exit, which is called a tied embedding; GPT-2 has it too. So each row is
corrected for two reasons: for what follows when its token is read, and for how well it answers when
its token may come next.

## Your task

Write `imitation_step(embeddings, weight, tokens, mask, learning_rate)`.

Write `imitation_step(embeddings, weight, tokens, mask, learning_rate)`: one step of gradient
descent on the cross-entropy. With E for `embeddings` and W for `weight`, the network computes after
a token x

    h = tanh(E[x] W),    z = E h,    π(· | x) = softmax(z)

E[x] is row x of E, D numbers; (E[x] W)[d] = Σ_c E[x, c] W[c, d], and z[a] = Σ_d E[a, d] h[d] is the
logit of token a. In text b, with places t counted from 0, tokens[b, t - 1] is read and tokens[b, t]
predicted:

    loss = -Σ m[b, t] log π(tokens[b, t] | tokens[b, t - 1]) / Σ m[b, t]

Both sums run over all texts together and all places t ≥ 1, so every token counts the same. Nothing
comes before the first token of a text, t = 0: it is never predicted, and its entry of the mask does
not matter. The new weights are E - learning_rate · ∂loss/∂E and W - learning_rate · ∂loss/∂W. E has
two slopes, as what is read and as what h is compared with: they are added, and so is what comes
from all places. The slope of tanh is 1 - tanh².

* `embeddings`: E, a row for each token; (V, D); −1000 to 1000.
* `weight`: W; (D, D); −10 to 10.
* `tokens`: the tokens of each text; (B, L); integers, 0 to V - 1.
* `mask`: m, 1 on tokens to be learned, 0 on prompt and padding; (B, L); 0 or 1.
* `learning_rate`: length of the step; number; 0.01 to 100.

* `mask`: zeros may be anywhere, and a row may be all zeros.
* B and D are at least 1.
* L and V are at least 2.

A tuple: the new E, of shape (V, D), the new W, of shape (D, D), and the loss before the step, in
nats.

* Where no token is to be learned, the loss is 0, and E and W stay as they are.
* Logits may lie thousands apart: take the largest one off first, and do not take the logarithm of a
  probability that has become 0.

## Examples

    >>> imitation_step([[0.549306], [2.74653]], [[1]], [[0, 1]], [[0, 1]], 1.0)
    ([[0.836286], [2.87153]], [[1.2263]], 0.28768207245178085)

The rows are a = log 3 / 2 and 5 a, one number each, and W is 1. Token 0 is read: h = tanh(a) = 1/2,
the logits are a/2 and 5 a/2, which differ by 2 a = log 3, so π is 1/4 and 3/4. Token 1 comes: the
loss is -log 3/4 = 0.287682, and its slope at the logits, g = π - one-hot, is 1/4 and -1/4. At the
exit each row gets g h, 1/8 and -1/8. At the entrance the slope of h is a/4 - 5 a/4 = -a, and that
of E[0] W is -a (1 - 1/4) = -0.411980: times W it goes to E[0], times E[0] = a to W. So 0.125 -
0.411980 = -0.286980, -0.125 and -0.226303 are taken off: E is 0.836286 and 2.871531, and W is
1.226303.

    >>> imitation_step([[0.549306], [2.74653]], [[1]], [[1, 0, 0], [0, 1, 0]], [[1, 0, 1], [0, 1, 0]], 2.0)
    ([[-0.0246531], [2.49653]], [[0.547394]], 0.8369882167858358)

Two places count, both after token 0: in the first text 0 comes, in the second one 1. The mask of
the very first token does not matter. The loss is (log 4 + log 4/3) / 2, and the slopes at the
logits add up to half of (1/4 - 1, 3/4) + (1/4, 3/4 - 1), (-1/4, 1/4). At the exit that is times
1/2; at the entrance -a/4 + 5 a/4 = a, times 3/4. Twice (-1/8 + 3 a/4), 1/8 and 3 a²/4 are taken
off.

## When it is solved

A transformer puts its layers in the place of W, and takes longer steps where slopes are small
(Adam); nothing else changes. Without W the network could hardly learn which of two tokens comes
first: tanh(E[a]) · E[b] is nearly the same as tanh(E[b]) · E[a]. grpo_ref imitates in
grpo_ref.learning.pretraining.

## See also

* Source: Press & Wolf 2017, for the tied embedding (arXiv:1608.05859).
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/imitation_step
"""

import numpy as np


def imitation_step(embeddings, weight, tokens, mask, learning_rate):
    """E and W after one step down the cross-entropy, and the loss before it."""
    raise NotImplementedError("network/imitation_step")
