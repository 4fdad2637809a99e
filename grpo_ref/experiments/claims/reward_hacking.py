"""Claim: without a KL penalty a proxy reward is hacked, and the penalty helps to prevent it."""

from dataclasses import replace

from grpo_ref.experiments.framework.experiment import Curves, Experiment, Prediction, arm
from grpo_ref.experiments.framework.tasks.flattery import COEFFICIENTS, DESCRIPTION, WINDOW, hacked
from grpo_ref.recipes import GRPO

EXPERIMENT = Experiment(
    name="reward_hacking",
    group="divergence",
    claim="Without a KL penalty a proxy reward keeps rising while the true one rises and then falls; the"
    " penalty helps to prevent it.",
    source="Gao et al. 2022, Scaling laws for reward model overoptimization (arXiv:2210.10760); Open"
    " Instruct, GRPO loss (2026)",
    run=DESCRIPTION,
    measured="The proxy reward of the batch, and its true reward, which is only watched. What is lost is the"
    f" best mean over {WINDOW} updates minus the final value.",
    arms={
        label: arm(hacked, recipe=replace(GRPO, kl_coef=kl_coef)) for label, kl_coef in COEFFICIENTS.items()
    },
    predictions=(
        Prediction("Without a penalty the true reward falls again", "lost true", "none", "more", 0.0, 0.1),
        Prediction(
            "Without a penalty the proxy reward ends higher than with a weight of 0.3",
            "final proxy",
            "none",
            "more",
            "0.3",
            0.1,
        ),
        Prediction("DeepSeekMath's 0.04 prevents some of it", "final true", "0.04", "more", "none", 0.1),
        Prediction("A weight of 0.3 prevents more", "final true", "0.3", "more", "0.04", 0.1),
        Prediction("With a weight of 1 the true reward does not fall", "lost true", "1", "same", 0.0, 0.1),
    ),
    panels=(
        Curves("proxy", "proxy reward, which is optimized"),
        Curves("true", "true reward, which is watched"),
    ),
    chosen="The answers grew from 8 to 12 sentences, because the gain at 0.04 was close to its margin.",
)
