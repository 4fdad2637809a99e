"""Wrong answers to `aggregation/group_token_mean`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant


def _answer_of(formula):
    """Return an answer that gets arrays with zeros in the padding, unless the formula reads the padding."""
    return lambda values, mask: float(
        formula(np.where(np.asarray(mask) > 0, np.asarray(values, float), 0.0), np.asarray(mask, float))
    )


def _mean_of_groups(v, m):
    return (v.sum((1, 2)) / np.maximum(m.sum((1, 2)), 1.0)).mean()


WRONG = (
    Mutant(
        "mean over the batch",
        _answer_of(lambda v, m: v.sum() / max(m.sum(), 1.0)),
        "This divides by the tokens of the whole batch, as verl and TRL do: prompts with long answers count more.",
    ),
    Mutant(
        "mean of means",
        _answer_of(lambda v, m: (v.sum(-1) / np.maximum(m.sum(-1), 1.0)).mean()),
        "This gives every completion the same weight. It is GRPO's average.",
    ),
    Mutant(
        "empty groups skipped",
        _answer_of(lambda v, m: _mean_of_groups(v, m) * len(m) / max(m.any((1, 2)).sum(), 1)),
        "A group without tokens counts in P.",
    ),
    Mutant(
        "not divided by the groups",
        _answer_of(lambda v, m: _mean_of_groups(v, m) * len(m)),
        "The mean over the prompts is missing: divide by P.",
    ),
    Mutant(
        "padding counted",
        _answer_of(lambda v, m: v.sum() / max(v.size, 1)),
        "It divides by all positions, the padding included.",
    ),
    Mutant(
        "NaN times 0",
        lambda values, mask: float(
            _mean_of_groups(np.asarray(values, float) * np.asarray(mask), np.asarray(mask, float))
        ),
        "NaN in the padding spreads: NaN times 0 is NaN.",
    ),
    Mutant(
        "0/0",
        _answer_of(lambda v, m: (v.sum((1, 2)) / m.sum((1, 2))).mean()),
        "A group without tokens divides by zero.",
    ),
    Mutant(
        "mean over the places",
        _answer_of(lambda v, m: (v.sum(1) / np.maximum(m.sum(1), 1.0)).mean() if v.shape[-1] else 0.0),
        "It averages over the completions at each place, and then over the places.",
    ),
)
