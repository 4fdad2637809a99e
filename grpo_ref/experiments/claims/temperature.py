"""Claim: sampling at a temperature of 0.7 to 1 gives groups that are varied enough to compare."""

from dataclasses import replace

from grpo_ref.experiments.framework.experiment import Experiment, Points, Prediction, arm
from grpo_ref.experiments.framework.tasks.synonyms import answered
from grpo_ref.recipes import GRPO

PLAIN = replace(GRPO, kl_coef=0.0)
TEMPERATURES = (0.4, 0.7, 1.0, 1.5, 2.0)
REFERENCES = {"mild": 1.0, "sharp": 2.0}
"""Standard deviation of the reference's logits."""

EXPERIMENT = Experiment(
    name="temperature",
    group="divergence",
    claim="A sampling temperature of 0.7 to 1 gives groups varied enough to compare; lower, groups agree and"
    " teach nothing; higher, they are random and learning is slow.",
    source="a book chapter on GRPO (2026, not public), sec. 7.5.1; RLinf documentation, GRPO",
    run="The task of `collapse` with a mild reference, whose logits have a standard deviation of 1, and with"
    " a sharp one, with a standard deviation of 2, whose favorites are mostly wrong. The algorithm is GRPO"
    " without a KL penalty; the temperature is the policy's, both for sampling and for the gradient.",
    measured="At the temperature of training: the mean reward at the end and over all of training, and the"
    " share of groups without contrast over all of training.",
    arms={
        f"{name} {temperature}": arm(answered, recipe=PLAIN, spread=spread, temperature=temperature)
        for name, spread in REFERENCES.items()
        for temperature in TEMPERATURES
    },
    predictions=(
        Prediction(
            "Mild reference: at 0.4 groups agree more often than at 1",
            "mean dead_groups",
            "mild 0.4",
            "more",
            "mild 1.0",
            0.05,
        ),
        Prediction(
            "Mild reference: 0.7 ends as high as 1", "final reward", "mild 0.7", "same", "mild 1.0", 0.02
        ),
        Prediction(
            "Mild reference: 1.5 learns more slowly than 1",
            "mean reward",
            "mild 1.5",
            "less",
            "mild 1.0",
            0.02,
        ),
        Prediction(
            "Sharp reference: 0.4 ends lower than 1", "final reward", "sharp 0.4", "less", "sharp 1.0", 0.02
        ),
        Prediction(
            "Sharp reference: 0.7 ends as high as 1", "final reward", "sharp 0.7", "same", "sharp 1.0", 0.02
        ),
        Prediction(
            "Sharp reference: 1.5 learns more slowly than 1",
            "mean reward",
            "sharp 1.5",
            "less",
            "sharp 1.0",
            0.02,
        ),
    ),
    panels=tuple(
        Points(
            measure,
            label,
            x={
                f"{name} reference": {f"{name} {temperature}": temperature for temperature in TEMPERATURES}
                for name in REFERENCES
            },
            xlabel="temperature",
        )
        for measure, label in (
            ("mean reward", "reward, mean of all updates"),
            ("mean dead_groups", "share of groups without contrast,\nmean of all updates"),
        )
    ),
    remark="The sharper the reference, the higher the temperature at which its groups have something to"
    " compare.",
    chosen="The experiment was split into two references, because the first result depended on how sharp the"
    " reference was.",
)
