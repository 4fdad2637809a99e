"""Claim: without a KL penalty a proxy reward is hacked, and the penalty helps to prevent it."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.tasks.proxies import FAMILY, UNITS, judged_answers, path
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.config import config_for
from grpo_ref.recipes import GRPO, Recipe

WINDOW = 5
"""Updates over which a curve is averaged before its best value is taken."""
RATES = Tuning("learning_rate", (0.03, 0.1, 0.3, 1.0), by="final proxy")
"""The learning rate is chosen by the proxy alone, as by somebody who sees nothing else."""
TRIED = (0.0, 0.04, 0.1, 0.3, 1.0)
WEIGHTS = Tuning("kl_coef", TRIED, by="final true")
"""The weight is chosen by the true reward, as by somebody who can measure it on some tasks."""
RATE = 0.1
"""Learning rate at which the weight is chosen, and which arms have in common."""
FOR_TRUTH = RATES._replace(by="final true")
BOTH = Tuning("rate_and_weight", tuple(product((0.01, 0.03, 0.1), TRIED)), by="final true")
FELL = 0.5
"""A run that loses more than this from its best true reward, in standard deviations, has fallen."""


def hacked(
    *,
    recipe: Recipe,
    learning_rate: float = RATE,
    kl_coef: float | None = None,
    rate_and_weight: tuple[float, float] | None = None,
    seeds: int,
    seed: int,
    **judge: bool,
) -> Measures:
    """Train for the proxy of a drawn judge, and watch what is true.

    Args:
      recipe: the algorithm.
      learning_rate: step size.
      kl_coef: weight of the penalty, in place of the recipe's.
      rate_and_weight: step size and weight of the penalty, in place of the others.
      seeds, seed: number of runs; base of their random numbers and of the task.
      judge: arguments of `judged_answers`.

    Returns:
      The measures of `summarized` for "kl", "proxy" and "true"; "lost", how far the true reward ends below
      its best; "fell", whether this is more than `FELL`; and "went on", how far the proxy still rises from
      there.
    """
    if rate_and_weight:
        learning_rate, kl_coef = rate_and_weight
    judged = judged_answers(seed, **judge)
    used = recipe if kl_coef is None else replace(recipe, kl_coef=kl_coef)
    config = config_for(judged.task, learning_rate=learning_rate, seeds=seeds, seed=seed)
    found = path(judged, used, config)
    measures = summarized(found)
    proxy, true = (
        np.lib.stride_tricks.sliding_window_view(found[name], WINDOW, axis=-1).mean(-1)
        for name in ("proxy", "true")
    )
    peak = true.argmax(-1)[:, None]
    lost = true.max(-1) - measures["final true"]
    return measures | {
        "lost": lost,
        "fell": (lost > FELL).astype(np.float64),
        "went on": measures["final proxy"] - np.take_along_axis(proxy, peak, axis=-1)[:, 0],
    }


def _arm(kl_coef: float, **judge: Any) -> Arm:
    return tuned(hacked, RATES, recipe=replace(GRPO, kl_coef=kl_coef), **judge)


def _with_rate(kl_coef: float, **judge: Any) -> Arm:
    return arm(hacked, recipe=GRPO, learning_rate=RATE, kl_coef=kl_coef, **judge)


def _same_rate(label: str) -> str:
    return f"{label}, at {RATE:g}"


def _chosen(**judge: Any) -> Arm:
    return tuned(hacked, WEIGHTS, recipe=GRPO, learning_rate=RATE, **judge)


MARGIN = 0.1
SHOWN = tuple(map(_same_rate, ("none", "0.3", "misled, none", "misled, 0.3")))

EXPERIMENT = Experiment(
    name="reward_hacking",
    title="Does a KL penalty prevent reward hacking?",
    group="divergence",
    claim="Without a KL penalty a proxy reward keeps rising while the true one rises and then falls; the"
    " penalty helps to prevent it.",
    source="Gao et al. 2022, Scaling laws for reward model overoptimization (arXiv:2210.10760); Open"
    " Instruct, GRPO loss (2026)",
    family=FAMILY,
    run="GRPO learns from the judge for 200 updates of 4 groups of 8 with Adam. The name of a variant gives"
    " the weight of its KL penalty (k3); “none” has no penalty, and “best weight” has the weight, 0 included,"
    f" that gives the most true reward. Weights are compared at the same learning rate (“at {RATE}”)."
    " “None” alone uses the learning rate that gives the most proxy reward. “None, for the truth” and “best"
    " rate and weight” use the rate, or the rate and the weight, that give the most true reward. In the"
    " control “flawless”, the judge gives the true reward. “Misled” uses only tasks in which the answer that"
    " the judge likes best has less true reward than the reference's answers have on average.",
    measured=f"The proxy and the true reward of the policy, exact, in {UNITS}; at the end as a mean over the"
    f" last fifth of the updates. The loss is the best mean over {WINDOW} updates minus the end. Runs that"
    f" lose more than {FELL} are counted, too, because a few tasks lose much more than the others. A"
    f" difference of {MARGIN} is negligible.",
    arms={
        "none": _arm(0.0),
        "best weight": _chosen(),
        "flawless, none": _arm(0.0, flawless=True),
        "misled, best weight": _chosen(misled=True),
        _same_rate("none"): _with_rate(0.0),
        _same_rate("0.04"): _with_rate(0.04),
        _same_rate("0.3"): _with_rate(0.3),
        _same_rate("1"): _with_rate(1.0),
        _same_rate("flawless, none"): _with_rate(0.0, flawless=True),
        _same_rate("flawless, 0.3"): _with_rate(0.3, flawless=True),
        _same_rate("misled, none"): _with_rate(0.0, misled=True),
        _same_rate("misled, 0.3"): _with_rate(0.3, misled=True),
        "none, for the truth": tuned(hacked, FOR_TRUTH, recipe=GRPO, kl_coef=0.0),
        "best rate and weight": tuned(hacked, BOTH, recipe=GRPO),
    },
    predictions=(
        Prediction(
            "Without a penalty the true reward falls again, as with a flawless judge it does not",
            "lost",
            "none",
            "more",
            "flawless, none",
            MARGIN,
            main=True,
        ),
        Prediction(
            "The penalty, at its best weight, prevents some of it",
            "final true",
            "best weight",
            "more",
            _same_rate("none"),
            MARGIN,
            main=True,
        ),
        Prediction(
            "Without a penalty the true reward falls by more than 0.5 in more runs than with a flawless"
            " judge",
            "fell",
            "none",
            "more",
            "flawless, none",
            MARGIN,
        ),
        Prediction(
            "The penalty prevents some of it, with rate and weight chosen by the true reward",
            "final true",
            "best rate and weight",
            "more",
            "none, for the truth",
            MARGIN,
        ),
        Prediction(
            "Without a penalty the proxy still rises from there", "went on", "none", "more", 0.0, MARGIN
        ),
        *(
            Prediction(
                f"{says} prevents some of it",
                "final true",
                _same_rate(weight),
                "more",
                _same_rate("none"),
                MARGIN,
            )
            for says, weight in (
                ("DeepSeekMath's 0.04", "0.04"),
                ("A weight of 0.3", "0.3"),
                ("A weight of 1", "1"),
            )
        ),
        Prediction("Control: a flawless judge is not hacked", "lost", "flawless, none", "same", 0.0, MARGIN),
        Prediction(
            "Control: with a flawless judge a weight of 0.3 only holds back",
            "final true",
            _same_rate("flawless, 0.3"),
            "less",
            _same_rate("flawless, none"),
            MARGIN,
        ),
        Prediction(
            "Where the judge is misled, a weight of 0.3 prevents some of it",
            "final true",
            _same_rate("misled, 0.3"),
            "more",
            _same_rate("misled, none"),
            MARGIN,
        ),
        Prediction(
            "Where the judge is misled, the best weight prevents some of it",
            "final true",
            "misled, best weight",
            "more",
            _same_rate("misled, none"),
            MARGIN,
        ),
    ),
    panels=(
        Curves("proxy", "proxy reward, which is optimized\n(standard deviations)", arms=SHOWN),
        Curves("true", "true reward, which is watched\n(standard deviations)", arms=SHOWN),
        Grid(
            "true reward at the end",
            xlabel="weight of the KL penalty",
            arms=("best weight", "misled, best weight"),
            log="",
        ),
    ),
)
