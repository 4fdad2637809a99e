"""Claim: after a few steps on a batch clipping cuts off the gradient of rare tokens, and CISPO keeps it."""

from dataclasses import replace
from typing import Any

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
from grpo_ref.lab.framework.tasks.key_token import key_token
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.optim import Adam
from grpo_ref.learning.policies.table import gather, policy_of, pull_back
from grpo_ref.learning.rollout import draw
from grpo_ref.learning.task import Task
from grpo_ref.loss import policy_loss
from grpo_ref.recipes import CISPO, Recipe, slot
from grpo_ref.surrogates import clipped

CLIP, HIGHER, KEPT = "clip 0.2", "clip-higher 0.28", "CISPO"
COMPARED = {
    CLIP: replace(CISPO, surrogate=slot(clipped, clip_low=0.2, clip_high=0.2)),
    HIGHER: replace(CISPO, surrogate=slot(clipped, clip_low=0.2, clip_high=0.28)),
    KEPT: CISPO,
}
STEPS = 16
"""On one batch, while gradients are counted."""
ANY, NONE, MUCH = (0.0, 0.5), (0.0, 0.0), (0.5, 0.5)
"""Between which the share of the prompts is drawn for which a guess is right."""
RATES, COUNTED = (0.03, 0.1, 0.3, 1.0), (0.01, 0.03, 0.1, 0.3, 1.0)
RARE = 0.05
"""Old probability below which a token is called rare."""


def drawn(luck: tuple[float, float], seed: int) -> tuple[Task, dict[str, Any]]:
    """A task of the family, and the sizes with which it is learned.

    Args:
      luck: between which the share of the prompts is drawn for which a guess is right.
      seed: base of the random numbers.
    """
    generator = np.random.default_rng([seed, 8])
    task = key_token(
        contexts=int(generator.integers(2, 7)),
        tokens=int(generator.integers(4, 13)),
        probability=float(np.exp(generator.uniform(*np.log((0.005, 0.05))))),
        known=float(generator.uniform(0.2, 0.7)),
        luck=float(generator.uniform(*luck)),
        seed=seed,
    )
    sizes = {"prompts": int(generator.integers(8, 17)), "group_size": int(generator.choice([4, 8, 16]))}
    steps = {"epochs": int(generator.choice([1, 2, 4])), "minibatches": int(generator.choice([2, 4]))}
    return task, {"updates": 60} | sizes | steps


def learned(
    *,
    recipe: Recipe,
    luck: tuple[float, float] = ANY,
    learning_rate: float,
    seeds: int,
    seed: int,
) -> Measures:
    """Train on a drawn task; and, at the same rate, count the gradients on its first batch."""
    task, sizes = drawn(luck, seed)
    config = config_for(task, learning_rate=learning_rate, seeds=seeds, seed=seed, **sizes)
    trained = summarized(curves(task, recipe, config, ("reward",)))
    return trained | steps_on_a_batch(task, recipe, learning_rate, seeds=seeds, seed=seed)


def steps_on_a_batch(task: Task, recipe: Recipe, learning_rate: float, *, seeds: int, seed: int) -> Measures:
    """Take many steps on one batch of 64 prompts, and count at each which tokens still have a gradient."""
    optimizer, logits = Adam(learning_rate=learning_rate), np.repeat(task.ref_logits[None], seeds, axis=0)
    old, state = policy_of(logits), optimizer.init(logits)
    generators = [np.random.default_rng([seed, run]) for run in range(seeds)]
    batch = draw(task, old, generators, prompts=64, group_size=8)
    advantages = recipe.advantage(batch)
    old_log_probs = gather(old.log_probs, batch.states, batch.tokens)
    counted = batch.mask & (advantages != 0.0)[..., None]
    rare = counted & (old_log_probs < np.log(RARE))
    shares = []
    for _ in range(STEPS):
        policy = policy_of(logits)
        log_probs = gather(policy.log_probs, batch.states, batch.tokens)
        loss = policy_loss(
            log_probs, advantages, batch.mask, recipe=recipe, old_log_probs=old_log_probs, metrics=()
        )
        kept = loss.gradient != 0.0
        shares.append([_share(kept, rare), _share(kept, counted & ~rare)])
        gradient = pull_back(loss.gradient, batch.states, batch.tokens, policy.probs)
        logits, state = optimizer.step(logits, gradient, state)
    kept_rare, kept_others = np.moveaxis(np.array(shares), 0, -1)
    return {
        "rare kept": kept_rare,
        "rare kept after a step": kept_rare[:, 1],
        "rare kept at the end": kept_rare[:, -1],
        "rare - others after a step": kept_rare[:, 1] - kept_others[:, 1],
        "rare - others at the end": kept_rare[:, -1] - kept_others[:, -1],
    }


def _share(kept: Bools, among: Bools) -> Floats:
    """(S,) of the tokens of each batch; 1 where there are none."""
    lost: Floats = (~kept & among).sum((-3, -2, -1)) / np.maximum(among.sum((-3, -2, -1)), 1)
    return 1.0 - lost


def _best(label: str, rates: tuple[float, ...] = RATES, **settings: Any) -> Arm:
    return tuned(
        learned, Tuning("learning_rate", rates, by="mean reward"), recipe=COMPARED[label], **settings
    )


def _gains_more(right: str, where: str = "", *, main: bool = False) -> Prediction:
    says = f"{where.strip(', ')}: CISPO gains more reward than {right}".removeprefix(": ")
    says = says[0].upper() + says[1:]
    return Prediction(says, "mean reward", KEPT + where, "more", right + where, 0.02, main)


EXPERIMENT = Experiment(
    name="rare_gradient",
    title="Does CISPO learn faster because it keeps the gradient of rare tokens?",
    group="clipping",
    claim="Rare tokens that start a new thought ('wait') are clipped after the first step on a batch and"
    " then contribute no gradient; CISPO keeps the gradient of every token and learns faster.",
    source="MiniMax 2025, MiniMax-M1, sec. 3.1 (arXiv:2506.13585)",
    family="In 2 to 6 contexts a policy of 4 to 12 tokens guesses, or it says 'wait', with a chance of 0.005"
    " to 0.05 at first (log-uniform), and then gives an answer of which one is right, with a chance of 0.2 to"
    " 0.7 at first. A guess is right by luck, for a share of up to 0.5 of the prompts, which the policy"
    " cannot tell apart. Drawn are also the number of prompts (8 to 16), the size of the groups (4, 8 or 16),"
    " the passes over a batch (1, 2 or 4) and into how many parts each is cut (2 or 4).",
    run="60 batches are learned with Adam, each used for 2 to 16 optimizer steps. In `no luck` a guess is"
    " never right by chance; in `much luck` it is right for half of the prompts. To count gradients,"
    f" {STEPS} steps are taken on a first batch of 64 prompts with groups of 8 at the same learning rate;"
    " for clipping at other rates, too.",
    measured="The reward (share of right answers) as a mean over all of training, by which the learning rate"
    f" is chosen. And the share of the rare tokens (old probability below {RARE:g}, advantage not 0) that"
    " have a gradient after the first step on a batch, in the second, and in the last.",
    arms={label: _best(label) for label in COMPARED}
    | {f"{label}, no luck": _best(label, (0.3, 1.0, 3.0, 10.0), luck=NONE) for label in COMPARED}
    | {f"{label}, much luck": _best(label, luck=MUCH) for label in COMPARED}
    | {f"{CLIP}, at {rate:g}": arm(learned, recipe=COMPARED[CLIP], learning_rate=rate) for rate in COUNTED},
    predictions=(
        Prediction(
            "After the first step clipping leaves less than half of the rare tokens a gradient",
            "rare kept after a step",
            CLIP,
            "less",
            0.5,
            main=True,
        ),
        _gains_more(CLIP, main=True),
        Prediction(
            "After the first step it takes rare tokens rather than others",
            "rare - others after a step",
            CLIP,
            "less",
            0.0,
            0.1,
        ),
        Prediction(
            "At the last step it leaves less than half of the rare tokens a gradient",
            "rare kept at the end",
            CLIP,
            "less",
            0.5,
        ),
        Prediction(
            "At the last step it has taken rare tokens rather than others",
            "rare - others at the end",
            CLIP,
            "less",
            0.0,
            0.1,
        ),
        Prediction("CISPO takes none", "rare kept at the end", KEPT, "same", 1.0, 0.001),
        _gains_more(HIGHER),
        _gains_more(CLIP, ", no luck"),
        _gains_more(HIGHER, ", no luck"),
        _gains_more(CLIP, ", much luck"),
        _gains_more(HIGHER, ", much luck"),
    ),
    panels=(
        Curves(
            "rare kept",
            "share of rare tokens with a gradient",
            xlabel="step on the batch",
            arms=tuple(f"{CLIP}, at {rate:g}" for rate in COUNTED),
        ),
        Grid("reward, mean of all updates", arms=tuple(COMPARED)),
        Points(
            "mean reward",
            "reward, mean of all updates",
            x={label: {f"{label}, no luck": 0.0, f"{label}, much luck": 0.5} for label in COMPARED},
            xlabel="luck (share of prompts for which a guess is right)",
        ),
    ),
)
