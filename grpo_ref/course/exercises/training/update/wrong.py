"""Wrong answers to `training/update`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.bandits import changed
from grpo_ref.course.exercises.training.update.tests import of, reference
from grpo_ref.learning.policies.table import scatter_add


def _repeats_lost(gradient, states, tokens, probs):
    """Count a token that was chosen twice in a state only once."""
    table = np.zeros_like(probs)
    table[states, tokens] += gradient
    return table - scatter_add(gradient, states, np.zeros_like(tokens), (len(probs), 1)) * probs


def _last_visit(gradient, states, tokens, probs):
    table = np.zeros_like(probs)
    table[states] += gradient[..., None] * (np.eye(probs.shape[1])[tokens] - probs[states])
    return table


def _without_the_largest(logits):
    exponentials = np.exp(logits)
    return exponentials / exponentials.sum(-1, keepdims=True)


def _without_the_largest_of_all(logits):
    return _without_the_largest(logits - logits.max())


WRONG = (
    Mutant(
        "downhill",
        of(direction=1.0),
        "Moves the logits downhill: tokens with a positive advantage become less likely.",
    ),
    Mutant(
        "repeated tokens lost",
        of(_repeats_lost),
        "Counts a token that was chosen several times in a state only once; `np.add.at` adds every time.",
    ),
    Mutant(
        "the last visit of a state",
        of(_last_visit),
        "Counts only the last token of each state; `np.add.at` adds every visit.",
    ),
    Mutant(
        "probabilities missing",
        of(lambda g, s, t, p: scatter_add(g, s, t, p.shape)),
        "Adds to the chosen logit only; the gradient has -π in every logit of the row.",
    ),
    Mutant(
        "sum for mean",
        of(scale=lambda m: m.sum()),
        "Adds up the gradients of the tokens without dividing by their number, Σ m.",
    ),
    Mutant(
        "mean of means",
        of(scale=lambda m: m.sum() / np.maximum(m.sum(-1, keepdims=True), 1) / m.shape[1]),
        "Divides by the length of each completion and by N; J divides by the number of all tokens.",
    ),
    Mutant(
        "padding in the denominator",
        of(scale=lambda m: m.sum() / m.size),
        "Divides by N T, so padding counts as tokens; J divides by Σ m.",
    ),
    Mutant(
        "divided by N",
        of(scale=lambda m: m.sum() / m.shape[1]),
        "Divides by the number of completions; J divides by the number of all tokens.",
    ),
    Mutant(
        "padding trained",
        changed(reference, lambda given: given | {"mask": np.ones(np.shape(given["mask"]))}),
        "Ignores `mask`, so padding is trained like tokens.",
    ),
    Mutant(
        "learning rate ignored",
        changed(reference, lambda given: given | {"learning_rate": 1.0}),
        "Ignores `learning_rate`: the step is the gradient itself.",
    ),
    Mutant(
        "the step alone",
        lambda logits, *others, **keywords: reference(logits, *others, **keywords) - np.asarray(logits),
        "Returns the step alone; the new logits are `logits` plus the step.",
    ),
    Mutant(
        "the largest logit not subtracted",
        of(probs_of=_without_the_largest),
        "Exponentiates the logits as they are, which overflows; subtract the largest logit of the row first.",
    ),
    Mutant(
        "the largest logit of the table",
        of(probs_of=_without_the_largest_of_all),
        "Subtracts the largest logit of the whole table; each row needs its own, or all its terms become 0.",
    ),
)
