"""Claim: weighting tokens by 1 - their probability under the reference focuses on informative tokens."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

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
from grpo_ref.lab.framework.tasks.phrases import FAMILY, drawn_phrases
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.rollout import draw
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DR_GRPO, GRPO, Recipe
from grpo_ref.recipes.textbook import BOOK_DR_GRPO

MARGIN = 0.02
SIZES: Mapping[str, Any] = {"updates": 80, "prompts": 16, "group_size": 8}


def first_gradient(*, recipe: Recipe, fillers: bool, seeds: int, seed: int) -> Measures:
    """The length of the gradient of one large batch in a place, root mean square over fillers or others."""
    made = drawn_phrases(seed)
    generators = [np.random.default_rng([seed, run]) for run in range(seeds)]
    policy = policy_of(np.repeat(made.task.ref_logits[None], seeds, axis=0))
    batch = draw(made.task, policy, generators, prompts=64, group_size=SIZES["group_size"])
    log_probs = gather(policy.log_probs, batch.states, batch.tokens)
    advantages = recipe.advantage(batch)
    loss = policy_loss(log_probs, advantages, batch.mask, recipe=recipe, ref_log_probs=log_probs, metrics=())
    gradient = pull_back(loss.gradient, batch.states, batch.tokens, policy.probs)
    squares = (gradient**2).sum(-1).reshape(seeds, *made.matters.shape)
    wanted = made.matters != fillers
    total = squares.mean((-2, -1))
    share = (squares * wanted).sum((-2, -1)) / np.maximum(squares.sum((-2, -1)), 1e-300)
    return {
        "gradient": np.sqrt((squares * wanted).sum((-2, -1)) / wanted.sum() / np.maximum(total, 1e-300)),
        "share of the gradient": share,
    }


def learned(
    *, recipe: Recipe, seeds: int, seed: int, fixed: Mapping[str, Any] | None = None, **config: Any
) -> Measures:
    """Train on a task of the family; what is measured is computed from the policy, nothing sampled."""
    made = drawn_phrases(seed, **(fixed or {}))
    settings = config_for(made.task, **SIZES, seeds=seeds, seed=seed, **config)
    return summarized(
        curves(made.task, recipe, settings, right=lambda state: made.chances(state.params).mean(-1))
    )


RATES = {"adam": (0.03, 0.1, 0.3, 1.0, 3.0), "sgd": (30.0, 100.0, 300.0, 1000.0, 3000.0)}
PLAIN, WEIGHTED, REAL = (replace(one, kl_coef=0.0) for one in (GRPO, BOOK_DR_GRPO, DR_GRPO))


def _arm(recipe: Recipe, *, optimizer: str = "adam", **fixed: Any) -> Arm:
    rates = Tuning("learning_rate", RATES[optimizer], by="mean right")
    return tuned(learned, rates, recipe=recipe, fixed=fixed, optimizer=optimizer)


def _differs(
    says: str, left: str, expect: Any, right: str, *, main: bool = False, margin: float = MARGIN
) -> Prediction:
    return Prediction(says, "mean right", left, expect, right, margin, main)


EXPERIMENT = Experiment(
    name="reference_weight",
    title="Does the weight 1 - π_ref focus the gradient on informative tokens?",
    group="aggregation",
    claim="Tokens that are common in pretraining receive large gradients even when they carry no"
    " task-relevant information; the weight 1 - π_ref corrects this bias and focuses the gradient on"
    " informative tokens.",
    source="not in Liu et al. 2025, Dr. GRPO (arXiv:2503.20783), which leaves out the division by the"
    " standard deviation and by the length; a book chapter on GRPO (2026, not public), sec. 7.5.4, which"
    " gives the name Dr. GRPO to this weight",
    family=FAMILY,
    run=f"There are {SIZES['updates']} updates of {SIZES['prompts']} x {SIZES['group_size']} completions with"
    " Adam and without a KL penalty: GRPO, GRPO with each token weighted by 1 - π_ref (“weighted”), and"
    " Dr. GRPO as published, which has no such weight. Both GRPOs are also run with SGD; in tasks without"
    " fillers, where there is nothing to correct; and in tasks made to break the weight, where 80 % of the"
    " answers are right at first and the weight is small on right tokens. The first gradient is that of one"
    " batch of 64 groups.",
    measured="The probability of a right answer at temperature 1, computed from the policy, as a mean over"
    " all updates, by which the learning rate is chosen. For the first gradient: its root mean square length"
    " in the places of fillers, and in the places of tokens that matter, both relative to all places; and"
    " the share of the fillers in the squared gradient.",
    arms={
        "GRPO": _arm(PLAIN),
        "weighted": _arm(WEIGHTED),
        "Dr. GRPO": _arm(REAL),
        "GRPO, SGD": _arm(PLAIN, optimizer="sgd"),
        "weighted, SGD": _arm(WEIGHTED, optimizer="sgd"),
        "GRPO, no fillers": _arm(PLAIN, fillers=0),
        "weighted, no fillers": _arm(WEIGHTED, fillers=0),
        "GRPO, 80 % known": _arm(PLAIN, known=0.8),
        "weighted, 80 % known": _arm(WEIGHTED, known=0.8),
        "fillers, GRPO": arm(first_gradient, recipe=PLAIN, fillers=True),
        "fillers, weighted": arm(first_gradient, recipe=WEIGHTED, fillers=True),
        "what matters, GRPO": arm(first_gradient, recipe=PLAIN, fillers=False),
        "what matters, weighted": arm(first_gradient, recipe=WEIGHTED, fillers=False),
    },
    predictions=(
        _differs("With the weight more is learned", "weighted", "more", "GRPO", main=True),
        Prediction(
            "Without it the gradient is larger in the place of a filler than where a token matters",
            "gradient",
            "fillers, GRPO",
            "more",
            "what matters, GRPO",
            0.1,
            main=True,
        ),
        _differs(
            "With SGD, too, which leaves steps as long as gradients are, more is learned",
            "weighted, SGD",
            "more",
            "GRPO, SGD",
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
        _differs(
            "Hostile: where most answers are right at first, the weight is on the wrong tokens",
            "weighted, 80 % known",
            "less",
            "GRPO, 80 % known",
        ),
    ),
    panels=(
        Curves("right", "right completions (share)", arms=("GRPO", "weighted", "Dr. GRPO")),
        Points(
            "gradient",
            "gradient in a place / that of all places",
            arms=("fillers, GRPO", "what matters, GRPO", "fillers, weighted", "what matters, weighted"),
        ),
        Grid("right completions (mean over updates)", arms=("GRPO", "weighted", "Dr. GRPO")),
    ),
)
