"""Claim: a KL penalty against reward hacking acts like early stopping."""

from dataclasses import replace

from grpo_ref.experiments.framework.experiment import Curves, Experiment, Points, Prediction, arm
from grpo_ref.experiments.framework.tasks.flattery import COEFFICIENTS, DESCRIPTION, NEARBY, WINDOW, hacked
from grpo_ref.recipes import GRPO

EXPERIMENT = Experiment(
    name="early_stopping",
    group="divergence",
    claim="A KL penalty raises the proxy reward at a given distance from the reference but not the true one:"
    " it acts like early stopping.",
    source="Gao et al. 2022, Scaling laws for reward model overoptimization, sec. 3.6 (arXiv:2210.10760)",
    run=DESCRIPTION,
    measured="The proxy reward and the true reward where the KL to the reference first reaches 5 nats per"
    f" completion, and the best true reward on the way, as a mean over {WINDOW} updates.",
    arms={
        label: arm(hacked, recipe=replace(GRPO, kl_coef=kl_coef)) for label, kl_coef in COEFFICIENTS.items()
    },
    predictions=(
        Prediction(
            "At 5 nats from the reference, a weight of 0.3 raises the proxy reward",
            "proxy at 5 nats",
            "0.3",
            "more",
            "none",
            0.01,
        ),
        Prediction(
            "At 5 nats from the reference, a weight of 0.3 leaves the true reward as it is",
            "true at 5 nats",
            "0.3",
            "same",
            "none",
            0.05,
        ),
        Prediction(
            "With a weight of 0.04 the best true reward on the way is as high",
            "best true",
            "0.04",
            "same",
            "none",
            0.05,
        ),
        Prediction(
            "With a weight of 0.3 the best true reward on the way is as high",
            "best true",
            "0.3",
            "same",
            "none",
            0.05,
        ),
    ),
    panels=(
        Curves(
            "true by KL",
            "true reward",
            xlabel="KL to the reference (nats per completion)",
            x=NEARBY,
            arms=("none", "0.04", "0.1", "0.3"),
        ),
        Points(
            "best true",
            "best true reward on the way",
            x={"GRPO": COEFFICIENTS},
            xlabel="weight of the KL penalty",
        ),
    ),
    remark="The penalized policy goes on changing at the distance where it is held, toward what pays most"
    " for the KL, and that is flattery.",
    chosen="The distance at which runs are compared was raised from 2 to 5 nats, because at 2 the penalty"
    " had not acted yet.",
)
