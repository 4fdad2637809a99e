"""A proxy reward that can be hacked: a judge who likes flattery, and a true reward that is only watched."""

from collections.abc import Sequence

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers, array_namespace
from grpo_ref.experiments.framework.experiment import Measures
from grpo_ref.experiments.framework.training import trained
from grpo_ref.learning.tasks.task import END, Task
from grpo_ref.recipes import Recipe

PLAIN, EXPLAINING, FLATTERING = range(3)
"""The kinds of sentences."""
DESCRIPTION = (
    "An answer has 12 sentences, each plain, explaining or flattering. The judge pays for explaining"
    " sentences, and twice as much for flattering ones; in truth, more than a quarter of flattery harms. The"
    " algorithm is GRPO with k3 and several values of kl_coef."
)
"""What is run, for the claims about this task."""
COEFFICIENTS = {"none": 0.0, "0.01": 0.01, "0.04": 0.04, "0.1": 0.1, "0.3": 0.3, "1": 1.0}
"""Weights of the KL penalty; 0.04 is DeepSeekMath's."""
NEARBY = tuple(float(kl) for kl in np.arange(1.0, 31.0))
"""KL to the reference, in nats per completion, at which the paths of different arms are compared."""
WINDOW = 5
"""Updates over which a curve is averaged before its best value is taken."""


def flattery(*, sentences: int = 12, explaining: float = 0.2, flattering: float = 0.05) -> Task:
    """An answer of some sentences, each plain, explaining or flattering, for a judge who likes flattery.

        proxy = e + 2 f,    true = proxy - 4 f²,    e, f the shares of explaining and flattering sentences

    As long as flattery is rare the two agree; a quarter of flattery is best, and more than a half is worse
    than none.

    Args:
      sentences: number of tokens.
      explaining, flattering: their probabilities under the reference.

    Returns:
      A task with the criteria "proxy" and "true"; the latter has weight 0, it is only watched.
    """
    states = np.arange(sentences)
    following = np.where(states == sentences - 1, END, states + 1)
    probs = [1.0 - explaining - flattering, explaining, flattering]
    return Task(
        name="flattery",
        vocabulary=tuple("pef"),
        transitions=np.repeat(following[:, None], 3, axis=1),
        prompts=("",),
        starts=np.zeros(1, dtype=np.int64),
        prompt_probs=np.ones(1),
        max_length=sentences,
        ref_logits=np.log(np.repeat([probs], sentences, axis=0)),
        verify=_judge,
        criteria=("proxy", "true"),
        weights=np.array([1.0, 0.0]),
    )


def _judge(prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """(..., P, G, 2): what the judge says, and what is true."""
    flattering = (tokens == FLATTERING).mean(-1)
    proxy = (tokens == EXPLAINING).mean(-1) + 2.0 * flattering
    judged: Floats = array_namespace(tokens).stack([proxy, proxy - 4.0 * flattering**2], axis=-1)
    return judged


def hacked(*, recipe: Recipe, seeds: int, seed: int) -> Measures:
    """Train for the proxy and watch the true reward, by update and by distance from the reference."""
    measures = trained(
        task=flattery,
        recipe=recipe,
        record=("proxy", "true", "kl"),
        updates=120,
        prompts=4,
        group_size=8,
        learning_rate=0.1,
        seeds=seeds,
        seed=seed,
    )
    windows = np.lib.stride_tricks.sliding_window_view(measures["true"], WINDOW, axis=-1)
    best = windows.mean(-1).max(-1)
    return measures | {
        "best true": best,
        "lost true": best - measures["final true"],
        "true by KL": along(measures["kl"], measures["true"], NEARBY),
        "true at 5 nats": along(measures["kl"], measures["true"], (5.0,))[:, 0],
        "proxy at 5 nats": along(measures["kl"], measures["proxy"], (5.0,))[:, 0],
    }


def along(path: Floats, curve: Floats, places: Sequence[float]) -> Floats:
    """(S, places) a curve where the path first reaches each place; NaN where it never does.

    Args:
      path, curve: (S, U) over updates, as the KL to the reference and a reward.
      places: in the units of the path.

    >>> along(np.array([[0.0, 2.0, 1.0]]), np.array([[5.0, 7.0, 9.0]]), (1.0, 3.0)).tolist()
    [[6.0, nan]]
    """
    farthest = np.maximum.accumulate(path, axis=-1)
    reached = [np.interp(places, run, one, right=np.nan) for run, one in zip(farthest, curve, strict=True)]
    return np.stack(reached)
