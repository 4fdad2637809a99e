"""DAPO, from rewards to loss."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.advantages import group_normalized
from grpo_ref.course.grading.domain.arguments import Mask, Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import GROUPS
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain
from grpo_ref.filters import mixed_groups
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DAPO

DOMAIN = Domain(
    {
        "log_probs": Real(
            "P G T",
            (-1000, 0),
            usual=((-2, 0), (-30, 0), (-1000, -900)),
            padding="mask",
            meaning="log πθ of the tokens, in nats",
        ),
        "old_log_probs": Real(
            "P G T",
            (-1000, 0),
            usual=((-0.5, 0.5), (-2, 2), (-30, 30)),
            padding="mask",
            near="log_probs",
            whole=False,
            meaning="log πold, at most 30 nats from log_probs",
        ),
        "rewards": Real("P G", (-1e4, 1e4), rows=GROUPS, meaning="one per completion, one row per prompt"),
        "mask": Mask("P G T"),
        "clip_low": Scalar(0.2, (0, 0.99), at=(0,), meaning="how far the ratio may go down"),
        "clip_high": Scalar(0.28, (0, 20), at=(0,), meaning="how far it may go up"),
    },
    sizes={"P": (1, 3), "G": (1, 4), "T": (1, 4)},
    large={"P": 20, "G": 20, "T": 100},
)


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
OLD_OF_THREE = np.log(np.full((1, 3, 2), 0.5))
TWO_GROUPS = [[[1, 1], [1, 1], [1, 1]], [[1, 0], [0, 1], [1, 1]]]
UNIT = 1 / 1.0002

PROBLEM = Problem(
    id="objective/dapo_loss",
    title="DAPO, from rewards to loss",
    function="dapo_loss",
    reference=_reference,
    background=(
        "GRPO lets the policy answer each of P prompts G times and compares the answers (completions) of a"
        " prompt, its"
        " group. DAPO changes five things about it: good tokens may go further before they are clipped"
        " (clip-higher);"
        " groups in which all rewards are equal teach nothing and are left out (dynamic sampling); every"
        " token counts"
        " the same (token mean); there is no penalty that holds the policy near a reference; and answers"
        " that are too"
        " long are punished softly, which is `aggregation/soft_overlong`. The first four make up the loss"
        " that you write"
        " here, from the rewards to the number that is minimized."
    ),
    task=(
        "Write `dapo_loss(log_probs, old_log_probs, rewards, mask, clip_low=0.2, clip_high=0.28)`:\n\n"
        "    Aᵢ = (rᵢ - mean(r)) / (std(r) + 1e-4)\n"
        "    L = -Σ min(ρ A, clip(ρ, 1 - clip_low, 1 + clip_high) A) / number of tokens\n"
        "    ρ = exp(log πθ - log πold)\n\n"
        "r are the rewards of one group; mean and std run over its G completions, and std divides by G, not"
        " by G - 1."
        " The advantage A of a completion holds for all its tokens. ρ is the ratio of a token: how much"
        " likelier it has"
        " become since πold, the policy that wrote it.\n\n"
        "The sum and the number of tokens run over all tokens of the groups whose rewards are not all equal,"
        " and over"
        " no others: two rewards that differ, however little, make a group count. The mask says what is a"
        " token: where"
        " it is 0 stands padding, which is not counted, and what the arrays of log-probabilities hold there"
        " never"
        " matters, be it NaN or infinity. If no token is left, the loss is 0."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="A number, to be minimized; 0 if no token is left.",
    notes=(
        'TRL\'s `loss_type="dapo"` does not filter groups. DAPO itself samples new prompts until the batch is full of'
        " groups that count. Trainers that do neither keep the tokens of the other groups in the number of"
        " tokens, so"
        " that their loss shrinks when the prompts become too easy or too hard. `policy_loss` of this package, with"
        " `recipe=DAPO`, begins after the advantages and the filter. One divisor for the whole batch is the form of verl"
        " and TRL; the paper divides by the tokens of each group, see `aggregation/group_token_mean`."
    ),
    kernel="grpo_ref.policy_loss",
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
            why=(
                "The second group agrees, so only the four tokens of the first count. Its advantages are 0.5"
                " / 0.5001 and"
                " -0.5 / 0.5001; its ratios are 1.2 and 1.4, which is held at 1.28, and 1 and 0.6, for which"
                " 0.8 counts:"
                " -(1.2 + 1.28 - 1 - 0.8) / 4 · 0.9998."
            ),
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
            "A completion at the mean still counts",
            (OLD_OF_THREE, OLD_OF_THREE, [[0, 1, 2]], [[[1, 0], [0, 1], [1, 1]]]),
            -1 / (np.sqrt(2 / 3) + 1e-4) / 4,
            why="the advantages are -1, 0, 1 over the std, the ratios 1: (-1 + 0 + 1 + 1) / 4, not / 3",
        ),
        Case(
            "Equal rewards, though their mean is rounded",
            (
                np.repeat(OLD_OF_THREE, 2, 0),
                np.repeat(OLD_OF_THREE, 2, 0),
                [[0.1] * 3, [0, 1, 2]],
                TWO_GROUPS,
            ),
            -1 / (np.sqrt(2 / 3) + 1e-4) / 4,
            why="0.1 + 0.1 + 0.1 is not 0.3 for a computer, but the three are equal: four tokens are left",
        ),
        Case(
            "Other half-widths",
            (NEW[:1], OLD[:1], [[1, 0]], ONES[:1], 0.5, 0.1),
            -(1.1 + 1.1 - 1.0 - 0.6) / 4 * UNIT,
            why="1.2 and 1.4 held at 1.1; 0.6 is above 0.5",
        ),
        Unchanged((NEW, OLD, np.array([[1, 0], [1, 1]]), ONES)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
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
