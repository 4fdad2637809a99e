"""Claim: up to 15 % of wrong verdicts are harmless, and false positives cost more than false negatives."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Expectation,
    Experiment,
    Grid,
    Measures,
    Points,
    Prediction,
    Tuning,
    tuned,
)
from grpo_ref.lab.framework.network import IMITATES, Started, imitator, network_curves
from grpo_ref.lab.framework.tasks.digit_sums import PLAIN
from grpo_ref.lab.framework.tasks.noisy_sums import noisy_sums
from grpo_ref.lab.framework.training import summarized
from grpo_ref.recipes import Recipe

UPDATES, PROMPTS, GROUP = 50, 8, 8
"""Batches, prompts of each, and completions per prompt."""
HARMLESS = 0.02
"""The largest loss of right answers that does not matter: the 2 percentage points of the source."""
RATES = Tuning("learning_rate", (0.001, 0.003, 0.01), by="final correct")
PERCENT = (5, 15, 30)
NONE = "no noise"
BOTH, POSITIVES, NEGATIVES = "both", "false positives", "false negatives"
KINDS = {BOTH: (1.0, 1.0), POSITIVES: (1.0, 0.0), NEGATIVES: (0.0, 1.0)}
"""Kind of noise -> shares of its rate at which wrong answers are accepted and right ones are rejected."""
REPEATED = 15
"""Rate, in percent, at which errors that repeat are compared with errors that do not."""


@cache
def started(seed: int) -> Started:
    """Sample a task without noise and pretrain its network, once for all arms of a process."""
    task = noisy_sums(seed)
    digits = np.array([[int(prompt[0]), int(prompt[2])] for prompt in task.prompts])
    return imitator(task, digits, seed=seed)


def judged_with_noise(
    *,
    accepts_wrong: float,
    rejects_right: float,
    repeats: bool,
    recipe: Recipe,
    learning_rate: float,
    seeds: int,
    seed: int,
) -> Measures:
    """Train a network on the rewards of a noisy verifier, and record the true share of right answers.

    Args:
      accepts_wrong, rejects_right, repeats: as in `noisy_sums`.
      recipe: the recipe.
      learning_rate: step size.
      seeds, seed: number of runs; base seed of their random numbers and of the task.
    """
    task, policy = started(seed)
    noisy = noisy_sums(seed, accepts_wrong=accepts_wrong, rejects_right=rejects_right, repeats=repeats)
    sizes: dict[str, Any] = {"updates": UPDATES, "prompts": PROMPTS, "group_size": GROUP}
    settings = {**sizes, "learning_rate": learning_rate, "seeds": seeds, "seed": seed}
    start = replace(task, verify=noisy.verify), policy
    return summarized(network_curves(start, recipe, ("correct",), **settings))


def _arm(kind: str, percent: int, *, repeats: bool = False) -> Arm:
    wrong, right = (share * percent / 100.0 for share in KINDS[kind])
    noise = {"accepts_wrong": wrong, "rejects_right": right, "repeats": repeats}
    return tuned(judged_with_noise, RATES, recipe=PLAIN, **noise)


def _label(kind: str, percent: int, *, repeats: bool = False) -> str:
    return f"{kind}, {percent} %{', repeated' if repeats else ''}"


def _ends(says: str, left: str, expect: Expectation, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "final correct", left, expect, right, HARMLESS, main)


EXPERIMENT = Experiment(
    name="noisy_verifier",
    title="How much noise of the verifier is harmless, and which errors cost more?",
    group="rewards",
    policy="network",
    claim="Noise of the verifier of up to 15 % costs at most 2 percentage points of accuracy. High precision"
    " matters more: accepting wrong answers costs more than rejecting right ones. False negatives that repeat"
    " are like random noise, but false positives that repeat end training on a plateau or in a collapse.",
    source="Plesner et al. 2026, An imperfect verifier is good enough (arXiv:2604.07666, abstract), for 15 %"
    " and precision; Egashira et al. 2026, Delay, plateau, or collapse (arXiv:2605.02909, abstract), for"
    " errors that repeat; Cai et al. 2025 (arXiv:2510.00915, abstract), for two rates of errors",
    family="The tasks are sums of digits a+b with a and b up to a number from 2 to 9, with right labels. A"
    " small transformer (one layer, width 32, two heads; about 13,000 weights) reads the digits of the"
    f" question and of its own answer. {IMITATES}",
    run=f"GRPO trains the network for {UPDATES} updates of {PROMPTS} x {GROUP} completions with Adam, one"
    " step for each batch, and no KL penalty. The verifier accepts a wrong answer (false positive), rejects a"
    " right one (false negative), or does both, with a probability of 5, 15 or 30 %. Errors are sampled"
    f" for each completion. In two arms with {REPEATED} % the errors repeat: the verifier always judges the"
    " same answer to the same question in the same way.",
    measured="The true share of right answers, as sampled at temperature 1, as a mean over the last fifth of"
    " the updates. The learning rate is chosen by it for each arm. A rate of false positives is a share of"
    " the wrong answers, and a rate of false negatives is a share of the right ones.",
    arms={NONE: _arm(BOTH, 0)}
    | {_label(kind, percent): _arm(kind, percent) for kind in KINDS for percent in PERCENT}
    | {
        _label(kind, REPEATED, repeats=True): _arm(kind, REPEATED, repeats=True)
        for kind in (POSITIVES, NEGATIVES)
    },
    predictions=(
        _ends("Noise of 5 % on both sides is harmless", _label(BOTH, 5), "same", NONE),
        _ends("Noise of 15 % on both sides is harmless", _label(BOTH, 15), "same", NONE, main=True),
        _ends(
            "False positives of 15 % cost more than false negatives of 15 %",
            _label(POSITIVES, 15),
            "less",
            _label(NEGATIVES, 15),
        ),
        _ends(
            "False positives of 30 % cost more than false negatives of 30 %",
            _label(POSITIVES, 30),
            "less",
            _label(NEGATIVES, 30),
            main=True,
        ),
        _ends(
            "False negatives that repeat cost as much as random ones",
            _label(NEGATIVES, REPEATED, repeats=True),
            "same",
            _label(NEGATIVES, REPEATED),
        ),
        _ends(
            "False positives that repeat cost more than random ones",
            _label(POSITIVES, REPEATED, repeats=True),
            "less",
            _label(POSITIVES, REPEATED),
            main=True,
        ),
        _ends("False negatives of 15 % alone are harmless", _label(NEGATIVES, 15), "same", NONE),
        _ends("False positives of 15 % alone are harmless", _label(POSITIVES, 15), "same", NONE),
        _ends("Noise of 30 % on both sides costs more than 15 %", _label(BOTH, 30), "less", _label(BOTH, 15)),
    ),
    panels=(
        Points(
            "final correct",
            "right answers at the end (share)",
            x={
                kind: {NONE: 0.0} | {_label(kind, percent): float(percent) for percent in PERCENT}
                for kind in KINDS
            },
            xlabel="rate of errors (%)",
        ),
        Curves(
            "correct",
            "right answers (share)",
            arms=(
                NONE,
                *(
                    _label(kind, REPEATED, repeats=again)
                    for kind in (POSITIVES, NEGATIVES)
                    for again in (False, True)
                ),
            ),
        ),
        Grid("right answers at the end (share)"),
    ),
)
