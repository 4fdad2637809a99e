"""Networks on the toy tasks: the tasks of the tables, but learning one prompt also changes other prompts.

A table has separate logits for every state, so prompts share nothing. A network answers all prompts with the
same weights. Here a network first imitates the table's reference policy, so that both begin alike.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from grpo_ref.arrays import Floats, Integers
from grpo_ref.lab.framework.experiment import Arm, Measures, Tuning, tuned
from grpo_ref.lab.framework.tasks.digit_sums import COPIES, PARTS, PLAIN, UPDATES, drawn_sums
from grpo_ref.lab.framework.training import kept, summarized
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.kinds import network_for
from grpo_ref.learning.policies.neural import NeuralPolicy
from grpo_ref.learning.pretraining import PretrainConfig, pretrain
from grpo_ref.learning.rollout import sample
from grpo_ref.learning.state import TrainState
from grpo_ref.learning.task import Examples, Task
from grpo_ref.recipes import Recipe
from grpo_ref.training import iter_train

EXAMPLES, STEPS = 4096, 300
"""Number of completions of the table's reference to imitate, and of optimizer steps on them."""
TRANSFORMER, MLP = "transformer", "mlp"
SIZES: Mapping[str, Mapping[str, int]] = {
    TRANSFORMER: {"width": 32, "layers": 1, "heads": 2},
    MLP: {"context": 4, "width": 16, "hidden": 64},
}
"""Kind of network -> its sizes. The MLP reads the last four tokens."""
TASKS = (
    "The tasks are those of the table: sums of digits a+b with a and b up to a number from 2 to 9, with up to"
    " 30 % wrong labels."
)
"""Description of how the tasks of `sums` are sampled."""
IMITATES = (
    "It first imitates 4096 answers of the table's reference, so 2 to 50 % of its answers are right when it"
    " is first rewarded. All questions share its weights."
)
"""Description of how the network of `sums` begins."""
SUMS = (
    f"{TASKS} A small transformer (one layer, width 32, two heads; about 13,000 weights) reads the digits of"
    f" the question and of its own answer. {IMITATES}"
)
"""Description of the tasks of `sums` and of its transformer."""
RATES = Tuning("learning_rate", (0.001, 0.003, 0.01, 0.03), by="final correct")
Started: TypeAlias = tuple[Task, NeuralPolicy]
"""A task whose prompts a network can read, and the network that has learned to imitate its reference."""


def imitator(
    task: Task,
    prompt_tokens: Integers,
    *,
    seed: int,
    kind: str = TRANSFORMER,
    steps: int = STEPS,
    examples: int = EXAMPLES,
    **sizes: int,
) -> Started:
    """Return the task with its prompts as tokens, and a network that imitates the task's reference.

    Args:
      task: task of a table.
      prompt_tokens: (Q, L) tokens of each prompt that the network reads.
      seed: seed of the examples and of the weights.
      kind: kind of network, a key of `SIZES`.
      steps: number of steps of the imitation.
      examples: number of completions of the reference to imitate.
      sizes: sizes of the network that differ from `SIZES`.
    """
    drawn = sample(task, task.ref_logits[None], prompts=examples, group_size=1, seed=seed)
    imitated = Examples(drawn.prompts[0], drawn.tokens[0, :, 0], drawn.mask[0, :, 0])
    readable = replace(task, prompt_tokens=prompt_tokens, examples=imitated)
    network = network_for(readable, kind, {**SIZES[kind], **sizes})
    config = PretrainConfig(steps=steps, batch=128, learning_rate=0.01, check_every=steps + 1, seed=seed)
    *_, last = pretrain(readable, network, config)
    return readable, last.policy


def network_curves(
    start: Started,
    recipe: Recipe,
    record: Sequence[str],
    measured: Mapping[str, Callable[[TrainState], Floats]] | None = None,
    **config: Any,
) -> dict[str, Floats]:
    """Train a network and return some curves, as `curves` does for a table.

    Args:
      start: task and network.
      recipe: the recipe.
      record: names of metrics to keep, (S,) each.
      measured: name -> function of the state after each update, which returns (S, ...).
      config: fields of `TrainConfig`.
    """
    task, policy = start
    updates = iter_train(task, recipe, config_for(task, TRANSFORMER, **config), metrics=record, policy=policy)
    return kept(updates, record, measured or {})


@cache
def sums(
    seed: int,
    copies: int = COPIES,
    known: float | None = None,
    kind: str = TRANSFORMER,
    spread: float = 1.0,
) -> Started:
    """Sample a task and pretrain its network, once for all arms of a process.

    Args:
      seed: seed of the task, the examples and the weights.
      copies: number of prompts that ask the same question.
      known: probability of the right answer to a question of median difficulty; sampled if None.
      kind: kind of network, a key of `SIZES`.
      spread: standard deviation of the reference's logits, as in `digit_sums`.
    """
    task = drawn_sums(seed, copies=copies, spread=spread, **({} if known is None else {"known": known}))
    digits = np.array([[int(prompt[0]), int(prompt[2])] for prompt in task.prompts])
    return imitator(task, digits, seed=seed, kind=kind)


def learned(*, recipe: Recipe, seeds: int, seed: int, known: float | None = None, **config: Any) -> Measures:
    """Train a network on a sampled task; curves are averaged over the `PARTS` of the training run.

    Args:
      recipe: the recipe.
      seeds, seed: number of independent runs; base seed of their random numbers and of the task.
      known: as in `sums`.
      config: fields of `TrainConfig`; `updates` is a multiple of `PARTS`.
    """
    record = ("correct", "dead_groups")
    found = network_curves(sums(seed, known=known), recipe, record, seeds=seeds, seed=seed, **config)
    return summarized({name: curve.reshape(seeds, PARTS, -1).mean(-1) for name, curve in found.items()})


def learning(
    group_size: int, prompts: int, updates: int = UPDATES, *, recipe: Recipe = PLAIN, **others: Any
) -> Arm:
    """Return an arm of a network with these sizes of batch and run, at its best learning rate."""
    sizes = {"group_size": group_size, "prompts": prompts, "updates": updates}
    return tuned(learned, RATES, recipe=recipe, **sizes, **others)
