"""A distribution of tasks with sums of digits, partly known at the start and with some wrong labels.

The claims about the group size share these tasks and their arms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.experiment import Arm, Measures, Tuning, tuned
from grpo_ref.lab.framework.training import curves, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.task import Task
from grpo_ref.recipes import TWO_GRPO, Recipe
from grpo_ref.tasks.arithmetic import EOS, arithmetic

COPIES = 20
"""Number of prompts that ask the same question. They look the same to the policy."""
PROMPTS, UPDATES = 16, 80
"""Default number of prompts per batch, and of batches."""
PLAIN = replace(TWO_GRPO, kl_coef=0.0)
"""GRPO without a KL penalty, with ddof = 0, so that a pair of different rewards has advantages -1 and 1."""
FAMILY = (
    "Sums of digits: all questions a+b with a and b up to a number from 2 to 9, so 9 to 100 questions that"
    " share nothing, each in several copies that the policy cannot tell apart. At first 2 to 50 % of the"
    " answers are right (log-uniform), of some questions more than of others (logits with a standard"
    " deviation of 1). Up to 30 % of the copies have a wrong label, so a part cannot be learned."
)
MEASURED = (
    "The share of right completions, as sampled at temperature 1, by the labels: its mean over the last fifth"
    " of the training, by which the learning rate is chosen; for the curves, over each tenth of it."
)
PARTS = 10
"""Number of parts of a training run; curves are averaged over each part."""
SHARES = tuple((part + 1) / PARTS for part in range(PARTS))
RATES = Tuning("learning_rate", (0.1, 0.3, 1.0, 3.0, 10.0), by="final correct")


def digit_sums(
    generator: np.random.Generator,
    *,
    largest: int,
    known: float,
    mislabelled: float,
    copies: int = COPIES,
    spread: float = 1.0,
) -> Task:
    """Return a task of sums of digits, with reward 1 for the answer that the label asks for.

    Args:
      generator: random generator of the difficulties and of the wrong labels.
      largest: largest digit; a and b run from 0 to this number.
      known: initial probability of the right answer to a question of median difficulty.
      mislabelled: fraction of all prompts whose label is the answer to another question.
      copies: number of prompts that ask the same question.
      spread: standard deviation of the initial logits of wrong tokens. With a larger spread the entropy is
        lower, but as many answers are right.
    """
    max_length = len(str(2 * largest)) + 1
    task = arithmetic(largest=largest, max_length=max_length, format_weight=0.0)
    questions = len(task.prompts)
    own = np.repeat(np.arange(questions), copies)
    is_wrong = generator.random(len(own)) < mislabelled
    others = (own + generator.integers(1, questions, len(own))) % questions
    return replace(
        task,
        name="digit_sums",
        prompts=tuple(task.prompts[question] for question in own),
        starts=task.starts[own],
        prompt_probs=np.full(len(own), 1.0 / len(own)),
        ref_logits=partly_known(generator, _sums_up_to(largest), max_length, known, spread),
        verify=partial(_as_labelled, task, np.where(is_wrong, others, own)),
        verify_steps=None,
    )


def _as_labelled(task: Task, labels: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    """Return the rewards of the answers for the question to which the label belongs."""
    return task.verify(labels[prompts], tokens, mask)


def _sums_up_to(largest: int) -> list[str]:
    """Return the written answers to all questions."""
    return [str(a + b) for a in range(largest + 1) for b in range(largest + 1)]


def partly_known(
    generator: np.random.Generator,
    answers: Sequence[str],
    max_length: int,
    known: float,
    spread: float = 1.0,
) -> Floats:
    """Return (N, V) logits that give the right answers the probability `known`, plus or minus 1 in logits.

    Args:
      generator: random generator of the difficulties and of the wrong answers.
      answers: the right answer to each question, in digits.
      max_length: number of states of a question, one for each token of its completion.
      known: probability of the right answer to a question of median difficulty.
      spread: standard deviation of the logits of wrong tokens.
    """
    noise = generator.normal(size=len(answers))
    chances = 1.0 / (1.0 + np.exp(-(np.log(known / (1.0 - known)) + noise)))
    logits = spread * generator.normal(size=(len(answers) * max_length, EOS + 1))
    for question, (written, chance) in enumerate(zip(answers, chances, strict=True)):
        step = chance ** (1.0 / (len(written) + 1))
        for place, token in enumerate([*map(int, written), EOS]):
            row = logits[question * max_length + place]
            row[token] = np.log(step / (1.0 - step) * np.exp(np.delete(row, token)).sum())
    return logits


def drawn_sums(seed: int, **fixed: Any) -> Task:
    """Sample a task, with some arguments of `digit_sums` given."""
    generator = np.random.default_rng([seed, 0, 1])
    drawn = {
        "largest": int(generator.integers(2, 10)),
        "known": float(np.exp(generator.uniform(np.log(0.02), np.log(0.5)))),
        "mislabelled": float(generator.uniform(0.0, 0.3)),
    }
    return digit_sums(generator, **{**drawn, **fixed})


def labelled_answers(task: Task) -> tuple[Integers, Bools]:
    """Return tokens and mask (Q, T) of the answer that each prompt's label asks for."""
    tokens, mask = _numbers(task)
    prompts = np.arange(len(task.prompts))
    shape = (len(prompts), *tokens.shape)  # every prompt with every answer
    right = task.verify(prompts, np.broadcast_to(tokens, shape), np.broadcast_to(mask, shape))
    asked = right[..., -1].argmax(-1)  # the last criterion is "correct"
    return tokens[asked], mask[asked]


def own_answers(task: Task) -> tuple[Integers, Integers, Bools]:
    """Return one prompt (K,) of each question, and tokens and mask (K, T) of the question's true sum."""
    texts, prompts = np.unique(task.prompts, return_index=True)
    tokens, mask = _numbers(task)
    sums = [int(text[0]) + int(text[2]) for text in texts]
    return prompts, tokens[sums], mask[sums]


def _numbers(task: Task) -> tuple[Integers, Bools]:
    """Return tokens and mask of the numbers 0, 1, ... that fit into an answer."""
    spelled = [[*map(int, str(number)), EOS] for number in range(10 ** (task.max_length - 1))]
    tokens = np.array([[*one, *[0] * (task.max_length - len(one))] for one in spelled])
    return tokens, np.arange(task.max_length) < np.array([len(one) for one in spelled])[:, None]


def learned(
    *, recipe: Recipe, seeds: int, seed: int, fixed: Mapping[str, Any] | None = None, **config: Any
) -> Measures:
    """Train on a sampled task; curves are averaged over the `PARTS` of the training run.

    Args:
      recipe: the recipe.
      seeds, seed: number of independent runs; base seed of their random numbers and of the task.
      fixed: settings of the task that are not sampled.
      config: fields of `TrainConfig`; `updates` is a multiple of `PARTS`.
    """
    task = drawn_sums(seed, **(fixed or {}))
    settings = config_for(task, seeds=seeds, seed=seed, **config)
    found = curves(task, recipe, settings, ("correct", "dead_groups"))
    return summarized({name: curve.reshape(seeds, PARTS, -1).mean(-1) for name, curve in found.items()})


def learning(
    group_size: int, prompts: int, updates: int = UPDATES, *, recipe: Recipe = PLAIN, **fixed: Any
) -> Arm:
    """Return an arm with these sizes of batch and run, at its best learning rate."""
    sizes = {"group_size": group_size, "prompts": prompts, "updates": updates}
    return tuned(learned, RATES, recipe=recipe, **sizes, fixed=fixed)


def label(group_size: int, prompts: int) -> str:
    """Return the label of an arm."""
    return f"{prompts} prompts x {group_size}"
