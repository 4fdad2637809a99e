"""Broken run: sampler and trainer disagree

Medium, 2 points. GRADING.md says how answers are graded.

A small network answers prompts. A group shares one prompt, so the sampler stores the hidden row h
of each prompt and uses it again.

The right answer is the larger of two digits from 0 to 4. In the last of 100 updates, 0.84 of the
sampled answers are right; in a healthy run, 0.99. The log-probabilities of sampler and trainer
agree in the first update, then they move apart. In a healthy run they are equal, up to rounding.

The picture is in 09_two_policies.svg.

## Your task

Write `train(embedding, head, prompts, answers, uniforms, learning_rate=5.0)`.

Find and fix the fault. One line is wrong or misplaced. Any correct program passes. E is
`embedding`, W is `head`, and s₁ to s_T are the tokens of the prompt:

    h = tanh(E[s₁] + ... + E[s_T]),    z = h W,    π(a | prompt) = exp(z[a]) / Σ_b exp(z[b])

Each of the U updates has three steps:

1. Each completion of prompt p samples one token with the current weights: the first one for which
   π(0) + ... + π(token) is larger than its number in `uniforms`.
2. The reward is 1 if the token is `answers[p]`, else 0. The advantage A is the reward minus its
   group's mean.
3. E and W take the step below. A is constant, and both gradients are taken before the step.

    E += learning_rate · ∂J/∂E,    W += learning_rate · ∂J/∂W,    J = 1/(P G) Σ A log π(token | prompt)

| argument        | meaning                               | shape     | values               |
| --------------- | ------------------------------------- | --------- | -------------------- |
| `embedding`     | E, one row per token                  | (V, D)    | −3 to 3              |
| `head`          | W, weights of the logits              | (D, V)    | −3 to 3              |
| `prompts`       | P prompts of T tokens, in all updates | (P, T)    | integers, 0 to V - 1 |
| `answers`       | the right answer to each prompt       | (P,)      | integers, 0 to V - 1 |
| `uniforms`      | one random number per sample          | (U, P, G) | 0 to 0.999           |
| `learning_rate` | step size                             | number    | 0.01 to 50           |

* D, P, T, U and G are at least 1.
* V is at least 2.
* No number in `uniforms` is within 1e-8 of a cumulative probability of its update.

Return a tuple of three arrays: E, W, and the log-probabilities of the sampled tokens, of shape (U,
P, G).

The tolerance of this exercise is 1e-8.

## Examples

**Three updates.** The learning rate is log 3.

    >>> train([[0.0], [0.0]], [[1.0, -1.0]], [[0]], [0],
    ...       [[[0.25, 0.75]], [[0.6, 0.9]], [[0.8, 0.9]]], 1.0986123)
    ([[1.23942], [0]], [[1.3419, -1.3419]],
     [[[-0.693147, -0.693147]], [[-0.313262, -1.31326]], [[-0.168672, -1.86295]]])

First update: h = 0, so π is 1/2 for both tokens, and tokens 0 and 1 are sampled. A is 1/2 and -1/2,
and the gradient at the logits is (1/4, -1/4). W stays, because h = 0, and E[0] gets log 3 · (1/4 +
1/4) = 1/2 · log 3.

Second update: h = tanh(1/2 · log 3) = 1/2, the logits are ±1/2, and π is 0.731 and 0.269. So 0.6
gives token 0 and 0.9 gives token 1. The gradient at the logits is the same: W gets log 3 · (1/8,
-1/8), and E[0] gets log 3 · 1/2 · 3/4.

Third update: h = 0.745, the logits are ±0.847, and π is 0.845 and 0.155. So 0.8 gives token 0 and
0.9 gives token 1.

**A token twice in one prompt.** E[0] is log 3 / 4, so h = tanh(log 3 / 2) = 1/2.

    >>> train([[0.2746531], [1.0]], [[1.0, -1.0]], [[0, 0]], [0], [[[0.25, 0.75]]], 1.0)
    ([[1.02465], [1]], [[1.125, -1.125]], [[[-0.313262, -1.31326]]])

The gradient at the logits is (1/4, -1/4), and the sum of the rows gets 1/2 · 3/4. E[0] occurs twice
in it: 2 · 3/8.

## When it is solved

Inference engines store keys and values in this way, in a prefix cache. vLLM's issue 9744 (October
2024) reports this fault: new weights were loaded, and the old cache stayed. Small differences
between sampler and trainer are normal, because they round differently, and trainers correct for
them with a ratio. A difference that grows from update to update is a fault.

This was the last exercise of the chapter.

## See also

* Source: Williams 1992, REINFORCE, with the mean of the group as baseline.
* Step 11 of the derivation, off policy, explains the formula.
* The notebook 11_a_transformer_by_hand.ipynb; `grpo-ref notebooks` opens it.

Check me: grpo-ref grade network/two_policies
"""

import numpy as np


def softmax(logits):
    """Return the probabilities of each row."""
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def sample(probs, uniforms):
    """Return one token for each uniform number."""
    # Without the last sum, which rounding may put below 1: the last token takes what remains.
    return (np.cumsum(probs)[:-1] <= uniforms[:, None]).sum(-1)


def hidden_row(embedding, prompt):
    """Return the hidden row of a prompt."""
    return np.tanh(embedding[prompt].sum(0))


def train(embedding, head, prompts, answers, uniforms, learning_rate=5.0):
    """Return E, W and the log-probabilities of the sampled tokens. Hidden rows are stored and reused."""
    embedding, head = np.array(embedding, dtype=float), np.array(head, dtype=float)
    prompts, answers, uniforms = np.asarray(prompts), np.asarray(answers), np.asarray(uniforms, dtype=float)
    log_probs = np.zeros(uniforms.shape)
    cache = {}
    for u, numbers in enumerate(uniforms):
        embedding_slope, head_slope = np.zeros_like(embedding), np.zeros_like(head)
        for p, prompt in enumerate(prompts):
            # The sampler: all completions of a prompt start from the same hidden row.
            key = tuple(prompt)
            if key not in cache:
                cache[key] = hidden_row(embedding, prompt)
            probs = softmax(cache[key] @ head)
            tokens = sample(probs, numbers[p])
            log_probs[u, p] = np.log(probs[tokens])
            rewards = (tokens == answers[p]).astype(float)
            advantages = rewards - rewards.mean()
            # The trainer: the policy gradient at the current weights.
            hidden = hidden_row(embedding, prompt)
            one_hot = np.eye(len(embedding))[tokens]
            logits_slope = (advantages[:, None] * (one_hot - softmax(hidden @ head))).sum(0) / numbers.size
            head_slope += np.outer(hidden, logits_slope)
            np.add.at(embedding_slope, prompt, (head @ logits_slope) * (1 - hidden**2))
        embedding = embedding + learning_rate * embedding_slope
        head = head + learning_rate * head_slope
    return embedding, head, log_probs
