"""Claim: a baseline without the completion's own reward corrects the length of the gradient, nothing more."""

from dataclasses import replace
from itertools import product

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.experiments.framework.experiment import Curves, Experiment, Measures, Prediction, arm
from grpo_ref.learning.policies.table import log_softmax, pull_back
from grpo_ref.learning.tasks.bandit import exact_policy_gradient
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DR_GRPO, GRPO, REINFORCE, RLOO, Recipe

CONTEXTS, ARMS = 4, 4
SIZES = (2, 3, 4, 5)
SHOWN = SIZES.index(4)
"""The group size of the single numbers."""


def expected(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """The expected gradient for a random bandit and policy of each seed, against the exact one.

    Every group that can be drawn is evaluated once and weighted by its probability, so nothing is sampled.
    """
    runs = [_one_seed(np.random.default_rng([seed, run]), recipe) for run in range(seeds)]
    curves = {name: np.array([[one[name] for one in run] for run in runs]) for name in runs[0][0]}
    return curves | {f"{name} at G = 4": curve[:, SHOWN] for name, curve in curves.items()}


def _one_seed(generator: np.random.Generator, recipe: Recipe) -> list[dict[str, float]]:
    """The measures of each group size."""
    means, logits = generator.random((CONTEXTS, ARMS)), generator.normal(size=(CONTEXTS, ARMS))
    exact = exact_policy_gradient(means, logits)
    return [_compared(*_moments(recipe, means, log_softmax(logits), size), exact) for size in SIZES]


def _moments(recipe: Recipe, means: Floats, log_probs: Floats, size: int) -> tuple[Floats, float]:
    """The ascent direction's expectation (contexts, arms), and its variance summed over the entries."""
    groups = np.array(list(product(range(ARMS), repeat=size)))
    ascent = _ascents(recipe, means, log_probs, groups)
    chances = np.exp(log_probs[:, groups].sum(-1)).T[..., None]
    mean = (chances * ascent).sum(0)
    return mean, float((chances * (ascent - mean) ** 2).sum())


def _ascents(recipe: Recipe, means: Floats, log_probs: Floats, groups: Integers) -> Floats:
    """(groups, contexts, arms) where the recipe moves the logits if every context gets the same group."""
    shape = (len(groups), CONTEXTS, groups.shape[-1], 1)
    tokens = np.broadcast_to(groups[:, None, :, None], shape)
    states = np.broadcast_to(np.arange(CONTEXTS)[:, None, None], shape)
    advantages = recipe.advantage(rewards=means[states, tokens][..., 0])
    loss = policy_loss(log_probs[states, tokens], advantages, np.ones(shape), recipe=recipe, metrics=())
    probs = np.broadcast_to(np.exp(log_probs), (len(groups), CONTEXTS, ARMS))
    return -pull_back(loss.gradient, states, tokens, probs)


def _compared(gradient: Floats, variance: float, exact: Floats) -> dict[str, float]:
    length, target = float(np.linalg.norm(gradient)), float(np.linalg.norm(exact))
    along = float((gradient * exact).sum()) / target
    return {
        "bias": float(np.linalg.norm(gradient - exact)) / target,
        "length": length / target,
        "angle": float(np.degrees(np.arccos(np.clip(along / length, -1.0, 1.0)))),
        "noise": np.sqrt(variance) / length,
    }


EXPERIMENT = Experiment(
    name="leave_one_out",
    group="divergence",
    claim="The mean of the other completions is an unbiased baseline; GRPO's group mean, which contains the"
    " completion's own reward, shortens the gradient by (G - 1)/G, nothing more.",
    source="Ahmadian et al. 2024, Back to basics (arXiv:2402.14740); Liu et al. 2025, Dr. GRPO, app. A"
    " (arXiv:2503.20783)",
    run=f"For each seed there are a random bandit of {CONTEXTS} contexts and {ARMS} arms and a random"
    " policy. All groups that can be drawn are evaluated and weighted by their probabilities, so nothing is"
    " sampled. The recipes are RLOO with its advantages replaced.",
    measured="The expected gradient with respect to the logits is compared with the exact gradient of the"
    " expected reward. Bias is the length of their difference and length is its own length, both relative to"
    " the exact gradient's; the angle between the two is in degrees; noise is the standard deviation over"
    " groups, relative to the expected gradient's length.",
    arms={
        "mean of the others (RLOO)": arm(expected, recipe=RLOO),
        "group mean": arm(expected, recipe=replace(RLOO, advantage=DR_GRPO.advantage)),
        "group mean and std (GRPO)": arm(expected, recipe=replace(RLOO, advantage=GRPO.advantage)),
        "no baseline": arm(expected, recipe=REINFORCE),
    },
    predictions=(
        Prediction(
            "RLOO's gradient is unbiased", "bias at G = 4", "mean of the others (RLOO)", "same", 0.0, 0.01
        ),
        Prediction(
            "In groups of 4 the group mean shortens the gradient to 3/4",
            "length at G = 4",
            "group mean",
            "same",
            0.75,
            0.01,
        ),
        Prediction(
            "The group mean does not turn the gradient", "angle at G = 4", "group mean", "same", 0.0, 1.0
        ),
        Prediction(
            "For its length, the gradient with the group mean is as noisy as RLOO's",
            "noise at G = 4",
            "group mean",
            "same",
            "mean of the others (RLOO)",
            0.01,
        ),
        Prediction(
            "The division by the standard deviation turns the gradient",
            "angle at G = 4",
            "group mean and std (GRPO)",
            "more",
            "group mean",
            1.0,
        ),
        Prediction(
            "RLOO's baseline makes the gradient less noisy than no baseline",
            "noise at G = 4",
            "mean of the others (RLOO)",
            "less",
            "no baseline",
            0.1,
        ),
    ),
    panels=(
        Curves(
            "bias",
            "|expected - exact gradient| /\n|exact gradient|",
            xlabel="group size G (completions per prompt)",
            x=SIZES,
            arms=("group mean", "mean of the others (RLOO)", "no baseline"),
        ),
        Curves(
            "angle",
            "angle to the exact gradient (degrees)",
            xlabel="group size G (completions per prompt)",
            x=SIZES,
            arms=("group mean", "mean of the others (RLOO)", "group mean and std (GRPO)"),
        ),
    ),
)
