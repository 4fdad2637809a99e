"""Wrong answers to `network/cross_entropy`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.network.cross_entropy.tests import reference
from grpo_ref.learning.policies import table


def _of(
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


def _with(value=None, slope=None):
    """Return the right answer with its value or its slope changed afterwards."""

    def answer(logits, tokens, mask):
        right = reference(logits, tokens, mask)
        m = np.asarray(mask, float)
        return value(right[0], m) if value else right[0], slope(right[1], m) if slope else right[1]

    return answer


def _shifted(logits, tokens, mask):
    return reference(logits, np.roll(np.asarray(tokens), -1, axis=-1), mask)


def _mean_of_means(mask):
    lengths = mask.sum(-1, keepdims=True)
    return mask / np.maximum(lengths, 1.0) / (lengths > 0).sum()


def _bare_log_softmax(logits):
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


WRONG = (
    Mutant("sum for mean", _of(weights=lambda mask: mask), "The loss is a mean: divide by Σ m."),
    Mutant(
        "mean over all places",
        _of(weights=lambda mask: mask / mask.size),
        "What is masked is counted below: divide by Σ m, not by the number of all places.",
    ),
    Mutant(
        "mean of means",
        _of(weights=_mean_of_means),
        "Every token counts the same; here each example does, whatever its length.",
    ),
    Mutant(
        "mask not used",
        _of(weights=lambda mask: np.ones_like(mask) / mask.size),
        "The mask is not used: prompt and padding are learned too.",
    ),
    Mutant(
        "slope without the mean",
        _with(slope=lambda slope, mask: slope * mask.sum()),
        "The slope lacks the factor 1/Σ m that the loss has.",
    ),
    Mutant(
        "slope on masked places",
        _of(
            slope=lambda probs, one_hot: probs - one_hot,
            weights=lambda mask: np.where(mask > 0, mask, 1.0) / mask.sum(),
        ),
        "There is a slope where the mask is 0.",
    ),
    Mutant(
        "log-likelihood",
        _of(loss=lambda log_probs: log_probs, slope=lambda probs, one_hot: one_hot - probs),
        "The sign is turned over: this grows when the examples get likelier.",
    ),
    Mutant(
        "sign of the slope",
        _with(slope=lambda slope, mask: -slope),
        "The slope is that of the log-likelihood; the loss has the opposite sign.",
    ),
    Mutant(
        "one-hot only",
        _of(slope=lambda probs, one_hot: -one_hot),
        "π is missing in the slope: raising one logit lowers all other tokens.",
    ),
    Mutant(
        "of the probability",
        _of(slope=lambda probs, one_hot: (probs * one_hot).sum(-1, keepdims=True) * (probs - one_hot)),
        "This is the slope of -π(token), not of -log π(token).",
    ),
    Mutant(
        "perplexity",
        _with(value=lambda loss, mask: np.exp(loss)),
        "This is the perplexity, e to the loss.",
    ),
    Mutant("base 2", _with(value=lambda loss, mask: loss / np.log(2.0)), "The logarithm is the natural one."),
    Mutant(
        "overflow", _of(log_probs=_bare_log_softmax), "Large logits overflow; subtract the maximum first."
    ),
    Mutant(
        "a small number inside",
        _of(log_probs=lambda logits: np.log(np.exp(table.log_softmax(logits)) + 1e-12)),
        "A small number inside the logarithm floors every log-probability.",
    ),
    Mutant("shifted", _shifted, "The tokens are shifted once more; tokens[b, t] belongs to logits[b, t]."),
)
