"""Claim: with a reference that is refreshed now and then, the KL penalty does not hold learning back."""

from dataclasses import replace
from functools import partial

import numpy as np

from grpo_ref.arrays import Floats, Integers
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
from grpo_ref.lab.framework.tasks.synonyms import (
    PROMPTS,
    TRAINING,
    VOCABULARY,
    modes,
    right_answers,
    synonyms,
)
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.state import TrainState
from grpo_ref.recipes import GRPO, Recipe

UPDATES = 200
RATES = Tuning("learning_rate", (0.01, 0.03, 0.1, 0.3, 1.0), by="final covered")


def refreshed(
    *,
    recipe: Recipe,
    every: int,
    learning_rate: float,
    share: float = 1.0,
    fixed: float | None = None,
    seeds: int,
    seed: int,
) -> Measures:
    """Train on a drawn task with a reference refreshed every so many updates.

    Args:
      recipe: the algorithm; if it has a penalty, its weight is the task's.
      every: so many updates; 0 keeps the first reference.
      learning_rate: step size.
      share: of the task's weight, which is used.
      fixed: the weight, where it is not drawn.
      seeds, seed: number of runs; base of their random numbers and of the task.

    Returns:
      The measures of `summarized` for the exact "reward", the "drift" from the first reference, the "modes",
      how many right answers per prompt are left, and "covered", these times the reward.
    """
    generator = np.random.default_rng([seed, 7])
    right, group_size = int(generator.integers(2, 7)), int(generator.choice([4, 8, 16]))
    weight = float(np.exp(generator.uniform(np.log(0.03), np.log(1.0))))
    answers = right_answers(right=right, seed=seed)
    task = synonyms(right=right, spread=generator.uniform(0.5, 2.5), seed=seed)
    used = replace(recipe, kl_coef=(fixed or share * weight) if recipe.kl_coef else 0.0)
    own = {"updates": UPDATES, "group_size": group_size, "learning_rate": learning_rate, "ref_refresh": every}
    config = config_for(task, **{**TRAINING, **own}, seeds=seeds, seed=seed)
    measure = partial(_standing, answers, _answers(log_softmax(task.ref_logits)))
    found = curves(task, used, config, ("dead_groups",), standing=measure)["standing"]
    names = ("reward", "drift", "modes")
    standing = {name: found[:, row] for row, name in enumerate(names)}
    return summarized(standing | {"covered": standing["reward"] * standing["modes"]})


def _standing(answers: Integers, start: Floats, state: TrainState) -> Floats:
    """(S, 3) reward, drift and modes of the policies, exact, means of the prompts."""
    log_probs = log_softmax(state.params)
    said = _answers(log_probs)
    probs = np.exp(said)
    reward = probs[..., np.arange(PROMPTS)[:, None], answers[..., 0], answers[..., 1]].sum(-1).mean(-1)
    drift = (probs * (said - start)).sum((-2, -1)).mean(-1)
    return np.stack([reward, drift, modes(log_probs, answers)], axis=-1)


def _answers(log_probs: Floats) -> Floats:
    """(..., prompts, V, V) log-probability of every answer of two tokens; log_probs are (..., N, V)."""
    table = log_probs.reshape(*log_probs.shape[:-2], -1, 1 + VOCABULARY, VOCABULARY)
    answers: Floats = table[..., 0, :, None] + table[..., 1:, :]
    return answers


HELD = replace(GRPO, kl_coef=1.0)
FREE = replace(GRPO, kl_coef=0.0)


HEAVY = 0.5
"""A weight of the penalty."""


AT = ", at 0.1"
"""Ending of the arms with the same learning rate, 0.1."""


def _arms(
    label: str, recipe: Recipe, every: int, share: float = 1.0, fixed: float | None = None
) -> dict[str, Arm]:
    """Return a training run at its best learning rate, and at the one that all arms have in common."""
    settings = {"recipe": recipe, "every": every, "share": share, "fixed": fixed}
    return {
        label: tuned(refreshed, RATES, **settings),
        label + AT: arm(refreshed, learning_rate=0.1, **settings),
    }


ARMS = {
    **_arms("frozen", HELD, 0),
    **_arms("every 50", HELD, 50),
    **_arms("every 20", HELD, 20),
    **_arms("no penalty", FREE, 0),
    **_arms("frozen, a tenth", HELD, 0, 0.1),
    **_arms("heavy, frozen", HELD, 0, fixed=HEAVY),
    **_arms("heavy, every 50", HELD, 50, fixed=HEAVY),
}
SHOWN = ("frozen", "every 50", "no penalty", "heavy, frozen", "heavy, every 50")
VARIED = 0.2
"""Right answers per prompt: the smallest difference in variety that matters."""


def _more_reward(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "final reward", left, "more", right, 0.02, main)


def _more_modes(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "final modes", left, "more", right, VARIED, main)


EXPERIMENT = Experiment(
    name="ref_refresh",
    title="Should the reference model be refreshed during training?",
    group="divergence",
    claim="Refreshing the reference now and then keeps the KL penalty from holding learning back, while the"
    " penalty still keeps the policy more varied and nearer to its start than none.",
    source="Liu et al. 2025, ProRL (arXiv:2505.24864); TRL, sync_ref_model",
    family="12 prompts have answers of two tokens out of 8. How many of the 64 answers are right (2 to 6),"
    " how sharp the reference is (a standard deviation of its logits of 0.5 to 2.5), the size of the groups"
    " (4, 8 or 16) and the weight of the penalty (0.03 to 1, evenly on a logarithmic scale) are drawn.",
    run="GRPO with k3 learns for 200 updates of 12 prompts with Adam. The reference is frozen, or replaced"
    " by the policy every 50 or 20 updates, while the state of the optimizer is kept. Two more variants are"
    " a frozen reference with a tenth of the weight, and no penalty. Where a variant is called “heavy”, the"
    " weight of the penalty is 0.5 on all tasks.",
    measured="Of the policy, exact: the reward (share of right answers), the KL to the first reference"
    " (nats per answer) and how many of the right answers of a prompt it still gives (the exponential of"
    " their entropy); each as a mean over the last fifth of the updates. Right answers (“modes”) and KL"
    " (“drift”) are compared at the same learning rate, 0.1. Rewards are compared at the learning rate at"
    " which the number of right answers times the reward (“covered”) is largest, because the claim is about"
    " both.",
    arms=ARMS,
    predictions=(
        _more_reward(
            "Refreshed every 50 updates, it ends with more reward than frozen",
            "every 50",
            "frozen",
            main=True,
        ),
        _more_modes(
            "And it gives more of the right answers than without a penalty",
            f"every 50{AT}",
            f"no penalty{AT}",
            main=True,
        ),
        _more_reward(
            "At the same rate, too, it ends with more reward than frozen", f"every 50{AT}", f"frozen{AT}"
        ),
        _more_modes(
            "Each at its best rate, it gives more of the right answers than without a penalty",
            "every 50",
            "no penalty",
        ),
        Prediction(
            "It ends with as much reward as without a penalty",
            "final reward",
            "every 50",
            "same",
            "no penalty",
            0.02,
        ),
        Prediction(
            "It stays nearer to its start than without a penalty",
            "final drift",
            f"every 50{AT}",
            "less",
            f"no penalty{AT}",
            0.1,
        ),
        _more_modes(
            "Refreshed every 20 updates, too, it gives more of the right answers",
            f"every 20{AT}",
            f"no penalty{AT}",
        ),
        _more_reward(
            "Heavy: it ends with more reward than with a frozen reference", "heavy, every 50", "heavy, frozen"
        ),
        _more_modes(
            "Heavy: it gives more of the right answers than without a penalty",
            f"heavy, every 50{AT}",
            f"no penalty{AT}",
        ),
        Prediction(
            "Refreshing leaves as much reward as a tenth of the weight",
            "final reward",
            "every 50",
            "same",
            "frozen, a tenth",
            0.02,
        ),
        _more_modes(
            "Refreshing keeps more of the right answers than a tenth of the weight",
            f"every 50{AT}",
            f"frozen, a tenth{AT}",
        ),
    ),
    panels=(
        Curves("reward", "reward (share of right answers)", arms=SHOWN),
        Curves("modes", "right answers per prompt that are left", arms=SHOWN),
        Grid("right answers per prompt, times reward", arms=SHOWN),
    ),
)
