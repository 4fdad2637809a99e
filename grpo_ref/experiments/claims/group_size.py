"""Claims: the larger the group the better, never 2; and: groups of 2 are as good as groups of 16."""

from dataclasses import replace

from grpo_ref.experiments.framework.experiment import Arm, Comparison, Curves, Experiment, Points, arm
from grpo_ref.experiments.framework.training import trained
from grpo_ref.learning.tasks.arithmetic import arithmetic
from grpo_ref.recipes import TWO_GRPO

PROMPTS, COMPLETIONS = 16, 256
"""A batch has 16 prompts, or 256 completions, whatever the size of the groups."""
PLAIN = replace(TWO_GRPO, kl_coef=0.0)
"""GRPO with the population's standard deviation, so that a pair gets -1 and 1, and no KL penalty."""


def _learning(group_size: int, prompts: int) -> Arm:
    return arm(
        trained,
        task=arithmetic,
        task_options={"largest": 3, "max_length": 2},
        recipe=PLAIN,
        record=("correct",),
        updates=100,
        prompts=prompts,
        group_size=group_size,
        learning_rate=0.2,
    )


def _label(group_size: int, prompts: int) -> str:
    return f"{prompts} prompts x {group_size}"


RUN = (
    "Sums of the digits 0 to 3, 16 prompts with answers of two tokens of which at first one in 121 is right;"
    " 100 updates with Adam, one step a batch, no KL penalty."
)
MEASURED = (
    "Share of right completions: final, over the last fifth of the updates, and its mean over all updates,"
    " which is the larger the faster it is learned."
)
LEFT, RIGHT = (2, 4, 8, 16, 32), {size: COMPLETIONS // size for size in (2, 4, 8, 16, 32)}
SAME_PROMPTS = {_label(size, PROMPTS): size for size in LEFT}
SAME_COMPLETIONS = {_label(size, prompts): size for size, prompts in RIGHT.items()}
BY_SIZE = Points(
    "mean correct",
    "right completions, mean over training",
    x={
        f"{PROMPTS} prompts a batch": SAME_PROMPTS,
        f"{COMPLETIONS} completions a batch": SAME_COMPLETIONS,
    },
    xlabel="group size G (completions a prompt)",
    log="x",
)

GROUP_SIZE = Experiment(
    name="group_size",
    group="advantages",
    claim="Groups of 2 are too noisy for stable learning and never recommended; 8 are good, 16 excellent and"
    " 32 near-perfect.",
    source="a book chapter on GRPO (2026), sec. 7.4",
    run=f"{RUN} Either every batch has {PROMPTS} prompts, and larger groups cost more, or every batch has"
    f" {COMPLETIONS} completions, and larger groups leave fewer prompts.",
    measured=MEASURED,
    arms={_label(size, PROMPTS): _learning(size, PROMPTS) for size in LEFT}
    | {_label(size, prompts): _learning(size, prompts) for size, prompts in RIGHT.items()},
    comparisons=(
        Comparison(
            "With 16 prompts a batch, groups of 2 end lower than groups of 8",
            "final correct",
            "16 prompts x 2",
            "less",
            "16 prompts x 8",
            0.02,
        ),
        Comparison(
            "With 16 prompts a batch, groups of 16 learn faster than groups of 8",
            "mean correct",
            "16 prompts x 16",
            "more",
            "16 prompts x 8",
            0.01,
        ),
        Comparison(
            "With 16 prompts a batch, groups of 32 learn faster than groups of 16",
            "mean correct",
            "16 prompts x 32",
            "more",
            "16 prompts x 16",
            0.01,
        ),
        Comparison(
            "With 256 completions a batch, groups of 2 end lower than groups of 8",
            "final correct",
            "128 prompts x 2",
            "less",
            "32 prompts x 8",
            0.02,
        ),
        Comparison(
            "With 256 completions a batch, groups of 2 learn more slowly than groups of 8",
            "mean correct",
            "128 prompts x 2",
            "less",
            "32 prompts x 8",
            0.02,
        ),
    ),
    panels=(
        BY_SIZE,
        Curves(
            "correct",
            "right completions (share)",
            arms=("16 prompts x 2", "16 prompts x 8", "16 prompts x 32", "128 prompts x 2", "32 prompts x 8"),
        ),
    ),
    remark="Most of what a larger group gives is given by the larger batch: with as many completions in all,"
    " the group's size matters little.",
)

LOSSLESS = 0.024
"""The paper's 2-GRPO keeps 97.6 % of the performance; the largest loss that still counts as none."""

TWO_GRPO_MATCHES = Experiment(
    name="two_grpo",
    group="advantages",
    claim="Groups of 2 match groups of 16 with an eighth of the completions: a pair is a contrast, and that"
    " is what GRPO needs.",
    source="a book chapter on GRPO (2026), sec. 7.5.5; It takes two: your GRPO is secretly DPO"
    " (arXiv:2510.00977)",
    run=f"{RUN} Groups of 2 with as many prompts a batch as groups of 16, an eighth of the completions, and"
    " with as many completions, eight times the prompts.",
    measured=f"{MEASURED} A difference of {LOSSLESS} counts as none: the paper's groups of 2 keep 97.6 % of"
    " the performance.",
    arms={
        _label(2, PROMPTS): _learning(2, PROMPTS),
        _label(2, 128): _learning(2, 128),
        _label(16, PROMPTS): _learning(16, PROMPTS),
    },
    comparisons=(
        Comparison(
            "An eighth of the completions: groups of 2 end where groups of 16 end",
            "final correct",
            "16 prompts x 2",
            "same",
            "16 prompts x 16",
            LOSSLESS,
        ),
        Comparison(
            "As many completions: groups of 2 end where groups of 16 end",
            "final correct",
            "128 prompts x 2",
            "same",
            "16 prompts x 16",
            LOSSLESS,
        ),
        Comparison(
            "As many completions: groups of 2 learn as fast as groups of 16",
            "mean correct",
            "128 prompts x 2",
            "same",
            "16 prompts x 16",
            LOSSLESS,
        ),
    ),
    panels=(Curves("correct", "right completions (share)"),),
    remark="The paper starts from pretrained LLMs. Here most pairs agree at first, and a pair that agrees"
    " teaches nothing.",
)
