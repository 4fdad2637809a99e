"""Claim: symmetric clipping makes the entropy collapse, and a wider upper bound keeps it up."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.experiments.framework.experiment import (
    Arm,
    Experiment,
    Grid,
    Measures,
    Points,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.experiments.framework.tasks.noisy_bandit import noisy_bandit
from grpo_ref.experiments.framework.training import curves, summarized
from grpo_ref.kernels.surrogates import clipped
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.state import TrainState
from grpo_ref.recipes import GRPO, Recipe, slot

ANY, NO_LUCK, LUCK = (0.6, 1.0), (1.0, 1.0), (0.65, 0.65)
"""Between which the share of the prompts is drawn for which a good arm pays."""
RATES = (0.03, 0.1, 0.3, 1.0)


def _clip(low: float, high: float) -> Recipe:
    return replace(GRPO, kl_coef=0.0, surrogate=slot(clipped, clip_low=low, clip_high=high))


SYMMETRIC, HIGHER, FAR, NO_CLIP = "symmetric 0.2", "clip-higher 0.28", "clip-higher 1", "no clip"
BOUNDS = {
    SYMMETRIC: _clip(0.2, 0.2),
    HIGHER: _clip(0.2, 0.28),
    FAR: _clip(0.2, 1.0),
    NO_CLIP: _clip(0.9999, 1e9),
}


def learned(
    *,
    recipe: Recipe,
    pays: tuple[float, float] = ANY,
    use: Literal["drawn", "once"] = "drawn",
    learning_rate: float = 0.1,
    seeds: int,
    seed: int,
) -> Measures:
    """Train on a drawn bandit, and watch the reward and the exact entropy of the policy.

    Args:
      recipe: the algorithm.
      pays: between which the share of the prompts is drawn for which a good arm pays.
      use: whether each batch is used for as many steps as the family draws, or for one.
      learning_rate: step size.
      seeds, seed: number of runs; base of their random numbers and of the task.
    """
    generator = np.random.default_rng([seed, 4])
    arms = int(generator.integers(8, 33))
    task = noisy_bandit(
        states=int(generator.integers(1, 7)),
        arms=arms,
        good=int(generator.integers(2, arms // 2 + 1)),
        pays=generator.uniform(*pays),
        spread=generator.uniform(0.5, 2.0),
        seed=seed,
    )
    sizes: dict[str, Any] = {
        "prompts": int(generator.integers(8, 17)),
        "group_size": int(generator.choice([4, 8, 16])),
    }
    drawn = {"epochs": int(generator.choice([2, 4])), "minibatches": int(generator.choice([2, 4]))}
    steps = drawn if use == "drawn" else {}
    config = config_for(
        task, updates=100, learning_rate=learning_rate, seeds=seeds, seed=seed, **sizes, **steps
    )
    return summarized(curves(task, recipe, config, ("reward",), entropy=_entropy))


def _entropy(state: TrainState) -> Floats:
    """(S,) of the policy in nats, a mean over the states."""
    entropy: Floats = policy_of(state.params).entropies().mean(-1)
    return entropy


def _best(recipe: Recipe, **settings: Any) -> Arm:
    return tuned(learned, Tuning("learning_rate", RATES, by="mean reward"), recipe=recipe, **settings)


def _entropy_is(
    says: str, left: str, expect: Literal["more", "less"], right: str, *, main: bool = False
) -> Prediction:
    return Prediction(says, "final entropy", left, expect, right, 0.05, main)


def _reward_is_the_same(says: str, left: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, "final reward", left, "same", right, 0.02, main)


EXPERIMENT = Experiment(
    name="clip_higher",
    group="clipping",
    claim="Symmetric clipping holds back rare tokens and makes the entropy collapse; a wider upper bound"
    " (clip-higher) keeps the entropy up.",
    source="Yu et al. 2025, DAPO, sec. 3.1 (arXiv:2503.14476); a book chapter on GRPO (2026, not public),"
    " sec. 7.5.2",
    family="Bandits of 1 to 6 states and 8 to 32 arms, of which 2 to a half are good. A good arm pays for a"
    " share of 0.6 to 1 of the prompts, which the policy cannot tell apart, and a bad arm for the rest."
    " Drawn are also how sharp the policy is at first (a standard deviation of its logits of 0.5 to 2), the"
    " number of prompts (8 to 16), the size of the groups (4, 8 or 16), how many passes are made over a batch"
    " (2 or 4) and into how many parts each is cut (2 or 4).",
    run="100 batches are learned with Adam and without a KL penalty, each used for 4 to 16 steps, or once."
    " The lower bound is 0.2, but for 'symmetric 0.28' and 'no clip'. All bounds are also compared at the"
    " same learning rates; and, at the best one, without luck (a good arm always pays, a bad one never) and"
    " with much luck (a good arm pays for a share of 0.65).",
    measured="The exact entropy of the policy (nats per token, a mean over the states) and the reward, both at"
    " temperature 1 and over the last fifth of the training; the learning rate is chosen by the mean reward"
    " of all updates.",
    arms={label: _best(recipe) for label, recipe in BOUNDS.items()}
    | {"symmetric 0.28": _best(_clip(0.28, 0.28))}
    | {
        f"{label}, at {rate:g}": arm(learned, recipe=recipe, learning_rate=rate)
        for label, recipe in BOUNDS.items()
        for rate in RATES
    }
    | {f"{label}, no luck": _best(BOUNDS[label], pays=NO_LUCK) for label in (SYMMETRIC, HIGHER)}
    | {f"{label}, much luck": _best(BOUNDS[label], pays=LUCK) for label in (SYMMETRIC, HIGHER)}
    | {f"{label}, once": arm(learned, recipe=BOUNDS[label], use="once") for label in (SYMMETRIC, HIGHER)},
    predictions=(
        _entropy_is(
            "Clip-higher keeps more entropy than symmetric clipping", HIGHER, "more", SYMMETRIC, main=True
        ),
        _reward_is_the_same("And does not pay for it with reward", HIGHER, SYMMETRIC, main=True),
        _entropy_is("A still wider upper bound keeps still more", FAR, "more", HIGHER),
        _reward_is_the_same("And does not pay for it with reward, either", FAR, SYMMETRIC),
        _entropy_is("It is the upper bound that keeps it", HIGHER, "more", "symmetric 0.28"),
        _entropy_is("Symmetric clipping keeps less than no clip", SYMMETRIC, "less", NO_CLIP),
        _entropy_is(
            "At a small learning rate it keeps less than no clip",
            f"{SYMMETRIC}, at 0.03",
            "less",
            f"{NO_CLIP}, at 0.03",
        ),
        _entropy_is(
            "At a large learning rate it keeps less than no clip",
            f"{SYMMETRIC}, at 1",
            "less",
            f"{NO_CLIP}, at 1",
        ),
        _entropy_is(
            "Without luck clip-higher keeps more", f"{HIGHER}, no luck", "more", f"{SYMMETRIC}, no luck"
        ),
        _entropy_is(
            "With much luck clip-higher keeps more", f"{HIGHER}, much luck", "more", f"{SYMMETRIC}, much luck"
        ),
        Prediction(
            "Used once, no bound is reached",
            "final entropy",
            f"{HIGHER}, once",
            "same",
            f"{SYMMETRIC}, once",
            0.001,
        ),
    ),
    panels=(
        Points(
            "final entropy",
            "entropy at the end (nats per token)",
            x={label: {f"{label}, at {rate:g}": rate for rate in RATES} for label in BOUNDS},
            xlabel="learning rate",
            log="x",
        ),
        Grid("reward, mean of all updates", arms=tuple(BOUNDS)),
    ),
    chosen="Before, the experiment was a single task at one learning rate, and with SGD.",
)
