"""Claim: during RL the reward follows the entropy by R = -a exp(H) + b, which its start tells."""

from collections.abc import Mapping
from typing import Any

from grpo_ref.lab.framework.entropy_laws import BETTER, CLOSE, FITTED, predicted_by_laws
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Measures,
    Points,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.tasks.digit_sums import FAMILY, PLAIN, PROMPTS, drawn_sums
from grpo_ref.lab.framework.tasks.exact_sums import exact
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.recipes import Recipe

UPDATES, GROUP_SIZE = 120, 16
BONUS = 0.05
"""Weight of an entropy bonus."""
SLOW = 0.1
"""A learning rate below the best one."""
HALF, FEW = 0.5, 0.02
"""Shares of right answers at first."""
SHARP = 4.0
"""Standard deviation of the reference's logits where the entropy is low though little is known."""
RATES = Tuning("learning_rate", (0.1, 0.3, 1.0, 3.0), by="mean correct")


def foretold(
    *, recipe: Recipe, fixed: Mapping[str, Any] | None = None, seeds: int, seed: int, **config: Any
) -> Measures:
    """Train, fit laws of two numbers on the first part of each run, and see how well they predict the rest.

    Args:
      recipe: the recipe.
      fixed: settings of the task that are not sampled.
      seeds, seed: number of runs; base seed of their random numbers and of the task.
      config: fields of `TrainConfig`.

    Returns:
      The measures of `summarized` and of `predicted_by_laws`.
    """
    task = drawn_sums(seed, **(fixed or {}))
    sizes: dict[str, Any] = {"updates": UPDATES, "prompts": PROMPTS, "group_size": GROUP_SIZE}
    settings = config_for(task, seeds=seeds, seed=seed, **sizes, **config)
    found = curves(task, recipe, settings, (), **exact(task))
    return summarized(found) | predicted_by_laws(found["correct"], found["entropy"])


def _at_best(**settings: Any) -> Arm:
    return tuned(foretold, RATES, recipe=PLAIN, **settings)


LOW, HIGH, SHARPER, DRAWN = "half known", "2 % known", "2 % known, low entropy", "any share known"
STARTS: Mapping[str, Mapping[str, float]] = {
    LOW: {"known": HALF},
    HIGH: {"known": FEW},
    SHARPER: {"known": FEW, "spread": SHARP},
    DRAWN: {},
}


def _close(says: str, where: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "error, exp(H)", where, "less", CLOSE, main=main)


def _better(says: str, other: str, where: str, *, main: bool = False) -> Prediction:
    return Prediction(says, f"excess over {other}", where, "less", 0.0, BETTER, main)


EXPERIMENT = Experiment(
    name="entropy_law",
    title="Does the entropy predict the reward, R = -a exp(H) + b?",
    group="divergence",
    claim="In RL without an entropy bonus the performance is traded from the entropy by R = -a exp(H) + b:"
    " fitted on the first part of a run, the law predicts the rest and the ceiling, R = -a + b.",
    source="Cui et al. 2025, The entropy mechanism (arXiv:2505.22617), abstract, which was read; the first 36"
    " of 200 and more steps and the error of about 1 % are from a summary of the paper",
    family=f"{FAMILY} The share of right answers at first is also fixed: it is a half, where the entropy"
    " is about 1.3 nats per token at first, or 2 %, where it is about 2.1. Once more it is 2 %, but wrong"
    " answers are few, so that the entropy is about 1.1.",
    run=f"GRPO with Adam and without a KL penalty learns from {UPDATES} batches of {PROMPTS} groups of"
    f" {GROUP_SIZE}, one step each. In every run the two numbers of a law are fitted by least squares on the"
    f" first {FITTED:.0%} of the updates, and in some rows on the first half. Two other laws with two numbers"
    " are fitted in the same way: a law linear in the entropy, and a law linear in the logarithm of the"
    " number of updates. Variants are named after the share of right answers at first (“known”)."
    f" “Slow” has a learning rate of {SLOW}."
    f" “Bonus” has an entropy bonus of {BONUS}.",
    measured="The exact share of right completions by the labels, by whose mean the learning rate is chosen;"
    " and the exact entropy, in nats per token; both at temperature 1."
    " The error is the root mean square difference between law and run over the updates that were not"
    f" fitted; {CLOSE} counts as small. The excess is the error of the exponential law minus that of another"
    " law. The ceiling is missed by the difference between -a + b and the last fifth of the run.",
    arms={label: _at_best(fixed=start) for label, start in STARTS.items()}
    | {
        f"{label}, slow": arm(foretold, recipe=PLAIN, learning_rate=SLOW, fixed=STARTS[label])
        for label in (LOW, HIGH)
    }
    | {f"{DRAWN}, bonus": _at_best(entropy_coef=BONUS)},
    predictions=(
        _close("Half known: the law predicts the rest to within 0.03", LOW, main=True),
        _close("2 % known: the law predicts the rest to within 0.03", HIGH, main=True),
        _better("Half known: it is better than a law linear in the entropy", "H", LOW, main=True),
        _better("2 % known: it is better than a law linear in the entropy", "H", HIGH),
        _better("Half known: it is better than the number of updates", "log(update)", LOW),
        _better("2 % known: it is better than the number of updates", "log(update)", HIGH),
        Prediction("Half known: it predicts the ceiling to within 0.03", "missed", LOW, "less", CLOSE),
        Prediction("2 % known: it predicts the ceiling to within 0.03", "missed", HIGH, "less", CLOSE),
        _close("2 % known, but at a low entropy: the law predicts the rest to within 0.03", SHARPER),
        Prediction(
            "Fitted on half of the run, half known: the law predicts the rest to within 0.03",
            "error, half fitted",
            LOW,
            "less",
            CLOSE,
        ),
        Prediction(
            "Fitted on half of the run, 2 % known: the law predicts the rest to within 0.03",
            "error, half fitted",
            HIGH,
            "less",
            CLOSE,
        ),
        _close("Half known, slow: the law predicts the rest to within 0.03", f"{LOW}, slow"),
        _close("2 % known, slow: the law predicts the rest to within 0.03", f"{HIGH}, slow"),
        _close("Any share known: the law predicts the rest to within 0.03", DRAWN),
        Prediction(
            "With an entropy bonus it predicts worse",
            "error, exp(H)",
            f"{DRAWN}, bonus",
            "more",
            DRAWN,
            BETTER,
        ),
    ),
    panels=(
        Curves("off, exp(H)", "share right, law minus run", arms=(*STARTS,)),
        Points("error, exp(H)", "error over the rest of the run\n(share right, root mean square)"),
    ),
)
