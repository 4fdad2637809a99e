"""Claim: training on verified rewards raises pass@1 and lowers pass@k, at large k, below the base model."""

from dataclasses import replace
from typing import Any

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
from grpo_ref.lab.framework.tasks.lookalikes import ATTEMPTS, FAMILY, SIZES, tried
from grpo_ref.recipes import GRPO, Recipe
from grpo_ref.recipes.catalog import PASS_AT_K

MARGIN = 0.02
RATES = (0.03, 0.1, 0.3, 1.0, 3.0)
WITH_PENALTY = RATES[:3]
"""Larger steps jump past the penalty, which k3 hardly pulls back where a token has become rare."""
PLAIN = replace(GRPO, kl_coef=0.0)
TRAINS_PASS_AT_K = replace(PASS_AT_K, kl_coef=0.0)
SHORT = SIZES["updates"] // 5
RATE = 0.1
"""Learning rate at which arms are compared with one another."""
APART = "told apart"
"""Name of the arms whose questions have the same answer if they look the same."""


def _trained(recipe: Recipe = PLAIN, *, unusual: float | None = None, **config: Any) -> Arm:
    fixed = {} if unusual is None else {"unusual": unusual}
    rates = Tuning("learning_rate", WITH_PENALTY if recipe.kl_coef else RATES, by="pass@1")
    return tuned(tried, rates, recipe=recipe, fixed=fixed, **config)


def _with_rate(recipe: Recipe = PLAIN, **config: Any) -> Arm:
    return arm(tried, recipe=recipe, learning_rate=RATE, **config)


def _same_rate(label: str) -> str:
    return f"{label}, at {RATE:g}"


def _differs(says: str, k: int, left: str, expect: Any, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, f"pass@{k}", left, expect, right, MARGIN, main)


EXPERIMENT = Experiment(
    name="pass_at_k",
    title="Does RL raise pass@1 and lower pass@k?",
    group="divergence",
    claim="RLVR-trained models outperform their base models at small k, as k = 1, and base models achieve a"
    " higher pass@k when k is large.",
    source="Yue et al. 2025, Does reinforcement learning really incentivize reasoning capacity in LLMs beyond"
    " the base model? (arXiv:2504.13837, read in its abstract and on its project page)",
    family=FAMILY,
    run=f"GRPO without a KL penalty makes {SIZES['updates']} updates of {SIZES['prompts']} x"
    f" {SIZES['group_size']} completions with Adam, and is compared with the policy that it started from."
    f" Other variants have KL penalties (k3) of 0.04 and 0.2, the advantage of pass@k training (“best of"
    f" group”: only the best completion of a group has an advantage), and {SHORT} updates (“short”). In the"
    f" pair “{APART}”, questions that look the same have the same answer, so that nothing is lost by"
    " settling on one answer. In the pair “half unusual”, half of the prompts have an unusual answer.",
    measured="pass@k at temperature 1, computed from the policy's probabilities, a mean over the last fifth"
    " of the updates. The learning rate is chosen by pass@1. Trained policies are compared with one another"
    f" at the same learning rate, {RATE:g}. Among the answers that are not usual, the base model's logits are"
    " normal with a standard deviation of 1.",
    arms={
        "base": arm(tried, recipe=None),
        "GRPO": _trained(),
        "GRPO, KL 0.04": _trained(replace(PLAIN, kl_coef=0.04)),
        "GRPO, KL 0.2": _trained(replace(PLAIN, kl_coef=0.2)),
        "best of group": _trained(TRAINS_PASS_AT_K),
        "GRPO, short": _trained(updates=SHORT),
        _same_rate("GRPO"): _with_rate(),
        _same_rate("GRPO, KL 0.2"): _with_rate(replace(PLAIN, kl_coef=0.2)),
        _same_rate("best of group"): _with_rate(TRAINS_PASS_AT_K),
        _same_rate("GRPO, short"): _with_rate(updates=SHORT),
        f"base, {APART}": arm(tried, recipe=None, fixed={"unusual": 0.0}),
        f"GRPO, {APART}": _trained(unusual=0.0),
        "base, half unusual": arm(tried, recipe=None, fixed={"unusual": 0.5}),
        "GRPO, half unusual": _trained(unusual=0.5),
    },
    predictions=(
        _differs("Training raises pass@1", 1, "GRPO", "more", "base", main=True),
        _differs("Training lowers pass@256 below the base model's", 256, "GRPO", "less", "base", main=True),
        _differs(
            "A longer training lowers pass@256 further",
            256,
            _same_rate("GRPO"),
            "less",
            _same_rate("GRPO, short"),
        ),
        _differs(
            "pass@256 falls also where the policy can tell all questions apart",
            256,
            f"GRPO, {APART}",
            "less",
            f"base, {APART}",
        ),
        _differs(
            "pass@256 falls where half of the prompts have an unusual answer",
            256,
            "GRPO, half unusual",
            "less",
            "base, half unusual",
        ),
        _differs("A KL penalty of 0.04 does not save pass@256", 256, "GRPO, KL 0.04", "less", "base"),
        _differs(
            "A KL penalty of 0.2 keeps more of pass@256",
            256,
            _same_rate("GRPO, KL 0.2"),
            "more",
            _same_rate("GRPO"),
        ),
        _differs(
            "An advantage made for pass@k keeps more of it",
            256,
            _same_rate("best of group"),
            "more",
            _same_rate("GRPO"),
        ),
    ),
    panels=(
        Curves(
            "pass@k",
            "pass@k",
            xlabel="attempts k",
            x=ATTEMPTS,
            arms=("base", "GRPO", "GRPO, KL 0.2", "best of group"),
            log="x",
        ),
        Curves(
            "pass@k",
            "pass@k",
            xlabel="attempts k",
            x=ATTEMPTS,
            arms=(f"base, {APART}", f"GRPO, {APART}", "base, half unusual", "GRPO, half unusual"),
            log="x",
        ),
        Grid("pass@1", arms=("GRPO", "GRPO, KL 0.2", "best of group", f"GRPO, {APART}")),
    ),
)
