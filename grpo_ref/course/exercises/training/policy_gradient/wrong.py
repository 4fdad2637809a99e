"""Wrong answers to `training/policy_gradient`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant


def answer(formula):
    """Return an answer. The formula gets g as a column, the one-hot rows of the tokens, and the logits."""
    return lambda logits, tokens, gradient: formula(
        np.asarray(gradient, float)[:, None],
        np.eye(np.shape(logits)[-1])[np.asarray(tokens)],
        np.asarray(logits, float),
    )


def softmax(logits, axis=-1):
    weights = np.exp(logits - logits.max(axis, keepdims=True))
    return weights / weights.sum(axis, keepdims=True)


def log_softmax(logits):
    logits = logits - logits.max(-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


WRONG = (
    Mutant(
        "one-hot only",
        answer(lambda g, one_hot, z: g * one_hot),
        "Omits π: the logits of the other tokens get 0 instead of -g π.",
    ),
    Mutant(
        "sign",
        answer(lambda g, one_hot, z: g * (softmax(z) - one_hot)),
        "Has the opposite sign: computes g (π - 1[a = tokens[n]]).",
    ),
    Mutant(
        "derivative of the probability",
        answer(
            lambda g, one_hot, z: g * (softmax(z) * one_hot).sum(-1, keepdims=True) * (one_hot - softmax(z))
        ),
        "Multiplies by π of the sampled token, which gives the derivative of π instead of log π.",
    ),
    Mutant(
        "only the sampled token",
        answer(lambda g, one_hot, z: g * one_hot * (1 - softmax(z))),
        "Fills in only the entry of the sampled token; the entries of the other tokens are -g π.",
    ),
    Mutant(
        "gradient not used",
        answer(lambda g, one_hot, z: one_hot - softmax(z)),
        "Does not multiply by `gradient`.",
    ),
    Mutant(
        "π without g",
        answer(lambda g, one_hot, z: g * one_hot - softmax(z)),
        "Multiplies the one-hot vector by g, but not π.",
    ),
    Mutant(
        "averaged",
        answer(lambda g, one_hot, z: g * (one_hot - softmax(z)) / len(g)),
        "Divides by N; nothing is averaged over the rows.",
    ),
    Mutant(
        "summed over the rows",
        answer(lambda g, one_hot, z: (g * (one_hot - softmax(z))).sum(0)),
        "Adds the rows; the result has one row for each sampled token.",
    ),
    Mutant(
        "uniform",
        answer(lambda g, one_hot, z: g * (one_hot - 1 / z.shape[-1])),
        "Uses 1/V for every π; π is the softmax of the logits.",
    ),
    Mutant(
        "logits for probabilities",
        answer(lambda g, one_hot, z: g * (one_hot - z)),
        "Subtracts the logits instead of their softmax π.",
    ),
    Mutant(
        "log-probabilities",
        answer(lambda g, one_hot, z: g * (one_hot - log_softmax(z))),
        "Subtracts log π instead of π.",
    ),
    Mutant(
        "softmax over the rows",
        answer(lambda g, one_hot, z: g * (one_hot - softmax(z, 0))),
        "Takes the softmax over axis 0; π sums to 1 over the tokens of a row, which are axis 1.",
    ),
    Mutant(
        "softmax over everything",
        answer(lambda g, one_hot, z: g * (one_hot - softmax(z, (0, 1)))),
        "Divides by the sum over all rows; π sums to 1 in each row.",
    ),
    Mutant(
        "overflow",
        answer(lambda g, one_hot, z: g * (one_hot - np.exp(z) / np.exp(z).sum(-1, keepdims=True))),
        "Returns NaN for large logits; subtract the maximum of each row before `exp`.",
    ),
    Mutant(
        "maximum of the array",
        answer(
            lambda g, one_hot, z: (
                g * (one_hot - np.exp(z - z.max()) / np.exp(z - z.max()).sum(-1, keepdims=True))
            )
        ),
        "Returns NaN in a row with much smaller logits than another row; subtract the maximum of each row.",
    ),
)
