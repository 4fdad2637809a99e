"""Stability of networks: training on batches that are old or used for many steps, and how far it falls.

The right answers are exact expectations. Otherwise the noise of sampling would look like falls.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.lab.framework.experiment import Measures
from grpo_ref.lab.framework.late_data import late_updates
from grpo_ref.lab.framework.network import TASKS, TRANSFORMER, Started, sums
from grpo_ref.lab.framework.reused_batches import WINDOW, largest_fall
from grpo_ref.lab.framework.tasks.digit_sums import own_answers
from grpo_ref.lab.framework.training import summarized
from grpo_ref.learning.config import config_for
from grpo_ref.recipes import Recipe

PROMPTS, GROUP = 16, 8
"""Prompts per batch, and completions per prompt."""
FALL = 0.1
"""A run has fallen if its right answers were once this far below their best so far."""
KNOWN = 0.3
"""Probability of the right answer to a question of median difficulty, before training."""
EXTREME = 5.0
"""A mean importance ratio above this is extreme. It is RLinf's early_stop_imp_ratio."""
FAMILY = (
    f"{TASKS} A small transformer (one layer, width 32, two heads; about 13,000 weights) reads the digits of"
    " the question and of its own answer. It first imitates 4096 answers of the table's reference, of which"
    f" about {100 * KNOWN:g} % are right, so that every run has something to lose."
    " All questions share its weights."
)
"""Description of the tasks and of the network of `measure_stability`."""
MEASURED = (
    f"The largest fall of the right answers below their best so far, in means of {WINDOW} updates; the share"
    f" of runs whose largest fall is more than {FALL:g}, which a few extreme runs cannot dominate; and the"
    " right answers, as a mean over training, by which the learning rate is chosen. Right answers are the"
    " exact probability of the true sum at temperature 1, as a mean over all questions."
)
"""Description of the measures of `measure_stability`."""


def right_answers(start: Started) -> Callable[[Floats], Floats]:
    """Return a function from weights (S, n) to (S,) the mean probability of the true sum of each question.

    Args:
      start: task and network of `sums`.
    """
    task, policy = start
    questions, tokens, mask = own_answers(task)

    def right(weights: Floats) -> Floats:
        runs = len(weights)
        prompts = np.repeat(questions[None], runs, axis=0)
        answers = np.repeat(tokens[None, :, None], runs, axis=0)
        said = policy.at(weights, 1.0).visit(task, prompts, answers, answers).log_probs
        shares: Floats = np.exp(np.where(mask[:, None], said, 0.0).sum(-1)).mean((-2, -1))
        return shares

    return right


def measure_stability(
    *,
    recipe: Recipe,
    learning_rate: float,
    age: int = 0,
    known: float | None = KNOWN,
    seeds: int,
    seed: int,
    **config: Any,
) -> Measures:
    """Train a network on a sampled task of sums, with batches that are old, used often, or both.

    Args:
      recipe: the recipe. The old log-probabilities of its ratio are the sampler's.
      learning_rate: step size.
      age: age of the sampler, in updates.
      known: as in `sums`.
      seeds, seed: number of independent runs; base seed of their random numbers and of the task.
      config: fields of `TrainConfig`.

    Returns:
      The measures of `summarized` for "correct"; "largest fall" and "falls", which is 1 for a run that falls
      by more than `FALL`; "longest gradient", as a decimal logarithm; and "extreme", the share of updates in
      which a step has a mean ratio above `EXTREME`.
    """
    task, policy = start = sums(seed, known=known)
    sizes: dict[str, Any] = {"prompts": PROMPTS, "group_size": GROUP} | config
    settings = config_for(task, TRANSFORMER, learning_rate=learning_rate, seeds=seeds, seed=seed, **sizes)
    right = right_answers(start)
    rows = [
        (right(one.params), one.grad_norm, one.mean_ratio)
        for one in late_updates(task, recipe, settings, age=age, anchor="sampler", policy=policy)
    ]
    correct, norms, ratios = np.moveaxis(np.array(rows), 0, -1)
    fall = largest_fall(correct)
    return summarized({"correct": correct}) | {
        "largest fall": fall,
        "falls": (fall > FALL).astype(np.float64),
        "longest gradient": np.log10(np.maximum(norms.max(-1), np.finfo(np.float64).tiny)),
        "extreme": (ratios > EXTREME).mean(-1),
    }
