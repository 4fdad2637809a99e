"""Wrong answers to `network/grpo_step`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.advantages import group_centered, group_normalized
from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.network.grpo_step.tests import _held, of, reference
from grpo_ref.course.exercises.tiny_network import network_mutants


def _by_ratio(formula):
    return lambda log_ratio, advantages, clip: formula(np.exp(log_ratio), advantages, clip)


def _held_if(is_held):
    """Return an answer that clips other tokens."""
    held = _by_ratio(is_held)
    return of(slope=lambda *given: np.where(held(*given), 0.0, np.exp(given[0]) * given[1]), held=held)


def _held_not_counted(embeddings, weight, *rest, **clip):
    *new, share = reference(embeddings, weight, *rest, **clip)
    moving = 1.0 - share if share < 1.0 else 1.0
    given = (np.asarray(each, float) for each in (embeddings, weight))
    return *(old + (step - old) / moving for old, step in zip(given, new, strict=True)), share


WRONG = (
    *network_mutants(of),
    Mutant("downhill", of(direction=-1.0), "The sign is turned over: J is to grow."),
    Mutant(
        "not centered",
        of(lambda r: r / (r.std(-1, keepdims=True) + 1e-4)),
        "The mean of the group is not taken off the rewards.",
    ),
    Mutant("centered only", of(group_centered), "The advantages are not divided by the std."),
    Mutant(
        "sample standard deviation",
        of(lambda r: group_normalized(r, ddof=1)),
        "This looks like the sample standard deviation, ddof=1; here it divides by G.",
    ),
    Mutant(
        "1e-4 under the root",
        of(lambda r: (r - r.mean(-1, keepdims=True)) / np.sqrt(r.var(-1, keepdims=True) + 1e-4)),
        "1e-4 is added to the standard deviation, not to the variance.",
    ),
    Mutant("1e-6", of(lambda r: group_normalized(r, ddof=0, eps=1e-6)), "1e-4 is added to the std."),
    Mutant(
        "never held",
        _held_if(lambda r, a, e: np.zeros(np.broadcast_shapes(r.shape, a.shape), dtype=bool)),
        "A token that the clip holds has the slope 0.",
    ),
    Mutant(
        "held whenever outside",
        _held_if(lambda r, a, e: (a != 0) & (abs(r - 1.0) > e)),
        "Outside the band only those tokens are held that moved with their advantage.",
    ),
    Mutant(
        "the other two held",
        _held_if(lambda r, a, e: ((a < 0) & (r > 1 + e)) | ((a > 0) & (r < 1 - e))),
        "The wrong two of the four cases are held: a good token is held above 1 + ε, a bad one below 1 - ε.",
    ),
    Mutant(
        "held above only",
        _held_if(lambda r, a, e: (a > 0) & (r > 1 + e)),
        "A bad token that has become rare enough is held too.",
    ),
    Mutant(
        "band of the log-ratio",
        _held_if(lambda r, a, e: ((a > 0) & (np.log(r) > e)) | ((a < 0) & (np.log(r) < -e))),
        "1 - ε and 1 + ε are bounds of the ratio, not -ε and ε of its logarithm.",
    ),
    Mutant(
        "ratio's slope left out",
        of(slope=lambda *given: np.where(_held(*given), 0.0, given[1])),
        "The slope of ρ A with respect to log π is ρ A, not A.",
    ),
    Mutant(
        "clipped ratio as a factor",
        of(slope=_by_ratio(lambda r, a, e: np.clip(r, 1 - e, 1 + e) * a)),
        "That is the clipped value; where the clip holds a token, the slope is 0.",
    ),
    Mutant(
        "the value for the slope",
        of(slope=_by_ratio(lambda r, a, e: np.minimum(r * a, np.clip(r, 1 - e, 1 + e) * a))),
        "This is the value of the surrogate; where the clip holds a token, the slope is 0.",
    ),
    Mutant(
        "old log-probabilities not used",
        of(log_ratio=lambda new, old: 0.0 * new),
        "The old log-probabilities are not used: the ratio is 1 everywhere.",
    ),
    Mutant(
        "ratio upside down",
        of(log_ratio=lambda new, old: old - new),
        "The ratio is π/πold, not πold/π.",
    ),
    Mutant(
        "old ones of the token before",
        of(old=lambda old_log_probs: old_log_probs[:, :-1]),
        "Off by one: old_log_probs[t] belongs to tokens[t].",
    ),
    Mutant(
        "held tokens not counted",
        _held_not_counted,
        "A token that is held still counts in Σ m.",
    ),
    Mutant(
        "clip fixed",
        lambda e, w, t, m, r, old, lr, clip=0.2: reference(e, w, t, m, r, old, lr, 0.2),
        "The argument clip is not used.",
    ),
    Mutant(
        "learning rate forgotten",
        lambda e, w, t, m, r, old, lr, clip=0.2: reference(e, w, t, m, r, old, 1.0, clip),
        "The learning rate is not used.",
    ),
    Mutant(
        "share of all that is outside",
        of(held=_by_ratio(lambda r, a, e: (a != 0) & (abs(r - 1.0) > e))),
        "The share counts tokens that are held; one that its advantage calls back is not.",
    ),
    Mutant(
        "share of those not held",
        of(held=lambda *given: ~_held(*given)),
        "This is the share of the tokens that are not held.",
    ),
)
