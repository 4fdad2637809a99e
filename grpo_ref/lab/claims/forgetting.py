"""Claim: rewards for one skill destroy another without a KL penalty, and the penalty keeps it at no cost."""

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Grid,
    Measures,
    Points,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.network import TRANSFORMER, imitator
from grpo_ref.lab.framework.tasks.two_skills import FAMILY, right_answers, two_skills
from grpo_ref.lab.framework.training import along, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.task import Task
from grpo_ref.recipes import GRPO, Recipe
from grpo_ref.training import iter_train

EXAMPLES, STEPS = 16384, 400
"""Number of completions of both skills to imitate, and of optimizer steps on them."""
UPDATES, PROMPTS, GROUP, EVERY = 60, 16, 8, 5
"""Batches, prompts of each, completions per prompt, and updates between two measurements."""
RATE, SMALL_RATE = 0.003, 0.001
"""The learning rate at which weights are compared, and a third of it."""
WEAK, USUAL, STRONG = 0.001, 0.04, 0.2
"""Weights of the penalty: verl's default, DeepSeekMath's, and five times as much."""
GAIN = 1 / 3
"""Share of the possible gain of the rewarded skill at which arms are compared."""
LOST, COST = 0.05, 0.03
"""Margins: shares of right answers of the other skill and of the rewarded skill."""


class Skilled(NamedTuple):
    """A task, the questions (Q,) that are rewarded, and a network that knows something of both skills."""

    task: Task
    rewarded: Bools
    policy: NeuralPolicy


@cache
def skilled(seed: int) -> Skilled:
    """Sample a task and pretrain its network on both skills, once for all arms of a process."""
    task, rewarded = two_skills(seed)
    assert task.prompt_tokens is not None
    both = replace(task, prompt_probs=np.full(len(rewarded), 1.0 / len(rewarded)))
    started, policy = imitator(both, task.prompt_tokens, seed=seed, steps=STEPS, examples=EXAMPLES)
    return Skilled(replace(started, prompt_probs=task.prompt_probs), rewarded, policy)


def right(known: Skilled, weights: Floats) -> Floats:
    """Return (2, S) the exact share of right answers to rewarded and to other questions, at temperature 1."""
    task, rewarded, policy = known
    answers, mask = right_answers(task)
    prompts = np.broadcast_to(np.arange(len(rewarded)), (len(weights), len(rewarded)))
    tokens = np.broadcast_to(answers[:, None], (*prompts.shape, 1, task.max_length))
    log_probs = policy.at(weights, 1.0).visit(task, prompts, tokens, tokens).log_probs
    chances = np.exp((log_probs * mask[:, None]).sum(-1))[..., 0]
    return np.stack([chances[:, rewarded].mean(-1), chances[:, ~rewarded].mean(-1)])


def one_skill_trained(*, recipe: Recipe, learning_rate: float, seeds: int, seed: int) -> Measures:
    """Train one of the skills, and measure both after every few updates.

    Args:
      recipe: the recipe.
      learning_rate: step size.
      seeds, seed: number of runs; base seed of their random numbers and of the task.
    """
    task, _, policy = known = skilled(seed)
    sizes = {"updates": UPDATES, "prompts": PROMPTS, "group_size": GROUP}
    config = config_for(task, TRANSFORMER, **sizes, learning_rate=learning_rate, seeds=seeds, seed=seed)
    states = (update.state for update in iter_train(task, recipe, config, metrics=(), policy=policy))
    shares = [right(known, one.params) for one in states if one.update % EVERY == 0]
    measures = summarized(dict(zip(("rewarded", "other"), np.stack(shares, axis=-1), strict=True)))
    at_start = right(known, policy.start(task, seeds))
    return measures | {
        "lost": at_start[1] - measures["final other"],
        "other at equal gain": at_equal_gain(np.stack([at_start, *shares], axis=-1)),
    }


def at_equal_gain(shares: Floats) -> Floats:
    """Return (S,) the other skill when the rewarded skill first has a third of all that it can gain.

    If the rewarded skill never has as much, it is the other skill at the end.

    Args:
      shares: (2, S, U) right answers of the rewarded and of the other skill, from the start on.

    >>> at_equal_gain(np.array([[[0.1, 0.3, 0.5]], [[0.9, 0.8, 0.6]]])).round(2).tolist()
    [0.7]
    """
    gained = (shares[0] - shares[0, :, :1]) / (1.0 - shares[0, :, :1])
    others = [
        along(path[None], other[None], (GAIN,))[0, 0] for path, other in zip(gained, shares[1], strict=True)
    ]
    return np.where(np.isnan(others), shares[1, :, -1], others)


def _recipe(kl_coef: float) -> Recipe:
    return replace(GRPO, kl_coef=kl_coef)


def _tuned(kl_coef: float) -> Arm:
    rates = Tuning("learning_rate", (0.001, 0.003, 0.01), by="final rewarded")
    return tuned(one_skill_trained, rates, recipe=_recipe(kl_coef))


NONE, GRPO_KL, STRONG_KL = "no KL", f"KL {USUAL}", f"KL {STRONG}"
SMALL_STEPS = f"no KL, rate {SMALL_RATE}"


def _same_rate(label: str) -> str:
    return f"{label}, rate {RATE}"


WEAK_AT_RATE = _same_rate(f"KL {WEAK}")


BY_GAIN = "other at equal gain"


def _keeps(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "final other", left, "more", right, LOST, main)


def _costs_nothing(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "final rewarded", left, "same", right, COST, main)


EXPERIMENT = Experiment(
    name="forgetting",
    title="Does RL on one skill destroy another, and does a KL penalty prevent it?",
    group="divergence",
    policy="network",
    claim="Training with verifiable rewards on one skill destroys others that are not rewarded, since without"
    " a KL penalty nothing protects them; the penalty keeps them, and costs nothing on the rewarded skill.",
    source="Li et al. 2025, The choice of divergence (arXiv:2509.07430), and Liu et al. 2025, ProRL"
    " (arXiv:2505.24864), for the penalty; Yu et al. 2025, DAPO, sec. 2.3 (arXiv:2503.14476), which drops it",
    family=f"{FAMILY} A small transformer (one layer, width 32, two heads) first imitates {EXAMPLES} answers"
    " to both kinds, so that both skills share its weights.",
    run=f"GRPO learns the rewarded kind for {UPDATES} updates of {PROMPTS} x {GROUP} completions with Adam,"
    f" without a KL penalty and with k3 at weights of {WEAK} (verl's default), {USUAL} (DeepSeekMath's) and"
    f" {STRONG}. Arms are compared at their best learning rate for the rewarded skill, and at the same rate,"
    f" {RATE}. One more arm has no penalty, but a rate of {SMALL_RATE}.",
    measured="The share of right answers to all questions of the rewarded kind, and of the other kind, at"
    " temperature 1, computed exactly; at the end as a mean over the last fifth of the updates. The loss is"
    " the share of the other kind at the start minus that at the end. An equal gain means: when the rewarded"
    " kind first has a third of the right answers that it lacked (or at the end, if it never does).",
    arms={NONE: _tuned(0.0), GRPO_KL: _tuned(USUAL), STRONG_KL: _tuned(STRONG)}
    | {
        _same_rate(label): arm(one_skill_trained, recipe=_recipe(weight), learning_rate=RATE)
        for label, weight in ((NONE, 0.0), (f"KL {WEAK}", WEAK), (GRPO_KL, USUAL), (STRONG_KL, STRONG))
    }
    | {SMALL_STEPS: arm(one_skill_trained, recipe=_recipe(0.0), learning_rate=SMALL_RATE)},
    predictions=(
        Prediction(
            "Without a penalty the other skill is lost in part", "lost", NONE, "more", 0.0, LOST, main=True
        ),
        _keeps("GRPO's penalty keeps more of the other skill", GRPO_KL, NONE, main=True),
        _costs_nothing("GRPO's penalty costs nothing on the rewarded skill", GRPO_KL, NONE, main=True),
        _keeps("A strong penalty keeps more of the other skill", STRONG_KL, NONE),
        _costs_nothing("A strong penalty costs nothing on the rewarded skill", STRONG_KL, NONE),
        _keeps("At the same rate verl's weight keeps more", WEAK_AT_RATE, _same_rate(NONE)),
        Prediction(
            "At an equal gain GRPO's penalty keeps more",
            BY_GAIN,
            _same_rate(GRPO_KL),
            "more",
            _same_rate(NONE),
            LOST,
        ),
        Prediction(
            "At an equal gain a strong penalty keeps more",
            BY_GAIN,
            _same_rate(STRONG_KL),
            "more",
            _same_rate(NONE),
            LOST,
        ),
        Prediction(
            "At an equal gain a third of the learning rate keeps more than GRPO's penalty",
            BY_GAIN,
            SMALL_STEPS,
            "more",
            _same_rate(GRPO_KL),
            LOST,
        ),
    ),
    panels=(
        Curves("rewarded", "right answers, rewarded skill", xlabel=f"{EVERY} updates"),
        Curves("other", "right answers, other skill", xlabel=f"{EVERY} updates"),
        Points("lost", "share of right answers lost (other skill)"),
        Grid("right answers at the end (rewarded skill)"),
    ),
)
