"""Claim: dividing by the group's standard deviation gives very easy and very hard prompts larger weights."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

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
    arm,
    tuned,
)
from grpo_ref.lab.framework.tasks.quiz import COPIES, quiz
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.rollout import rollout
from grpo_ref.learning.state import TrainState
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DR_GRPO, GRPO, LITE_PPO, Recipe

GROUPS = (4, 8, 16, 32)
BATCHES = 64
"""Groups of each question for its gradient."""
RATES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98)
"""Pass rates at which the push of a prompt is measured."""
MIDDLE = RATES.index(0.5)
HARD, EASY = 0.2, 0.8
"""A question is hard at first below the one pass rate, and easy above the other."""


def gradients(*, recipe: Recipe, seeds: int, seed: int, group_size: int = 0) -> Measures:
    """Return the gradient of a prompt by pass rate, relative to a pass rate of one half."""
    generator = np.random.default_rng([seed, 0, 1])
    task = quiz(generator, np.array(RATES), mislabelled=0.0)
    group_size = group_size or int(generator.choice(GROUPS))
    prompts = np.tile(np.arange(len(task.prompts))[::COPIES], (seeds, BATCHES))
    shape = (*prompts.shape[1:], group_size, 1)
    uniforms = np.stack([np.random.default_rng([seed, run]).random(shape) for run in range(seeds)])
    policy = policy_of(np.broadcast_to(task.ref_logits, (seeds, *task.ref_logits.shape)))
    batch = rollout(task, policy.probs, prompts, uniforms)
    log_probs = gather(policy.log_probs, batch.states, batch.tokens)
    loss = policy_loss(
        log_probs, recipe.advantage(batch), batch.mask, recipe=recipe, max_length=1, metrics=()
    )
    ascent = -pull_back(loss.gradient, batch.states, batch.tokens, policy.probs)[..., 0]
    return _weights(ascent / ascent[:, MIDDLE, None])


def theory(*, power: float, seeds: int, seed: int) -> Measures:
    """In a large group the push is p(1-p), and √(p(1-p)) after the division, relative to that at 1/2.

    The expected ascent of the right answer's logit is p(1-p) for centered rewards, and their standard
    deviation is √(p(1-p)).

    Args:
      power: 1, or 1/2 with the division.
      seeds: how often the same numbers are returned.
      seed: of no consequence.
    """
    rates = np.array(RATES)
    return _weights(np.tile((4.0 * rates * (1.0 - rates)) ** power, (seeds, 1)))


def _weights(relative: Floats) -> Measures:
    return {
        "push": relative,
        "log push at 5 %": np.log(relative[:, RATES.index(0.05)]),
        "log push at 95 %": np.log(relative[:, RATES.index(0.95)]),
    }


def learned(*, recipe: Recipe, seeds: int, seed: int, **config: Any) -> Measures:
    """Train on a drawn quiz, and compute the pass rates of all questions and of those hard at first."""
    generator = np.random.default_rng([seed, 0, 2])
    questions, mislabelled = int(generator.integers(8, 25)), generator.uniform(0.0, 0.3)
    log_odds = np.linspace(-4.0, 4.0, questions) + generator.uniform(-0.2, 0.2, questions)
    chances = 1.0 / (1.0 + np.exp(-log_odds))
    task = quiz(generator, chances, mislabelled=mislabelled)
    sizes = {"updates": 60, "prompts": 16, "group_size": 8}
    rates = curves(task, recipe, config_for(task, seeds=seeds, seed=seed, **(sizes | config)), rates=_right)
    hard, every = rates["rates"][:, chances < HARD], rates["rates"]
    return summarized(
        {"hard": hard.mean(1), "easy": every[:, chances > EASY].mean(1), "right": every.mean(1)}
    )


def _right(state: TrainState) -> Floats:
    """(S, questions) probability of the right answer."""
    return policy_of(state.params).probs[..., 0]


DIVIDED = replace(GRPO, kl_coef=0.0)
RECIPES = {
    "divided": DIVIDED,
    "only centered": replace(DIVIDED, advantage=DR_GRPO.advantage),
    "divided by the batch's": replace(DIVIDED, advantage=LITE_PPO.advantage),
}
OPTIMIZERS: Mapping[str, tuple[Mapping[str, Any], Sequence[float]]] = {
    "Adam": ({"optimizer": "adam"}, (0.1, 0.3, 1.0, 3.0, 10.0)),
    "SGD": ({"optimizer": "sgd"}, (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)),
    "equal steps": ({"optimizer": "sgd", "max_grad_norm": 0.001}, (300.0, 1000.0, 3000.0, 10000.0, 30000.0)),
}
"""Settings and learning rates; steps are equally long where every gradient is cut to the same length."""
SHOWN = ("divided, SGD", "only centered, SGD", "divided, equal steps", "only centered, equal steps")
QUARTER = 0.22
"""The logarithm of 1.25."""


def _arm(name: str, optimizer: str) -> Arm:
    settings, rates = OPTIMIZERS[optimizer]
    return tuned(learned, Tuning("learning_rate", rates, by="mean right"), recipe=RECIPES[name], **settings)


def _more(
    says: str, measure: str, left: str, right: str | float, margin: float, main: bool = False
) -> Prediction:
    return Prediction(says, measure, left, "more", right, margin, main)


EXPERIMENT = Experiment(
    name="std_division",
    title="Does the division by the standard deviation favour easy and hard prompts?",
    group="advantages",
    claim="Dividing by the group's standard deviation gives prompts that are very easy or very hard larger"
    " weights: a question-level difficulty bias, which Dr. GRPO removes.",
    source="Liu et al. 2025, Dr. GRPO (arXiv:2503.20783)",
    family="8 to 24 questions with 2 to 8 answers that share nothing, of pass rates that are spread evenly"
    " in log-odds, from 2 to 98 % at first; up to 30 % of the labels are random. For the push of a prompt,"
    " 11 questions of fixed pass rates, without wrong labels, in groups of 4, 8, 16 or 32.",
    run=f"The push is the gradient of the right answer's logit from {BATCHES} groups of each question. Then"
    " the questions are learned in 60 updates of 16 x 8 completions without a KL penalty, with Adam, with"
    " SGD, and with SGD and steps of equal length, for whose share the prompts compete. The rewards of a"
    " group are centered and divided by its standard deviation, or only centered, or in the control divided"
    " by the standard deviation of the batch, which is the same for all prompts.",
    measured="The logarithm of the push relative to that of a prompt with a pass rate of 1/2. The pass"
    " rates of all questions, and of those that are hard at first (below 20 %), computed from the policy:"
    " means over the updates. The learning rate is chosen by the mean of all questions.",
    arms={f"push, {name}": arm(gradients, recipe=recipe) for name, recipe in RECIPES.items()}
    | {
        f"push, divided, groups of {size}": arm(gradients, recipe=DIVIDED, group_size=size)
        for size in (GROUPS[0], GROUPS[-1])
    }
    | {"√(4p(1-p))": arm(theory, power=0.5), "4p(1-p)": arm(theory, power=1.0)}
    | {
        f"{name}, {optimizer}": _arm(name, optimizer)
        for optimizer in OPTIMIZERS
        for name in ("divided", "only centered")
    },
    predictions=(
        *(
            _more(
                f"The division gives {kind} prompts more weight",
                f"log push at {rate} %",
                "push, divided",
                "push, only centered",
                QUARTER,
                main=True,
            )
            for kind, rate in (("hard", 5), ("easy", 95))
        ),
        _more(
            "With it a hard prompt weighs even more than one of 50 %",
            "log push at 5 %",
            "push, divided",
            0.0,
            QUARTER,
        ),
        Prediction(
            "Control: divided by the batch's deviation, hard prompts weigh as without division",
            "log push at 5 %",
            "push, divided by the batch's",
            "same",
            "push, only centered",
            0.05,
        ),
        _more(
            "The larger the group, the more so: a hard prompt weighs more in groups of 32 than of 4",
            "log push at 5 %",
            "push, divided, groups of 32",
            "push, divided, groups of 4",
            QUARTER,
        ),
        *(
            one
            for optimizer in OPTIMIZERS
            for one in (
                _more(
                    f"Hard questions are learned faster with the division ({optimizer})",
                    "mean hard",
                    f"divided, {optimizer}",
                    f"only centered, {optimizer}",
                    0.02,
                ),
                _more(
                    f"All questions together are learned faster without it ({optimizer})",
                    "mean right",
                    f"only centered, {optimizer}",
                    f"divided, {optimizer}",
                    0.01,
                ),
            )
        ),
    ),
    panels=(
        Curves(
            "push",
            "push relative to that at p = 1/2",
            xlabel="pass rate p of the prompt",
            x=RATES,
            arms=(
                "push, divided",
                "push, only centered",
                "push, divided, groups of 4",
                "push, divided, groups of 32",
                "√(4p(1-p))",
                "4p(1-p)",
            ),
            log="y",
        ),
        Curves("hard", "pass rate of questions hard at first", arms=SHOWN),
        Grid("pass rate of all questions (mean over updates)", arms=SHOWN[:2]),
    ),
)
