"""Model answer: one prompt, two policies."""

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
    # solution
    # instead: kept = {}
    # end
    for u, numbers in enumerate(uniforms):
        # solution
        kept = {}
        # end
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
