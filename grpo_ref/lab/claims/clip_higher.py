"""Claim: symmetric clipping makes the entropy collapse, and a wider upper bound keeps it up."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from grpo_ref.arrays import Floats
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
from grpo_ref.lab.framework.tasks.noisy_bandit import noisy_bandit
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.learning.state import TrainState
from grpo_ref.recipes import GRPO, Recipe, slot
from grpo_ref.surrogates import clipped
from grpo_ref.tasks.bandit import expected_reward

ANY, NO_LUCK, LUCK = (0.6, 1.0), (1.0, 1.0), (0.65, 0.65)
"""Between which the share of the prompts is drawn for which a good arm pays."""
RATES, SGD_RATES = (0.03, 0.1, 0.3, 1.0, 3.0), (3.0, 10.0, 30.0, 100.0)
COMPARED = (0.03, 0.1, 0.3, 1.0)
"""Learning rates at which all bounds are compared."""
RATE, SGD_RATE = 0.1, 10.0
"""Learning rates at which the predictions about the entropy are decided."""

LONG = 300
"""Updates of a long training at a small rate."""


def _clip(low: float, high: float) -> Recipe:
    return replace(GRPO, kl_coef=0.0, surrogate=slot(clipped, clip_low=low, clip_high=high))


SYMMETRIC, HIGHER, FAR, NO_CLIP = "symmetric 0.2", "clip-higher 0.28", "clip-higher 1", "no clip"
WIDER = "symmetric 0.28"
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
    updates: int = 100,
    optimizer: str = "adam",
    learning_rate: float = 0.1,
    seeds: int,
    seed: int,
) -> Measures:
    """Train on a drawn bandit, and watch the reward and the exact entropy of the policy.

    Args:
      recipe: the algorithm.
      pays: between which the share of the prompts is drawn for which a good arm pays.
      use: whether each batch is used for as many steps as the family draws, or for one.
      updates, optimizer, learning_rate: as in `TrainConfig`.
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
    sizes |= {"optimizer": optimizer, "learning_rate": learning_rate}
    drawn: dict[str, Any] = {
        "epochs": int(generator.choice([2, 4])),
        "minibatches": int(generator.choice([2, 4])),
    }
    steps = drawn if use == "drawn" else {}
    config = config_for(task, updates=updates, seeds=seeds, seed=seed, **sizes, **steps)
    payoffs = task.verify(
        np.arange(len(task.prompts)), np.arange(arms)[None, :, None], np.ones(1, dtype=bool)
    )[..., 0]
    means = payoffs.reshape(len(task.ref_logits), -1, arms).mean(1)

    def gained(state: TrainState) -> Floats:
        """(S,) exact, as a share of what there is to gain."""
        start, best = expected_reward(means, task.ref_logits), means.max(-1).mean()
        share: Floats = (expected_reward(means, state.params) - start) / (best - start)
        return share

    found = curves(task, recipe, config, ("reward",), entropy=_entropy, gained=gained)
    return summarized(found) | {"entropy at 90 %": _at(0.9, found["gained"], found["entropy"])}


def _at(place: float, path: Floats, curve: Floats) -> Floats:
    """(S,) a curve where the path first reaches a place, or at the end."""
    farthest = np.maximum.accumulate(path, axis=-1)
    return np.array([np.interp(place, run, one) for run, one in zip(farthest, curve, strict=True)])


def _entropy(state: TrainState) -> Floats:
    """(S,) of the policy in nats, a mean over the states."""
    entropy: Floats = policy_of(state.params).entropies().mean(-1)
    return entropy


def _best(recipe: Recipe, rates: tuple[float, ...] = RATES, **settings: Any) -> Arm:
    return tuned(learned, Tuning("learning_rate", rates, by="mean reward"), recipe=recipe, **settings)


def _at_rate(label: str, rate: float = RATE) -> str:
    return f"{label}, at {rate:g}"


def _entropy_is(
    says: str, left: str, expect: Literal["more", "less"], right: str, *, main: bool = False
) -> Prediction:
    return Prediction(says, "mean entropy", left, expect, right, 0.05, main)


def _kept_to_the_end(says: str, left: str, expect: Literal["more", "less"], right: str) -> Prediction:
    says = f"At the end of a long training {says}"
    return Prediction(says, "final entropy", f"{left}, long", expect, f"{right}, long", 0.02)


EXPERIMENT = Experiment(
    name="clip_higher",
    title="Does clip-higher prevent entropy collapse?",
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
    run="Training has 100 batches, with Adam or with plain gradient descent (SGD), and no KL penalty. Each"
    " batch is used for 4 to 16 optimizer steps; in `once` it is used for one step. Names give the upper"
    " clip bound: 0.2 (symmetric), 0.28 or 1. The lower bound is 0.2, except in `symmetric 0.28` (0.28)"
    f" and in `no clip` (none). Entropies are compared at the same learning rate, {RATE:g} with Adam and"
    f" {SGD_RATE:g} with SGD, and in addition with each bound at its best rate. In `no luck` rewards have"
    " no noise: a good arm always pays, a bad one never. In `much luck` rewards are noisy: a good arm pays"
    f" for a share of 0.65. Both are at a rate of {RATE:g}. A `long` run has 300 batches and a rate of"
    " 0.03.",
    measured="The exact entropy of the policy in nats per token, as a mean over the states: its mean over"
    " all updates; its value where 90 % of the possible gain in reward is reached; and, in long runs, its"
    " mean over the last fifth. And the reward, as a mean over all updates, by which the best learning"
    " rate is chosen.",
    arms={label: _best(recipe) for label, recipe in BOUNDS.items()}
    | {f"{label}, SGD": _best(BOUNDS[label], SGD_RATES, optimizer="sgd") for label in (SYMMETRIC, HIGHER)}
    | {
        _at_rate(label, rate): arm(learned, recipe=recipe, learning_rate=rate)
        for label, recipe in BOUNDS.items()
        for rate in COMPARED
    }
    | {_at_rate(WIDER): arm(learned, recipe=_clip(0.28, 0.28), learning_rate=RATE)}
    | {
        f"{label}, SGD, at {SGD_RATE:g}": arm(
            learned, recipe=BOUNDS[label], optimizer="sgd", learning_rate=SGD_RATE
        )
        for label in (SYMMETRIC, HIGHER)
    }
    | {
        f"{label}, long": arm(learned, recipe=recipe, learning_rate=0.03, updates=LONG)
        for label, recipe in BOUNDS.items()
    }
    | {f"{label}, no luck": arm(learned, recipe=BOUNDS[label], pays=NO_LUCK) for label in (SYMMETRIC, HIGHER)}
    | {f"{label}, much luck": arm(learned, recipe=BOUNDS[label], pays=LUCK) for label in (SYMMETRIC, HIGHER)}
    | {f"{label}, once": arm(learned, recipe=BOUNDS[label], use="once") for label in (SYMMETRIC, HIGHER)},
    predictions=(
        _entropy_is(
            "Clip-higher keeps more entropy than symmetric clipping",
            _at_rate(HIGHER),
            "more",
            _at_rate(SYMMETRIC),
            main=True,
        ),
        Prediction(
            "And does not pay for it with reward, each at its best rate",
            "mean reward",
            HIGHER,
            "same",
            SYMMETRIC,
            0.02,
            main=True,
        ),
        Prediction(
            "With 90 % of the reward gained it has more",
            "entropy at 90 %",
            _at_rate(HIGHER),
            "more",
            _at_rate(SYMMETRIC),
            0.05,
        ),
        _entropy_is("A still wider upper bound keeps still more", _at_rate(FAR), "more", _at_rate(HIGHER)),
        _entropy_is("It is the upper bound that keeps it", _at_rate(HIGHER), "more", _at_rate(WIDER)),
        _entropy_is(
            "With SGD clip-higher keeps more",
            f"{HIGHER}, SGD, at {SGD_RATE:g}",
            "more",
            f"{SYMMETRIC}, SGD, at {SGD_RATE:g}",
        ),
        _entropy_is(
            "Symmetric clipping keeps less than no clip", _at_rate(SYMMETRIC), "less", _at_rate(NO_CLIP)
        ),
        _entropy_is(
            "Each at its best rate, clip-higher keeps more than symmetric clipping", HIGHER, "more", SYMMETRIC
        ),
        _entropy_is(
            "Each at its best rate, symmetric clipping keeps less than no clip", SYMMETRIC, "less", NO_CLIP
        ),
        _kept_to_the_end("clip-higher keeps more", HIGHER, "more", SYMMETRIC),
        _kept_to_the_end("a still wider bound keeps still more", FAR, "more", HIGHER),
        _kept_to_the_end("symmetric clipping keeps less than no clip", SYMMETRIC, "less", NO_CLIP),
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
            "mean entropy",
            f"{HIGHER}, once",
            "same",
            f"{SYMMETRIC}, once",
            0.001,
        ),
    ),
    panels=(
        Curves(
            "entropy",
            "entropy in a long training (nats per token)",
            arms=tuple(f"{label}, long" for label in BOUNDS),
            log="y",
        ),
        Points(
            "mean entropy",
            "entropy, mean of all updates (nats per token)",
            x={label: {_at_rate(label, rate): rate for rate in COMPARED} for label in BOUNDS},
            xlabel="learning rate",
            log="x",
        ),
        Grid("reward, mean of all updates", arms=tuple(BOUNDS)),
    ),
)
