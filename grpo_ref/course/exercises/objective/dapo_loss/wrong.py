"""Wrong answers to `objective/dapo_loss`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.objective.dapo_loss.tests import reference


def normalized(r, ddof=0, eps=1e-4):
    return (r - r.mean(-1, keepdims=True)) / (r.std(-1, keepdims=True, ddof=ddof) + eps)


def mixed(r):
    return np.broadcast_to(r.max(-1, keepdims=True) != r.min(-1, keepdims=True), r.shape)


def smaller_product(r, a, low, high):
    return np.minimum(r * a, np.clip(r, 1 - low, 1 + high) * a)


def token_mean(x, m):
    return x.sum() / max(m.sum(), 1.0)


def variant(advantage=normalized, keep=mixed, surrogate=smaller_product, mean=token_mean, sign=-1.0):
    """Return the formula with another advantage (rewards), filter (rewards), surrogate (ρ, A, clip_low,
    clip_high), mean (values, mask) or sign.
    """

    def answer(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28):
        m, r = np.asarray(mask, dtype=float), np.asarray(rewards, dtype=float)
        ratio = np.exp(np.where(m > 0, np.asarray(log_probs) - np.asarray(old_log_probs), 0.0))
        m = m * keep(r)[..., None]
        value = surrogate(ratio, advantage(r)[..., None], clip_low, clip_high)
        return float(sign * mean(value * m, m))

    return answer


def completion_mean(x, m):
    counts = m.sum(-1)
    return (x.sum(-1) / np.maximum(counts, 1)).sum() / max((counts > 0).sum(), 1)


def group_mean(x, m):
    counts = m.sum((1, 2))
    return (x.sum((1, 2)) / np.maximum(counts, 1)).sum() / max((counts > 0).sum(), 1)


def without_padding(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28):
    return reference(log_probs, old_log_probs, rewards, np.ones(np.shape(mask)), clip_low, clip_high)


def padding_times_zero(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28):
    r, m = np.asarray(rewards, dtype=float), np.asarray(mask) * mixed(np.asarray(rewards))[..., None]
    ratio = np.exp(np.asarray(log_probs, dtype=float) - np.asarray(old_log_probs, dtype=float))
    return float(-token_mean(smaller_product(ratio, normalized(r)[..., None], clip_low, clip_high) * m, m))


WRONG = (
    Mutant("objective for loss", variant(sign=1.0), "Returns the objective; the loss has a minus sign."),
    Mutant(
        "groups not filtered",
        variant(keep=np.ones_like),
        "Counts the tokens of groups with equal rewards in the number of tokens.",
    ),
    Mutant(
        "groups chosen by their std",
        variant(keep=lambda r: np.broadcast_to(r.std(-1, keepdims=True) > 0, r.shape)),
        "Keeps some groups with equal rewards, whose computed std is a little above 0.",
    ),
    Mutant(
        "nearly equal rewards dropped",
        variant(keep=lambda r: np.broadcast_to(r.std(-1, keepdims=True) > 1e-6, r.shape)),
        "Drops groups whose rewards differ only a little; a group counts if two rewards differ at all.",
    ),
    Mutant(
        "completions at the mean dropped",
        variant(keep=lambda r: mixed(r) & (r != r.mean(-1, keepdims=True))),
        "Does not count tokens whose advantage is 0; only whole groups are excluded.",
    ),
    Mutant(
        "only positive rewards",
        variant(keep=lambda r: r > 0),
        "Excludes the completions whose reward is not above 0; only whole groups are excluded.",
    ),
    Mutant(
        "only groups that are all wrong dropped",
        variant(keep=lambda r: np.broadcast_to(r.max(-1, keepdims=True) > 0, r.shape)),
        "Excludes the groups without a reward above 0, but not those with equal rewards above 0.",
    ),
    Mutant(
        "one bound for both sides",
        lambda n, o, r, m, clip_low=0.2, clip_high=0.28: reference(n, o, r, m, clip_low, clip_low),
        "Uses `clip_low` for both bounds; the upper bound is 1 + clip_high.",
    ),
    Mutant(
        "bounds swapped",
        lambda n, o, r, m, clip_low=0.2, clip_high=0.28: reference(n, o, r, m, clip_high, clip_low),
        "Swaps `clip_low` and `clip_high`.",
    ),
    Mutant("not clipped", variant(surrogate=lambda r, a, low, high: r * a), "Never clips the ratio."),
    Mutant(
        "clip without min",
        variant(surrogate=lambda r, a, low, high: np.clip(r, 1 - low, 1 + high) * a),
        "Takes the clipped product alone; the surrogate is the smaller of two products.",
    ),
    Mutant(
        "max for min",
        variant(surrogate=lambda r, a, low, high: np.maximum(r * a, np.clip(r, 1 - low, 1 + high) * a)),
        "Takes the larger of the two products; the surrogate is the smaller.",
    ),
    Mutant(
        "ratio turned around",
        variant(surrogate=lambda r, a, low, high: smaller_product(1 / r, a, low, high)),
        "Uses the ratio πold/πθ; ρ is πθ/πold.",
    ),
    Mutant(
        "completion mean",
        variant(mean=completion_mean),
        "Averages over the tokens of each completion first; all tokens have the same weight.",
    ),
    Mutant(
        "group mean",
        variant(mean=group_mean),
        "Averages over the tokens of each group first; all tokens have the same weight.",
    ),
    Mutant(
        "padded mean",
        variant(mean=lambda x, m: x.mean()),
        "Divides by P G T, so padding and excluded groups count as tokens.",
    ),
    Mutant(
        "sum", variant(mean=lambda x, m: x.sum()), "Returns the sum without dividing by the number of tokens."
    ),
    Mutant("padding counted", without_padding, "Ignores the mask, so padding counts as tokens."),
    Mutant(
        "padding times zero",
        padding_times_zero,
        "Lets NaN or infinity in the padding into the sum; multiplying by 0 does not remove it.",
    ),
    Mutant(
        "sample std",
        variant(advantage=lambda r: normalized(r, ddof=1)),
        "Divides by G - 1 in the standard deviation (ddof=1); the formula divides by G.",
    ),
    Mutant(
        "smaller number beside the std",
        variant(advantage=lambda r: normalized(r, eps=1e-8)),
        "Adds less than 1e-4 to the standard deviation.",
    ),
    Mutant(
        "centered only",
        variant(advantage=lambda r: r - r.mean(-1, keepdims=True)),
        "Does not divide the advantages by the standard deviation.",
    ),
    Mutant(
        "batch advantages",
        variant(advantage=lambda r: (r - r.mean()) / (r.std() + 1e-4)),
        "Takes mean and standard deviation over the whole batch; each group has its own.",
    ),
    Mutant(
        "0/0",
        variant(mean=lambda x, m: x.sum() / m.sum() if m.sum() else np.nan),
        "Returns NaN if no tokens remain; the loss is then 0.",
    ),
)
