"""GRPO in one page: a policy learns one-digit sums from rewards alone. NumPy only.

    python grpo_in_one_page.py

Read the file from top to bottom. All of the algorithm is here: a group of completions for each prompt, a
reward for each completion, the group-relative advantage, the clipped surrogate, the KL penalty, and the
gradient, which is derived by hand. The model is very small: a table with one row of logits per prompt, and
completions of one token. So the policy learns the answers to 100 questions by heart, and nothing else.
"""

import numpy as np

PROMPTS, ANSWERS = 100, 19  # P = 100 questions, 0+0 to 9+9, and V = 19 possible answers, 0 to 18
GROUP, UPDATES, EPOCHS = 8, 150, 3  # G = 8 completions per prompt, batches, gradient steps on each batch
CLIP, KL_COEF = 0.2, 0.01
LEARNING_RATE = 30.0  # large, because the mean over 100 prompts makes the gradient of each row small

rng = np.random.default_rng(0)
right_answers = np.add.outer(np.arange(10), np.arange(10)).ravel()  # (P,) prompt 10 a + b asks for a+b


def log_softmax(x):
    """Return the log-probabilities that belong to the logits on the last axis."""
    x = x - x.max(axis=-1, keepdims=True)  # does not change the result, and exp cannot overflow
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


# The policy starts with random logits, so it knows nothing about sums. The reference stays as it is here.
ref_logits = rng.normal(size=(PROMPTS, ANSWERS))
logits = ref_logits.copy()

# With these row numbers, table[rows, completions] picks the entry of each completion: a (P, G) array.
rows = np.arange(PROMPTS)[:, None]

print("100 questions, 0+0 to 9+9. Each update samples 8 answers to each question.")
print("Mean reward: share of right answers. Clipped: share of answers at the limit of the clip.")
print("KL: estimated divergence from the policy before training.\n")

for update in range(1, UPDATES + 1):
    # 1. Sample a group of completions for each prompt. With Gumbel noise added to the logits, the index of
    #    the largest entry is a sample from softmax(logits).
    noise = rng.gumbel(size=(PROMPTS, GROUP, ANSWERS))
    completions = (logits[:, None, :] + noise).argmax(axis=-1)  # (P, G)

    # 2. Reward each completion: 1 if the answer is right, else 0. The reward is a rule, not a trained model.
    rewards = (completions == right_answers[:, None]).astype(float)  # (P, G)

    # 3. The advantage compares each reward with the rewards of its group, so no value network is needed.
    #    If all rewards of a group are equal, its advantages are 0; the 1e-4 prevents 0 / 0.
    centered = rewards - rewards.mean(axis=1, keepdims=True)
    advantages = centered / (rewards.std(axis=1, ddof=1, keepdims=True) + 1e-4)  # (P, G)

    # 4. Keep the log-probabilities of the completions under the sampling policy and under the reference.
    old = log_softmax(logits)[rows, completions]  # (P, G)
    ref = log_softmax(ref_logits)[rows, completions]  # (P, G)

    for _ in range(EPOCHS):
        # 5. The ratio compares the probability of each completion now and when it was sampled. In the first
        #    epoch all ratios are 1.
        log_probs = log_softmax(logits)  # (P, V)
        new = log_probs[rows, completions]  # (P, G)
        ratio = np.exp(new - old)

        # 6. The surrogate is min(ratio A, clip(ratio) A). Its slope with respect to new is ratio A, because
        #    d ratio / d new = ratio. Where the clipped value is smaller, it is constant and the slope is 0.
        unclipped = ratio * advantages
        clipped = np.clip(ratio, 1 - CLIP, 1 + CLIP) * advantages
        surrogate = np.minimum(unclipped, clipped)
        surrogate_slope = np.where(unclipped <= clipped, unclipped, 0.0)

        # 7. The KL penalty is the estimator k3 = exp(-v) - 1 + v, v = new - ref. Its slope is 1 - exp(-v).
        kl = np.exp(ref - new) - 1 + (new - ref)  # in nats
        kl_slope = 1 - np.exp(ref - new)

        # 8. The objective is a mean over all completions. GRPO maximizes it.
        objective = (surrogate - KL_COEF * kl).mean()
        slope = (surrogate_slope - KL_COEF * kl_slope) / (PROMPTS * GROUP)  # (P, G) d objective / d new

        # 9. The chain rule leads from log-probabilities to logits: d log π(a) / d logits = onehot(a) - π.
        onehot = np.eye(ANSWERS)[completions]  # (P, G, V)
        gradient = (slope[:, :, None] * (onehot - np.exp(log_probs)[:, None, :])).sum(axis=1)  # (P, V)

        # 10. Take a step uphill.
        logits += LEARNING_RATE * gradient

    if update == 1 or update % 25 == 0:
        reward, share = rewards.mean(), (clipped < unclipped).mean()
        print(f"update {update:3d}: mean reward {reward:.2f}, clipped {share:.2f}, KL {kl.mean():.2f} nats")

# What was learned? Compare the policy before and after training, first on one question, then on all of them.
for stage, probs in ("before", np.exp(log_softmax(ref_logits))), ("after", np.exp(log_softmax(logits))):
    answer = probs[75].argmax()  # prompt 75 asks for 7+5
    right = probs[np.arange(PROMPTS), right_answers]  # (P,) the probability of the right answer
    print(f"\n{stage} training, most likely answer to 7+5: {answer} (probability {probs[75, answer]:.2f})")
    print(f"{stage} training, mean probability of the right answer over all questions: {right.mean():.2f}")
