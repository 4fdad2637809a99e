"""Claim: a baseline without the completion's own reward corrects the length of the gradient, nothing more."""

from dataclasses import replace
from itertools import product

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
from grpo_ref.lab.framework.tasks.drawn_bandits import FAMILY, Kind, drawn_kind
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import log_softmax, pull_back
from grpo_ref.learning.state import TrainState
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import DR_GRPO, GRPO, REINFORCE, RLOO, Recipe
from grpo_ref.tasks.bandit import bandit_with, exact_policy_gradient, expected_reward

CONTEXTS, MOST_ARMS, PROMPTS = 4, 5, 32
SIZES = (2, 3, 4, 5)
DIGITS = 6
"""To which exact numbers are rounded, so that what holds exactly is seen to."""


def drawn(seed: int) -> tuple[Kind, int]:
    """A kind of bandit, and the size of the groups."""
    generator = np.random.default_rng([seed, 8])
    return drawn_kind(generator, most_arms=MOST_ARMS), int(generator.choice(SIZES))


def expected(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """The expected gradient for a bandit and policy of each seed, against the exact one.

    Every group that can be drawn is evaluated once and weighted by its probability, so nothing is sampled.
    """
    kind, group_size = drawn(seed)
    runs = [_one_seed(np.random.default_rng([seed, run]), recipe, kind) for run in range(seeds)]
    found = {name: np.round([[one[name] for one in run] for run in runs], DIGITS) for name in runs[0][0]}
    by_size = {f"{name} by G": values for name, values in found.items()}
    return by_size | {name: values[:, SIZES.index(group_size)] for name, values in found.items()}


def _one_seed(generator: np.random.Generator, recipe: Recipe, kind: Kind) -> list[dict[str, float]]:
    """The measures of each group size."""
    means, logits = kind.draw(generator, CONTEXTS)
    exact = exact_policy_gradient(means, logits)
    return [_compared(*_moments(recipe, means, log_softmax(logits), size), exact, size) for size in SIZES]


def _moments(recipe: Recipe, means: Floats, log_probs: Floats, size: int) -> tuple[Floats, float]:
    """The ascent direction's expectation (contexts, arms), and its variance summed over the entries."""
    groups = np.array(list(product(range(means.shape[-1]), repeat=size)))
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
    probs = np.broadcast_to(np.exp(log_probs), (len(groups), *log_probs.shape))
    return -pull_back(loss.gradient, states, tokens, probs)


def _compared(gradient: Floats, variance: float, exact: Floats, size: int) -> dict[str, float]:
    length, target = float(np.linalg.norm(gradient)), float(np.linalg.norm(exact))
    apart = np.linalg.norm(gradient / length - exact / target)  # of unit vectors: better than a cosine near 1
    return {
        "bias": float(np.linalg.norm(gradient - exact)) / target,
        "length": length / target,
        "length x G/(G - 1)": length / target * size / (size - 1),
        "angle": float(np.degrees(2.0 * np.arcsin(np.minimum(apart / 2.0, 1.0)))),
        "noise": np.log10(np.sqrt(variance) / length),
    }


def learned(
    *, recipe: Recipe, learning_rate: float, corrected: bool = False, seeds: int, seed: int
) -> Measures:
    """Train on a drawn bandit by SGD; the exact reward of the policy, and its distance from the start.

    Args:
      recipe: the algorithm.
      learning_rate: step size.
      corrected: whether it is lengthened by G/(G - 1).
      seeds, seed: number of runs; base of their random numbers and of the task.
    """
    kind, group_size = drawn(seed)
    means, logits = kind.draw(np.random.default_rng([seed, 9]), CONTEXTS)
    task = replace(bandit_with(means), ref_logits=logits)
    config = config_for(
        task,
        updates=80,
        prompts=PROMPTS,
        group_size=group_size,
        learning_rate=learning_rate * (group_size / (group_size - 1) if corrected else 1.0),
        optimizer="sgd",
        seeds=seeds,
        seed=seed,
    )
    start = log_softmax(logits)

    def value(state: TrainState) -> Floats:
        return expected_reward(means, state.params)

    def distance(state: TrainState) -> Floats:
        log_probs = log_softmax(state.params)
        moved: Floats = (np.exp(log_probs) * (log_probs - start)).sum(-1).mean(-1)
        return moved

    return summarized(curves(task, recipe, config, (), value=value, kl=distance))


PLAIN = replace(GRPO, kl_coef=0.0)
ADVANTAGES = {"RLOO": RLOO, "group mean": DR_GRPO, "no baseline": REINFORCE}
TRAINED = {name: replace(PLAIN, advantage=recipe.advantage) for name, recipe in ADVANTAGES.items()}
PENALIZED = {name: replace(recipe, kl_coef=0.1) for name, recipe in TRAINED.items()}
RATE = 10.0
RATES = Tuning("learning_rate", (10.0, 30.0, 100.0, 300.0, 1000.0), by="mean value")
OTHERS, MEAN, STD = "mean of the others (RLOO)", "group mean", "group mean and std (GRPO)"
REWARD = 0.02
"""A difference in the reward that would matter, of 1."""


def _trained() -> dict[str, Arm]:
    free = {f"{name}, trained": tuned(learned, RATES, recipe=recipe) for name, recipe in TRAINED.items()}
    held = {
        f"{name}, KL penalty": arm(learned, recipe=PENALIZED[name], learning_rate=RATE)
        for name in ("RLOO", "group mean")
    }
    path = {
        "RLOO, one rate": arm(learned, recipe=TRAINED["RLOO"], learning_rate=RATE),
        "group mean, G/(G - 1) times the rate": arm(
            learned, recipe=TRAINED["group mean"], learning_rate=RATE, corrected=True
        ),
    }
    return free | held | path


EXPERIMENT = Experiment(
    name="leave_one_out",
    title="Is the leave-one-out baseline (RLOO) different from the group's mean?",
    group="divergence",
    claim="The mean of the other completions is an unbiased baseline; GRPO's group mean, which contains the"
    " completion's own reward, shortens the gradient by (G - 1)/G, nothing more.",
    source="Ahmadian et al. 2024, Back to basics (arXiv:2402.14740); Liu et al. 2025, Dr. GRPO, app. A"
    " (arXiv:2503.20783)",
    family=f"{FAMILY} Here there are {CONTEXTS} contexts of 2 to {MOST_ARMS} arms, and groups of 2 to 5.",
    run="For each seed a bandit and a policy are drawn; all groups that can be drawn are evaluated and"
    " weighted by their probabilities, so nothing is sampled. And bandits are learned from such a policy by"
    f" 80 updates of SGD on {PROMPTS} prompts: each baseline at its own learning rate; at a rate of"
    f" {RATE:g}, times G/(G - 1) for the group mean; and with a KL penalty (k3, 0.1) at that rate.",
    measured="Of the expected gradient with respect to the logits: the length of its difference from the"
    " exact gradient of the expected reward (bias) and its own length, both relative to the exact one's; its"
    " angle to it, in degrees; and its noise, the standard deviation over groups relative to its length, as"
    " a power of ten. Of training: the exact expected reward of the policy, as a mean over the updates, and"
    " its KL from the start (nats).",
    arms={
        OTHERS: arm(expected, recipe=RLOO),
        MEAN: arm(expected, recipe=replace(RLOO, advantage=DR_GRPO.advantage)),
        STD: arm(expected, recipe=replace(RLOO, advantage=GRPO.advantage)),
        "no baseline": arm(expected, recipe=REINFORCE),
    }
    | _trained(),
    predictions=(
        Prediction("The group mean does not turn the gradient", "angle", MEAN, "same", 0.0, 1.0, main=True),
        Prediction(
            "Each at its learning rate, RLOO and the group mean learn equally well",
            "mean value",
            "group mean, trained",
            "same",
            "RLOO, trained",
            REWARD,
            main=True,
        ),
        Prediction("RLOO's gradient is unbiased", "bias", OTHERS, "same", 0.0, 0.01),
        Prediction(
            "The group mean shortens the gradient to (G - 1)/G", "length x G/(G - 1)", MEAN, "same", 1.0, 0.01
        ),
        Prediction(
            "For its length, the gradient with the group mean is as noisy as RLOO's",
            "noise",
            MEAN,
            "same",
            OTHERS,
            0.01,
        ),
        Prediction(
            "At G/(G - 1) times the learning rate the group mean learns as RLOO",
            "mean value",
            "group mean, G/(G - 1) times the rate",
            "same",
            "RLOO, one rate",
            0.001,
        ),
        Prediction(
            "With a KL penalty, too, they end equally far from the start",
            "final kl",
            "group mean, KL penalty",
            "same",
            "RLOO, KL penalty",
            0.05,
        ),
        Prediction(
            "The division by the standard deviation turns the gradient", "angle", STD, "more", MEAN, 1.0
        ),
        Prediction(
            "Control: no baseline makes the gradient noisier", "noise", "no baseline", "more", OTHERS, 0.1
        ),
        Prediction(
            "Control: without a baseline it learns worse",
            "mean value",
            "no baseline, trained",
            "less",
            "RLOO, trained",
            REWARD,
        ),
    ),
    panels=(
        Curves(
            "length by G",
            "|expected gradient| / |exact gradient|",
            xlabel="group size G",
            x=SIZES,
            arms=(OTHERS, MEAN, "no baseline"),
        ),
        Curves(
            "angle by G",
            "angle to the exact gradient (degrees)",
            xlabel="group size G",
            x=SIZES,
            arms=(OTHERS, MEAN, STD),
        ),
        Grid("reward (mean over updates)", arms=tuple(f"{name}, trained" for name in ADVANTAGES)),
    ),
)
