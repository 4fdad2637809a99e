"""Completions with a hidden quality, and a reward model whose scores are distorted, noisy or binary."""

from functools import partial
from typing import Literal

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.task import END, Task

Scores = Literal["exact", "distorted", "noisy", "normal noise", "binary", "jittered"]
JITTER = 1e-3
"""Standard deviation of errors that are negligible beside a reward of 0 or 1."""
FAMILY = (
    "4 to 24 prompts share nothing; completions have 1 to 4 tokens out of 4 to 10, each with a quality that"
    " is uniform from 0 to 1, and the hidden quality is their mean. Groups have 4, 8 or 16 completions. The"
    " distortion is (exp(k quality) - 1)/(exp(k) - 1), which keeps the order and the bounds, k from 3 to 30"
    " or from -30 to -3; errors, one for each text, have a scale of 0.02 to 0.5 (all log-uniform); a test is"
    " passed by 5 to 50 % of all texts."
)
"""Description of how `judged_by_model` samples its tasks."""


def judged_by_model(seed: int, scores: Scores) -> Task:
    """Sample a task whose reward is a score; equal texts have equal scores.

    Args:
      seed: seed of the task.
      scores: "exact", the quality itself; "distorted", a steep increasing function of the quality; "noisy" or
        "normal noise", the quality plus a Cauchy or a normal error; "binary", 1 if the text passes a test,
        otherwise 0; "jittered", the binary score plus a negligible error.

    Returns:
      A task with the criteria "score" and "gain". "gain" does not count for the reward: it is the quality on
      a scale from 0 (the reference) to 1 (the best text).
    """
    generator = np.random.default_rng([seed, 0, 1])
    prompts, choices = int(generator.integers(4, 25)), int(generator.integers(4, 11))
    length, group_size = int(generator.integers(1, 5)), int(generator.choice([4, 8, 16]))
    steepness = generator.choice([-1.0, 1.0]) * np.exp(generator.uniform(np.log(3.0), np.log(30.0)))
    noise, passes = np.exp(generator.uniform(np.log(0.02), np.log(0.5))), generator.uniform(0.05, 0.5)
    qualities = generator.random((prompts, length, choices))
    ref_logits = 0.5 * generator.normal(size=(prompts * length, choices))
    probs = policy_of(ref_logits).probs.reshape(qualities.shape)
    bounds = float((probs * qualities).sum(-1).mean()), float(qualities.max(-1).mean())
    some = generator.integers(choices, size=(prompts, 500, length))
    mark = float(np.quantile(_quality(qualities, np.arange(prompts), some), 1.0 - passes))
    texts = (prompts, choices**length)
    errors = {
        "noisy": noise * generator.standard_cauchy(texts),
        "normal noise": noise * generator.normal(size=texts),
        "jittered": JITTER * generator.normal(size=texts),
    }.get(scores, np.zeros(texts))
    states = np.arange(prompts * length)
    following = np.where(states % length == length - 1, END, states + 1)
    return Task(
        name="judged_by_model",
        vocabulary=tuple("abcdefghij"[:choices]),
        transitions=np.repeat(following[:, None], choices, axis=1),
        prompts=tuple(f"{prompt}:" for prompt in range(prompts)),
        starts=np.arange(prompts) * length,
        prompt_probs=np.full(prompts, 1.0 / prompts),
        max_length=length,
        ref_logits=ref_logits,
        verify=partial(_judge, qualities, errors, bounds, scores, steepness, mark),
        criteria=("score", "gain"),
        weights=np.array([1.0, 0.0]),
        settings={"updates": 80, "prompts": 8, "group_size": group_size},
    )


def _quality(qualities: Floats, prompts: Integers, tokens: Integers) -> Floats:
    """Return the quality (..., P, G) of completions (..., P, G, T)."""
    mean: Floats = qualities[prompts[..., None, None], np.arange(tokens.shape[-1]), tokens].mean(-1)
    return mean


def _judge(
    qualities: Floats,
    errors: Floats,
    bounds: tuple[float, float],
    scores: Scores,
    steepness: float,
    mark: float,
    prompts: Integers,
    tokens: Integers,
    mask: Bools,
) -> Floats:
    """Return (..., P, G, 2): the model's score, and the quality on the scale of "gain"."""
    quality = _quality(qualities, prompts, tokens)
    text = (tokens * qualities.shape[-1] ** np.arange(tokens.shape[-1])).sum(-1)
    score = {
        "distorted": np.expm1(steepness * quality) / np.expm1(steepness),
        "binary": (quality >= mark).astype(np.float64),
        "jittered": (quality >= mark).astype(np.float64),
    }.get(scores, quality)
    low, high = bounds
    judged = score + errors[prompts[..., None], text], (quality - low) / (high - low)
    return np.stack(judged, axis=-1)
