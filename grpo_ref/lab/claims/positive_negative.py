"""Claim: negative samples alone raise the whole pass@k curve; positive ones alone lose at large k."""

from dataclasses import replace
from typing import Any

from grpo_ref.arrays import Array
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.tasks.lookalikes import ATTEMPTS, FAMILY, MANY, ON_THE_WAY, SIZES, tried
from grpo_ref.recipes import GRPO, Recipe, slot

MARGIN = 0.02
RATES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
RATE, MOST, APART = 0.1, ", for pass@256", ", told apart"
"""The learning rate that arms have in common; and the endings of arms whose rate is chosen by pass@256, and
of arms whose policy can distinguish all questions."""
SMALL_STEPS = {"optimizer": "sgd", "learning_rate": 30.0, "prompts": 64}
"""Settings of the control, in which a step is small compared with the noise."""


def weighted_signs(rewards: Array, *, positive: float, negative: float) -> Array:
    """Advantages of right and wrong completions with weights of their own, without a baseline.

        Aᵢ = positive rᵢ - negative (1 - rᵢ)

    Args:
      rewards: (..., P, G) of 0 and 1.
      positive, negative: weights of the right and of the wrong ones.

    Zhu et al. 2025, positive and negative sample reinforcement (arXiv:2506.01347).
    """
    return positive * rewards - negative * (1.0 - rewards)


def _recipe(positive: float, negative: float) -> Recipe:
    return replace(GRPO, kl_coef=0.0, advantage=slot(weighted_signs, positive=positive, negative=negative))


POSITIVE, NEGATIVE = _recipe(1.0, 0.0), _recipe(0.0, 1.0)


def _trained(recipe: Recipe, *, unusual: float | None = None, by: str = "pass@1") -> Arm:
    fixed = {} if unusual is None else {"unusual": unusual}
    return tuned(tried, Tuning("learning_rate", RATES, by=by), recipe=recipe, fixed=fixed)


def _with_rate(recipe: Recipe, **fixed: float) -> Arm:
    return arm(tried, recipe=recipe, learning_rate=RATE, fixed=fixed)


def _same_rate(label: str) -> str:
    return f"{label}, at {RATE:g}"


def _differs(says: str, k: int, left: str, expect: Any, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, f"pass@{k}", left, expect, right, MARGIN, main)


EXPERIMENT = Experiment(
    name="positive_negative",
    title="Is training on negative samples alone enough?",
    group="divergence",
    claim="Training with only negative samples improves over the base model across the entire pass@k"
    " spectrum (k up to 256), often matching GRPO; reinforcing only right responses improves pass@1 but"
    " degrades performance at higher k.",
    source="Zhu et al. 2025, The surprising effectiveness of negative reinforcement in LLM reasoning"
    " (arXiv:2506.01347, read in its abstract)",
    family=FAMILY,
    run="The advantage is 1 for right and 0 for wrong completions (positive only), 0 and -1 (negative only),"
    " 1 and -1 (both), 0.1 and -1 (the paper's weighted REINFORCE), or GRPO's. There are"
    f" {SIZES['updates']} updates of {SIZES['prompts']} x {SIZES['group_size']} completions with Adam,"
    " on-policy and without a KL penalty. Positive only and negative only are also run on tasks in which"
    f" questions that look the same have the same answer (“{APART[2:]}”), and in a control with SGD, small"
    " steps and batches four times as large (“small steps”).",
    measured="pass@k at temperature 1, computed from the policy's probabilities, a mean over the last fifth"
    " of the updates. The learning rate is chosen by pass@1, or by pass@256 for the two variants “for"
    f" pass@256”. Variants that end with “at {RATE:g}” have this learning rate in common. “On the way”,"
    f" pass@256 is taken where pass@1 has first come {ON_THE_WAY:.0%} of its way to the best that a table"
    " can reach.",
    arms={
        "base": arm(tried, recipe=None),
        "positive only": _trained(POSITIVE),
        "negative only": _trained(NEGATIVE),
        "both": _trained(_recipe(1.0, 1.0)),
        "weighted": _trained(_recipe(0.1, 1.0)),
        "GRPO": _trained(replace(GRPO, kl_coef=0.0)),
        f"positive only{APART}": _trained(POSITIVE, unusual=0.0),
        f"negative only{APART}": _trained(NEGATIVE, unusual=0.0),
        f"positive only{MOST}": _trained(POSITIVE, by="pass@256"),
        f"negative only{MOST}": _trained(NEGATIVE, by="pass@256"),
        _same_rate("positive only"): _with_rate(POSITIVE),
        _same_rate("negative only"): _with_rate(NEGATIVE),
        _same_rate("weighted"): _with_rate(_recipe(0.1, 1.0)),
        _same_rate(f"positive only{APART}"): _with_rate(POSITIVE, unusual=0.0),
        _same_rate(f"negative only{APART}"): _with_rate(NEGATIVE, unusual=0.0),
        "positive only, small steps": arm(tried, recipe=POSITIVE, **SMALL_STEPS),
        "negative only, small steps": arm(tried, recipe=NEGATIVE, **SMALL_STEPS),
    },
    predictions=(
        _differs("Negative only: pass@256 rises", 256, "negative only", "more", "base", main=True),
        _differs("Positive only: pass@256 falls", 256, "positive only", "less", "base", main=True),
        _differs("Negative only: pass@1 rises", 1, "negative only", "more", "base"),
        _differs("Positive only: pass@1 rises", 1, "positive only", "more", "base"),
        _differs("Negative only matches GRPO at pass@1", 1, "negative only", "same", "GRPO"),
        _differs(
            "Negative only keeps more of pass@256 than positive only",
            256,
            _same_rate("negative only"),
            "more",
            _same_rate("positive only"),
        ),
        _differs(
            "Each at the rate that is best for pass@256, negative only keeps more of it",
            256,
            f"negative only{MOST}",
            "more",
            f"positive only{MOST}",
        ),
        _differs(
            "At the rate that is best for it, pass@256 rises with negative only",
            256,
            f"negative only{MOST}",
            "more",
            "base",
        ),
        Prediction(
            "It does so on the way too, where both have come as far in pass@1",
            f"pass@{MANY} on the way",
            _same_rate("negative only"),
            "more",
            _same_rate("positive only"),
            MARGIN,
        ),
        _differs(
            "So does the paper's weighted REINFORCE",
            256,
            _same_rate("weighted"),
            "more",
            _same_rate("positive only"),
        ),
        _differs(
            "Where the policy can tell questions apart, negative only is better at pass@256 too",
            256,
            _same_rate(f"negative only{APART}"),
            "more",
            _same_rate(f"positive only{APART}"),
        ),
        _differs(
            "Control: in small steps, both have the same gradient on average, so the same pass@1",
            1,
            "negative only, small steps",
            "same",
            "positive only, small steps",
        ),
        _differs(
            "Control: and the same pass@256",
            256,
            "negative only, small steps",
            "same",
            "positive only, small steps",
        ),
    ),
    panels=(
        Curves(
            "pass@k",
            "pass@k",
            xlabel="attempts k",
            x=ATTEMPTS,
            arms=("base", "positive only", "negative only", "weighted", "GRPO"),
            log="x",
        ),
        Curves(
            "pass@k",
            "pass@k",
            xlabel="attempts k",
            x=ATTEMPTS,
            arms=("base", "positive only, small steps", "negative only, small steps"),
            log="x",
        ),
        Grid("pass@1", arms=("positive only", "negative only", "both", "weighted", "GRPO")),
    ),
)
