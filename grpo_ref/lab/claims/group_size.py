"""Claim: the larger the groups the better, and groups of 2 are never recommended."""

from grpo_ref.lab.framework.experiment import Experiment, Grid, Points, Prediction
from grpo_ref.lab.framework.tasks.digit_sums import (
    FAMILY,
    MEASURED,
    PROMPTS,
    UPDATES,
    label,
    learning,
)

COMPLETIONS = 256
"""Per batch, whatever the size of the groups, where the number of prompts is what it leaves."""
SIZES = (2, 4, 8, 16, 32)
FEWER_PROMPTS = {size: COMPLETIONS // size for size in SIZES}
MARGIN = 0.02

EXPERIMENT = Experiment(
    name="group_size",
    title="How large must a group be?",
    group="advantages",
    claim="Groups of 2 are too noisy for stable learning and never recommended; 8 are good, 16 excellent and"
    " 32 near-perfect.",
    source="It takes two: your GRPO is secretly DPO (arXiv:2510.00977), whose abstract reports the common"
    " view that groups must be large; a book chapter on GRPO (2026, not public), sec. 7.4, for the sizes",
    family=FAMILY,
    run=f"Groups of {', '.join(map(str, SIZES))}, in {UPDATES} batches. Either every batch has {PROMPTS}"
    f" prompts, and larger groups cost more, or every batch has {COMPLETIONS} completions, and larger groups"
    " leave fewer prompts. Adam takes one step per batch, without a KL penalty.",
    measured=MEASURED,
    arms={label(size, PROMPTS): learning(size, PROMPTS) for size in SIZES}
    | {label(size, prompts): learning(size, prompts) for size, prompts in FEWER_PROMPTS.items()},
    predictions=(
        Prediction(
            "With as many prompts, groups of 2 end lower than groups of 8",
            "final correct",
            "16 prompts x 2",
            "less",
            "16 prompts x 8",
            MARGIN,
            main=True,
        ),
        Prediction(
            "With as many completions, groups of 2 end lower than groups of 8",
            "final correct",
            "128 prompts x 2",
            "less",
            "32 prompts x 8",
            MARGIN,
            main=True,
        ),
        Prediction(
            "With as many prompts, groups of 32 end higher than groups of 8",
            "final correct",
            "16 prompts x 32",
            "more",
            "16 prompts x 8",
            MARGIN,
        ),
        Prediction(
            "With as many completions, groups of 32 end higher than groups of 8",
            "final correct",
            "8 prompts x 32",
            "more",
            "32 prompts x 8",
            MARGIN,
        ),
        Prediction(
            "With as many completions, groups of 16 and of 32 end at the same",
            "final correct",
            "16 prompts x 16",
            "same",
            "8 prompts x 32",
            MARGIN,
        ),
    ),
    panels=(
        Points(
            "final correct",
            "right completions at the end (share)",
            x={
                f"{PROMPTS} prompts per batch": {label(size, PROMPTS): size for size in SIZES},
                f"{COMPLETIONS} completions per batch": {
                    label(size, prompts): size for size, prompts in FEWER_PROMPTS.items()
                },
            },
            xlabel="group size G (completions per prompt)",
            log="x",
        ),
        Grid(
            "right completions at the end (share)",
            arms=("16 prompts x 2", "16 prompts x 8", "128 prompts x 2", "32 prompts x 8", "8 prompts x 32"),
        ),
    ),
)
