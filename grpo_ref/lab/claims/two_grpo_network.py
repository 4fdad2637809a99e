"""Claim: groups of 2 are as good as groups of 16, where what one prompt teaches helps with others."""

from grpo_ref.lab.framework.experiment import Curves, Experiment, Grid, Prediction
from grpo_ref.lab.framework.network import SUMS, TRIED, learning
from grpo_ref.lab.framework.tasks.digit_sums import MEASURED, PROMPTS, SHARES, UPDATES

LOSSLESS = 0.024
"""The paper's 2-GRPO keeps 97.6 % of the performance; the largest loss that still counts as none."""
EIGHT = 8
"""So many times the completions of a group of 2 are those of a group of 16."""
SHOWN = ("groups of 16", "pairs, 1/8", "pairs, 1/8, large batches", "pairs, as many", "groups of 16, 1/8")

EXPERIMENT = Experiment(
    name="two_grpo_network",
    title="Are groups of 2 as good as groups of 16, with a network?",
    answer="As for a table, groups of 2 with an eighth of the completions end far below groups of 16."
    " With the same number of completions they end within 0.03 of them.",
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
    remark="That all questions share the weights does not spare the completions here: with an eighth of them"
    " groups of 2 end far below groups of 16, as in the table, in whichever way they are spent. With as many"
    " completions pairs end within 0.03 of groups of 16, and of an eighth of them pairs make more than"
    " groups of 16 do. Where half of the answers are right at first, less is lost, but more than counts as"
    " none. So groups can be made smaller, but what they save has to be spent on prompts. A pretrained LLM,"
    " which the paper's result is about, brings more to a question than this small network, and is not"
    " tested.",
    chosen=f"{TRIED} The grid was then widened at its upper end, and the comparison in which half of the"
    " answers are known was added, as the table has it, after a look at the results.",
)
