"""Claim: groups of 2 are as good as groups of 16, where what one prompt teaches helps with others."""

from grpo_ref.lab.framework.experiment import Curves, Experiment, Grid, Prediction
from grpo_ref.lab.framework.network import SUMS, learning
from grpo_ref.lab.framework.tasks.digit_sums import MEASURED, SHARES, UPDATES

LOSSLESS = 0.024
"""The paper's 2-GRPO keeps 97.6 % of the performance; the largest loss that still counts as none."""
PROMPTS = 8
"""Prompts of each batch of the standard, half as many as for the table, since a network takes longer."""
EIGHT = 8
"""So many times the completions of a group of 2 are those of a group of 16."""
SHOWN = ("groups of 16", "pairs, 1/8", "pairs, 1/8, large batches", "pairs, as many", "groups of 16, 1/8")

EXPERIMENT = Experiment(
    name="two_grpo_network",
    title="Are groups of 2 as good as groups of 16, with a network?",
    policy="network",
    beside="two_grpo",
    group="advantages",
    claim="Groups of 2 match groups of 16 with an eighth of the completions, where a pretrained network"
    " answers all questions with the same weights.",
    source="It takes two: your GRPO is secretly DPO (arXiv:2510.00977); a book chapter on GRPO (2026, not"
    " public), sec. 7.5.5",
    family=SUMS,
    run=f"The standard is {UPDATES} batches of {PROMPTS} groups of 16. Pairs get an eighth of these"
    f" completions in two ways: {UPDATES} batches of {PROMPTS} pairs, or {UPDATES // EIGHT} batches of"
    f" {EIGHT * PROMPTS} pairs; and once they get as many. In the control groups of 16 get an eighth, too, on"
    " an eighth of the prompts. One more comparison has half of the answers right at first. Adam takes one"
    " step per batch, without a KL penalty.",
    measured=f"{MEASURED} A difference of {LOSSLESS} counts as none: the paper's groups of 2 keep 97.6 % of"
    " the performance.",
    arms={
        "groups of 16": learning(16, PROMPTS),
        "pairs, 1/8": learning(2, PROMPTS),
        "pairs, 1/8, large batches": learning(2, EIGHT * PROMPTS, UPDATES // EIGHT),
        "pairs, as many": learning(2, EIGHT * PROMPTS),
        "groups of 16, 1/8": learning(16, PROMPTS // EIGHT),
        "groups of 16, half known": learning(16, PROMPTS, known=0.5),
        "pairs, 1/8, half known": learning(2, PROMPTS, known=0.5),
    },
    predictions=(
        Prediction(
            "With an eighth of the completions, groups of 2 end where groups of 16 end",
            "final correct",
            "pairs, 1/8",
            "same",
            "groups of 16",
            LOSSLESS,
            main=True,
        ),
        Prediction(
            "The same in an eighth of the updates, with batches as large as those of groups of 16",
            "final correct",
            "pairs, 1/8, large batches",
            "same",
            "groups of 16",
            LOSSLESS,
            main=True,
        ),
        Prediction(
            "With as many completions, groups of 2 end where groups of 16 end",
            "final correct",
            "pairs, as many",
            "same",
            "groups of 16",
            LOSSLESS,
        ),
        Prediction(
            "Control: an eighth of the completions brings more as pairs than as groups of 16",
            "final correct",
            "pairs, 1/8",
            "more",
            "groups of 16, 1/8",
            LOSSLESS,
        ),
        Prediction(
            "Where half of the answers are right at first, groups of 2 end where groups of 16 end",
            "final correct",
            "pairs, 1/8, half known",
            "same",
            "groups of 16, half known",
            LOSSLESS,
        ),
    ),
    panels=(
        Curves("correct", "right completions (share)", xlabel="share of the training", x=SHARES, arms=SHOWN),
        Grid("right completions at the end (share)", arms=SHOWN),
    ),
)
