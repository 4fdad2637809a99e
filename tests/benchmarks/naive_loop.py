"""GRPO as one would write it first: one seed, one completion at a time, one token at a time.

It is the yardstick for `many_seeds.py`: straightforward, correct, and slow. Its random numbers are in the
order of those of `grpo_ref.learning.loop`, so both give the same policy,
which is checked before anything is timed.
"""

import numpy as np

from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.task import END, Task


def train_naively(
    task: Task, config: TrainConfig, *, run: int = 0, kl_coef: float = 0.04
) -> tuple[np.ndarray, list[float]]:
    """Logits (N, V) after config.updates updates of GRPO with Adam, one epoch each, and every mean reward.

    With one epoch the policy is the one that sampled: every ratio is 1, and the clip never binds.
    """
    generator = np.random.default_rng([config.seed, run])
    logits, ref = task.ref_logits.copy(), task.ref_logits
    mean, square = np.zeros_like(logits), np.zeros_like(logits)
    curve = []
    for step in range(1, config.updates + 1):
        numbers = generator.random((config.prompts, 1 + config.group_size * task.max_length))
        gradient, judged = np.zeros_like(logits), []
        for row in numbers:
            prompt = int(np.searchsorted(task.prompt_probs.cumsum()[:-1], row[0], side="right"))
            uniforms = row[1:].reshape(config.group_size, task.max_length)
            group = [complete(task, logits, prompt, numbers) for numbers in uniforms]
            rewards = np.array([reward(task, prompt, tokens) for _, tokens in group])
            judged.append(rewards.mean())
            advantages = (rewards - rewards.mean()) / (rewards.std(ddof=1) + 1e-4)
            for (states, tokens), advantage in zip(group, advantages, strict=True):
                weight = 1.0 / (len(tokens) * config.prompts * config.group_size)
                for state, token in zip(states, tokens, strict=True):
                    probs, ref_probs = softmax(logits[state]), softmax(ref[state])
                    kl_slope = 1.0 - ref_probs[token] / probs[token]
                    gradient[state] += weight * (advantage - kl_coef * kl_slope) * probs
                    gradient[state, token] -= weight * (advantage - kl_coef * kl_slope)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        corrected = (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
        logits = logits - config.learning_rate * corrected
        curve.append(float(np.mean(judged)))
    return logits, curve


def complete(
    task: Task, logits: np.ndarray, prompt: int, uniforms: np.ndarray
) -> tuple[list[int], list[int]]:
    """Walk the automaton from the prompt: the states seen and the tokens chosen."""
    state, states, tokens = int(task.starts[prompt]), [], []
    for uniform in uniforms:
        token = int(np.searchsorted(softmax(logits[state]).cumsum()[:-1], uniform, side="right"))
        states.append(state)
        tokens.append(token)
        state = int(task.transitions[state, token])
        if state == END:
            break
    return states, tokens


def reward(task: Task, prompt: int, tokens: list[int]) -> float:
    """The verifier's judgement of one completion."""
    padded = np.array(tokens + [0] * (task.max_length - len(tokens)))
    mask = np.arange(task.max_length) < len(tokens)
    return float(task.verify(np.array([prompt]), padded[None, None], mask[None, None])[0, 0] @ task.weights)


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities of one row."""
    exponentials = np.exp(logits - logits.max())
    return exponentials / exponentials.sum()
