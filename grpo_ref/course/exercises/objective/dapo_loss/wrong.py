"""Wrong answers to `objective/dapo_loss`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.objective.dapo_loss.tests import reference


def _of(advantage=None, keep=None, surrogate=None, mean=None, sign=-1.0):
    def answer(
        log_probs,
        old_log_probs,
        rewards,
        mask,
        clip_low=0.2,
        clip_high=0.28,
    ):
        m, r = np.asarray(mask, dtype=float), np.asarray(rewards, dtype=float)
        ratio = np.exp(np.where(m > 0, np.asarray(log_probs) - np.asarray(old_log_probs), 0.0))
        a = (advantage or _advantage)(r)[..., None]
        m = m * (keep or _keep)(r)[..., None]
        value = (surrogate or _surrogate)(ratio, a, clip_low, clip_high)
        return float(sign * (mean or _token_mean)(value * m, m))

    return answer


def _advantage(r, ddof=0):
    return (r - r.mean(-1, keepdims=True)) / (r.std(-1, keepdims=True, ddof=ddof) + 1e-4)


def _keep(r):
    return np.broadcast_to(r.max(-1, keepdims=True) != r.min(-1, keepdims=True), r.shape)


def _surrogate(r, a, low, high):
    return np.minimum(r * a, np.clip(r, 1 - low, 1 + high) * a)


def _token_mean(x, m):
    return x.sum() / max(m.sum(), 1.0)


WRONG = (
    Mutant("objective for loss", _of(sign=1.0), "The minus sign is missing: a loss is minimized."),
    Mutant(
        "groups not filtered",
        _of(keep=np.ones_like),
        "Groups without contrast add nothing to the sum, but they are in the number of tokens here.",
    ),
    Mutant(
        "groups chosen by their std",
        _of(keep=lambda r: np.broadcast_to(r.std(-1, keepdims=True) > 0, r.shape)),
        "Whether rewards are equal is asked of their standard deviation; rounding may leave it a little above 0.",
    ),
    Mutant(
        "completions at the mean dropped",
        _of(keep=lambda r: _keep(r) & (r != r.mean(-1, keepdims=True))),
        "Tokens whose advantage is 0 are left out of the number of tokens; only whole groups are.",
    ),
    Mutant("only right answers", _of(keep=lambda r: r > 0), "Completions are dropped here, not groups."),
    Mutant(
        "only groups that are all wrong dropped",
        _of(keep=lambda r: np.broadcast_to(r.max(-1, keepdims=True) > 0, r.shape)),
        "Groups that are all right teach nothing either.",
    ),
    Mutant(
        "symmetric clip",
        lambda n, o, r, m, clip_low=0.2, clip_high=0.28: reference(n, o, r, m, clip_low, clip_low),
        "clip_high is not used: that is the point of clip-higher.",
    ),
    Mutant(
        "half-widths swapped",
        lambda n, o, r, m, clip_low=0.2, clip_high=0.28: reference(n, o, r, m, clip_high, clip_low),
        "clip_low and clip_high are swapped.",
    ),
    Mutant("not clipped", _of(surrogate=lambda r, a, lo, hi: r * a), "The ratio is never clipped."),
    Mutant(
        "clip without min",
        _of(surrogate=lambda r, a, lo, hi: np.clip(r, 1 - lo, 1 + hi) * a),
        "The min is missing.",
    ),
    Mutant(
        "mean of means",
        _of(mean=lambda x, m: (x.sum(-1) / np.maximum(m.sum(-1), 1)).sum() / max((m.sum(-1) > 0).sum(), 1)),
        "This averages over completions: that is GRPO's loss.",
    ),
    Mutant("padded mean", _of(mean=lambda x, m: x.mean()), "The padding is in the number of tokens."),
    Mutant(
        "sample std",
        _of(advantage=lambda r: _advantage(r, 1)),
        "This looks like the sample standard deviation, ddof=1; here it divides by G.",
    ),
    Mutant(
        "centered only",
        _of(advantage=lambda r: r - r.mean(-1, keepdims=True)),
        "The advantages are not divided by the std.",
    ),
    Mutant(
        "batch advantages",
        _of(advantage=lambda r: (r - r.mean()) / (r.std() + 1e-4)),
        "Mean and std are those of the whole batch.",
    ),
    Mutant(
        "0/0",
        _of(mean=lambda x, m: x.sum() / m.sum() if m.sum() else np.nan),
        "When no group is left the loss is 0, not 0/0.",
    ),
)
