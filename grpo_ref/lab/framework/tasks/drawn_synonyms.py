"""A family of prompts with several right answers, and how many of them a policy still gives.

The claims about collapse share it.
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
"""Of each prompt; the policy does not see which of them it answers."""
TRIES = 16
"""Samples for a prompt, in which different right answers are counted."""
FAMILY = (
    f"{PROMPTS} prompts have answers of two tokens out of {VOCABULARY}, several of them right and equally"
    " good. How many of the 64 are right (2 to 6), how much more the reference likes their tokens (by 0 to 2"
    " nats), how sharp it is (a standard deviation of its logits of 0.5 to 2.5), how many of 8 verdicts on"
    " each answer are wrong (0 to 2) and the size of the groups (4, 8 or 16) are drawn."
)


class Drawn(NamedTuple):
    """A task of the family.

    Attributes:
      task: with a criterion "right".
      answers: (prompts, right, 2) tokens of the right answers.
      group_size: completions per prompt.
    """

    task: Task
    answers: Integers
    group_size: int


def drawn_synonyms(
    seed: int, *, right: int | None = None, wrong: int | None = None, hint: float | None = None
) -> Drawn:
    """A task of the family.

    Args:
      seed: of the task.
      right: right answers per prompt, if they are not drawn.
      wrong: of the `VARIANTS` verdicts on every answer, those that are wrong, if they are not drawn; with
        half of them no answer is better than another.
      hint: by how many nats the reference likes the tokens of right answers more, if that is not drawn.
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
    """(prompts, right) states in which the first and the second token of each answer are said."""
    roots = np.broadcast_to(np.arange(PROMPTS)[:, None] * (1 + VOCABULARY), answers.shape[:-1])
    return roots, roots + 1 + answers[..., 0]


def _verdicts(generator: np.random.Generator, answers: Integers, wrong: int) -> Floats:
    """(all prompts, V, V) rewards; of the variants' verdicts on each answer, exactly so many are wrong."""
    is_right = np.zeros((PROMPTS, 1, VOCABULARY, VOCABULARY), dtype=bool)
    is_right[np.arange(PROMPTS)[:, None], 0, answers[..., 0], answers[..., 1]] = True
    places = random_orders(generator, (PROMPTS, VARIANTS, VOCABULARY, VOCABULARY), axis=1)
    paid = np.where(is_right, places >= wrong, places < wrong)
    return paid.reshape(-1, VOCABULARY, VOCABULARY).astype(np.float64)


def _judge(verdicts: Floats, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    judged: Floats = verdicts[prompts[..., None], tokens[..., 0], tokens[..., 1]][..., None]
    return judged


def chances(log_probs: Floats, answers: Integers) -> Floats:
    """(..., prompts, right) how likely a policy (..., N, V) gives each right answer."""
    first, second = _rows(answers)
    found: Floats = np.exp(log_probs[..., first, answers[..., 0]] + log_probs[..., second, answers[..., 1]])
    return found


def different(found: Floats) -> Floats:
    """(...) how many different right answers `TRIES` samples for a prompt have, on average.

    Σₐ 1 - (1 - pₐ)^TRIES, mean of the prompts: more for a policy that is right more often, and for one that
    is varied.

    Args:
      found: (..., prompts, right) the chance p of each right answer.

    >>> round(float(different(np.array([[1.0, 0.0]]))), 6)
    1.0
    """
    number: Floats = (1.0 - (1.0 - found) ** TRIES).sum(-1).mean(-1)
    return number


def answered(
    drawn: Drawn, recipe: Recipe, record: tuple[str, ...], *, seeds: int, seed: int, **config: Any
) -> dict[str, Floats]:
    """Train, and keep the curves of some metrics and of what the policy does at temperature 1, exactly.

    Args:
      drawn: the task.
      recipe: the algorithm.
      record: metrics of `train` to keep.
      seeds, seed: number of independent runs, and the base of their random numbers.
      config: fields of `TrainConfig` that differ from `TRAINING`.

    Returns:
      Name -> (S, updates): what is recorded, "modes" (see `modes`), "right" (share of right answers) and
      "different" (see `different`).
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
    """Each of the exact measures of the reference."""
    start = log_softmax(drawn.task.ref_logits)
    return {name: float(measure(start, drawn.answers)) for name, measure in EXACT.items()}
