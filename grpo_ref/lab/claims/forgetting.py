"""Claim: rewards for one skill destroy another without a KL penalty, and the penalty keeps it at no cost."""

from dataclasses import replace

from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Points,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.skills import (
    EVERY,
    GROUP,
    MEASURED,
    PROMPTS,
    SKILLS,
    UPDATES,
    one_skill_imitated,
    one_skill_trained,
)
from grpo_ref.recipes import GRPO, Recipe

RATE, SMALL_RATE = 0.003, 0.001
"""The learning rate at which weights are compared, and a third of it."""
RATES = Tuning("learning_rate", (0.001, 0.003, 0.01), by="final rewarded")
WEAK, USUAL, STRONG = 0.001, 0.04, 0.2
"""Weights of the penalty: verl's default, DeepSeekMath's, and five times as much."""
LOST, COST = 0.05, 0.03
"""Margins: shares of right answers of the other skill and of the rewarded skill."""


def _recipe(kl_coef: float) -> Recipe:
    return replace(GRPO, kl_coef=kl_coef)


def _tuned(kl_coef: float) -> Arm:
    return tuned(one_skill_trained, RATES, recipe=_recipe(kl_coef))


NONE, GRPO_KL, STRONG_KL, IMITATION = "no KL", f"KL {USUAL}", f"KL {STRONG}", "supervised"
SMALL_STEPS = f"no KL, rate {SMALL_RATE}"


def _same_rate(label: str) -> str:
    return f"{label}, rate {RATE}"


WEAK_AT_RATE = _same_rate(f"KL {WEAK}")


BY_GAIN = "other at equal gain"


def _keeps(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "final other", left, "more", right, LOST, main)


def _costs_nothing(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "final rewarded", left, "same", right, COST, main)


EXPERIMENT = Experiment(
    name="forgetting",
    title="Does RL on one skill destroy another, and does a KL penalty prevent it?",
    group="divergence",
    policy="network",
    claim="Training with verifiable rewards on one skill destroys others that are not rewarded, since without"
    " a KL penalty nothing protects them; the penalty keeps them, and costs nothing on the rewarded skill.",
    source="Li et al. 2025, The choice of divergence (arXiv:2509.07430), and Liu et al. 2025, ProRL"
    " (arXiv:2505.24864), for the penalty; Yu et al. 2025, DAPO, sec. 2.3 (arXiv:2503.14476), which drops it;"
    " Shenfeld et al. 2025, RL's razor (arXiv:2509.04259), for supervised fine-tuning",
    family=SKILLS,
    run=f"The network is trained on the rewarded kind for {UPDATES} updates of {PROMPTS} x {GROUP}"
    " completions with Adam, by GRPO without a KL penalty (“no KL”) or with a k3 penalty (“KL” with its"
    f" weight: {WEAK}, verl's default; {USUAL}, DeepSeekMath's; or {STRONG}). Variants are compared at"
    f" their best learning rate for the rewarded skill, and at the same rate, {RATE}. One more variant has no"
    f" penalty, and a rate of {SMALL_RATE}. “Supervised” fine-tunes the network on right answers instead, as"
    " many as the others have completions.",
    measured=MEASURED,
    arms={
        NONE: _tuned(0.0),
        GRPO_KL: _tuned(USUAL),
        STRONG_KL: _tuned(STRONG),
        IMITATION: tuned(one_skill_imitated, RATES),
    }
    | {
        _same_rate(label): arm(one_skill_trained, recipe=_recipe(weight), learning_rate=RATE)
        for label, weight in ((NONE, 0.0), (f"KL {WEAK}", WEAK), (GRPO_KL, USUAL), (STRONG_KL, STRONG))
    }
    | {_same_rate(IMITATION): arm(one_skill_imitated, learning_rate=RATE)}
    | {SMALL_STEPS: arm(one_skill_trained, recipe=_recipe(0.0), learning_rate=SMALL_RATE)},
    predictions=(
        Prediction(
            "Without a penalty the other skill is lost in part", "lost", NONE, "more", 0.0, LOST, main=True
        ),
        _keeps("GRPO's penalty keeps more of the other skill", GRPO_KL, NONE, main=True),
        _costs_nothing("GRPO's penalty costs nothing on the rewarded skill", GRPO_KL, NONE, main=True),
        _keeps("A strong penalty keeps more of the other skill", STRONG_KL, NONE),
        _costs_nothing("A strong penalty costs nothing on the rewarded skill", STRONG_KL, NONE),
        _keeps("At the same rate verl's weight keeps more", WEAK_AT_RATE, _same_rate(NONE)),
        Prediction(
            "At an equal gain GRPO's penalty keeps more",
            BY_GAIN,
            _same_rate(GRPO_KL),
            "more",
            _same_rate(NONE),
            LOST,
        ),
        Prediction(
            "At an equal gain a strong penalty keeps more",
            BY_GAIN,
            _same_rate(STRONG_KL),
            "more",
            _same_rate(NONE),
            LOST,
        ),
        Prediction(
            "At an equal gain a third of the learning rate keeps more than GRPO's penalty",
            BY_GAIN,
            SMALL_STEPS,
            "more",
            _same_rate(GRPO_KL),
            LOST,
        ),
        Prediction(
            "At an equal gain rewards destroy less than supervised fine-tuning",
            BY_GAIN,
            NONE,
            "more",
            IMITATION,
            LOST,
        ),
        Prediction(
            "At an equal gain and the same rate, too, rewards destroy less than supervised fine-tuning",
            BY_GAIN,
            _same_rate(NONE),
            "more",
            _same_rate(IMITATION),
            LOST,
        ),
    ),
    panels=(
        Curves(
            "rewarded",
            "right answers, rewarded skill",
            xlabel=f"measurement (every {EVERY} updates)",
        ),
        Curves("other", "right answers, other skill", xlabel=f"measurement (every {EVERY} updates)"),
        Points("lost", "share of right answers lost (other skill)"),
        Grid("right answers at the end (rewarded skill)"),
    ),
)
