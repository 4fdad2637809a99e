"""Wrong answers to `advantages/centered`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant


def on_floats(formula):
    """Return an answer that applies a formula to the rewards as an array of floats."""
    return lambda rewards: formula(np.asarray(rewards, dtype=float))


def into_an_array_like_the_rewards(rewards):
    r = np.asarray(rewards)
    advantages = np.zeros_like(r)
    for p, row in enumerate(r):
        advantages[p] = row - row.mean()
    return advantages


WRONG = (
    Mutant(
        "divided by the std",
        on_floats(lambda r: (r - r.mean(-1, keepdims=True)) / (r.std(-1, keepdims=True) + 1e-4)),
        "Divides by the standard deviation, as GRPO does; Dr. GRPO omits this division.",
    ),
    Mutant(
        "mean of the batch",
        on_floats(lambda r: r - r.mean()),
        "Subtracts the mean of the whole batch; each group has its own mean.",
    ),
    Mutant(
        "over the prompts",
        on_floats(lambda r: r - r.mean(0)),
        "Computes the means over the prompts (axis 0); they run over the completions of one prompt.",
    ),
    Mutant(
        "no keepdims",
        on_floats(lambda r: r - r.mean(-1)),
        "Subtracts the mean of group k from completion k of every group: means of shape (P,) line up with the columns.",
    ),
    Mutant(
        "median",
        on_floats(lambda r: r - np.median(r, -1, keepdims=True)),
        "Subtracts the median of the group instead of the mean.",
    ),
    Mutant(
        "best",
        on_floats(lambda r: r - r.max(-1, keepdims=True)),
        "Subtracts the largest reward of the group instead of the mean.",
    ),
    Mutant(
        "sum for mean",
        on_floats(lambda r: r - r.sum(-1, keepdims=True)),
        "Subtracts the sum of the group's rewards instead of the mean.",
    ),
    Mutant(
        "leave one out",
        on_floats(lambda r: (r - r.mean(-1, keepdims=True)) * r.shape[-1] / max(r.shape[-1] - 1, 1)),
        "Subtracts the mean of the other rewards (RLOO); the mean of the group includes the completion itself.",
    ),
    Mutant(
        "sign reversed",
        on_floats(lambda r: r.mean(-1, keepdims=True) - r),
        "Subtracts the reward from the mean, so that every sign is reversed.",
    ),
    Mutant("not centered", on_floats(lambda r: r), "Returns the rewards; the mean is not subtracted."),
    Mutant(
        "integers",
        into_an_array_like_the_rewards,
        "Writes the result into an array of the rewards' type: integers cut off the fractions.",
    ),
)
