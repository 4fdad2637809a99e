"""Claim: random rewards, with clipping, strengthen what was likely already."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Measures,
    Points,
    Prediction,
    arm,
)
from grpo_ref.lab.framework.tasks.coins import answers
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.state import TrainState
from grpo_ref.recipes import GRPO, Recipe, slot
from grpo_ref.surrogates import clipped

MATTERS = 0.05
"""The largest difference of a probability that does not matter; the paper reports gains of 0.2."""
MOSTLY, RARELY = (0.6, 1.0), (0.0, 0.2)
"""Between which the share of the prompts is drawn whose likeliest answer is right."""
RATES = (0.01, 0.03, 0.1)
"""Learning rates of Adam; where nothing is said, the middle one."""
OF_DESCENT = 10.0
"""Learning rate of plain gradient descent."""
ANY, SHARP = (0.5, 2.5), (3.0, 6.0)
"""Between which the standard deviation of the reference's logits is drawn."""


def clipping(low: float = 0.9999, high: float = 1e9) -> Recipe:
    """GRPO without a KL penalty, with one bound, both, or none."""
    return replace(GRPO, kl_coef=0.0, surrogate=slot(clipped, clip_low=low, clip_high=high))


def rewarded(
    *,
    recipe: Recipe,
    pays: Literal["coin", "right"] = "coin",
    trusted: tuple[float, float] = MOSTLY,
    spreads: tuple[float, float] = ANY,
    alike: bool = False,
    steps: Mapping[str, int] | None = None,
    optimizer: str = "adam",
    learning_rate: float = RATES[1],
    seeds: int,
    seed: int,
) -> Measures:
    """Train on a drawn task and follow the exact probabilities of the likeliest and of the right answers.

    Args:
      recipe: the algorithm.
      pays: what the reward is.
      trusted: between which the share of the prompts is drawn whose likeliest answer is right.
      spreads: between which the standard deviation of the reference's logits is drawn.
      alike: whether the policy cannot tell the prompts apart, and all completions teach the same behavior.
      steps: passes over a batch and parts of it; left out, they are drawn.
      optimizer, learning_rate: "adam" or "sgd", and the step size.
      seeds, seed: number of runs; base of their random numbers and of the task.

    Returns:
      The measures of `summarized` for "likely" and "right", and what each "gained by" the last update.
    """
    generator = np.random.default_rng([seed, 4])
    prompts, length, letters = (int(generator.integers(*ends)) for ends in ((8, 33), (1, 5), (3, 13)))
    prompts = 1 if alike else prompts
    logits = generator.uniform(*spreads) * generator.normal(size=(prompts, length, letters))
    order = np.argsort(-logits, axis=-1)
    is_trusted = generator.random(prompts) < generator.uniform(*trusted)
    likely = order[..., 0]
    right = np.where(is_trusted[:, None], likely, order[..., 1])
    group_size, passes, parts = (int(generator.choice(sizes)) for sizes in ([8, 16], [1, 2, 4], [2, 4]))
    task = answers(logits, right, pays=pays, seed=seed)
    uses: Mapping[str, Any] = {"epochs": passes, "minibatches": parts} if steps is None else steps
    sizes: dict[str, Any] = {
        "updates": 100,
        "prompts": 16,
        "group_size": group_size,
        "learning_rate": learning_rate,
    }
    config = config_for(task, **sizes, **uses, optimizer=optimizer, seeds=seeds, seed=seed)
    at_first = {
        name: _chance(task.ref_logits, one) for name, one in {"likely": likely, "right": right}.items()
    }

    def chance_of(answer: Integers, state: TrainState) -> Floats:
        return _chance(state.params, answer)

    found = curves(
        task, recipe, config, (), likely=partial(chance_of, likely), right=partial(chance_of, right)
    )
    gained = {f"gained by the {name}": found[name][:, -1] - start for name, start in at_first.items()}
    return summarized(found) | gained | {"gain": found["likely"] - at_first["likely"]}


def _chance(logits: Floats, answer: Integers) -> Floats:
    """(...) how likely a policy (..., Q T, V) gives an answer (Q, T), mean of the prompts."""
    said = log_softmax(logits)[..., np.arange(answer.size), answer.reshape(-1)]
    chance: Floats = np.exp(said.reshape(*said.shape[:-1], *answer.shape).sum(-1)).mean(-1)
    return chance


def _at(recipe: Recipe, **settings: Any) -> Arm:
    return arm(rewarded, recipe=recipe, **settings)


BOTH, NONE = clipping(0.2, 0.2), clipping()
SERIES: Mapping[str, Mapping[str, Any]] = {
    "clip": {"recipe": BOTH},
    "no clip": {"recipe": NONE},
    "one step": {"recipe": BOTH, "steps": {}},
}
DESCENT: Mapping[str, Any] = {"optimizer": "sgd", "learning_rate": OF_DESCENT}
ALIKE: Mapping[str, Any] = {**DESCENT, "alike": True}


def _rated(label: str, rate: float) -> str:
    return label if rate == RATES[1] else f"{label}, {rate:g}"


LIKELY, RIGHT = "gained by the likely", "gained by the right"

EXPERIMENT = Experiment(
    name="random_rewards",
    title="Do random rewards strengthen likely answers through clipping?",
    group="rewards",
    claim="Rewards that are coins strengthen, through the clipping of GRPO, what was likely before, so that a"
    " model whose likely answers are right gains from them; without clipping they do not.",
    source="Shao et al. 2025, Spurious rewards (arXiv:2506.10947), abstract and summaries, which were read;"
    " on the two bounds Park et al. 2025 (arXiv:2509.26114), abstract",
    family="8 to 32 prompts are answered with 1 to 4 letters out of 3 to 12. Drawn are the sharpness of the"
    " reference (a standard deviation of its logits of 0.5 to 2.5), the size of the groups (8 or 16), the"
    " number of passes over a batch (1, 2 or 4) and of its parts (2 or 4). The likeliest answer is right for"
    " 60 to 100 % of the prompts, or for 0 to 20 % where it is said to be wrong.",
    run="Each run learns from 100 batches of 16 prompts, with Adam and without a KL penalty. The reward of"
    " each completion is a fair coin. The ratio is clipped at 0.2 on both sides (“clip”), on one side (“upper"
    " bound only”, “lower bound only”) or not at all (“no clip”). With “one step”, each batch is used for a"
    " single optimizer step, so all ratios are 1. “Sharp” means a sharp reference (a standard deviation of"
    " its logits of 3 to 6), and “descent” means plain gradient descent instead of Adam. “Alike” means"
    " gradient descent with a single prompt, so that all completions teach the same behaviour. With “true"
    " rewards”, the right answer has reward 1.",
    measured="The likely answer consists of the letters that are most probable under the reference, one by"
    " one. The measures are the exact probability of the likely answer and that of the right answer, averaged"
    " over the prompts, at the end minus at the start. All variants share the learning rates:"
    f" {RATES[1]} unless another one is given, {OF_DESCENT:g} for gradient descent.",
    arms={
        _rated(label, rate): _at(**settings, learning_rate=rate)
        for label, settings in SERIES.items()
        for rate in RATES
    }
    | {
        "upper bound only": _at(clipping(high=0.2)),
        "lower bound only": _at(clipping(low=0.2)),
        "sharp, clip": _at(BOTH, spreads=SHARP),
        "sharp, no clip": _at(NONE, spreads=SHARP),
        "descent, clip": _at(BOTH, **DESCENT),
        "descent, no clip": _at(NONE, **DESCENT),
        "alike, clip": _at(BOTH, **ALIKE),
        "alike, no clip": _at(NONE, **ALIKE),
        "alike, upper bound only": _at(clipping(high=0.2), **ALIKE),
        "alike, one step": _at(BOTH, steps={}, **ALIKE),
        "alike, clip, Adam": _at(BOTH, alike=True),
        "clip, likely is wrong": _at(BOTH, trusted=RARELY),
        "true rewards": _at(BOTH, pays="right"),
    },
    predictions=(
        Prediction("With clipping, likely answers gain", LIKELY, "clip", "more", 0.0, MATTERS, main=True),
        Prediction(
            "They gain more than without clipping", LIKELY, "clip", "more", "no clip", MATTERS, main=True
        ),
        Prediction("Control: without clipping they do not gain", LIKELY, "no clip", "same", 0.0, MATTERS),
        Prediction(
            "Control: with one step for each batch they do not gain", LIKELY, "one step", "same", 0.0, MATTERS
        ),
        Prediction(
            "The upper bound does it: alone, it makes likely answers gain",
            LIKELY,
            "upper bound only",
            "more",
            0.0,
            MATTERS,
        ),
        Prediction(
            "The lower bound alone makes likely answers lose", LIKELY, "lower bound only", "less", 0.0
        ),
        Prediction("With a sharp reference likely answers gain", LIKELY, "sharp, clip", "more", 0.0, MATTERS),
        Prediction(
            "With a sharp reference they gain more than without clipping",
            LIKELY,
            "sharp, clip",
            "more",
            "sharp, no clip",
            MATTERS,
        ),
        Prediction(
            "By gradient descent they gain more than without clipping",
            LIKELY,
            "descent, clip",
            "more",
            "descent, no clip",
            MATTERS,
        ),
        Prediction(
            "By gradient descent, prompts all alike, likely answers gain",
            LIKELY,
            "alike, clip",
            "more",
            0.0,
            MATTERS,
        ),
        Prediction(
            "By gradient descent, prompts all alike, they gain more than without clipping",
            LIKELY,
            "alike, clip",
            "more",
            "alike, no clip",
            MATTERS,
        ),
        Prediction(
            "There they gain more by the upper bound alone",
            LIKELY,
            "alike, upper bound only",
            "more",
            "alike, clip",
            MATTERS,
        ),
        Prediction("Where likely answers are right, right ones gain", RIGHT, "clip", "more", 0.0, MATTERS),
        Prediction(
            "Where likely answers are wrong, right ones lose", RIGHT, "clip, likely is wrong", "less", 0.0
        ),
        Prediction("True rewards bring more", RIGHT, "true rewards", "more", "clip", MATTERS),
    ),
    panels=(
        Curves(
            "gain",
            "probability of the likely answer,\nminus that at first",
            arms=tuple(f"{which}{what}" for which in ("", "alike, ") for what in ("clip", "no clip")),
        ),
        Points(
            LIKELY,
            "gained by the likely answers\n(probability)",
            x={label: {_rated(label, rate): rate for rate in RATES} for label in SERIES},
            xlabel="learning rate",
            log="x",
        ),
    ),
)
