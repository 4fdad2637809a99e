"""A family of questions that look alike to the policy but need not have the same answer: exact pass@k."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.lab.framework.experiment import Measures
from grpo_ref.lab.framework.tasks.trees import node_count, paths, tree_transitions
from grpo_ref.lab.framework.training import LAST_PART, along, curves
from grpo_ref.learning.config import config_for
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.task import Task
from grpo_ref.recipes import Recipe

ALIKE = 10
"""Prompts of each kind; the policy sees the kind and not the prompt."""
UNUSUAL = 3
"""Answers of a kind besides its usual one."""
FAMILY = (
    f"Questions of 4 to 24 kinds, {ALIKE} of each kind, which look the same to the policy. An answer has 2 or"
    " 3 tokens of 4 to 8, and every beginning is a state of its own. At first 2 to 50 % of the answers of a"
    " median kind are its usual answer (log-uniform; logits with a standard deviation of 1 between kinds)."
    f" For 0 to 50 % of the prompts (uniform) another answer is right, one of {UNUSUAL} of the kind."
)
ATTEMPTS = tuple(2**power for power in range(11))
"""Numbers of attempts k for which pass@k is computed."""
MANY = 256
"""The number of attempts that counts as many; the papers' largest k."""
ON_THE_WAY = 0.8
"""Share of the way from the first pass@1 to the best one, at which arms are compared."""
SIZES: Mapping[str, Any] = {"updates": 150, "prompts": 16, "group_size": 8}


@dataclass(frozen=True)
class Lookalikes:
    """A task of the family.

    Attributes:
      task: with one criterion, "right".
      states, tokens: (Q, T) where and what the policy has to choose for the right answer of each prompt.
    """

    task: Task
    states: Integers
    tokens: Integers

    def chances(self, logits: Floats) -> Floats:
        """(..., Q) how likely one attempt at each prompt is right; logits (..., N, V)."""
        log_probs = log_softmax(logits)
        chances: Floats = np.exp(log_probs[..., self.states, self.tokens].sum(-1))
        return chances

    @property
    def best(self) -> float:
        """The highest pass@1: the commonest answer to each kind of questions."""
        kinds = self.tokens.reshape(-1, ALIKE, self.tokens.shape[-1])
        alike = (kinds[:, :, None, :] == kinds[:, None, :, :]).all(-1).sum(-1)
        return float(alike.max(-1).mean() / ALIKE)


def drawn_lookalikes(seed: int, **fixed: Any) -> Lookalikes:
    """A task of the family, or one with some arguments of `lookalikes` as they are told."""
    generator = np.random.default_rng([seed, 7])
    drawn = {
        "kinds": int(generator.integers(4, 25)),
        "vocabulary": int(generator.integers(4, 9)),
        "length": int(generator.integers(2, 4)),
        "known": float(np.exp(generator.uniform(np.log(0.02), np.log(0.5)))),
        "unusual": float(generator.uniform(0.0, 0.5)),
    }
    return lookalikes(generator, **{**drawn, **fixed})


def lookalikes(
    generator: np.random.Generator, *, kinds: int, vocabulary: int, length: int, known: float, unusual: float
) -> Lookalikes:
    """Questions whose reward is 1 for their one right answer.

    Args:
      generator: of answers and logits.
      kinds: what the policy can tell apart.
      vocabulary, length: tokens to choose from, and tokens of every answer.
      known: chance of the usual answer of a kind of median difficulty, before training.
      unusual: share of the prompts with another answer than the usual one of their kind.
    """
    nodes = node_count(vocabulary, length)
    numbers = np.stack([generator.permutation(vocabulary**length)[: 1 + UNUSUAL] for _ in range(kinds)])
    spelled = numbers[..., None] // vocabulary ** np.arange(length)[::-1] % vocabulary
    logits = generator.normal(size=(kinds, nodes, vocabulary))
    odds = np.log(known / (1.0 - known)) + generator.normal(size=kinds)
    for kind, step in enumerate((1.0 / (1.0 + np.exp(-odds))) ** (1.0 / length)):
        for node, token in zip(paths(spelled[kind, 0], vocabulary), spelled[kind, 0], strict=True):
            others = np.exp(np.delete(logits[kind, node], token)).sum()
            logits[kind, node, token] = np.log(step / (1.0 - step) * others)
    own = np.repeat(np.arange(kinds), ALIKE)
    is_unusual = generator.random(len(own)) < unusual
    answers = spelled[own, np.where(is_unusual, generator.integers(1, 1 + UNUSUAL, len(own)), 0)]
    task = Task(
        name="lookalikes",
        vocabulary=tuple("abcdefgh"[:vocabulary]),
        transitions=tree_transitions(kinds, vocabulary, length),
        prompts=tuple(f"{kind}:" for kind in own),
        starts=own * nodes,
        prompt_probs=np.full(len(own), 1.0 / len(own)),
        max_length=length,
        ref_logits=logits.reshape(-1, vocabulary),
        verify=partial(_judge, answers),
        criteria=("right",),
        weights=np.ones(1),
        settings=SIZES,
    )
    return Lookalikes(task, task.starts[:, None] + paths(answers, vocabulary), answers)


def _judge(answers: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    right: Floats = (tokens == answers[prompts][..., None, :]).all(-1)[..., None].astype(np.float64)
    return right


def pass_at(chances: Floats, attempts: Sequence[int] = ATTEMPTS) -> Floats:
    """pass@k: how likely at least one of k independent attempts is right, a mean over the prompts.

        pass@k = mean over prompts of 1 - (1 - p)ᵏ

    Args:
      chances: (..., Q) p of each prompt.
      attempts: K values of k.

    Returns:
      (..., K).

    >>> pass_at(np.array([0.5, 0.0]), (1, 2)).tolist()
    [0.25, 0.375]
    """
    solved: Floats = 1.0 - ((1.0 - chances)[..., None] ** np.asarray(attempts)).mean(-2)
    return solved


def tried(
    *, recipe: Recipe | None, seeds: int, seed: int, fixed: Mapping[str, Any] | None = None, **config: Any
) -> Measures:
    """Train on a task of the family, and compute pass@k at temperature 1, nothing sampled.

    Args:
      recipe: the algorithm; None for the policy before any training.
      seeds, seed: number of independent runs, and the base of their random numbers and of the task.
      fixed: what of the task is not drawn.
      config: fields of `TrainConfig`.

    Returns:
      "pass@k" (S, K), and "pass@1" and so on (S,), all means over the last fifth of the updates; and
      "pass@256 on the way", where pass@1 has first come most of its way, or at the end if it never does.
    """
    drawn = drawn_lookalikes(seed, **(fixed or {}))
    start = pass_at(drawn.chances(drawn.task.ref_logits))
    if recipe is None:
        curve = np.repeat(start[None], seeds, axis=0)
        return _measures(curve)
    settings = config_for(drawn.task, seeds=seeds, seed=seed, **config)
    solved = curves(drawn.task, recipe, settings, solved=lambda state: pass_at(drawn.chances(state.params)))[
        "solved"
    ]
    last = max(round(LAST_PART * settings.updates), 1)
    way = (solved[:, 0] - start[0]) / (drawn.best - start[0])
    many = solved[:, ATTEMPTS.index(MANY)]
    reached = along(way, many, (ON_THE_WAY,))[:, 0]
    reached = np.where(np.isnan(reached), many[:, -1], reached)
    return _measures(solved[..., -last:].mean(-1)) | {f"pass@{MANY} on the way": reached}


def _measures(curve: Floats) -> Measures:
    return {"pass@k": curve} | {f"pass@{k}": curve[:, at] for at, k in enumerate(ATTEMPTS)}
