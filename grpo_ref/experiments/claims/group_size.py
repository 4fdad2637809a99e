"""Claim: the larger the groups the better, and groups of 2 are never recommended."""

from grpo_ref.experiments.framework.experiment import Curves, Experiment, Points, Prediction
from grpo_ref.experiments.framework.tasks.digit_sums import DESCRIPTION, MEASURED, PROMPTS, label, learning

COMPLETIONS = 256
"""Per batch, whatever the size of the groups, where the number of prompts is what it leaves."""
SIZES = (2, 4, 8, 16, 32)
FEWER_PROMPTS = {size: COMPLETIONS // size for size in SIZES}

EXPERIMENT = Experiment(
    name="group_size",
    group="advantages",
    claim="Groups of 2 are too noisy for stable learning and never recommended; 8 are good, 16 excellent and"
    " 32 near-perfect.",
    source="a book chapter on GRPO (2026, not public), sec. 7.4",
    run=f"{DESCRIPTION} Either every batch has {PROMPTS} prompts, and larger groups cost more, or every"
    f" batch has {COMPLETIONS} completions, and larger groups leave fewer prompts.",
    measured=MEASURED,
    arms={label(size, PROMPTS): learning(size, PROMPTS) for size in SIZES}
    | {label(size, prompts): learning(size, prompts) for size, prompts in FEWER_PROMPTS.items()},
    predictions=(
        Prediction(
            "With 16 prompts per batch, groups of 2 end lower than groups of 8",
            "final correct",
            "16 prompts x 2",
            "less",
            "16 prompts x 8",
            0.02,
        ),
        Prediction(
            "With 16 prompts per batch, groups of 16 learn faster than groups of 8",
            "mean correct",
            "16 prompts x 16",
            "more",
            "16 prompts x 8",
            0.01,
        ),
        Prediction(
            "With 16 prompts per batch, groups of 32 learn faster than groups of 16",
            "mean correct",
            "16 prompts x 32",
            "more",
            "16 prompts x 16",
            0.01,
        ),
        Prediction(
            "With 256 completions per batch, groups of 2 end lower than groups of 8",
            "final correct",
            "128 prompts x 2",
            "less",
            "32 prompts x 8",
            0.02,
        ),
        Prediction(
            "With 256 completions per batch, groups of 2 learn more slowly than groups of 8",
            "mean correct",
            "128 prompts x 2",
            "less",
            "32 prompts x 8",
            0.02,
        ),
    ),
    panels=(
        Points(
            "mean correct",
            "right completions, mean over training",
            x={
                f"{PROMPTS} prompts per batch": {label(size, PROMPTS): size for size in SIZES},
                f"{COMPLETIONS} completions per batch": {
                    label(size, prompts): size for size, prompts in FEWER_PROMPTS.items()
                },
            },
            xlabel="group size G (completions per prompt)",
            log="x",
        ),
        Curves(
            "correct",
            "right completions (share)",
            arms=("16 prompts x 2", "16 prompts x 8", "16 prompts x 32", "128 prompts x 2", "32 prompts x 8"),
        ),
    ),
    remark="Most of what a larger group gives is given by the larger batch: with equally many completions in"
    " all, the size of the groups matters little.",
)
