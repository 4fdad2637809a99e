"""Claim: a sampling temperature of 0.7 to 1 is best, for a network as well."""

from functools import cache
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.lab.claims.temperature import (
    ANY,
    GREEDY,
    PLAIN,
    SHARP,
    TEMPERATURES,
    VARIANTS,
    expected_reward,
    sampled_task,
)
from grpo_ref.lab.framework.experiment import (
    Arm,
    Experiment,
    Grid,
    Measures,
    Points,
    Prediction,
    tuned,
)
from grpo_ref.lab.framework.network import RATES, Started, imitator, network_curves
from grpo_ref.lab.framework.tasks.synonyms import PROMPTS, VOCABULARY
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.state import TrainState
from grpo_ref.recipes import Recipe

UPDATES = 40
"""Number of batches, each with all prompts in one of their variants."""
FEW = (0.4, 1.0, 1.5)
"""Temperatures that are tried where the reference is sharp."""
FEW_RATES = RATES._replace(values=(0.001, 0.003, 0.01), by="mean reward at 1")


class Drawn(NamedTuple):
    """Task and network, the right answers (prompts, right, 2), and completions per prompt."""

    start: Started
    answers: Integers
    group_size: int


@cache
def drawn(seed: int, spreads: tuple[float, float]) -> Drawn:
    """A task of the table's family, and a network that reads the number of the question."""
    task, answers, group_size = sampled_task(seed, spreads)
    question = np.arange(len(task.prompts)) // VARIANTS
    numbers = np.stack(np.divmod(question, VOCABULARY), axis=-1)
    return Drawn(imitator(task, numbers, seed=seed), answers, group_size)


def log_probs(start: Started, weights: Floats) -> Floats:
    """Return (S, N, V) the log-probabilities of the networks in every state of `synonyms`."""
    task, policy = start
    shape = (len(weights), PROMPTS, VOCABULARY, 2)
    prompts = np.broadcast_to(VARIANTS * np.arange(PROMPTS), shape[:2])
    tokens = np.zeros(shape, dtype=np.int64)
    tokens[..., 0] = np.arange(VOCABULARY)
    visited = policy.at(weights, 1.0).visit(task, prompts, tokens, tokens)
    by_place = visited.policy.log_probs.reshape(*shape, VOCABULARY)
    # The first token does not depend on itself; the second depends on the first.
    both = np.concatenate([by_place[:, :, :1, 0], by_place[:, :, :, 1]], axis=2)
    return both.reshape(len(weights), -1, VOCABULARY)


def train_at(
    *,
    recipe: Recipe,
    temperature: float,
    spreads: tuple[float, float] = ANY,
    learning_rate: float,
    seeds: int,
    seed: int,
) -> Measures:
    """Train a network at one temperature, and measure what it has learned at temperature 1.

    Args:
      recipe: the recipe.
      temperature: temperature of the policy, for sampling and for the gradient.
      spreads: between which the standard deviation of the reference's logits is sampled.
      learning_rate: step size.
      seeds, seed: number of runs; base seed of their random numbers and of the task.

    Returns:
      The measures of `summarized` for the "reward" and the "dead_groups" of the batches, and for the exact
      "reward at 1" and "greedy reward" of the policy.
    """
    start, answers, group_size = drawn(seed, spreads)

    def exact(state: TrainState) -> Floats:
        at_one = log_probs(start, state.params)
        greedy = log_softmax(at_one, temperature=GREEDY)
        return np.stack([expected_reward(one, answers) for one in (at_one, greedy)], axis=-1)

    curves = network_curves(
        start,
        recipe,
        ("reward", "dead_groups"),
        {"exact": exact},
        updates=UPDATES,
        prompts=PROMPTS,
        group_size=group_size,
        temperature=temperature,
        learning_rate=learning_rate,
        seeds=seeds,
        seed=seed,
    )
    at_one, greedy = np.moveaxis(curves.pop("exact"), 1, 0)
    return summarized(curves | {"reward at 1": at_one, "greedy reward": greedy})


def arm_at(temperature: float, spreads: tuple[float, float] = ANY) -> Arm:
    """Return an arm that is trained at a temperature."""
    return tuned(train_at, FEW_RATES, recipe=PLAIN, temperature=temperature, spreads=spreads)


def _slower(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "mean reward at 1", left, "less", right, 0.02, main)


EXPERIMENT = Experiment(
    name="temperature_network",
    title="Which sampling temperature is best, with a network?",
    policy="network",
    beside="temperature",
    group="divergence",
    claim="A sampling temperature of 0.7 to 1 gives groups varied enough to compare; lower, groups agree and"
    " teach nothing; higher, they are random and learning is slow, where a pretrained network answers all"
    " prompts with the same weights.",
    source="RLinf documentation, GRPO; a book chapter on GRPO (2026, not public), sec. 7.5.1",
    family="12 prompts have answers of two tokens out of 8. How many of the 64 answers are right (1 to 6),"
    " how much more the reference likes their tokens (by 0 to 2 nats), how sharp it is (a standard deviation"
    " of its logits of 0.5 to 2.5), which share of the verdicts is wrong (0 to 0.3) and the size of the"
    " groups (4, 8 or 16) are sampled. A small transformer (one layer, width 32, two heads) reads the number"
    " of the prompt and first imitates 4096 answers of that reference.",
    run=f"GRPO without a KL penalty learns for {UPDATES} updates of {PROMPTS} prompts with Adam. The"
    " temperature is the policy's, for sampling and for the gradient. Variants are named after it. In the"
    " variants “sharp”, the standard deviation of the reference's logits is fixed at 2.5.",
    measured="The exact share of right answers of the policy at temperature 1, and of its greedy answers,"
    " whatever temperature it was trained at: as a mean over training, which is the larger the faster it"
    " learns. And, at the temperature of training, the reward and the share of groups with equal rewards.",
    arms={str(temperature): arm_at(temperature) for temperature in TEMPERATURES}
    | {f"sharp, {temperature}": arm_at(temperature, SHARP) for temperature in FEW},
    predictions=(
        _slower("At 0.4 it learns more slowly than at 1", "0.4", "1.0", main=True),
        _slower("At 1.5 it learns more slowly than at 1", "1.5", "1.0", main=True),
        Prediction(
            "At 0.4 groups agree more often than at 1", "mean dead_groups", "0.4", "more", "1.0", 0.05
        ),
        Prediction("0.7 is as good as 1", "mean reward at 1", "0.7", "same", "1.0", 0.02),
        _slower("2 learns more slowly than 1", "2.0", "1.0"),
        Prediction(
            "Judged greedily, 0.4 learns more slowly than 1", "mean greedy reward", "0.4", "less", "1.0", 0.02
        ),
        Prediction(
            "Judged greedily, 1.5 learns more slowly than 1", "mean greedy reward", "1.5", "less", "1.0", 0.02
        ),
        _slower("Sharp: 0.4 learns more slowly", "sharp, 0.4", "sharp, 1.0"),
        _slower("Sharp: 1.5 learns more slowly", "sharp, 1.5", "sharp, 1.0"),
    ),
    panels=(
        Points(
            "mean reward at 1",
            "share right at temperature 1,\nmean of all updates",
            x={
                "any reference": {str(temperature): temperature for temperature in TEMPERATURES},
                "sharp": {f"sharp, {temperature}": temperature for temperature in FEW},
            },
            xlabel="temperature of training",
        ),
        Grid("share right at temperature 1", arms=tuple(map(str, TEMPERATURES))),
    ),
)
