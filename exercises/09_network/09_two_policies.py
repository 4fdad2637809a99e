"""One prompt, two policies

Medium, 2 points. GRADING.md says how answers are graded.

This is a patient, as in chapter 8: a program with one fault. Its policy is a small network. An
embedding turns each token of the prompt into a row of numbers, these are added up, and from the
tanh of their sum the head makes the logits of the answer. To read a prompt is work, and all members
of a group have the same prompt. So the sampler keeps what the network has made of a prompt, and
takes it from there when the same prompt comes again. Samplers of large models do this with the keys
and values of attention, and call it a prefix cache.

The owner trains the network to answer with the larger of two digits from 0 to 4. There are 25
prompts, and all of them come in each of the 100 updates, with groups of 8. By the log, 0.82 of the
answers are right in the last update. But of the answers that the saved weights give, 0.77 are
right, and in a healthy run it is 0.99 for both. The program also returns the log-probability that
the sampler had of each token drawn, and the owner compares it with what the trainer computes. In
the first update they are equal. In the second the mean distance is 0.03, in the eleventh 0.79, and
in the last 13 (all are means of 16 runs). In a healthy run it is 0 in every update, but for
rounding.

## Your task

Write `train(embedding, head, prompts, answers, uniforms, learning_rate=5.0)`.

Find the fault in `train(embedding, head, prompts, answers, uniforms, learning_rate=5.0)` below and
mend it: one line is wrong or in the wrong place, the rest is right. The program shall do the
following. With E the embedding and W the head, the policy answers a prompt of the tokens s₁ to s_L
by

    h = tanh(E[s₁] + ... + E[s_L]),    z = h W,    π(v | prompt) = exp(z[v]) / Σ_u exp(z[u])

In each of the U updates

1. every member g of the group of prompt p draws a token: the first one whose cumulative probability
   π(0) + ... + π(token), with the weights of this update, is larger than its number in `uniforms`;
   log π(token) is written down
2. its reward is 1 if the token is the right answer, `answers[p]`, and otherwise 0; its advantage A
   is this reward minus the mean reward of its group
3. E and W take one step uphill, with both slopes taken before anything is changed and A held
   constant:

    E += learning_rate · ∂J/∂E,    W += learning_rate · ∂J/∂W,    J = 1/(P G) Σ A log π(token | prompt)

The gradient of log π(token | prompt) with respect to z is the one-hot vector of the token minus π.
What is kept of a prompt must not change the result, only save work.

| argument        | meaning                                     | shape     | values               |
| --------------- | ------------------------------------------- | --------- | -------------------- |
| `embedding`     | E, a row for each token                     | (V, D)    | −3 to 3              |
| `head`          | W, which makes the logits                   | (D, V)    | −3 to 3              |
| `prompts`       | P prompts of L tokens each, in every update | (P, L)    | integers, 0 to V - 1 |
| `answers`       | the right answer to each prompt             | (P,)      | integers, 0 to V - 1 |
| `uniforms`      | random numbers, one for each draw           | (U, P, G) | 0 to 0.999           |
| `learning_rate` | length of a step                            | number    | 0.01 to 50           |

* D, P, L, U and G are at least 1.
* V is at least 2.

A tuple of three arrays: E, (V, D), and W, (D, V), after U updates, and the log-probabilities with
which the tokens were drawn, (U, P, G).

* A prompt may have a token twice, and two prompts may be the same.
* After 30 updates on the larger of two digits, more than 0.9 of the answers must be right.

The tolerance of this exercise is 1e-8.

## Examples

    >>> train([[0.0], [0.0]], [[1.0, -1.0]], [[0]], [0], [[[0.25, 0.75]], [[0.6, 0.9]]], 1.0986122886681098)
    ([[0.961286], [0]], [[1.13733, -1.13733]], [[[-0.693147, -0.693147]], [[-0.313262, -1.31326]]])

At first h = 0 and both tokens have probability 1/2, so that tokens 0 and 1 are drawn. The first is
right, A = 1/2 and -1/2, and the slope of the logits is [1/4, -1/4]. The head stays, since h = 0;
E[0] gets log 3 · (1/4 + 1/4) = 1/2 · log 3. Now h = tanh(1/2 · log 3) = 1/2, the logits are 1/2 and
-1/2, and π is 0.731 and 0.269. So 0.6 draws token 0 and 0.9 token 1; with the h of the first update
both would have drawn token 1, and nothing would move. The slope of the logits is [1/4, -1/4] again;
the head gets log 3 · 1/2 of it, and E[0] gets log 3 · (1/4 + 1/4) · (1 - h²) = 3/8 · log 3.

## When it is solved

An issue of vLLM (#9744, October 2024) reports this fault: after new weights were loaded, the new
model ran with the old prefix cache. Since version 0.7.0 a trainer can have the cache reset. A small
distance between the log-probabilities of sampler and trainer is left in practice, since they round
differently; trainers correct for it with a ratio. A distance that grows from update to update is a
fault, and a ratio is no cure for it.

## See also

* Source: Williams 1992, REINFORCE, with the mean of the group for a baseline.
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/two_policies
"""

import numpy as np


def softmax(logits):
    """Probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def draw(probs, uniforms):
    """One token for each uniform number."""
    return (np.cumsum(probs)[:-1] <= uniforms[:, None]).sum(-1)


def read(embedding, prompt):
    """What the network makes of a prompt."""
    return np.tanh(embedding[prompt].sum(0))


def train(embedding, head, prompts, answers, uniforms, learning_rate=5.0):
    """A token in answer to each prompt; what was made of a prompt is kept, for the next one like it."""
    embedding, head = np.array(embedding, dtype=float), np.array(head, dtype=float)
    prompts, answers, uniforms = np.asarray(prompts), np.asarray(answers), np.asarray(uniforms, dtype=float)
    log = np.zeros(uniforms.shape)
    kept = {}
    for u, numbers in enumerate(uniforms):
        embedding_slope, head_slope = np.zeros_like(embedding), np.zeros_like(head)
        for p, prompt in enumerate(prompts):
            key = tuple(prompt)
            if key not in kept:
                kept[key] = read(embedding, prompt)
            probs = softmax(kept[key] @ head)
            tokens = draw(probs, numbers[p])
            log[u, p] = np.log(probs[tokens])
            rewards = (tokens == answers[p]).astype(float)
            advantages = rewards - rewards.mean()
            hidden = read(embedding, prompt)
            one_hot = np.eye(len(embedding))[tokens]
            slope = (advantages[:, None] * (one_hot - softmax(hidden @ head))).sum(0) / numbers.size
            head_slope += np.outer(hidden, slope)
            np.add.at(embedding_slope, prompt, (head @ slope) * (1 - hidden**2))
        embedding = embedding + learning_rate * embedding_slope
        head = head + learning_rate * head_slope
    return embedding, head, log
