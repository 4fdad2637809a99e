"""A floor for bad tokens."""

from typing import Any

import numpy as np

from grpo_ref import surrogates
from grpo_ref.course.grading.domain.arguments import Real, Scalar
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain

DOMAIN = Domain(
    {
        "ratio": Real(
            "|T|N T|B N T",
            (1e-8, 1e4),
            usual=((0.1, 8), (1e-8, 1e4)),
            at=(1, "max_ratio", "1 + clip", "1 - clip"),
            meaning="r = πθ/πold",
        ),
        "advantages": Real("|T|N T|B N T", (-1e4, 1e4), meaning="A"),
        "clip": Scalar(0.2, (0, 0.99), at=(0,), meaning="how far the ratio may go up or down"),
        "max_ratio": Scalar(
            3.0,
            (1.01, 50),
            usual=((1.01, 1.5), (1.5, 6), (1.01, 50)),
            at=("1 + clip",),
            meaning="the cap for bad tokens",
        ),
    },
    sizes={"B": (1, 2), "N": (1, 3), "T": (1, 4)},
    large={"T": 200},
)


def _reference(ratio: Any, advantages: Any, clip: float = 0.2, max_ratio: float = 3.0) -> Any:
    log_ratio, advantages = np.log(np.asarray(ratio, float)), np.asarray(advantages, float)
    return surrogates.dual_clipped(
        log_ratio, advantages, clip_low=clip, clip_high=clip, max_ratio=max_ratio
    ).value


def _of(formula: Any) -> Function:
    def answer(ratio: Any, advantages: Any, clip: float = 0.2, max_ratio: float = 3.0) -> Any:
        r, a = np.asarray(ratio, float), np.asarray(advantages, float)
        return formula(np.minimum(r * a, np.clip(r, 1 - clip, 1 + clip) * a), r, a, max_ratio)

    return answer


PROBLEM = Problem(
    id="ratios/dual_clip",
    title="A floor for bad tokens",
    function="dual_clipped",
    reference=_reference,
    background=(
        "The surrogate is what the policy (the language model) climbs, one value for each token: its ratio r (how much likelier it has"
        " become) times its advantage A (how much better its completion was than others). PPO's clip holds a good"
        " token that has moved far up and a bad one that has moved far down. It leaves one corner open: a bad token"
        " that has become ten times likelier counts ten times, and a single one can dominate a whole batch. The dual"
        " clip puts a floor there."
    ),
    task=(
        "Write `dual_clipped(ratio, advantages, clip=0.2, max_ratio=3.0)`, one value for each token. With PPO's"
        " clipped surrogate\n\n"
        "    s = min(r A, clip(r, 1 - clip, 1 + clip) A)\n\n"
        "it is\n\n"
        "    max(s, max_ratio A)  where A < 0,    s elsewhere\n\n"
        "clip(r, a, b) is r held between a and b. For a bad token both numbers in the maximum are negative: its value"
        " never falls below that of a ratio of max_ratio."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="An array of the same shape; a number for numbers.",
    constraints=(
        "clip is always less than 1 and max_ratio always greater than 1; no input has to be refused.\n"
        "max_ratio may be less than 1 + clip; the formula holds all the same."
    ),
    notes=(
        "verl always has this floor, with clip_ratio_c = 3. TRL has it only where `delta` is set, which caps r before"
        " the minimum is taken."
    ),
    kernel="grpo_ref.dual_clipped",
    source="Ye et al. 2020, dual-clip PPO (arXiv:1912.09729); verl `compute_policy_loss_vanilla`.",
    hints=(
        "First the ordinary clipped surrogate. Which of its four corners is unbounded?",
        "For A < 0 the value falls as the ratio grows; max_ratio A is where it shall stop.",
        "np.where(A < 0, np.maximum(s, max_ratio * A), s)",
    ),
    checks=(
        Case(
            "Far too likely, a bad and a good token",
            ([5.0, 5.0], [-2.0, 1.0]),
            np.array([-6.0, 1.2]),
            why=(
                "Bad token: s = min(5 · -2, 1.2 · -2) = -10, and the floor is 3 · -2 = -6. Good token: s ="
                " min(5, 1.2) = 1.2, and there is no floor."
            ),
            shown=True,
        ),
        Case("Bad token, too likely", ([2.0], [-1.0]), np.array([-2.0]), why="the floor is at -3"),
        Case("Bad token, pushed far enough", ([0.5], [-1.0]), np.array([-0.8]), why="the ordinary clip"),
        Case("Good token, too rare", ([0.5], [2.0]), np.array([1.0]), why="not clipped"),
        Case("max_ratio counts", ([5.0], [-1.0], 0.2, 2.0), np.array([-2.0]), why="max(-5, -2)"),
        Case(
            "A floor within the clip",
            ([2.0, 2.0], [-1.0, 1.0], 0.5, 1.25),
            np.array([-1.25, 1.5]),
            why="max(min(-2, -1.5), -1.25) for the bad token; the good one has no floor: min(2, 1.5)",
        ),
        Unchanged((np.array([5.0, 0.5]), np.array([-1.0, 1.0]))),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "no floor",
            _of(lambda s, r, a, c: s),
            "There is no floor: this is the ordinary clipped surrogate.",
        ),
        Mutant(
            "floor for all",
            _of(lambda s, r, a, c: np.maximum(s, c * a)),
            "The floor is for bad tokens only; a good one is lifted to max_ratio A here.",
        ),
        Mutant(
            "floor for good tokens",
            _of(lambda s, r, a, c: np.where(a > 0, np.maximum(s, c * a), s)),
            "The floor belongs to bad tokens, A < 0.",
        ),
        Mutant(
            "min for max",
            _of(lambda s, r, a, c: np.where(a < 0, np.minimum(s, c * a), s)),
            "A floor is a maximum.",
        ),
        Mutant(
            "floor without A",
            _of(lambda s, r, a, c: np.where(a < 0, np.maximum(s, -c), s)),
            "The floor is max_ratio times A, not -max_ratio.",
        ),
        Mutant(
            "ratio capped for all",
            _of(lambda s, r, a, c: np.where(r > c, c * a, s)),
            "Capping the ratio of good tokens undoes their clip.",
        ),
        Mutant(
            "ratio capped first",
            lambda r, a, clip=0.2, max_ratio=3.0: (
                surrogates.two_sided_clipped(
                    np.log(np.asarray(r, float)),
                    np.asarray(a, float),
                    clip_low=clip,
                    clip_high=clip,
                    max_ratio=max_ratio,
                ).value
            ),
            "This caps the ratio before the minimum is taken; the floor is put under the finished surrogate.",
        ),
        Mutant(
            "good tokens capped too",
            _of(lambda s, r, a, c: np.where(a < 0, np.maximum(s, c * a), np.minimum(s, c * a))),
            "max_ratio is for bad tokens only: a good one is held by the clip alone.",
        ),
        Mutant(
            "floor at the bound",
            lambda r, a, clip=0.2, max_ratio=3.0: _reference(r, a, clip, max(max_ratio, 1 + clip)),
            "The floor is max_ratio A, even if max_ratio is less than 1 + clip.",
        ),
        Mutant(
            "cap as an offset",
            _of(lambda s, r, a, c: np.where(a < 0, np.maximum(s, (1 + c) * a), s)),
            "The cap is max_ratio itself, not 1 + max_ratio.",
        ),
        Mutant(
            "bad tokens not clipped",
            _of(lambda s, r, a, c: np.where(a < 0, np.minimum(r, c) * a, s)),
            "Bad tokens are clipped too, below 1 - clip.",
        ),
        Mutant(
            "clip forgotten",
            _of(lambda s, r, a, c: np.where(a < 0, np.maximum(r * a, c * a), r * a)),
            "The ordinary clip is missing.",
        ),
        Mutant(
            "max_ratio fixed",
            lambda r, a, clip=0.2, max_ratio=3.0: _reference(r, a, clip),
            "The argument max_ratio is not used.",
        ),
        Mutant(
            "clip fixed",
            lambda r, a, clip=0.2, max_ratio=3.0: _reference(r, a, 0.2, max_ratio),
            "The argument clip is not used.",
        ),
        Mutant(
            "negated",
            lambda *inputs, **named: -_reference(*inputs, **named),
            "This is the loss; the surrogate is to be maximized.",
        ),
    ),
    others={
        "by cases": lambda r, a, clip=0.2, max_ratio=3.0: np.vectorize(
            lambda x, y: (
                max(min(x * y, max(1 - clip, min(x, 1 + clip)) * y), max_ratio * y)
                if y < 0
                else min(x, 1 + clip) * y
            ),
            otypes=[float],
        )(r, a)
    },
)
