"""Claim: for the same KL, the best of n samples has more reward than reinforcement learning gives."""

from dataclasses import replace

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.experiments.framework.experiment import Curves, Experiment, Measures, Prediction, arm
from grpo_ref.experiments.framework.tasks.flattery import along, flattery, hacked
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.recipes import GRPO, Recipe

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""How many samples the best is chosen from."""
DISTANCES = tuple(float(kl) for kl in np.arange(0.0, 4.1, 0.25))
"""KL to the reference, in nats per completion."""
AGREED = 0.8
"""Proxy reward at which the true rewards are compared."""


def chosen(*, seeds: int, seed: int) -> Measures:
    """The best of n answers of the reference by the proxy; exact, so every seed gives the same numbers.

    The probability that the best of n answers is at most at some level of the proxy is the n-th power of that
    of a single answer. Among answers of one level, each is chosen as often as the reference gives it.
    """
    probs, proxy, true = _answers()
    levels, level = np.unique(proxy.round(9), return_inverse=True)
    share = np.bincount(level, probs)
    within = np.bincount(level, probs * true) / share
    best = np.stack([np.diff(share.cumsum() ** size, prepend=0.0) for size in SIZES])
    kl = (best * np.log(np.maximum(best, 1e-300) / share)).sum(-1)
    curves = {"kl": kl, "proxy": best @ levels, "true": best @ within}
    return _measures({name: np.broadcast_to(curve, (seeds, len(SIZES))) for name, curve in curves.items()})


def _answers() -> tuple[Floats, Floats, Floats]:
    """Probability under the reference, proxy and true reward of every answer."""
    task = flattery()
    length, kinds = task.ref_logits.shape
    tokens = np.indices((kinds,) * length).reshape(length, -1).T
    log_probs = log_softmax(task.ref_logits)[np.arange(length), tokens].sum(-1)
    rewards = task.verify(np.zeros(1, np.int64), tokens[None], np.ones_like(tokens[None], np.bool_))[0]
    return np.exp(log_probs), rewards[:, 0], rewards[:, 1]


def learned(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """The path of training from the reference."""
    measures = hacked(recipe=recipe, seeds=seeds, seed=seed)
    return _measures({name: measures[name] for name in ("kl", "proxy", "true")})


def _measures(curves: dict[str, Floats]) -> Measures:
    proxy, true = (along(curves["kl"], curves[name], DISTANCES) for name in ("proxy", "true"))
    two, four = DISTANCES.index(2.0), DISTANCES.index(4.0)
    return {
        "proxy": proxy,
        "true": true,
        "proxy at 2 nats": proxy[:, two],
        "proxy at 4 nats": proxy[:, four],
        "true at 2 nats": true[:, two],
        "true at proxy 0.8": along(curves["proxy"], curves["true"], (AGREED,))[:, 0],
    }


EXPERIMENT = Experiment(
    name="best_of_n",
    group="divergence",
    claim="For the same KL to the reference the best of n samples has more reward than reinforcement"
    " learning; how true and proxy reward are related is similar for both.",
    source="Gao et al. 2022, Scaling laws for reward model overoptimization (arXiv:2210.10760)",
    run="The task of `reward_hacking`. The best of 1 to 256 samples of the reference, by the proxy, is"
    " computed exactly from all answers; the path of GRPO is followed without and with a KL penalty.",
    measured="The proxy reward and the true reward where the KL to the reference first reaches 2 and 4 nats"
    " per completion (the best of about 20 and of 150), and the true reward where the proxy first reaches"
    " 0.8.",
    arms={
        "best of n": arm(chosen),
        "GRPO": arm(learned, recipe=replace(GRPO, kl_coef=0.0)),
        "GRPO, kl_coef 0.3": arm(learned, recipe=replace(GRPO, kl_coef=0.3)),
    },
    predictions=(
        Prediction(
            "At 2 nats the best of n has more proxy reward",
            "proxy at 2 nats",
            "best of n",
            "more",
            "GRPO",
            0.02,
        ),
        Prediction(
            "At 4 nats the best of n has more proxy reward",
            "proxy at 4 nats",
            "best of n",
            "more",
            "GRPO",
            0.02,
        ),
        Prediction(
            "At 2 nats the best of n has more true reward",
            "true at 2 nats",
            "best of n",
            "more",
            "GRPO",
            0.02,
        ),
        Prediction(
            "At equal proxy reward the true rewards are equal",
            "true at proxy 0.8",
            "best of n",
            "same",
            "GRPO",
            0.05,
        ),
    ),
    panels=(
        Curves("proxy", "proxy reward", xlabel="KL to the reference (nats per completion)", x=DISTANCES),
        Curves("true", "true reward", xlabel="KL to the reference (nats per completion)", x=DISTANCES),
    ),
    chosen="The effect at 2 nats is close to its margin; the verdict does not depend on it.",
)
