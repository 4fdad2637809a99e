"""Claim: a bound on the ratio of bad tokens, too (two-sided or dual clip), prevents blow-ups."""

from dataclasses import replace

from grpo_ref.lab.framework.experiment import (
    Arm,
    Experiment,
    Grid,
    Points,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.late_data import FAMILY, UPDATES, late
from grpo_ref.recipes import GRPO, Recipe, slot
from grpo_ref.surrogates import clipped, dual_clipped, two_sided_clipped

OLD = 8
"""Updates between the sampler and the learner."""
CUT = 0.1
"""Limit of the gradient norm, as in INTELLECT-2."""
FALL, LONGER, GAIN = 0.02, 0.1, 0.02
"""Differences that matter: in the share right, and in the decimal logarithm of a gradient's length."""
RATES = {
    "sgd": Tuning("learning_rate", (100.0, 300.0, 1000.0, 3000.0, 10000.0), by="mean correct"),
    "adam": Tuning("learning_rate", (0.1, 0.3, 1.0, 3.0), by="mean correct"),
}
TOO_FAST = 3.0
"""A learning rate of Adam above the best one."""
ONE = replace(GRPO, kl_coef=0.0, surrogate=slot(clipped, clip_low=0.2, clip_high=0.2))
TWO = replace(ONE, surrogate=slot(two_sided_clipped, clip_low=0.2, clip_high=0.2, max_ratio=4.0))
DUAL = replace(ONE, surrogate=slot(dual_clipped, clip_low=0.2, clip_high=0.2, max_ratio=3.0))
ONE_SIDED, TWO_SIDED, DUAL_CLIP = "one-sided", "two-sided, 4", "dual clip, 3"
SHOWN = (ONE_SIDED, TWO_SIDED, DUAL_CLIP, "one-sided, cut", "one-sided, too fast", "two-sided, too fast")


def _late(recipe: Recipe, *, optimizer: str = "adam", age: int = OLD, **config: float) -> Arm:
    return tuned(late, RATES[optimizer], recipe=recipe, age=age, optimizer=optimizer, **config)


def _too_fast(recipe: Recipe) -> Arm:
    return arm(late, recipe=recipe, age=OLD, optimizer="adam", learning_rate=TOO_FAST)


EXPERIMENT = Experiment(
    name="two_sided_clip",
    title="Does a second clip bound (dual clip) prevent training from blowing up?",
    group="clipping",
    claim="The ratio of a bad token is not bounded by PPO's clip; when such a token has become many times"
    " likelier since it was drawn, its gradient is huge and training blows up. A second bound (two-sided or"
    " dual clip) prevents it.",
    source="Prime Intellect 2025, INTELLECT-2 (arXiv:2505.07291), and Ye et al. 2020, dual-clip PPO"
    " (arXiv:1912.09729), from TRL's and verl's documentation, the papers were not read",
    family=FAMILY,
    run=f"{UPDATES} batches, each sampled by the policy of {OLD} updates ago, are learned with Adam"
    " and without a KL penalty. Ratios are clipped at 0.2. For bad tokens there is no second bound"
    " (one-sided), or a bound of 4 (two-sided) or of 3 (dual clip). In `cut` the norm of the gradient is"
    f" limited to {CUT}; in `descent` plain gradient descent replaces Adam; in `too fast` the learning rate"
    f" is {TOO_FAST:g}, which is too large; in `fresh` the batches come from the current policy.",
    measured="The largest fall of the share of right completions (exact, at temperature 1, means of 5"
    " updates) below its best so far; the longest gradient of a run, as a decimal logarithm of its norm; and"
    " the share of right completions, as a mean over training, by which the learning rate is chosen.",
    arms={
        ONE_SIDED: _late(ONE),
        TWO_SIDED: _late(TWO),
        DUAL_CLIP: _late(DUAL),
        "one-sided, cut": _late(ONE, max_grad_norm=CUT),
        "one-sided, descent": _late(ONE, optimizer="sgd"),
        "two-sided, descent": _late(TWO, optimizer="sgd"),
        "one-sided, too fast": _too_fast(ONE),
        "two-sided, too fast": _too_fast(TWO),
        "one-sided, fresh": _late(ONE, age=0),
        "two-sided, fresh": _late(TWO, age=0),
    },
    predictions=(
        Prediction(
            "With the second bound the reward falls less",
            "largest fall",
            TWO_SIDED,
            "less",
            ONE_SIDED,
            FALL,
            main=True,
        ),
        Prediction(
            "The longest gradient is shorter",
            "longest gradient",
            TWO_SIDED,
            "less",
            ONE_SIDED,
            LONGER,
            main=True,
        ),
        Prediction("Dual clip: the reward falls less", "largest fall", DUAL_CLIP, "less", ONE_SIDED, FALL),
        Prediction(
            "Dual clip: the gradient gets less long",
            "longest gradient",
            DUAL_CLIP,
            "less",
            ONE_SIDED,
            LONGER,
        ),
        Prediction("It learns faster", "mean correct", TWO_SIDED, "more", ONE_SIDED, GAIN),
        Prediction(
            "By gradient descent, too, the reward falls less",
            "largest fall",
            "two-sided, descent",
            "less",
            "one-sided, descent",
            FALL,
        ),
        Prediction(
            "By gradient descent, too, it learns faster",
            "mean correct",
            "two-sided, descent",
            "more",
            "one-sided, descent",
            GAIN,
        ),
        Prediction(
            "By gradient descent, too, the gradient gets less long",
            "longest gradient",
            "two-sided, descent",
            "less",
            "one-sided, descent",
            LONGER,
        ),
        Prediction(
            "Where Adam is too fast, the reward falls less",
            "largest fall",
            "two-sided, too fast",
            "less",
            "one-sided, too fast",
            FALL,
        ),
        Prediction(
            "Where Adam is too fast, it learns faster",
            "mean correct",
            "two-sided, too fast",
            "more",
            "one-sided, too fast",
            GAIN,
        ),
        Prediction(
            "Control: with fresh batches the longest gradient is the same",
            "longest gradient",
            "two-sided, fresh",
            "same",
            "one-sided, fresh",
            LONGER,
        ),
        Prediction(
            "The second bound learns faster than cutting the gradient",
            "mean correct",
            TWO_SIDED,
            "more",
            "one-sided, cut",
            GAIN,
        ),
    ),
    panels=(
        Points("largest fall", "largest fall of the share right", arms=SHOWN),
        Grid("right completions, mean of\nall updates (share)", arms=SHOWN[:4]),
    ),
)
