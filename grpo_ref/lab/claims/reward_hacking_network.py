"""Claim: a network hacks a learned reward without a KL penalty, and the penalty helps to prevent it."""

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Prediction,
    Tuning,
    tuned,
)
from grpo_ref.lab.framework.network import Started, imitator, network_curves
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.rollout import sample
from grpo_ref.recipes import GRPO, Recipe
from grpo_ref.tasks.liked_names import liked_names

UPDATES, PROMPTS, GROUP, RATE = 60, 8, 8, 0.003
"""Batches, prompts of each, completions per prompt, and the learning rate where the weight is chosen."""
WINDOW = 10
"""Updates over which a curve is averaged before its best value is taken."""
MARGIN = 0.2
"""In standard deviations; the best of noisy means is some hundredths too good."""


class Judged(NamedTuple):
    """Task and network; mean and standard deviation of both rewards under the letter model, (2,)."""

    start: Started
    center: Floats
    unit: Floats


@cache
def judged(seed: int) -> Judged:
    """Names that please a reward model, which has learned from few or many choices."""
    generator = np.random.default_rng([seed, 8])
    pairs = int(np.exp(generator.uniform(np.log(50), np.log(1000))))
    task = liked_names(pairs=pairs, prior=float(np.exp(generator.uniform(-1.0, 1.0))), seed=seed)
    drawn = sample(task, task.ref_logits[None], prompts=1024, group_size=1, seed=seed).components
    assert task.prompt_tokens is not None
    start = imitator(task, task.prompt_tokens, seed=seed)
    return Judged(start, drawn.mean((0, 1, 2)), drawn.std((0, 1, 2)))


def hacked(
    *,
    recipe: Recipe,
    learning_rate: float = RATE,
    kl_coef: float | None = None,
    flawless: bool = False,
    seeds: int,
    seed: int,
) -> Measures:
    """Train for the learned reward, and watch the true one, both in standard deviations above the start.

    Args:
      recipe: the algorithm.
      learning_rate: step size.
      kl_coef: weight of the penalty, in place of the recipe's.
      flawless: whether the true reward is what is trained for.
      seeds, seed: number of runs; base of their random numbers and of the task.
    """
    (task, policy), center, unit = judged(seed)
    if flawless:
        task = replace(task, weights=np.array([0.0, 1.0]))
    used = recipe if kl_coef is None else replace(recipe, kl_coef=kl_coef)
    sizes: dict[str, Any] = {"updates": UPDATES, "prompts": PROMPTS, "group_size": GROUP}
    sizes |= {"learning_rate": learning_rate, "seeds": seeds, "seed": seed}
    found = network_curves((task, policy), used, task.criteria, **sizes)
    learned, true = (
        (found[name] - off) / by for name, off, by in zip(task.criteria, center, unit, strict=True)
    )
    measures = summarized({"learned": learned, "true": true})
    windows = np.lib.stride_tricks.sliding_window_view(true, WINDOW, axis=-1).mean(-1)
    return measures | {"lost": windows.max(-1) - measures["final true"]}


def _arm(*, flawless: bool = False) -> Arm:
    learned = Tuning("learning_rate", (0.001, 0.003, 0.01), by="final learned")
    rates = Tuning("learning_rate", (0.003, 0.01, 0.03), by="final true") if flawless else learned
    return tuned(hacked, rates, recipe=replace(GRPO, kl_coef=0.0), flawless=flawless)


NONE, BEST, FLAWLESS = "none", "best weight", "flawless, none"
WEIGHTS = Tuning("kl_coef", (0.0, 0.3, 1.0, 3.0), by="final true")

EXPERIMENT = Experiment(
    name="reward_hacking_network",
    title="Does a KL penalty prevent hacking of a learned reward model?",
    policy="network",
    beside="reward_hacking",
    group="divergence",
    claim="Without a KL penalty a reward that was learned from preferences keeps rising while the true one"
    " rises and then falls, where a pretrained network is rewarded; the penalty helps to prevent it.",
    source="Gao et al. 2022, Scaling laws for reward model overoptimization (arXiv:2210.10760); Open"
    " Instruct, GRPO loss (2026)",
    family="Names are completed from their first letter. A reward model has learned from 50 to 1000 choices"
    " (log-uniform) between two names, with a prior of precision 1/e to e; it counts pairs of neighbouring"
    " letters, and cannot see what the true taste sees, that a name should have six letters. A small"
    " transformer sees all letters so far, and first imitates 4096 names of a letter model of the census.",
    run=f"GRPO learns from the reward model for {UPDATES} updates of {PROMPTS} x {GROUP} names with Adam."
    " “None” has no KL penalty, and the learning rate that gives the most learned reward. “Best weight” has a"
    f" learning rate of {RATE} and the weight of the k3 penalty, 0 included, that gives the most true reward."
    " In the control “flawless”, the network is trained on the true reward.",
    measured="The learned and the true reward of the names that are sampled, in standard deviations under the"
    " letter model; at the end as a mean over the last fifth of the updates. The loss is the best mean over"
    f" {WINDOW} updates minus the end. A difference of {MARGIN} is negligible.",
    arms={
        NONE: _arm(),
        BEST: tuned(hacked, WEIGHTS, recipe=GRPO),
        FLAWLESS: _arm(flawless=True),
    },
    predictions=(
        Prediction(
            "Without a penalty the true reward falls again", "lost", NONE, "more", 0.0, MARGIN, main=True
        ),
        Prediction(
            "The penalty, at its best weight, prevents some of it",
            "final true",
            BEST,
            "more",
            NONE,
            MARGIN,
            main=True,
        ),
        Prediction("Control: a flawless judge is not hacked", "lost", FLAWLESS, "same", 0.0, MARGIN),
    ),
    panels=(
        Curves("learned", "learned reward (standard deviations)"),
        Curves("true", "true reward (standard deviations)"),
        Grid("true reward at the end", xlabel="weight of the KL penalty", arms=(BEST,), log=""),
    ),
)
