"""A distribution of tasks whose questions look the same but may have different answers, with exact pass@k."""

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
"""Number of prompts of each kind. The policy sees the kind and not the prompt."""
UNUSUAL = 3
"""Number of answers of a kind other than the usual answer."""
FAMILY = (
    f"Questions of 4 to 24 kinds, {ALIKE} of each kind, which look the same to the policy. An answer has 2 or"
    " 3 tokens of 4 to 8, and every beginning is a state of its own. At first 2 to 50 % of the answers of a"
    " median kind are its usual answer (log-uniform; logits with a standard deviation of 1 between kinds)."
    f" For 0 to 50 % of the prompts (uniform) another answer is right, one of {UNUSUAL} of the kind."
)
ATTEMPTS = tuple(2**power for power in range(11))
"""Numbers of attempts k for which pass@k is computed."""
MANY = 256
"""Number of attempts that counts as large: the largest k of the papers."""
ON_THE_WAY = 0.8
"""Fraction of the way from the initial pass@1 to the best pass@1, at which arms are compared."""
SIZES: Mapping[str, Any] = {"updates": 150, "prompts": 16, "group_size": 8}


@dataclass(frozen=True)
class Lookalikes:
    """A sampled task.

    Attributes:
      task: task with the criterion "right".
      states, tokens: (Q, T) states and tokens of the right answer of each prompt.
    """

    task: Task
    states: Integers
    tokens: Integers

    def chances(self, logits: Floats) -> Floats:
        """Return (..., Q) the probability that one attempt is right, for logits (..., N, V)."""
        log_probs = log_softmax(logits)
        chances: Floats = np.exp(log_probs[..., self.states, self.tokens].sum(-1))
        return chances

    @property
    def best(self) -> float:
        """Highest possible pass@1, which the most common answer to each kind of question reaches."""
        kinds = self.tokens.reshape(-1, ALIKE, self.tokens.shape[-1])
        alike = (kinds[:, :, None, :] == kinds[:, None, :, :]).all(-1).sum(-1)
        return float(alike.max(-1).mean() / ALIKE)


def drawn_lookalikes(seed: int, **fixed: Any) -> Lookalikes:
    """Sample a task, with some arguments of `lookalikes` given."""
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
    """Return a task with one right answer per question, whose reward is 1.

    Args:
      generator: random generator of answers and logits.
      kinds: number of kinds of questions that the policy distinguishes.
      vocabulary, length: size of the vocabulary, and number of tokens of every answer.
      known: initial probability of the usual answer to a kind of median difficulty.
      unusual: fraction of the prompts whose answer is not the usual answer of their kind.
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
    """Return pass@k, the probability that at least one of k independent attempts is right.

        pass@k = mean over prompts of 1 - (1 - p)ᵏ

    Args:
      chances: (..., Q) probability p that one attempt at a prompt is right.
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
    """Train on a sampled task, and compute the exact pass@k at temperature 1.

    Args:
      recipe: the recipe; None for the policy before training.
      seeds, seed: number of independent runs; base seed of their random numbers and of the task.
      fixed: settings of the task that are not sampled.
      config: fields of `TrainConfig`.

    Returns:
      "pass@k" (S, K), and "pass@1" and so on (S,), averaged over the last fifth of the updates. "pass@256 on
      the way" is pass@256 when pass@1 has first come most of the way to its best value, or else at the end.
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
