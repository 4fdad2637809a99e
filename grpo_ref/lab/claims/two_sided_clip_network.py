"""Claim: a bound on the ratio of bad tokens, too (two-sided or dual clip), prevents a network's blow-ups."""

from dataclasses import replace

from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Points,
    Prediction,
    arm,
    tuned,
)
from grpo_ref.lab.framework.network import RATES
from grpo_ref.lab.framework.stability import FALL, FAMILY, GROUP, MEASURED, PROMPTS, measure_stability
from grpo_ref.recipes import GRPO, Recipe, slot
from grpo_ref.surrogates import clipped, dual_clipped, two_sided_clipped

OLD, UPDATES, PARTS = 8, 50, 2
"""Age of the sampler in updates, number of batches, and parts of a batch, with one step each."""
CUT = 0.1
"""Limit of the gradient norm, as in INTELLECT-2."""
TRIED = RATES._replace(values=(0.001, 0.003, 0.01), by="mean correct")
TOO_FAST = 0.01
"""A learning rate that is three times as large as the best of the arms."""
LESS, SHORTER, GAIN, RARER = 0.02, 0.1, 0.02, 0.05
"""Margins: largest fall, decimal logarithm of a gradient norm, right answers, share of runs that fall."""
ONE = replace(GRPO, kl_coef=0.0, surrogate=slot(clipped, clip_low=0.2, clip_high=0.2))
TWO = replace(ONE, surrogate=slot(two_sided_clipped, clip_low=0.2, clip_high=0.2, max_ratio=4.0))
DUAL = replace(ONE, surrogate=slot(dual_clipped, clip_low=0.2, clip_high=0.2, max_ratio=3.0))
ONE_SIDED, TWO_SIDED, DUAL_CLIP, CUT_ARM = "one-sided", "two-sided, 4", "dual clip, 3", "one-sided, cut"
SIZES = {"updates": UPDATES, "minibatches": PARTS}


def _best(recipe: Recipe, **config: float) -> Arm:
    return tuned(measure_stability, TRIED, recipe=recipe, age=OLD, **SIZES, **config)


def _too_fast(recipe: Recipe, **config: float) -> Arm:
    return arm(measure_stability, recipe=recipe, age=OLD, learning_rate=TOO_FAST, **SIZES, **config)


def _fast(label: str) -> str:
    return f"{label}, too fast"


EXPERIMENT = Experiment(
    name="two_sided_clip_network",
    title="Does a second clip bound (dual clip) keep a network from blowing up?",
    beside="two_sided_clip",
    policy="network",
    group="clipping",
    claim="The ratio of a bad token is not bounded by PPO's clip. If the probability of such a token has"
    " become many times as large since it was sampled, its gradient is huge and training blows up. A second"
    " bound (two-sided or dual clip) prevents it, where a pretrained network answers all questions with"
    " the same weights.",
    source="Prime Intellect 2025, INTELLECT-2 (arXiv:2505.07291), delta = 4 in TRL's paper index; Ye et al."
    " 2020, dual-clip PPO (arXiv:1912.09729), clip_ratio_c = 3 in verl",
    family=FAMILY,
    run=f"{UPDATES} batches of {PROMPTS} x {GROUP} completions, each sampled by the policy of {OLD} updates"
    f" ago, are learned in {PARTS} steps with Adam and without a KL penalty. Ratios are clipped at 0.2. For"
    " bad tokens there is no second bound (one-sided), or a bound of 4 (two-sided) or of 3 (dual clip). In"
    f" `too fast` the learning rate is {TOO_FAST:g}, which is too large; there, in `cut`, the norm of the"
    f" gradient is limited to {CUT}.",
    measured=f"{MEASURED} The longest gradient of a run is a decimal logarithm.",
    arms={
        ONE_SIDED: _best(ONE),
        TWO_SIDED: _best(TWO),
        DUAL_CLIP: _best(DUAL),
        _fast(ONE_SIDED): _too_fast(ONE),
        _fast(TWO_SIDED): _too_fast(TWO),
        _fast(DUAL_CLIP): _too_fast(DUAL),
        _fast(CUT_ARM): _too_fast(ONE, max_grad_norm=CUT),
    },
    predictions=(
        Prediction(
            "Where the rate is too fast, the right answers fall less with the second bound",
            "largest fall",
            _fast(TWO_SIDED),
            "less",
            _fast(ONE_SIDED),
            LESS,
            main=True,
        ),
        Prediction(
            "Where the rate is too fast, the longest gradient is shorter",
            "longest gradient",
            _fast(TWO_SIDED),
            "less",
            _fast(ONE_SIDED),
            SHORTER,
            main=True,
        ),
        Prediction(
            "At its best rate, too, the right answers fall less",
            "largest fall",
            TWO_SIDED,
            "less",
            ONE_SIDED,
            LESS,
            main=True,
        ),
        Prediction(
            f"Where the rate is too fast, fewer runs fall by more than {FALL:g}",
            "falls",
            _fast(TWO_SIDED),
            "less",
            _fast(ONE_SIDED),
            RARER,
        ),
        Prediction(
            "Where the rate is too fast, it learns more",
            "mean correct",
            _fast(TWO_SIDED),
            "more",
            _fast(ONE_SIDED),
            GAIN,
        ),
        Prediction("At its best rate it learns more", "mean correct", TWO_SIDED, "more", ONE_SIDED, GAIN),
        Prediction(
            "The longest gradient is shorter",
            "longest gradient",
            TWO_SIDED,
            "less",
            ONE_SIDED,
            SHORTER,
        ),
        Prediction(
            "Dual clip: where the rate is too fast, the right answers fall less",
            "largest fall",
            _fast(DUAL_CLIP),
            "less",
            _fast(ONE_SIDED),
            LESS,
        ),
        Prediction(
            "Dual clip: at its best rate the right answers fall less",
            "largest fall",
            DUAL_CLIP,
            "less",
            ONE_SIDED,
            LESS,
        ),
        Prediction(
            "Where the rate is too fast, the second bound prevents falls better than cutting the gradient",
            "largest fall",
            _fast(TWO_SIDED),
            "less",
            _fast(CUT_ARM),
            LESS,
        ),
    ),
    panels=(
        Curves(
            "correct",
            "right answers (share)",
            arms=(ONE_SIDED, TWO_SIDED, *(_fast(label) for label in (ONE_SIDED, TWO_SIDED, CUT_ARM))),
        ),
        Points(
            "largest fall",
            "largest fall of the right answers",
            arms=(
                ONE_SIDED,
                TWO_SIDED,
                DUAL_CLIP,
                *(_fast(label) for label in (ONE_SIDED, TWO_SIDED, DUAL_CLIP, CUT_ARM)),
            ),
        ),
    ),
)
