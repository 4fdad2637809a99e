"""Claim: for the same KL, the best of n samples has more reward than reinforcement learning gives."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Floats
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
from grpo_ref.lab.framework.tasks.proxies import (
    FAMILY,
    NAMES,
    UNITS,
    Judged,
    answers,
    judged_answers,
    path,
    standing,
)
from grpo_ref.lab.framework.training import along
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.penalties import k2
from grpo_ref.recipes import GRPO, Recipe, slot

DISTANCES = (0.5, *(float(kl) for kl in range(1, 11)))
"""KL to the reference, in nats per answer."""
ASKED = (2.0, 5.0, 10.0)
"""Divergences at which rewards are compared: the best of about 20, of 400 and of 60 000."""
REACH = 0.9
"""Fraction of the largest divergence that any policy needs, if that is less than the requested one."""
SIZES = np.concatenate([[1.0], np.exp(np.arange(0.2, 20.0, 0.2))])
"""Numbers of samples from which the best is chosen; they need not be whole."""
TILTS = np.concatenate([[0.0], np.exp(np.arange(-5.0, 5.0, 0.05))])
"""Slopes of the log-probability of an answer in the proxy, in nats per unit."""
FREE = replace(GRPO, kl_coef=0.0)
K2 = replace(GRPO, penalty=slot(k2))
RATES = (0.01, 0.03, 0.1, 0.3)
RATE, COARSE = 0.1, 1.0
WEIGHTS = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Among which the penalty of GRPO is chosen, for each distance by itself."""


def best_of(judged: Judged) -> dict[str, Floats]:
    """The best of n answers of the reference by the proxy, exact: "kl", "proxy" and "true", (1, sizes) each.

    The probability that the best of n answers is at most at some level of the proxy is the n-th power of that
    of a single answer. Among answers of one level, each is chosen as often as the reference gives it.
    """
    chances, shares = answers(judged.task.max_length, judged.log_probs)
    levels, level = np.unique(judged.proxy.of(shares).round(9), return_inverse=True)
    share = np.bincount(level, chances)
    within = np.bincount(level, chances * judged.true.of(shares)) / share
    above = np.append(np.cumsum(share[:0:-1])[::-1], 0.0)
    log_below = np.log1p(-np.minimum(above, 1.0 - 1e-15))
    best = np.diff(np.exp(SIZES[:, None] * log_below), axis=-1, prepend=0.0)
    kl = (best * np.log(np.maximum(best, 1e-300) / share)).sum(-1)
    return {"kl": kl[None], "proxy": (best @ levels)[None], "true": (best @ within)[None]}


def optimum(judged: Judged) -> dict[str, Floats]:
    """The policies with the most proxy reward for their KL: answers are the likelier the more they have."""
    slopes = TILTS[:, None] * judged.proxy.linear / judged.task.max_length
    log_probs = log_softmax(judged.log_probs + slopes)[:, None, :].repeat(judged.task.max_length, 1)
    return {name: row[None] for name, row in zip(NAMES, standing(judged, log_probs), strict=True)}


def computed(*, curves: Callable[[Judged], dict[str, Floats]], seeds: int, seed: int) -> Measures:
    """Return the measures that need no sampling; every seed has the same numbers."""
    judged = judged_answers(seed)
    return {name: np.repeat(row, seeds, axis=0) for name, row in _measures(judged, curves(judged)).items()}


def learned(
    *, recipe: Recipe, learning_rate: float, kl_coef: float | None = None, seeds: int, seed: int
) -> Measures:
    """The path of training from the reference; kl_coef takes the place of the recipe's."""
    judged = judged_answers(seed)
    used = recipe if kl_coef is None else replace(recipe, kl_coef=kl_coef)
    config = config_for(judged.task, learning_rate=learning_rate, seeds=seeds, seed=seed)
    return _measures(judged, path(judged, used, config))


def _measures(judged: Judged, found: dict[str, Floats]) -> Measures:
    """Rewards by distance, and the true reward where the proxy is that of the best of n at 5 nats.

    What never gets so far is judged where it is farthest.
    """
    farthest = -judged.task.max_length * judged.log_probs[judged.proxy.linear.argmax()]
    places = np.minimum([*DISTANCES, *ASKED], REACH * farthest)
    best, ideal, measures = best_of(judged), optimum(judged), Measures()
    for name in ("proxy", "true"):
        rewards = _reached(found["kl"], found[name], places)
        short = rewards - _reached(ideal["kl"], ideal[name], places)
        measures |= {f"{name} by distance": short[:, : len(DISTANCES)]}
        measures |= {
            f"{name} at {kl:g} nats": rewards[:, column - len(ASKED)] for column, kl in enumerate(ASKED)
        }
    agreed = _reached(best["kl"], best["proxy"], [min(ASKED[1], REACH * farthest)])
    return measures | {"true at equal proxy": _reached(found["proxy"], found["true"], agreed[0])[:, 0]}


def _reached(path: Floats, curve: Floats, places: Sequence[float] | Floats) -> Floats:
    """`along`, but where a place is never reached, the curve where the path is farthest."""
    farthest = path.argmax(-1)[:, None]
    last = np.take_along_axis(curve, farthest, axis=-1)
    reached = along(path, curve, list(places))
    return np.where(np.isnan(reached), last, reached)


def _at_its_best(kl: float) -> Arm:
    return tuned(learned, Tuning("learning_rate", RATES, by=f"proxy at {kl:g} nats"), recipe=FREE)


def _penalized(recipe: Recipe, kl: float) -> Arm:
    weights = Tuning("kl_coef", WEIGHTS, by=f"proxy at {kl:g} nats")
    return tuned(learned, weights, recipe=recipe, learning_rate=RATE)


MARGIN = 0.1
SHOWN = ("best of n", "GRPO", "GRPO, coarse")


def _more(says: str, measure: str, right: str, *, main: bool = False) -> Prediction:
    return Prediction(says, measure, "best of n", "more", right, MARGIN, main)


EXPERIMENT = Experiment(
    name="best_of_n",
    title="Is best-of-n better than RL at the same KL?",
    group="divergence",
    claim="For the same KL to the reference the best of n samples has more reward than reinforcement"
    " learning; how true and proxy reward are related is similar for both.",
    source="Gao et al. 2022, Scaling laws for reward model overoptimization (arXiv:2210.10760)",
    family=FAMILY,
    run="The best of n samples of the reference, by the proxy, is computed exactly from all answers, for n up"
    " to several hundred million. The proxy is the reward of the judge. GRPO learns for 200 updates of 4"
    " groups of 8 with Adam, and its rewards are recorded along the way. Without a penalty, it has the"
    " learning rate with the most proxy reward at the compared KL, or a learning rate of 1 (“coarse”). With"
    " k3 or k2, it has a learning rate of 0.1 and the weight with the most proxy reward at 5 nats. “Best"
    " policy” is the policy with the most proxy reward for its KL, which is known exactly.",
    measured=f"The proxy and the true reward, exact, in {UNITS}, where the exact KL to the reference is first"
    " 2, 5 and 10 nats per answer (the best of about 20, 400 and 60 000), or 90 % of the distance of the best"
    " answer, if that is nearer; and the true reward where the proxy is first that of the best of n at 5"
    f" nats. A difference below {MARGIN} is negligible.",
    arms={
        "best of n": arm(computed, curves=best_of),
        "GRPO": _at_its_best(5.0),
        "GRPO, for 2 nats": _at_its_best(2.0),
        "GRPO, for 10 nats": _at_its_best(10.0),
        "GRPO, coarse": arm(learned, recipe=FREE, learning_rate=COARSE),
        "GRPO, k3": _penalized(GRPO, 5.0),
        "GRPO, k2": _penalized(K2, 5.0),
        "best policy": arm(computed, curves=optimum),
    },
    predictions=(
        _more("At 5 nats the best of n has more proxy reward", "proxy at 5 nats", "GRPO", main=True),
        Prediction(
            "At equal proxy reward the true rewards are equal",
            "true at equal proxy",
            "best of n",
            "same",
            "GRPO",
            MARGIN,
            main=True,
        ),
        _more("At 2 nats the best of n has more proxy reward", "proxy at 2 nats", "GRPO, for 2 nats"),
        _more("At 10 nats the best of n has more proxy reward", "proxy at 10 nats", "GRPO, for 10 nats"),
        _more("At 5 nats it has more than with k3 at its best weight", "proxy at 5 nats", "GRPO, k3"),
        _more("At 5 nats it has more than with k2 at its best weight", "proxy at 5 nats", "GRPO, k2"),
        _more("At 5 nats it has more than with a learning rate of 1", "proxy at 5 nats", "GRPO, coarse"),
        _more("At 2 nats the best of n has more true reward", "true at 2 nats", "GRPO, for 2 nats"),
        _more("At 5 nats the best of n has more true reward", "true at 5 nats", "GRPO"),
        Prediction(
            "Control: the best of n is nearly the best policy at its distance",
            "proxy at 5 nats",
            "best of n",
            "same",
            "best policy",
            MARGIN,
        ),
    ),
    panels=(
        Curves(
            "proxy by distance",
            "proxy reward, minus that of the best policy\n(standard deviations)",
            xlabel="KL to the reference (nats per answer)",
            x=DISTANCES,
            arms=SHOWN,
        ),
        Curves(
            "true by distance",
            "true reward, minus that of the best policy\n(standard deviations)",
            xlabel="KL to the reference (nats per answer)",
            x=DISTANCES,
            arms=SHOWN,
        ),
        Grid("proxy reward at 5 nats", xlabel="weight of the KL penalty", arms=("GRPO, k3", "GRPO, k2")),
    ),
)
