"""Claim: without pressure toward diversity a policy gives ever fewer of several right answers."""

from dataclasses import replace

from grpo_ref.experiments.framework.experiment import Curves, Experiment, Points, Prediction, arm
from grpo_ref.experiments.framework.tasks.synonyms import PROMPTS, VOCABULARY, answered
from grpo_ref.recipes import GRPO

PLAIN = replace(GRPO, kl_coef=0.0)
HELD = replace(GRPO, kl_coef=0.1)

EXPERIMENT = Experiment(
    name="collapse",
    group="divergence",
    claim="Without diversity pressure RL collapses to a narrow set of answers of high reward; the KL penalty"
    " is the primary remedy but not sufficient alone, and an entropy bonus is another.",
    source="a book chapter on GRPO (2026, not public), sec. 7.5.1",
    run=f"There are {PROMPTS} prompts with answers of two tokens out of {VOCABULARY}, four of them right and"
    " equally good. The algorithm is GRPO with k3 and several values of kl_coef and entropy_coef.",
    measured="The number of right answers that are given, which is the exponential of the entropy among"
    " them, from 1 to 4; how many fewer they are than under the reference; and the mean reward at the end.",
    arms={
        "none": arm(answered, recipe=PLAIN),
        "KL 0.04": arm(answered, recipe=GRPO),
        "KL 0.1": arm(answered, recipe=HELD),
        "bonus 0.1": arm(answered, recipe=PLAIN, entropy_coef=0.1),
        "bonus 0.3": arm(answered, recipe=PLAIN, entropy_coef=0.3),
        "KL 0.1, bonus 0.1": arm(answered, recipe=HELD, entropy_coef=0.1),
    },
    predictions=(
        Prediction("Without pressure right answers are lost", "modes lost", "none", "more", 0.0, 0.5),
        Prediction(
            "A KL penalty keeps more of the right answers", "final modes", "KL 0.1", "more", "none", 0.1
        ),
        Prediction(
            "An entropy bonus keeps more of the right answers",
            "final modes",
            "bonus 0.1",
            "more",
            "none",
            0.1,
        ),
        Prediction(
            "Penalty and bonus together keep more than the penalty alone",
            "final modes",
            "KL 0.1, bonus 0.1",
            "more",
            "KL 0.1",
            0.1,
        ),
        Prediction(
            "The penalty keeps more than a bonus of 0.3", "final modes", "KL 0.1", "more", "bonus 0.3", 0.1
        ),
        Prediction(
            "The penalty and a bonus of 0.3 cost equally much reward",
            "final reward",
            "KL 0.1",
            "same",
            "bonus 0.3",
            0.05,
        ),
    ),
    panels=(
        Curves("modes", "right answers that are given (of 4)"),
        Points("final reward", "mean reward at the end"),
    ),
    remark="Once every answer is right there is no gradient: the collapse happens while the policy is still"
    " learning, because the likelier ones of the right answers are rewarded more often.",
    chosen="The predictions are about a penalty of 0.1 rather than 0.04, whose effect is close to the"
    " margin.",
)
