"""Wrong answers to `training/policy_gradient`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.learning.policies import table as policy


def _of(formula):
    def answer(logits, tokens, gradient):
        z = np.asarray(logits, float)
        probs, one_hot = policy.policy_of(z).probs, np.eye(z.shape[-1])[np.asarray(tokens)]
        return formula(np.asarray(gradient, float)[:, None], one_hot, probs)

    return answer


WRONG = (
    Mutant(
        "one-hot only",
        _of(lambda g, e, p: g * e),
        "The probabilities are missing: raising one logit lowers all other tokens.",
    ),
    Mutant(
        "sign",
        _of(lambda g, e, p: g * (p - e)),
        "The sign is turned over: this is the gradient of -log π.",
    ),
    Mutant(
        "of the probability",
        _of(lambda g, e, p: g * (p * e).sum(-1, keepdims=True) * (e - p)),
        "This is the gradient of π(token), not of its logarithm.",
    ),
    Mutant(
        "only the token's entry",
        _of(lambda g, e, p: g * e * (1 - p)),
        "The other tokens have a gradient as well, -g π.",
    ),
    Mutant("gradient forgotten", _of(lambda g, e, p: e - p), "g is not used."),
    Mutant("gradient twice", _of(lambda g, e, p: g * (g * e - p)), "g multiplies the whole row, once."),
    Mutant(
        "averaged",
        _of(lambda g, e, p: g * (e - p) / len(g)),
        "Nothing is averaged here: g has all the weights.",
    ),
    Mutant(
        "uniform",
        _of(lambda g, e, p: g * (e - 1 / p.shape[-1])),
        "π is the softmax of the logits, not uniform.",
    ),
    Mutant(
        "overflow",
        lambda z, t, g: (
            np.asarray(g, float)[:, None]
            * (np.eye(np.shape(z)[-1])[np.asarray(t)] - np.exp(z) / np.exp(z).sum(-1, keepdims=True))
        ),
        "Large logits overflow; subtract the maximum first.",
    ),
)
