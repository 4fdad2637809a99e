"""Claim: during RL the reward follows the entropy by R = -a exp(H) + b, which its start tells."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Measures,
    Points,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.tasks.digit_sums import FAMILY, PLAIN, PROMPTS, drawn_sums
from grpo_ref.lab.framework.tasks.exact_sums import exact
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.recipes import Recipe

UPDATES, GROUP_SIZE = 120, 16
FITTED = 0.15
"""Share of the run from which the law is fitted: the paper's 36 of about 240 steps."""
AT_END = {"exp(H)": 1.0, "H": 0.0, "log(update)": math.log(UPDATES)}
"""Input of the laws when the entropy is used up."""
CLOSE, BETTER = 0.03, 0.01
"""An error that is small, and a difference of errors that matters; the paper's errors are about 0.01."""
BONUS = 0.05
"""Weight of an entropy bonus."""
SLOW = 0.1
"""A learning rate below the best one."""
RATES = Tuning("learning_rate", (0.1, 0.3, 1.0, 3.0), by="mean correct")


def foretold(
    *,
    recipe: Recipe,
    law: str,
    fixed: Mapping[str, Any] | None = None,
    seeds: int,
    seed: int,
    **config: Any,
) -> Measures:
    """Train, fit a law of two numbers on the first part of each run, and see how well it tells the rest.

    Args:
      recipe: the algorithm.
      law: on what the reward is taken to depend linearly: "exp(H)", "H" or "log(update)".
      fixed: what of the task is not drawn.
      seeds, seed: number of runs; base of their random numbers and of the task.
      config: fields of `TrainConfig`.

    Returns:
      The measures of `summarized`; "error", the root mean square of what the law is off by over the rest of
      the run, and "error, half fitted"; "missed", how far its value at H = 0, or after the last
      update, is from the end of the run; and the curve "off".
    """
    task = drawn_sums(seed, **(fixed or {}))
    sizes: dict[str, Any] = {"updates": UPDATES, "prompts": PROMPTS, "group_size": GROUP_SIZE}
    found = curves(
        task, recipe, config_for(task, seeds=seeds, seed=seed, **sizes, **config), (), **exact(task)
    )
    reward, cause = found["correct"], _causes(found["entropy"])[law]
    off, line = _law(cause, reward, FITTED)
    measures = summarized(found)
    return measures | {
        "off": off,
        "error": _error(off, FITTED),
        "error, half fitted": _error(_law(cause, reward, 0.5)[0], 0.5),
        "missed": abs(line(AT_END[law]) - measures["final correct"]),
    }


def _error(off: Floats, fitted: float) -> Floats:
    error: Floats = np.sqrt((off[:, round(fitted * UPDATES) :] ** 2).mean(-1))
    return error


def _causes(entropy: Floats) -> dict[str, Floats]:
    updates = np.broadcast_to(np.arange(1.0, entropy.shape[-1] + 1.0), entropy.shape)
    return {
        "exp(H)": np.exp(entropy),
        "H": entropy,
        "log(update)": np.log(updates),
    }


def _law(x: Floats, y: Floats, fitted: float) -> tuple[Floats, Callable[[float], Floats]]:
    """(S, U) what each run's least squares line of the first part is off by, and the line: (S,) at any x."""
    first = round(fitted * UPDATES)
    x_mean, y_mean = (part[:, :first].mean(-1, keepdims=True) for part in (x, y))
    spread = (x - x_mean)[:, :first]
    slope = (spread * y[:, :first]).sum(-1, keepdims=True) / (spread**2).sum(-1, keepdims=True)
    return y_mean + slope * (x - x_mean) - y, lambda at: (y_mean + slope * (at - x_mean))[:, 0]


def _by(law: str, **settings: Any) -> Arm:
    return tuned(foretold, RATES, recipe=PLAIN, law=law, **settings)


LAWS = ("exp(H)", "H", "log(update)")

EXPERIMENT = Experiment(
    name="entropy_law",
    title="Does the entropy predict the reward, R = -a exp(H) + b?",
    group="divergence",
    claim="In RL without an entropy bonus the performance is traded from the entropy by R = -a exp(H) + b:"
    " fitted on the first part of a run, the law predicts the rest and the ceiling, R = -a + b.",
    source="Cui et al. 2025, The entropy mechanism (arXiv:2505.22617), abstract, which was read; the first 36"
    " of 200 and more steps and the error of about 1 % are from a summary of the paper",
    family=FAMILY,
    run=f"GRPO with Adam and without a KL penalty learns from {UPDATES} batches of {PROMPTS} groups of"
    f" {GROUP_SIZE}, one step each. In every run the two numbers of a law are fitted by least squares on the"
    f" first {FITTED:.0%} of the updates. Other laws with two numbers are fitted likewise: linear in the"
    " entropy, or in the logarithm of the number of updates. Once more half of the answers are right at"
    f" first, or there is an entropy bonus of {BONUS}, or the learning rate is {SLOW}; and every law is"
    " fitted on the first half, too.",
    measured="The exact share of right completions by the labels and the exact entropy, in nats per token, at"
    " temperature 1. The error is the root mean square difference between law and run over the updates that"
    f" were not fitted; {CLOSE} counts as small. The ceiling is missed by the difference between -a + b and"
    " the last fifth of the run.",
    arms={law: _by(law) for law in LAWS}
    | {
        "exp(H), half known": _by("exp(H)", fixed={"known": 0.5}),
        "H, half known": _by("H", fixed={"known": 0.5}),
        "exp(H), slow": arm(foretold, recipe=PLAIN, law="exp(H)", learning_rate=SLOW),
        "H, slow": arm(foretold, recipe=PLAIN, law="H", learning_rate=SLOW),
        "exp(H), bonus": _by("exp(H)", entropy_coef=BONUS),
    },
    predictions=(
        Prediction("The law foretells the run to within 0.03", "error", "exp(H)", "less", CLOSE, main=True),
        Prediction(
            "It does so better than a law linear in the entropy",
            "error",
            "exp(H)",
            "less",
            "H",
            BETTER,
            main=True,
        ),
        Prediction(
            "It does so better than the number of updates", "error", "exp(H)", "less", "log(update)", BETTER
        ),
        Prediction("It foretells the ceiling to within 0.03", "missed", "exp(H)", "less", CLOSE),
        Prediction(
            "Fitted on half of the run, it is better than the linear law",
            "error, half fitted",
            "exp(H)",
            "less",
            "H",
            BETTER,
        ),
        Prediction(
            "Where half is known at first, it foretells the run to within 0.03",
            "error",
            "exp(H), half known",
            "less",
            CLOSE,
        ),
        Prediction(
            "Where half is known at first, it is better than the linear law",
            "error",
            "exp(H), half known",
            "less",
            "H, half known",
            BETTER,
        ),
        Prediction(
            f"At a learning rate of {SLOW} it foretells the run to within {CLOSE}",
            "error",
            "exp(H), slow",
            "less",
            CLOSE,
        ),
        Prediction(
            f"At a learning rate of {SLOW} it is better than the linear law",
            "error",
            "exp(H), slow",
            "less",
            "H, slow",
            BETTER,
        ),
        Prediction(
            "With an entropy bonus it foretells worse", "error", "exp(H), bonus", "more", "exp(H)", BETTER
        ),
    ),
    panels=(
        Curves("off", "share right, law minus run", arms=LAWS),
        Points(
            "error",
            "error over the rest of the run\n(share right, root mean square)",
            arms=tuple(f"{law}{where}" for where in ("", ", half known", ", slow") for law in LAWS[:2]),
        ),
    ),
)
