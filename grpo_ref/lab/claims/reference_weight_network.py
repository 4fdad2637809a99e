"""Claim: weighting tokens by 1 - their probability under the reference helps a network, too."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Expectation,
    Experiment,
    Grid,
    Measures,
    Points,
    Prediction,
    arm,
    tuned,
)
from grpo_ref.lab.framework.network import RATES, Started, imitator, network_curves
from grpo_ref.lab.framework.tasks.phrases import COPIES, FAMILY, Phrases, drawn_phrases
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.policies.table import pull_back
from grpo_ref.learning.rollout import draw
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DR_GRPO, GRPO, Recipe
from grpo_ref.recipes.textbook import BOOK_DR_GRPO

MARGIN = 0.02
CONTROL_RATE = 0.003
SIZES: Mapping[str, Any] = {"updates": 40, "prompts": 8, "group_size": 8}


class Drawn(NamedTuple):
    """A sampled task, and the task that its network reads with the network.

    Attributes:
      phrases: the sampled task.
      start: task and network.
    """

    phrases: Phrases
    start: Started


@cache
def drawn(seed: int, fillers: int | None = None) -> Drawn:
    """Sample a task of `phrases`, and pretrain its network.

    Args:
      seed: seed of the task, the examples and the weights.
      fillers: number of fillers in every answer; sampled if None.
    """
    phrases = drawn_phrases(seed, **({} if fillers is None else {"fillers": fillers}))
    questions = np.arange(len(phrases.task.prompts)) // COPIES
    numbers = np.stack(np.divmod(questions, len(phrases.task.vocabulary)), axis=-1)
    return Drawn(phrases, imitator(phrases.task, numbers, seed=seed))


def first_gradient(*, recipe: Recipe, fillers: bool, seeds: int, seed: int) -> Measures:
    """Measure the part of the first gradient that fillers, or the other tokens, send to the weights.

    Args:
      recipe: the recipe.
      fillers: if true, measure the part of the fillers, otherwise of the tokens that matter.
      seeds, seed: number of batches of 32 groups; base seed of the batches and of the task.

    Returns:
      "gradient", the length of the part over the square root of its number of tokens, divided by the same
      number for all tokens; and "share of the gradient", the squared length of the part over the sum of
      those of both parts.
    """
    phrases, (task, policy) = drawn(seed)
    actor = policy.at(policy.start(task, seeds), 1.0)
    generators = [np.random.default_rng([seed, run]) for run in range(seeds)]
    batch = draw(task, actor, generators, prompts=32, group_size=SIZES["group_size"])
    visited = actor.visit(task, batch.prompts, batch.states, batch.tokens)
    log_probs = visited.log_probs
    advantages = recipe.advantage(batch)
    loss = policy_loss(log_probs, advantages, batch.mask, recipe=recipe, ref_log_probs=log_probs, metrics=())

    def sent_by(tokens: Bools) -> Floats:
        slope = pull_back(loss.gradient * tokens, visited.states, batch.tokens, visited.policy.probs)
        return actor.pull_back(visited, slope)

    measured = np.broadcast_to((phrases.answers < 0)[batch.prompts][:, :, None], batch.mask.shape) == fillers
    part, rest = sent_by(measured), sent_by(~measured)
    squared, other = (part**2).sum(-1), (rest**2).sum(-1)
    counted = measured.mean((-3, -2, -1))
    whole = np.maximum(((part + rest) ** 2).sum(-1), 1e-300)
    return {
        "gradient": np.sqrt(squared / counted / whole),
        "share of the gradient": squared / np.maximum(squared + other, 1e-300),
    }


def train_and_measure(
    *, recipe: Recipe, learning_rate: float, seeds: int, seed: int, fillers: int | None = None
) -> Measures:
    """Train a network on a sampled task."""
    config = {**SIZES, "learning_rate": learning_rate, "seeds": seeds, "seed": seed}
    return summarized(network_curves(drawn(seed, fillers).start, recipe, ("right",), **config))


PLAIN, WEIGHTED, REAL = (replace(one, kl_coef=0.0) for one in (GRPO, BOOK_DR_GRPO, DR_GRPO))


def _tuned(recipe: Recipe) -> Arm:
    return tuned(
        train_and_measure, RATES._replace(values=(0.001, 0.003, 0.01), by="mean right"), recipe=recipe
    )


def _without_fillers(recipe: Recipe) -> Arm:
    return arm(train_and_measure, recipe=recipe, learning_rate=CONTROL_RATE, fillers=0)


def _differs(says: str, left: str, expect: Expectation, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "mean right", left, expect, right, MARGIN, main)


EXPERIMENT = Experiment(
    name="reference_weight_network",
    title="Does the weight 1 - π_ref focus a network's gradient on informative tokens?",
    policy="network",
    beside="reference_weight",
    group="aggregation",
    claim="Tokens that are common in pretraining receive large gradients even when they carry no"
    " task-relevant information; the weight 1 - π_ref corrects this bias and focuses the gradient on"
    " informative tokens. In a network such gradients also change what other tokens share with them.",
    source="not in Liu et al. 2025, Dr. GRPO (arXiv:2503.20783), which leaves out the division by the"
    " standard deviation and by the length; Yang et al. 2025 (arXiv:2505.12929, abstract) say the contrary of"
    " its premise: the large gradients are those of unlikely tokens; a book chapter on GRPO (2026, not"
    " public), sec. 7.5.4, which gives the name Dr. GRPO to this weight",
    family=f"{FAMILY} A small transformer reads the number of the question and its own tokens. It first"
    " imitates 4096 answers of the reference.",
    run=f"There are {SIZES['updates']} updates of {SIZES['prompts']} x {SIZES['group_size']} completions with"
    " Adam and without a KL penalty: GRPO, GRPO with each token weighted by 1 - π_ref (“weighted”), and"
    " Dr. GRPO as published, which has no such weight. Both GRPOs are also run in tasks without fillers,"
    f" where there is nothing to correct, at a learning rate of {CONTROL_RATE}. The first gradient is that of"
    " one batch of 32 groups.",
    measured="The share of right answers, sampled at temperature 1: its mean over all updates, by which the"
    " learning rate is chosen. The first gradient with respect to the weights of the network is split into"
    " the part that comes from fillers and the part that comes from tokens that matter. For each part: its"
    " length over the square root of its number of tokens, relative to all tokens; and its share of the"
    " squared lengths.",
    arms={
        "GRPO": _tuned(PLAIN),
        "weighted": _tuned(WEIGHTED),
        "Dr. GRPO": _tuned(REAL),
        "GRPO, no fillers": _without_fillers(PLAIN),
        "weighted, no fillers": _without_fillers(WEIGHTED),
        "fillers, GRPO": arm(first_gradient, recipe=PLAIN, fillers=True),
        "fillers, weighted": arm(first_gradient, recipe=WEIGHTED, fillers=True),
        "what matters, GRPO": arm(first_gradient, recipe=PLAIN, fillers=False),
        "what matters, weighted": arm(first_gradient, recipe=WEIGHTED, fillers=False),
    },
    predictions=(
        _differs("With the weight more is learned", "weighted", "more", "GRPO", main=True),
        Prediction(
            "Without it the gradient of a filler is larger than that of a token that matters",
            "gradient",
            "fillers, GRPO",
            "more",
            "what matters, GRPO",
            0.1,
            main=True,
        ),
        Prediction(
            "With it fillers have a smaller share of the squared gradient",
            "share of the gradient",
            "fillers, weighted",
            "less",
            "fillers, GRPO",
            0.02,
        ),
        _differs("The real Dr. GRPO does what the weight does", "Dr. GRPO", "same", "weighted"),
        _differs(
            "Control: without fillers the weight changes nothing",
            "weighted, no fillers",
            "same",
            "GRPO, no fillers",
        ),
    ),
    panels=(
        Curves("right", "right completions (share)", arms=("GRPO", "weighted", "Dr. GRPO")),
        Points(
            "gradient",
            "gradient of a kind of tokens / that of all tokens",
            arms=("fillers, GRPO", "what matters, GRPO", "fillers, weighted", "what matters, weighted"),
        ),
        Grid("right completions (mean over updates)", arms=("GRPO", "weighted", "Dr. GRPO")),
    ),
)
