"""Claim: a KL penalty against reward hacking acts like early stopping."""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import (
    Arm,
    Curves,
    Experiment,
    Measures,
    Prediction,
    Tuning,
    arm,
    tuned,
)
from grpo_ref.lab.framework.tasks.proxies import FAMILY, NAMES, UNITS, judged_answers, path
from grpo_ref.lab.framework.training import along, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.penalties import k2
from grpo_ref.recipes import GRPO, Recipe, slot

WEIGHTS = (0.1, 0.3, 1.0)
RATE = 0.1
"""The learning rate; a control has a third of it."""
PARTS = tuple(part / 10.0 for part in range(1, 11))
"""Fractions of the KL at which a penalized training run ends."""
K2 = replace(GRPO, penalty=slot(k2))
"""The penalty whose expected gradient is that of the KL from the policy to the reference."""
FREE = replace(GRPO, kl_coef=0.0)
MARGIN = 0.1
"""The largest gap that does not matter, in standard deviations of the reward."""


def compared(
    *,
    recipe: Recipe,
    learning_rate: float,
    free_rate: float | None = None,
    misled: bool = False,
    seeds: int,
    seed: int,
) -> Measures:
    """Train with a penalty and without, and compare the rewards at the same distance from the reference.

    Args:
      recipe: with the penalty.
      learning_rate: step size of both.
      free_rate: of the training without a penalty, if it is another.
      misled: whether the judge is, as in `judged_answers`.
      seeds, seed: number of runs; base of their random numbers and of the task.

    Returns:
      The measures of `summarized` for "kl", "proxy" and "true" with the penalty; "proxy gap" and "true gap",
      how much more it has at the end than the other where that first is as far away (or both where the other
      is farthest, if that is nearer); "... gap on the way", the same where both first are at some `PARTS` of
      that distance.
    """
    judged = judged_answers(seed, misled=misled)
    config = config_for(judged.task, learning_rate=learning_rate, seeds=seeds, seed=seed)
    held = path(judged, recipe, config)
    free = path(judged, FREE, replace(config, learning_rate=free_rate or learning_rate))
    measures = summarized(held)
    farthest = free["kl"].max(-1)
    end = np.minimum(measures["final kl"], farthest)
    places = end[:, None] * PARTS
    for name in ("proxy", "true"):
        on_the_way = _at(held, name, places) - _at(free, name, places)
        at_end = measures[f"final {name}"] - _at(free, name, places)[:, -1]
        gap = np.where(measures["final kl"] > farthest, on_the_way[:, -1], at_end)
        measures |= {f"{name} gap": gap, f"{name} gap on the way": on_the_way}
    return measures | {
        "proxy is higher": (measures["proxy gap"] > MARGIN).astype(np.float64),
        "true differs": (abs(measures["true gap"]) > MARGIN).astype(np.float64),
    }


def _at(found: dict[str, Floats], name: str, places: Floats) -> Floats:
    """(S, places) a reward where each run first is so far from the reference; places are (S, places)."""
    rows = zip(found["kl"], found[name], places, strict=True)
    return np.concatenate([along(kl[None], curve[None], where) for kl, curve, where in rows])


def stopped(*, recipe: Recipe, stop: int, seeds: int, seed: int) -> Measures:
    """The policy after so many updates without a penalty, of a judge who is misled."""
    judged = judged_answers(seed, misled=True)
    config = config_for(judged.task, updates=stop, learning_rate=RATE, seeds=seeds, seed=seed)
    found = path(judged, recipe, config)
    return {f"final {name}": found[name][:, -1] for name in NAMES}


def penalized(*, recipe: Recipe, kl_coef: float, seeds: int, seed: int) -> Measures:
    """The policy at the end of a training with a penalty of some weight, of a judge who is misled."""
    judged = judged_answers(seed, misled=True)
    config = config_for(judged.task, learning_rate=RATE, seeds=seeds, seed=seed)
    return summarized(path(judged, replace(recipe, kl_coef=kl_coef), config))


def _arm(kl_coef: float, recipe: Recipe = GRPO, misled: bool = False) -> Arm:
    used = replace(recipe, kl_coef=kl_coef)
    return arm(compared, recipe=used, learning_rate=RATE, misled=misled)


SHOWN = ("0.3", "1", "misled, 0.3")


def _gaps(label: str, says: str, *, main: bool = False) -> tuple[Prediction, Prediction]:
    return (
        Prediction(f"{says} it raises the proxy reward", "proxy gap", label, "more", 0.0, MARGIN, main),
        Prediction(f"{says} it leaves the true reward", "true gap", label, "same", 0.0, MARGIN, main),
    )


EXPERIMENT = Experiment(
    name="early_stopping",
    title="Does a KL penalty act like early stopping?",
    group="divergence",
    claim="A KL penalty raises the proxy reward at a given distance from the reference but not the true one:"
    " it acts like early stopping.",
    source="Gao et al. 2022, Scaling laws for reward model overoptimization, sec. 3.6 (arXiv:2210.10760)",
    family=FAMILY,
    run="GRPO learns from the judge for 200 updates of 4 groups of 8 with Adam, at a learning rate of 0.1,"
    " with a KL penalty (k3 at several weights, or k2 at one) and without. A run with a penalty is compared"
    " with the run without a penalty at the update where the latter is first as far from the reference (KL,"
    " interpolated between updates) as the former ends. The figures compare them at fractions of this"
    " distance, too. In the control “slower”, neither run has a penalty, and one has a third of the other's"
    " learning rate. “Misled” means that the answer which the judge likes best has less true reward than the"
    " reference's answers have on average. “Best weight” and “best stop” are the weight of the penalty, and"
    " the update at which a run without a penalty is stopped, that give the most true reward with a misled"
    " judge.",
    measured=f"The proxy and the true reward of the policy, exact, in {UNITS}, and the exact KL to the"
    " reference (nats per answer); at the end as a mean over the last fifth of the updates. A gap is the"
    f" reward with the penalty minus the reward without it, at the same distance. A gap of {MARGIN} is"
    " negligible. The runs with a larger gap are counted, too, because a few tasks have gaps much larger than"
    " the others.",
    arms={f"{kl_coef:g}": _arm(kl_coef) for kl_coef in WEIGHTS}
    | {
        "k2, 0.3": _arm(0.3, recipe=K2),
        "misled, 0.3": _arm(0.3, misled=True),
        "slower": arm(compared, recipe=FREE, learning_rate=RATE / 3.0, free_rate=RATE),
        "best weight": tuned(
            penalized, Tuning("kl_coef", (0.0, 0.03, *WEIGHTS), by="final true"), recipe=GRPO
        ),
        "best stop": tuned(stopped, Tuning("stop", (5, 10, 20, 40, 80, 160), by="final true"), recipe=FREE),
    },
    predictions=(
        *_gaps("0.3", "With a weight of 0.3", main=True),
        Prediction(
            "With a weight of 0.3 the proxy reward is higher in most runs",
            "proxy is higher",
            "0.3",
            "more",
            0.5,
        ),
        Prediction(
            "With a weight of 0.3 the true reward differs in few runs", "true differs", "0.3", "less", 0.2
        ),
        *_gaps("0.1", "With a weight of 0.1"),
        *_gaps("1", "With a weight of 1"),
        *_gaps("k2, 0.3", "With k2 and a weight of 0.3"),
        *_gaps("misled, 0.3", "Where the judge is misled, with a weight of 0.3"),
        Prediction(
            "Control: a smaller step alone leaves the proxy reward",
            "proxy gap",
            "slower",
            "same",
            0.0,
            MARGIN,
        ),
        Prediction(
            "Control: a smaller step alone leaves the true reward", "true gap", "slower", "same", 0.0, MARGIN
        ),
        Prediction(
            "Of a misled judge, the best weight brings as much truth as the best update to stop at",
            "final true",
            "best weight",
            "same",
            "best stop",
            MARGIN,
        ),
    ),
    panels=(
        Curves(
            "proxy gap on the way",
            "proxy reward, more than without penalty\n(standard deviations)",
            xlabel="part of the distance at which it ends",
            x=PARTS,
            arms=SHOWN,
        ),
        Curves(
            "true gap on the way",
            "true reward, more than without penalty\n(standard deviations)",
            xlabel="part of the distance at which it ends",
            x=PARTS,
            arms=SHOWN,
        ),
    ),
)
