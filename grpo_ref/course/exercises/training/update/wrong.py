"""Wrong answers to `training/update`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.training.update.tests import of, reference
from grpo_ref.learning.policies.table import scatter_add


def _last_visit(gradient, states, tokens, probs):
    table = np.zeros_like(probs)
    table[states, tokens] += gradient
    return table - scatter_add(gradient, states, np.zeros_like(tokens), (len(probs), 1)) * probs


WRONG = (
    Mutant("downhill", of(direction=1.0), "The sign is turned over: good tokens become rarer."),
    Mutant(
        "visits lost",
        of(_last_visit),
        "`table[states, tokens] += x` writes a repeated entry once; np.add.at adds every time.",
    ),
    Mutant(
        "probabilities left out",
        of(lambda g, s, t, p: scatter_add(g, s, t, p.shape)),
        "Raising one logit lowers the probability of the others: the -π is missing.",
    ),
    Mutant("sum for mean", of(scale=lambda m: m.sum()), "The step is not divided by the number of tokens."),
    Mutant(
        "mean of means",
        of(scale=lambda m: m.sum() / m.sum(-1, keepdims=True) / m.shape[1]),
        "Every token counts the same here; this divides by each completion's own length.",
    ),
    Mutant(
        "padded mean",
        of(scale=lambda m: m.sum() / m.size),
        "It divides by N T, not by the number of tokens.",
    ),
    Mutant(
        "learning rate forgotten",
        lambda z, s, t, a, m, learning_rate: reference(z, s, t, a, m, 1.0),
        "The learning rate is not used.",
    ),
    Mutant(
        "the gradient alone",
        lambda z, s, t, a, m, lr: reference(z, s, t, a, m, lr) - np.asarray(z),
        "The new logits are asked for, not the step.",
    ),
    Mutant(
        "padding trained",
        lambda z, s, t, a, m, lr: reference(z, s, t, a, np.ones_like(m), lr),
        "The padding is trained too.",
    ),
)
