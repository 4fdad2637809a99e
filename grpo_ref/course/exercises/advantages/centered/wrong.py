"""Wrong answers to `advantages/centered`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant


def _of(formula):
    return lambda rewards: formula(np.asarray(rewards, dtype=float))


WRONG = (
    Mutant(
        "divided by the std",
        _of(lambda r: (r - r.mean(-1, keepdims=True)) / (r.std(-1, keepdims=True) + 1e-4)),
        "This divides by the std as GRPO does; Dr. GRPO does not.",
    ),
    Mutant("mean of the batch", _of(lambda r: r - r.mean()), "The mean is that of the whole batch."),
    Mutant(
        "over the prompts",
        _of(lambda r: r - r.mean(0)),
        "The mean runs over the prompts, not over the completions of one.",
    ),
    Mutant("median", _of(lambda r: r - np.median(r, -1, keepdims=True)), "It is the mean that is taken off."),
    Mutant(
        "best",
        _of(lambda r: r - r.max(-1, keepdims=True)),
        "The best reward is taken off instead of the mean.",
    ),
    Mutant(
        "leave one out",
        _of(lambda r: (r - r.mean(-1, keepdims=True)) * r.shape[-1] / max(r.shape[-1] - 1, 1)),
        "This is the mean of the others (RLOO); here each completion counts in its own mean.",
    ),
    Mutant("turned over", _of(lambda r: r.mean(-1, keepdims=True) - r), "The sign is turned over."),
    Mutant("not centered", _of(lambda r: r), "Nothing is taken off."),
)
