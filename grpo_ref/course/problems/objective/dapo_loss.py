"""DAPO, from rewards to loss."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import Case, Drawn, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.kernels.advantages import group_normalized
from grpo_ref.kernels.filters import mixed_groups
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DAPO


def _reference(
    log_probs: Any,
    old_log_probs: Any,
    rewards: Any,
    mask: Any,
    clip_low: float = 0.2,
    clip_high: float = 0.28,
) -> Any:
    log_probs, old, rewards = (np.asarray(x, dtype=float) for x in (log_probs, old_log_probs, rewards))
    keep = mixed_groups(rewards)[:, None, None] & (np.asarray(mask) > 0)
    surrogate = replace(DAPO.surrogate, settings={"clip_low": clip_low, "clip_high": clip_high})
    advantages = group_normalized(rewards, ddof=0)
    recipe = replace(DAPO, surrogate=surrogate)
    return float(policy_loss(log_probs, advantages, keep, recipe=recipe, old_log_probs=old).loss)


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    shape = (3, 2, size + 1)
    mask = (np.arange(size + 1) < rng.integers(1, size + 2, (3, 2, 1))).astype(float)
    log_probs, old = (np.where(mask > 0, x, 4.0) for x in np.log(rng.uniform(0.2, 0.9, (2, *shape))))
    return log_probs, old, rng.integers(0, 2, (3, 2)), mask, rng.uniform(0.1, 0.3), rng.uniform(0.1, 0.5)


def _of(
    advantage: Any = None, keep: Any = None, surrogate: Any = None, mean: Any = None, sign: float = -1.0
) -> Function:
    def answer(
        log_probs: Any,
        old_log_probs: Any,
        rewards: Any,
        mask: Any,
        clip_low: float = 0.2,
        clip_high: float = 0.28,
    ) -> Any:
        m, r = np.asarray(mask, dtype=float), np.asarray(rewards, dtype=float)
        ratio = np.exp(np.where(m > 0, np.asarray(log_probs) - np.asarray(old_log_probs), 0.0))
        a = (advantage or _advantage)(r)[..., None]
        m = m * (keep or _keep)(r)[..., None]
        value = (surrogate or _surrogate)(ratio, a, clip_low, clip_high)
        return float(sign * (mean or _token_mean)(value * m, m))

    return answer


def _advantage(r: Any, ddof: int = 0) -> Any:
    return (r - r.mean(-1, keepdims=True)) / (r.std(-1, keepdims=True, ddof=ddof) + 1e-4)


def _keep(r: Any) -> Any:
    return np.broadcast_to(r.max(-1, keepdims=True) != r.min(-1, keepdims=True), r.shape)


def _surrogate(r: Any, a: Any, low: float, high: float) -> Any:
    return np.minimum(r * a, np.clip(r, 1 - low, 1 + high) * a)


def _token_mean(x: Any, m: Any) -> Any:
    return x.sum() / max(m.sum(), 1.0)


OLD = np.log(np.full((2, 2, 2), 0.5))
NEW = np.log(np.array([[[0.6, 0.7], [0.5, 0.3]], [[0.5, 0.5], [0.5, 0.5]]]))
ONES = np.ones((2, 2, 2))
UNIT = 1 / 1.0002

PROBLEM = Problem(
    id="objective/dapo_loss",
    title="DAPO, from rewards to loss",
    function="dapo_loss",
    reference=_reference,
    background=(
        "DAPO changes GRPO in five places: good tokens may go further (clip-higher), groups without contrast are left out"
        " (dynamic sampling), every token counts the same (token mean), there is no penalty, and overlong answers are"
        " punished softly, which was `aggregation/soft_overlong`. The first four are here."
    ),
    task=(
        "Write `dapo_loss(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28)`:\n\n"
        "    A = (r - mean(r)) / (std(r) + 1e-4)    in each group, std divides by G\n"
        "    L = -Σ min(ρ A, clip(ρ, 1 - clip_low, 1 + clip_high) A) / number of tokens\n\n"
        "with ρ = exp(log πθ - log πold).\n\n"
        "Both the sum and the number run over the tokens of the groups whose rewards differ, and over no others."
    ),
    inputs="log_probs, old_log_probs: (P, G, T) of the sampled tokens, in nats; padding holds arbitrary numbers.\nrewards: (P, G).\nmask: (P, G, T) 1 on tokens, 0 on padding.\nclip_low, clip_high: how far the ratio may go down and up.",
    output="A number, to be minimized; 0 if no group is left.",
    source='Yu et al. 2025, DAPO (arXiv:2503.14476); TRL `loss_type="dapo"`, which does not filter groups.',
    hints=(
        "Which tokens are left? A token counts if it is no padding and its group is mixed.",
        "Fold the filter into the mask, and the rest is one sum divided by one count.",
        "keep = mask * mixed[:, None, None]; -(surrogate * keep).sum() / max(keep.sum(), 1)",
    ),
    checks=(
        Case(
            "A mixed group and one without contrast",
            (NEW, OLD, [[1, 0], [1, 1]], ONES),
            -(1.2 + 1.28 - 1.0 - 0.8) / 4 * UNIT,
            why="ratios 1.2 and 1.4 (held at 1.28) with A = 1, ratios 1 and 0.6 (held at 0.8) with A = -1; four tokens are left; A = 0.5 / 0.5001",
            shown=True,
        ),
        Case("No group is left", (NEW, OLD, [[0, 0], [1, 1]], ONES), 0.0, why="nothing to learn, and no 0/0"),
        Case(
            "Tokens count the same, not completions",
            (OLD[:1], OLD[:1], [[1, 0]], [[[1, 0], [1, 1]]]),
            UNIT / 3,
            why="one token with A = 1, two with A = -1: minus -1/3",
        ),
        Case(
            "Other half-widths",
            (NEW[:1], OLD[:1], [[1, 0]], ONES[:1], 0.5, 0.1),
            -(1.1 + 1.1 - 1.0 - 0.6) / 4 * UNIT,
            why="1.2 and 1.4 held at 1.1; 0.6 is above 0.5",
        ),
        Unchanged((NEW, OLD, np.array([[1, 0], [1, 1]]), ONES)),
        Drawn("Random batches agree", _draw, why="ragged, garbage in the padding, some groups dead"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant("objective for loss", _of(sign=1.0), "The minus sign is missing: a loss is minimized."),
        Mutant(
            "groups not filtered",
            _of(keep=np.ones_like),
            "Groups without contrast add nothing to the sum, but they are in the number of tokens here.",
        ),
        Mutant("only right answers", _of(keep=lambda r: r > 0), "Completions are dropped here, not groups."),
        Mutant(
            "only groups that are all wrong dropped",
            _of(keep=lambda r: np.broadcast_to(r.max(-1, keepdims=True) > 0, r.shape)),
            "Groups that are all right teach nothing either.",
        ),
        Mutant(
            "symmetric clip",
            lambda n, o, r, m, clip_low=0.2, clip_high=0.28: _reference(n, o, r, m, clip_low, clip_low),
            "clip_high is not used: that is the point of clip-higher.",
        ),
        Mutant(
            "half-widths swapped",
            lambda n, o, r, m, clip_low=0.2, clip_high=0.28: _reference(n, o, r, m, clip_high, clip_low),
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
            _of(
                mean=lambda x, m: (x.sum(-1) / np.maximum(m.sum(-1), 1)).sum() / max((m.sum(-1) > 0).sum(), 1)
            ),
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
    ),
    others={"one mask": _of()},
)
