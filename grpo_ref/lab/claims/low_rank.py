"""Claim: from rewards a low-rank adaptation, even of rank 1, learns as much as all weights do."""

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
    one_skill_trained,
)
from grpo_ref.recipes import GRPO

RECIPE = replace(GRPO, kl_coef=0.0)
SOURCE_ALPHA, SOURCE_WIDTH, WIDTH = 32.0, 4096, 32
"""The source's alpha, the width of its network (Llama 3.1, 8B), and the width of the network here."""
ALPHA = SOURCE_ALPHA * (WIDTH / SOURCE_WIDTH) ** 0.5
"""2.83. Entries of A are about 1/√width, so with this alpha a step moves W' as far as in the source."""
RATE, TENFOLD_RATE = 0.003, 0.03
"""The best learning rate for all weights in trial runs, and ten times as much."""
RATES, LARGER_RATES = (0.001, 0.003, 0.01), (0.01, 0.03, 0.1)
SAME, LOST = 0.03, 0.05
"""Margins: shares of right answers of the rewarded skill and of the other skill."""


def _tuned(rank: int = 0) -> Arm:
    rates = Tuning("learning_rate", LARGER_RATES if rank else RATES, by="final rewarded")
    return tuned(one_skill_trained, rates, recipe=RECIPE, **({"rank": rank, "alpha": ALPHA} if rank else {}))


def _at_rate(rate: float, alpha: float) -> Arm:
    return arm(one_skill_trained, recipe=RECIPE, rank=8, alpha=alpha, learning_rate=rate)


ALL, ONE, EIGHT = "all weights", "rank 1", "rank 8"
SAME_RATE, TENFOLD = f"rank 8, rate {RATE}", f"rank 8, rate {TENFOLD_RATE}"
LARGE_ALPHA, LARGE_ALPHA_TENFOLD = (f"{label}, alpha {SOURCE_ALPHA:g}" for label in (SAME_RATE, TENFOLD))


def _as_much(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "final rewarded", left, "same", right, SAME, main)


def _more(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "final rewarded", left, "more", right, SAME, main)


EXPERIMENT = Experiment(
    name="low_rank",
    title="Does LoRA learn as much from rewards as training all weights?",
    group="learning",
    policy="network",
    claim="With policy gradients a low-rank adaptation (LoRA), even of rank 1, learns as much as training all"
    " weights, at a learning rate that is about ten times larger; and it forgets less.",
    source="Schulman et al. 2025, LoRA without regret (thinkingmachines.ai/blog/lora), and TRL's"
    " documentation of the same name; Biderman et al. 2024, LoRA learns less and forgets less"
    " (arXiv:2405.09673), for forgetting",
    family=SKILLS,
    run=f"A network is trained by GRPO without a KL penalty to answer the rewarded kind: {UPDATES} updates of"
    f" {PROMPTS} x {GROUP} completions with Adam. Either all 12,900 weights are trained, or only a low-rank"
    " adaptation (LoRA): the factors A and B of the four matrices of the layer. These are 512 weights at rank"
    " 1 and 4096 at rank 8. The product of A and B is multiplied by alpha/rank. Alpha is"
    f" {ALPHA:.2f}, which is the source's {SOURCE_ALPHA:g} at a width of {SOURCE_WIDTH}, converted to a width"
    f" of {WIDTH}. Each variant is compared at its best learning rate for the rewarded skill. In addition,"
    f" rank 8 is trained at rates of {RATE} and {TENFOLD_RATE}, with this alpha and with an alpha of"
    f" {SOURCE_ALPHA:g}.",
    measured=MEASURED,
    arms={
        ALL: _tuned(0),
        EIGHT: _tuned(8),
        ONE: _tuned(1),
        SAME_RATE: _at_rate(RATE, ALPHA),
        TENFOLD: _at_rate(TENFOLD_RATE, ALPHA),
        LARGE_ALPHA: _at_rate(RATE, SOURCE_ALPHA),
        LARGE_ALPHA_TENFOLD: _at_rate(TENFOLD_RATE, SOURCE_ALPHA),
    },
    predictions=(
        _as_much("Rank 8 learns as much as all weights", EIGHT, ALL, main=True),
        _as_much("Rank 1 learns as much as all weights", ONE, ALL, main=True),
        _more("Ten times the best rate for all weights suits rank 8 better", TENFOLD, SAME_RATE, main=True),
        _more(
            f"With an alpha of {SOURCE_ALPHA:g}, too, ten times the rate suits rank 8 better",
            LARGE_ALPHA_TENFOLD,
            LARGE_ALPHA,
        ),
        Prediction("At an equal gain rank 8 forgets less", "other at equal gain", EIGHT, "more", ALL, LOST),
        Prediction("At an equal gain rank 1 forgets less", "other at equal gain", ONE, "more", ALL, LOST),
    ),
    panels=(
        Curves("rewarded", "right answers, rewarded skill", xlabel=f"{EVERY} updates"),
        Points("other at equal gain", "right answers, other skill,\nat an equal gain"),
        Grid("right answers at the end (rewarded skill)"),
    ),
)
