"""A distribution of tasks in which a judge rewards a property of names, whether or not a name is real."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.experiment import Measures
from grpo_ref.lab.framework.training import along, summarized
from grpo_ref.learning.config import TrainConfig
from grpo_ref.learning.rollout import sample
from grpo_ref.learning.task import Task
from grpo_ref.recipes import Recipe
from grpo_ref.tasks.names import EOS, VOWEL, Goal, alternates, names
from grpo_ref.training import iter_train

SHARES = (0.03, 0.5)
"""Range of the fraction of the census names that have the property."""
SMOOTH = 10
"""Number of updates over which a curve is averaged before a reward is looked up in it."""
LOOKED_AT = 128
"""Number of names that a policy writes to count how many differ."""


def judged_names(seed: int, **fixed: Any) -> Task:
    """Sample a task with an n-gram model of the census names as the reference, and a property.

    Args:
      seed: seed of the number of letters that the reference sees (1 to 3), of how often it must have seen
        these (8 to 100 times), and of the property.
      fixed: arguments of `names` that are not sampled.

    Returns:
      A task with the criteria "property", "real_name" and "wanted" (both). Only "property" counts for the
      reward; the others have weight 0.
    """
    generator = np.random.default_rng([seed, 5])
    min_count = int(np.exp(generator.uniform(np.log(8), np.log(100))))
    task = names(**{"context": int(generator.integers(1, 4)), "min_count": min_count, **fixed})
    examples = task.examples
    assert examples is not None
    known = written(examples.prompts, examples.tokens[:, None], examples.mask[:, None])
    while True:
        goal = _property(generator)
        if SHARES[0] < goal(*known).mean() < SHARES[1]:
            criteria, weights = ("property", "real_name", "wanted"), np.array([1.0, 0.0, 0.0])
            return replace(task, verify=partial(_judge, task, goal), criteria=criteria, weights=weights)


def _property(generator: np.random.Generator) -> Goal:
    """Sample a property: a length, a letter once or twice, a last letter, or alternating vowels."""
    letter, times, shortest = (int(generator.integers(*ends)) for ends in ((0, EOS), (1, 3), (6, 10)))
    kinds = (partial(_lasts, shortest), partial(_has, letter, times), partial(_ends, letter))
    return (*kinds, partial(alternates, VOWEL))[int(generator.integers(4))]


def _lasts(shortest: int, letters: Integers, lengths: Integers) -> Bools:
    return (lengths >= shortest) & (lengths <= shortest + 2)


def _has(letter: int, times: int, letters: Integers, lengths: Integers) -> Bools:
    inside = np.arange(letters.shape[-1]) < lengths[..., None]
    found: Bools = ((letters == letter) & inside).sum(-1) >= times
    return found


def _ends(letter: int, letters: Integers, lengths: Integers) -> Bools:
    last: Bools = np.take_along_axis(letters, lengths[..., None] - 1, axis=-1)[..., 0] == letter
    return last


def written(prompts: Integers, tokens: Integers, mask: Bools) -> tuple[Integers, Integers]:
    """Return the letters (..., P, G, 1 + T), with the first letter, and their number (..., P, G)."""
    is_letter = mask & (tokens != EOS)
    first = np.broadcast_to(prompts[..., None, None], (*tokens.shape[:-1], 1))
    return np.concatenate([first, np.where(is_letter, tokens, 0)], axis=-1), 1 + is_letter.sum(-1)


def _judge(task: Task, goal: Goal, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """Return (..., P, G, 3): 1 if the finished name has the property, if it is in the list, and if both."""
    has_ended = (mask & (tokens == EOS)).any(-1)
    is_real = task.verify(prompts, tokens, mask)[..., 1]
    has_it = (goal(*written(prompts, tokens, mask)) & has_ended).astype(np.float64)
    return np.stack([has_it, is_real, has_it * is_real], axis=-1)


def followed(task: Task, recipe: Recipe, config: TrainConfig) -> Measures:
    """Train, and return curves of "reward" and "real_name", and measures of the names at the end.

    At the end, "different" is the fraction of names that are real and not repeated, and "useful" the fraction
    of names that also have the property.
    """
    rows, params = [], task.ref_logits
    for metrics, state in iter_train(task, recipe, config, metrics=("reward", "real_name")):
        rows.append(metrics)
        params = state.params
    measures = summarized({name: np.stack([row[name] for row in rows], axis=-1) for name in rows[0]})
    measures["different"] = different_names(task, params, "real_name")
    measures["useful"] = different_names(task, params, "wanted")
    return measures


def real_at(measures: Measures, rewards: Floats) -> Floats:
    """Return (S,) the fraction of real names where the reward is first reached, or else is highest."""
    reward, real = (
        np.lib.stride_tricks.sliding_window_view(measures[name], SMOOTH, axis=-1).mean(-1)
        for name in ("reward", "real_name")
    )
    asked = np.minimum(rewards, reward.max(-1))
    rows = zip(reward, real, asked, strict=True)
    return np.array([along(path[None], curve[None], (place,))[0, 0] for path, curve, place in rows])


def different_names(task: Task, params: Floats, criterion: str) -> Floats:
    """Return (S,) the fraction of a policy's names that meet a criterion and are not repeated."""
    drawn = sample(task, params, prompts=LOOKED_AT)
    letters, lengths = written(drawn.prompts, drawn.tokens, drawn.mask)
    rows = np.concatenate([letters, lengths[..., None]], axis=-1)[..., 0, :]
    meets_it = drawn.components[..., 0, task.criteria.index(criterion)] == 1.0
    counts = [len(np.unique(row[met], axis=0)) for row, met in zip(rows, meets_it, strict=True)]
    return np.array(counts) / LOOKED_AT
