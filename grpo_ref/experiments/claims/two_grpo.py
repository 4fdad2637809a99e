"""Claim: groups of 2 are as good as groups of 16."""

from grpo_ref.experiments.framework.experiment import Curves, Experiment, Prediction
from grpo_ref.experiments.framework.tasks.digit_sums import DESCRIPTION, MEASURED, PROMPTS, label, learning

LOSSLESS = 0.024
"""The paper's 2-GRPO keeps 97.6 % of the performance; the largest loss that still counts as none."""
MORE_PROMPTS = 8 * PROMPTS
"""With groups of 2 these give as many completions as `PROMPTS` with groups of 16."""

EXPERIMENT = Experiment(
    name="two_grpo",
    group="advantages",
    claim="Groups of 2 match groups of 16 with an eighth of the completions: a pair is a contrast, and that"
    " is what GRPO needs.",
    source="a book chapter on GRPO (2026, not public), sec. 7.5.5; It takes two: your GRPO is secretly DPO"
    " (arXiv:2510.00977)",
    run=f"{DESCRIPTION} Groups of 2 are tried with as many prompts per batch as groups of 16, that is, with"
    " an eighth of the completions; and with as many completions, that is, with eight times the prompts.",
    measured=f"{MEASURED} A difference of {LOSSLESS} counts as none: the paper's groups of 2 keep 97.6 % of"
    " the performance.",
    arms={
        label(2, PROMPTS): learning(2, PROMPTS),
        label(2, MORE_PROMPTS): learning(2, MORE_PROMPTS),
        label(16, PROMPTS): learning(16, PROMPTS),
    },
    predictions=(
        Prediction(
            "With an eighth of the completions, groups of 2 end where groups of 16 end",
            "final correct",
            "16 prompts x 2",
            "same",
            "16 prompts x 16",
            LOSSLESS,
        ),
        Prediction(
            "With as many completions, groups of 2 end where groups of 16 end",
            "final correct",
            "128 prompts x 2",
            "same",
            "16 prompts x 16",
            LOSSLESS,
        ),
        Prediction(
            "With as many completions, groups of 2 learn as fast as groups of 16",
            "mean correct",
            "128 prompts x 2",
            "same",
            "16 prompts x 16",
            LOSSLESS,
        ),
    ),
    panels=(Curves("correct", "right completions (share)"),),
    remark="The paper starts from pretrained LLMs. Here the two completions of most pairs are equally good"
    " at first, and such a pair teaches nothing.",
)
