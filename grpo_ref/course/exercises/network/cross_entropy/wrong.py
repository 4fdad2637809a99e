"""Wrong answers to `network/cross_entropy`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.network.cross_entropy.tests import reference
from grpo_ref.learning.policies import table


def _answer(
    loss=lambda log_probs: -log_probs,
    slope=lambda probs, one_hot: probs - one_hot,
    weights=lambda mask: mask / mask.sum(),
    log_probs=table.log_softmax,
):
    """Return an answer. Its `loss` receives the log-probability of each token, its `slope` π and the one-hot
    tokens.
    """

    def answer(logits, tokens, mask):
        z, m = np.asarray(logits, float), np.asarray(mask, float)
        one_hot, logs, shares = np.eye(z.shape[-1])[np.asarray(tokens)], log_probs(z), weights(m)
        value = (shares * loss((logs * one_hot).sum(-1))).sum()
        return float(value), shares[..., None] * slope(np.exp(logs), one_hot)

    return answer


def _changed(value=lambda loss, mask: loss, slope=lambda slope, mask: slope):
    """Return the right answer with its loss or its gradient changed afterwards."""

    def answer(logits, tokens, mask):
        right, m = reference(logits, tokens, mask), np.asarray(mask, float)
        return value(right[0], m), slope(right[1], m)

    return answer


def _mean_of_means(mask):
    lengths = mask.sum(-1, keepdims=True)
    return mask / np.maximum(lengths, 1.0) / (lengths > 0).sum()


WRONG = (
    Mutant(
        "sum for mean",
        _answer(weights=lambda mask: mask),
        "Sums over the tokens without dividing by Σ m.",
    ),
    Mutant(
        "padding counted",
        _answer(weights=lambda mask: mask / mask.size),
        "Divides by the number of all positions, so masked positions count as tokens.",
    ),
    Mutant(
        "mean of means",
        _answer(weights=_mean_of_means),
        "Averages within each example first, so a token of a short example counts more.",
    ),
    Mutant(
        "mask not used",
        _answer(weights=lambda mask: np.ones_like(mask) / mask.size),
        "Ignores the mask; prompt and padding are learned too.",
    ),
    Mutant(
        "gradient without the mean",
        _changed(slope=lambda slope, mask: slope * mask.sum()),
        "Omits the factor 1/Σ m in the gradient; the loss has it.",
    ),
    Mutant(
        "gradient divided by all positions",
        _changed(slope=lambda slope, mask: slope * mask.sum() / mask.size),
        "Divides the gradient by the number of all positions; the loss is divided by Σ m.",
    ),
    Mutant(
        "gradient where the mask is 0",
        _answer(weights=lambda mask: np.where(mask > 0, mask, 1.0) / mask.sum()),
        "Counts masked positions in the loss and in its gradient, and divides by Σ m.",
    ),
    Mutant(
        "gradient not masked",
        lambda logits, tokens, mask: (
            reference(logits, tokens, mask)[0],
            reference(logits, tokens, np.ones(np.shape(mask)))[1] * np.size(mask) / np.sum(mask),
        ),
        "Does not multiply the gradient by the mask; masked positions have the gradient 0.",
    ),
    Mutant(
        "log-likelihood",
        _answer(loss=lambda log_probs: log_probs, slope=lambda probs, one_hot: one_hot - probs),
        "Returns the mean log-likelihood and its gradient; the loss is minus that.",
    ),
    Mutant(
        "sign of the loss",
        _changed(value=lambda loss, mask: -loss),
        "Returns the mean log-likelihood as the loss; the loss is minus that.",
    ),
    Mutant(
        "sign of the gradient",
        _changed(slope=lambda slope, mask: -slope),
        "Returns the gradient of the log-likelihood; the gradient of the loss is minus that.",
    ),
    Mutant(
        "one-hot only",
        _answer(slope=lambda probs, one_hot: -one_hot),
        "Omits π in the gradient; a higher logit also lowers the probability of the other tokens.",
    ),
    Mutant(
        "gradient of the probability",
        _answer(slope=lambda probs, one_hot: (probs * one_hot).sum(-1, keepdims=True) * (probs - one_hot)),
        "Returns the gradient of -π(token); the loss has -log π(token).",
    ),
    Mutant(
        "perplexity",
        _changed(value=lambda loss, mask: np.exp(loss)),
        "Returns the perplexity, the exponential of the loss.",
    ),
    Mutant(
        "base 2",
        _changed(value=lambda loss, mask: loss / np.log(2.0)),
        "Takes the logarithm to base 2; the loss is in nats.",
    ),
    Mutant(
        "overflow",
        _answer(log_probs=lambda z: z - np.log(np.exp(z).sum(-1, keepdims=True))),
        "Exponentiates large logits, which overflow; subtract the maximum of each row first.",
    ),
    Mutant(
        "a small number in the logarithm",
        _answer(log_probs=lambda z: np.log(np.exp(table.log_softmax(z)) + 1e-12)),
        "Adds 1e-12 to the probability in the logarithm, so no log-probability is below -27.6.",
    ),
    Mutant(
        "shifted",
        lambda logits, tokens, mask: reference(logits, np.roll(np.asarray(tokens), -1, axis=-1), mask),
        "Compares logits[b, t] with the next token; they belong to tokens[b, t].",
    ),
)
