"""A distribution of tasks with several right answers, and measures of how many of them a policy gives.

The claims about collapse share these tasks.
"""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.tasks.orders import random_orders
from grpo_ref.lab.framework.tasks.synonyms import (
    PROMPTS,
    TRAINING,
    VOCABULARY,
    modes,
    right_answers,
    synonyms,
)
from grpo_ref.lab.framework.training import curves
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.state import TrainState
from grpo_ref.learning.task import Task
from grpo_ref.recipes import Recipe

VARIANTS = 8
"""Number of variants of each prompt. They look the same to the policy."""
TRIES = 16
"""Number of samples per prompt, among which different right answers are counted."""
FAMILY = (
    f"{PROMPTS} prompts have answers of two tokens out of {VOCABULARY}, several of them right and equally"
    " good. How many of the 64 are right (2 to 6), how much more the reference likes their tokens (by 0 to 2"
    " nats), how sharp it is (a standard deviation of its logits of 0.5 to 2.5), how many of 8 verdicts on"
    " each answer are wrong (0 to 2) and the size of the groups (4, 8 or 16) are drawn."
)


class Drawn(NamedTuple):
    """A sampled task.

    Attributes:
      task: task with the criterion "right".
      answers: (prompts, right, 2) tokens of the right answers.
      group_size: number of completions per prompt.
    """

    task: Task
    answers: Integers
    group_size: int


def drawn_synonyms(
    seed: int, *, right: int | None = None, wrong: int | None = None, hint: float | None = None
) -> Drawn:
    """Sample a task.

    Args:
      seed: seed of the task.
      right: number of right answers per prompt; sampled if not given.
      wrong: number of wrong verdicts among the `VARIANTS` verdicts on each answer; sampled if not given. If
        half of them are wrong, no answer is better than another.
      hint: nats by which the reference prefers the tokens of right answers; sampled if not given.
    """
    generator = np.random.default_rng([seed, 5])
    drawn_right, drawn_wrong = int(generator.integers(2, 7)), int(generator.integers(0, 3))
    group_size = int(generator.choice([4, 8, 16]))
    spread, drawn_hint = generator.uniform(0.5, 2.5), generator.uniform(0.0, 2.0)
    count = drawn_right if right is None else right
    answers = right_answers(right=count, seed=seed)
    task = synonyms(right=count, spread=spread, seed=seed)
    logits = task.ref_logits.copy()
    for place, rows in enumerate(_rows(answers)):
        logits[rows, answers[..., place]] += drawn_hint if hint is None else hint
    verdicts = _verdicts(generator, answers, drawn_wrong if wrong is None else wrong)
    varied = replace(
        task,
        ref_logits=logits,
        prompts=tuple(f"{prompt}.{variant}:" for prompt in range(PROMPTS) for variant in range(VARIANTS)),
        starts=np.repeat(task.starts, VARIANTS),
        prompt_probs=np.full(PROMPTS * VARIANTS, 1.0 / (PROMPTS * VARIANTS)),
        verify=partial(_judge, verdicts),
    )
    return Drawn(varied, answers, group_size)


def _rows(answers: Integers) -> tuple[Integers, Integers]:
    """Return (prompts, right) the states of the first and of the second token of each answer."""
    roots = np.broadcast_to(np.arange(PROMPTS)[:, None] * (1 + VOCABULARY), answers.shape[:-1])
    return roots, roots + 1 + answers[..., 0]


def _verdicts(generator: np.random.Generator, answers: Integers, wrong: int) -> Floats:
    """Return (all prompts, V, V) rewards; for each answer, exactly `wrong` variants have a wrong verdict."""
    is_right = np.zeros((PROMPTS, 1, VOCABULARY, VOCABULARY), dtype=bool)
    is_right[np.arange(PROMPTS)[:, None], 0, answers[..., 0], answers[..., 1]] = True
    places = random_orders(generator, (PROMPTS, VARIANTS, VOCABULARY, VOCABULARY), axis=1)
    paid = np.where(is_right, places >= wrong, places < wrong)
    return paid.reshape(-1, VOCABULARY, VOCABULARY).astype(np.float64)


def _judge(verdicts: Floats, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    judged: Floats = verdicts[prompts[..., None], tokens[..., 0], tokens[..., 1]][..., None]
    return judged


def chances(log_probs: Floats, answers: Integers) -> Floats:
    """Return (..., prompts, right) the probability of each right answer under policies (..., N, V)."""
    first, second = _rows(answers)
    found: Floats = np.exp(log_probs[..., first, answers[..., 0]] + log_probs[..., second, answers[..., 1]])
    return found


def different(found: Floats) -> Floats:
    """Return (...) the expected number of different right answers in `TRIES` samples for a prompt.

        Σₐ 1 - (1 - pₐ)^TRIES,    averaged over the prompts

    The number is larger if a policy is right more often, and if its answers are more diverse.

    Args:
      found: (..., prompts, right) probability p of each right answer.

    >>> round(float(different(np.array([[1.0, 0.0]]))), 6)
    1.0
    """
    number: Floats = (1.0 - (1.0 - found) ** TRIES).sum(-1).mean(-1)
    return number


def answered(
    drawn: Drawn, recipe: Recipe, record: tuple[str, ...], *, seeds: int, seed: int, **config: Any
) -> dict[str, Floats]:
    """Train, and return curves of some metrics and of exact measures of the policy at temperature 1.

    Args:
      drawn: the sampled task.
      recipe: the recipe.
      record: metrics of `train` to keep.
      seeds, seed: number of independent runs; base seed of their random numbers.
      config: fields of `TrainConfig` that differ from `TRAINING`.

    Returns:
      Name -> (S, updates): the recorded metrics, "modes" (see `modes`), "right" (fraction of right answers)
      and "different" (see `different`).
    """
    task, answers, group_size = drawn
    settings = config_for(task, **{**TRAINING, "group_size": group_size, **config}, seeds=seeds, seed=seed)

    def of_policy(measure: Any, state: TrainState) -> Floats:
        found: Floats = measure(log_softmax(state.params), answers)
        return found

    exact = {name: partial(of_policy, measure) for name, measure in EXACT.items()}
    return curves(task, recipe, settings, record, **exact)


def _right(log_probs: Floats, answers: Integers) -> Floats:
    share: Floats = chances(log_probs, answers).sum(-1).mean(-1)
    return share


def _different(log_probs: Floats, answers: Integers) -> Floats:
    return different(chances(log_probs, answers))


EXACT = {"modes": modes, "right": _right, "different": _different}


def at_start(drawn: Drawn) -> dict[str, float]:
    """Return the exact measures of the reference."""
    start = log_softmax(drawn.task.ref_logits)
    return {name: float(measure(start, drawn.answers)) for name, measure in EXACT.items()}
