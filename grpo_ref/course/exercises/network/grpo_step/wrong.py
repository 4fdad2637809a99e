"""Wrong answers to `network/grpo_step`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.advantages import group_centered, group_normalized
from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.network.grpo_step.tests import answer_with, is_clipped, reference
from grpo_ref.course.exercises.tiny_network import network_mutants


def _by_ratio(formula):
    return lambda log_ratio, advantages, clip: formula(np.exp(log_ratio), advantages, clip)


def _clipped_if(condition):
    """Return an answer that clips other tokens."""
    clipped = _by_ratio(condition)
    return answer_with(
        derivative=lambda *inputs: np.where(clipped(*inputs), 0.0, np.exp(inputs[0]) * inputs[1]),
        counts_as_clipped=clipped,
    )


def _clipped_tokens_not_counted(embeddings, weight, *rest, **settings):
    *new, fraction = reference(embeddings, weight, *rest, **settings)
    counted = 1.0 - fraction if fraction < 1.0 else 1.0
    old = (np.asarray(each, float) for each in (embeddings, weight))
    return *(before + (after - before) / counted for before, after in zip(old, new, strict=True)), fraction


WRONG = (
    *network_mutants(answer_with, "completion"),
    Mutant("descent", answer_with(direction=-1.0), "Subtracts the gradients of J; ascent adds them."),
    Mutant(
        "not centered",
        answer_with(lambda r: r / (r.std(-1, keepdims=True) + 1e-4)),
        "Does not subtract the mean of the rewards in the advantages.",
    ),
    Mutant(
        "centered only",
        answer_with(group_centered),
        "Does not divide the advantages by the standard deviation.",
    ),
    Mutant(
        "ddof",
        answer_with(lambda r: group_normalized(r, ddof=1)),
        "Divides by G - 1 in the standard deviation (ddof=1); it divides by G.",
    ),
    Mutant(
        "divided by the variance",
        answer_with(lambda r: (r - r.mean(-1, keepdims=True)) / (r.var(-1, keepdims=True) + 1e-4)),
        "Divides the advantages by the variance instead of the standard deviation.",
    ),
    Mutant(
        "1e-4 under the root",
        answer_with(lambda r: (r - r.mean(-1, keepdims=True)) / np.sqrt(r.var(-1, keepdims=True) + 1e-4)),
        "Adds 1e-4 to the variance; it is added to the standard deviation.",
    ),
    Mutant(
        "1e-6",
        answer_with(lambda r: group_normalized(r, ddof=0, eps=1e-6)),
        "Adds 1e-6 to the standard deviation instead of 1e-4.",
    ),
    Mutant(
        "never clipped",
        _clipped_if(lambda r, a, e: np.zeros(np.broadcast_shapes(r.shape, a.shape), dtype=bool)),
        "Clips no token; the derivative of a clipped token is 0.",
    ),
    Mutant(
        "clipped whenever outside",
        _clipped_if(lambda r, a, e: (a != 0) & (abs(r - 1.0) > e)),
        "Clips every token outside of the clip range; two of these four cases are not clipped.",
    ),
    Mutant(
        "max for min",
        _clipped_if(lambda r, a, e: ((a < 0) & (r > 1 + e)) | ((a > 0) & (r < 1 - e))),
        "Takes the larger of the two products, or clips the wrong cases; J has the smaller product.",
    ),
    Mutant(
        "upper bound alone",
        _clipped_if(lambda r, a, e: (a > 0) & (r > 1 + e)),
        "Clips only good tokens above 1 + ε; bad tokens below 1 - ε are clipped too.",
    ),
    Mutant(
        "lower bound alone",
        _clipped_if(lambda r, a, e: (a < 0) & (r < 1 - e)),
        "Clips only bad tokens below 1 - ε; good tokens above 1 + ε are clipped too.",
    ),
    Mutant(
        "bounds of the log-ratio",
        _clipped_if(lambda r, a, e: ((a > 0) & (np.log(r) > e)) | ((a < 0) & (np.log(r) < -e))),
        "Compares the log-ratio with -ε and ε; the bounds 1 - ε and 1 + ε are those of the ratio.",
    ),
    Mutant(
        "no ratio in the derivative",
        answer_with(derivative=lambda *inputs: np.where(is_clipped(*inputs), 0.0, inputs[1])),
        "Uses A as the derivative of ρ A with respect to log π; it is ρ A.",
    ),
    Mutant(
        "clipped ratio as a factor",
        answer_with(derivative=_by_ratio(lambda r, a, e: np.clip(r, 1 - e, 1 + e) * a)),
        "Uses the product of A and the clipped ratio as the derivative of every token.",
    ),
    Mutant(
        "the value for the derivative",
        answer_with(derivative=_by_ratio(lambda r, a, e: np.minimum(r * a, np.clip(r, 1 - e, 1 + e) * a))),
        "Uses the value of min(...) as the derivative; the derivative of a clipped token is 0.",
    ),
    Mutant(
        "old log-probabilities not used",
        answer_with(log_ratio=lambda new, old: 0.0 * new),
        "Uses a ratio of 1 everywhere and ignores the old log-probabilities.",
    ),
    Mutant(
        "ratio upside down",
        answer_with(log_ratio=lambda new, old: old - new),
        "Divides πold by π; the ratio is π/πold.",
    ),
    Mutant(
        "old ones of the token before",
        answer_with(old=lambda old_log_probs: old_log_probs[:, :-1]),
        "Uses old_log_probs[i, t - 1] for tokens[i, t]; the index is the same for both.",
    ),
    Mutant(
        "clipped tokens not counted",
        _clipped_tokens_not_counted,
        "Divides by the number of tokens that are not clipped; clipped tokens count in Σ m.",
    ),
    Mutant(
        "clip fixed",
        lambda e, w, t, m, r, old, lr, clip=0.2: reference(e, w, t, m, r, old, lr, 0.2),
        "Uses 0.2 as ε and ignores the argument `clip`.",
    ),
    Mutant(
        "no learning rate",
        lambda e, w, t, m, r, old, lr, clip=0.2: reference(e, w, t, m, r, old, 1.0, clip),
        "Ignores the learning rate.",
    ),
    Mutant(
        "fraction outside of the clip range",
        answer_with(counts_as_clipped=_by_ratio(lambda r, a, e: (a != 0) & (abs(r - 1.0) > e))),
        "Counts every token outside of the clip range in the clip fraction; two of these four cases are not"
        " clipped.",
    ),
    Mutant(
        "fraction of those not clipped",
        answer_with(fraction=lambda shares, clipped: (shares * ~clipped).sum()),
        "Returns the fraction of tokens that are not clipped.",
    ),
    Mutant(
        "padding in the fraction",
        answer_with(fraction=lambda shares, clipped: clipped.mean()),
        "Averages the clip fraction over all positions and ignores the mask.",
    ),
    Mutant(
        "number of clipped tokens",
        answer_with(fraction=lambda shares, clipped: (clipped & (shares > 0)).sum()),
        "Returns the number of clipped tokens; the fraction divides it by Σ m.",
    ),
)
