"""Model answer: sampler and trainer disagree."""

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
    # solution
    # instead: cache = {}
    # end
    for u, numbers in enumerate(uniforms):
        # solution
        cache = {}
        # end
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
