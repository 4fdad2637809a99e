"""Claim: when entropy, diversity and the width of the rewards all drop, the policy is collapsing."""

from dataclasses import replace

from grpo_ref.experiments.framework.experiment import Curves, Experiment, Prediction, arm
from grpo_ref.experiments.framework.tasks.synonyms import answered
from grpo_ref.recipes import GRPO

PLAIN = replace(GRPO, kl_coef=0.0)
UPDATES = 200
"""Enough to learn every prompt that has a single right answer."""

EXPERIMENT = Experiment(
    name="collapse_alarm",
    group="divergence",
    claim="If response entropy, the share of distinct n-grams and the width of the rewards all drop during"
    " training, you have a collapse problem.",
    source="a book chapter on GRPO (2026, not public), sec. 7.5.1",
    run="The task of `collapse` with four right answers per prompt, without pressure and with an entropy"
    " bonus of 0.3; and with only one right answer and a uniform reference, where nothing can collapse. The"
    " algorithm is GRPO without a KL penalty.",
    measured="The share of the seeds in which the alarm is given: each of the three falls, from the first"
    " tenth of training to the last, below half of its value. And the number of right answers that are lost"
    " from the reference to the final policy.",
    arms={
        "four right answers": arm(answered, recipe=PLAIN, updates=UPDATES),
        "four, bonus 0.3": arm(answered, recipe=PLAIN, updates=UPDATES, entropy_coef=0.3),
        "one right answer": arm(answered, recipe=PLAIN, updates=UPDATES, right=1, spread=0.0),
    },
    predictions=(
        Prediction("Without pressure answers are lost", "modes lost", "four right answers", "more", 0.0, 0.5),
        Prediction(
            "Without pressure the alarm is given in more than half of the runs",
            "alarm",
            "four right answers",
            "more",
            0.5,
        ),
        Prediction(
            "With a bonus fewer than half an answer is lost", "modes lost", "four, bonus 0.3", "less", 0.5
        ),
        Prediction(
            "With a bonus the alarm is given in fewer than half of the runs",
            "alarm",
            "four, bonus 0.3",
            "less",
            0.5,
        ),
        Prediction(
            "Where there is nothing to lose, the alarm is given in fewer than half of the runs",
            "alarm",
            "one right answer",
            "less",
            0.5,
        ),
    ),
    panels=(
        Curves("entropy", "entropy (nats per token)"),
        Curves("reward_width", "width of the rewards\n(standard deviation in the batch)"),
    ),
    remark="Where only one answer is right, certainty is what was to be learned, and all three drop as well.",
    chosen="After a first look the training was made longer and the arm with one right answer got a uniform"
    " reference; before that, the alarm was given in anything from 6 % to 47 % of its runs.",
)
