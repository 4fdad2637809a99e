"""Wrong answers to `aggregation/fixed_length`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant


def answer(formula):
    """Return an answer. The formula gets the values with zeros in the padding, the mask and the budget."""
    return lambda values, mask, max_length: formula(
        np.where(np.asarray(mask) > 0, np.asarray(values, float), 0.0), np.asarray(mask, float), max_length
    )


NOT_REFUSED = (
    "Returns a value for some `max_length` below 1; 0 and negative numbers must raise a ValueError, even if the"
    " batch has no token."
)

WRONG = (
    Mutant(
        "own length",
        answer(lambda v, m, budget: (v.sum(-1) / np.maximum(m.sum(-1), 1)).mean()),
        "Divides each completion by its own length instead of `max_length`.",
    ),
    Mutant(
        "all tokens",
        answer(lambda v, m, budget: v.sum() / max(m.sum(), 1)),
        "Divides by the number of tokens of the batch instead of N and `max_length`.",
    ),
    Mutant(
        "padded length",
        answer(lambda v, m, budget: v.sum() / max(v.size, 1)),
        "Divides by T, the number of columns, instead of `max_length`.",
    ),
    Mutant(
        "longest completion",
        answer(lambda v, m, budget: v.sum() / len(v) / max(m.sum(-1).max(), 1)),
        "Divides by the length of the longest completion instead of `max_length`.",
    ),
    Mutant(
        "mean of the rows divided",
        answer(lambda v, m, budget: v.sum() / max(v.size, 1) / budget),
        "Divides by T as well as by `max_length`; the rows are summed, not averaged.",
    ),
    Mutant(
        "at least T",
        answer(lambda v, m, budget: v.sum() / len(v) / max(budget, v.shape[1])),
        "Divides by T where T is larger than `max_length`.",
    ),
    Mutant(
        "rows cut",
        answer(lambda v, m, budget: v[:, :budget].sum() / len(v) / budget),
        "Omits the tokens after the first `max_length` positions; all tokens count.",
    ),
    Mutant(
        "not divided by N",
        answer(lambda v, m, budget: v.sum() / budget),
        "Divides by `max_length`, but not by N, the number of completions.",
    ),
    Mutant(
        "not divided by the budget",
        answer(lambda v, m, budget: v.sum() / len(v)),
        "Divides by N, but not by `max_length`.",
    ),
    Mutant(
        "empty completions omitted",
        answer(lambda v, m, budget: v.sum() / max((m.sum(-1) > 0).sum(), 1) / budget),
        "Omits completions without tokens from N; each of them counts in N and adds 0.",
    ),
    Mutant(
        "no mask",
        lambda values, mask, max_length: np.sum(values) / (len(values) * max_length),
        "Ignores the mask: the numbers in the padding are added, too.",
    ),
    Mutant(
        "NaN times 0",
        lambda values, mask, max_length: (
            np.sum(np.asarray(values, float) * np.asarray(mask)) / len(values) / max_length
        ),
        "Returns NaN if the padding holds NaN or infinity: multiplied by 0, both are NaN.",
    ),
    Mutant("budget not checked", answer(lambda v, m, budget: v.sum() / (len(v) * budget)), NOT_REFUSED),
    Mutant(
        "0 for a budget of 0",
        answer(lambda v, m, budget: v.sum() / (len(v) * budget) if budget else 0.0),
        NOT_REFUSED,
    ),
    Mutant(
        "0 for a budget below 1",
        answer(lambda v, m, budget: v.sum() / (len(v) * budget) if budget > 0 else 0.0),
        NOT_REFUSED,
    ),
)
