"""Claim: clipping cuts off the gradient of a network's rare tokens after a step, and CISPO keeps it."""

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats
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
from grpo_ref.lab.framework.tasks.key_token import key_token
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.optim import Adam
from grpo_ref.learning.policies.table import pull_back
from grpo_ref.learning.rollout import draw
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import CISPO, Recipe, slot
from grpo_ref.surrogates import clipped

CLIP, HIGHER, KEPT = "clip 0.2", "clip-higher 0.28", "CISPO"
COMPARED = {
    CLIP: replace(CISPO, surrogate=slot(clipped, clip_low=0.2, clip_high=0.2)),
    HIGHER: replace(CISPO, surrogate=slot(clipped, clip_low=0.2, clip_high=0.28)),
    KEPT: CISPO,
}
UPDATES, STEPS = 40, 16
"""Batches of a training; steps on a single batch, while gradients are counted."""
RARE = 0.05
"""Old probability below which a token is called rare."""


class Drawn(NamedTuple):
    """Task and network, and the sizes with which it is learned."""

    start: Started
    sizes: dict[str, Any]


@cache
def drawn(seed: int) -> Drawn:
    """A task of the family, and a network that reads the context's number."""
    generator = np.random.default_rng([seed, 8])
    contexts, count = int(generator.integers(2, 7)), int(generator.integers(4, 13))
    task = key_token(
        contexts=contexts,
        tokens=count,
        probability=float(np.exp(generator.uniform(*np.log((0.005, 0.05))))),
        known=float(generator.uniform(0.2, 0.7)),
        luck=float(generator.uniform(0.0, 0.5)),
        seed=seed,
    )
    sizes = {"prompts": int(generator.integers(8, 17)), "group_size": int(generator.choice([4, 8, 16]))}
    steps = {"epochs": int(generator.choice([1, 2, 4])), "minibatches": int(generator.choice([2, 4]))}
    numbers = np.stack(np.divmod(task.starts, count), axis=-1)
    return Drawn(imitator(task, numbers, seed=seed), sizes | steps)


def learned(*, recipe: Recipe, learning_rate: float, seeds: int, seed: int) -> Measures:
    """Train on a drawn task; and, at the same rate, count the gradients on its first batch."""
    start, sizes = drawn(seed)
    settings = {**sizes, "updates": UPDATES, "learning_rate": learning_rate, "seeds": seeds, "seed": seed}
    trained = summarized(network_curves(start, recipe, ("reward",), **settings))
    return trained | steps_on_a_batch(start, recipe, learning_rate, seeds=seeds, seed=seed)


def steps_on_a_batch(
    start: Started, recipe: Recipe, learning_rate: float, *, seeds: int, seed: int
) -> Measures:
    """Take many steps on one batch of 64 prompts, and count at each which rare tokens have a gradient."""
    (task, policy), optimizer = start, Adam(learning_rate)
    weights = policy.start(task, seeds)
    state, shares = optimizer.init(weights), []
    generators = [np.random.default_rng([seed, run]) for run in range(seeds)]
    batch = draw(task, policy.at(weights, 1.0), generators, prompts=64, group_size=8)
    advantages = recipe.advantage(batch)
    old = policy.at(weights, 1.0).visit(task, batch.prompts, batch.states, batch.tokens).log_probs
    rare = batch.mask & (advantages != 0.0)[..., None] & (old < np.log(RARE))
    for _ in range(STEPS):
        actor = policy.at(weights, 1.0)
        said = actor.visit(task, batch.prompts, batch.states, batch.tokens)
        loss = policy_loss(
            said.log_probs, advantages, batch.mask, recipe=recipe, old_log_probs=old, metrics=()
        )
        shares.append(_share(loss.gradient != 0.0, rare))
        slope = pull_back(loss.gradient, said.states, batch.tokens, said.policy.probs)
        weights, state = optimizer.step(weights, actor.pull_back(said, slope), state)
    kept = np.stack(shares, axis=-1)
    return {"rare kept": kept, "rare kept after a step": kept[:, 1], "rare kept at the end": kept[:, -1]}


def _share(kept: Bools, among: Bools) -> Floats:
    """(S,) of the tokens of each batch; 1 where there are none."""
    lost: Floats = (~kept & among).sum((-3, -2, -1)) / np.maximum(among.sum((-3, -2, -1)), 1)
    return 1.0 - lost


def _best(label: str) -> Arm:
    rates = Tuning("learning_rate", (0.001, 0.003, 0.01, 0.03), by="mean reward")
    return tuned(learned, rates, recipe=COMPARED[label])


EXPERIMENT = Experiment(
    name="rare_gradient_network",
    title="Does CISPO learn faster because it keeps the gradient of rare tokens, with a network?",
    policy="network",
    beside="rare_gradient",
    group="clipping",
    claim="Rare tokens that start a new thought ('wait') are clipped after the first step on a batch and"
    " then contribute no gradient, where a pretrained network answers all prompts with the same weights;"
    " CISPO keeps the gradient of every token and learns faster.",
    source="MiniMax 2025, MiniMax-M1, sec. 3.1 (arXiv:2506.13585)",
    family="In 2 to 6 contexts a policy of 4 to 12 tokens guesses, or it says 'wait', with a chance of 0.005"
    " to 0.05 at first (log-uniform), and then gives an answer of which one is right, with a chance of 0.2 to"
    " 0.7 at first. A guess is right by luck, for a share of up to 0.5 of the prompts, which the policy"
    " cannot tell apart. Drawn are also the number of prompts (8 to 16), the size of the groups (4, 8 or 16),"
    " how many passes are made over a batch (1, 2 or 4) and into how many parts each is cut (2 or 4). A"
    " small transformer reads the number of the context and what it has said; it first imitates 4096"
    " answers of a table with these chances.",
    run=f"{UPDATES} batches are learned with Adam and without a KL penalty, each used for 2 to 16 steps. And"
    f" from the start, {STEPS} steps are taken on one batch of 64 x 8 completions, to count gradients.",
    measured="The reward (share of right answers) as a mean over training, by which the learning rate is"
    f" chosen; and the share of the rare tokens (old probability below {RARE:.0%}, advantage not 0) that have"
    " a gradient after the first step on a batch, in the second, and in the last.",
    arms={label: _best(label) for label in COMPARED},
    predictions=(
        Prediction(
            "After the first step clipping leaves less than half of the rare tokens a gradient",
            "rare kept after a step",
            CLIP,
            "less",
            0.5,
            main=True,
        ),
        Prediction(
            "CISPO gains more reward than clip 0.2", "mean reward", KEPT, "more", CLIP, 0.02, main=True
        ),
        Prediction(
            "CISPO gains more reward than clip-higher 0.28", "mean reward", KEPT, "more", HIGHER, 0.02
        ),
        Prediction(
            "In the last step clipping leaves less than half of the rare tokens a gradient",
            "rare kept at the end",
            CLIP,
            "less",
            0.5,
        ),
    ),
    panels=(
        Curves("rare kept", "share of rare tokens with a gradient", xlabel="step on the batch"),
        Curves("reward", "reward (share of right answers)"),
        Grid("reward, mean of all updates"),
    ),
)
