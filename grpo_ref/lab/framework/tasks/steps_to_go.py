"""A distribution of tasks whose questions take several steps, each of which a judge can reward."""

from functools import partial
from typing import NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.task import END, Task

RIGHT, PLEASING = 0, 1
"""The right move of most prompts, and a move that a flawed judge prefers in some states."""
COPIES, PLEASURE = 10, 1.5
"""Number of prompts per question, and a flawed judge's reward for the preferred move (the right move: 1)."""
HARD, EASY = 0.005, 0.5
"""Range from which the initial probability of a right answer is sampled."""
FAMILY = (
    f"4 to 24 questions of {COPIES} prompts each, which look the same to the policy. A prompt is"
    " solved if all of its 2 to 8 steps are right, of 3 to 6 moves each. At first 0.5 to 50 % of the answers"
    " to a median question are right (log-uniform), of some steps more than of others (logits with a standard"
    " deviation of 0.5). Up to 30 % of the prompts have labels of their own, at random."
)


class StepsToGo(NamedTuple):
    """A sampled task.

    Attributes:
      task: task with the criterion "solved".
      labels: (Q, T) right move of each step.
    """

    task: Task
    labels: Integers

    def chances(self, logits: Floats) -> Floats:
        """Return (..., Q) the probability that each prompt is solved."""
        states = self.task.starts[:, None] + np.arange(self.task.max_length)
        chances: Floats = np.exp(log_softmax(logits)[..., states, self.labels].sum(-1))
        return chances


def drawn_steps(
    seed: int,
    *,
    steps: int = 0,
    known: float = 0.0,
    random_errors: float = 0.0,
    flawed: float = 0.0,
    outcome: bool = False,
) -> StepsToGo:
    """Sample a task in which a prompt is solved if all of its steps are right.

    Args:
      seed: seed of the task.
      steps: number of steps of every question; sampled if 0.
      known: initial probability of a right answer to a median question; sampled if 0.
      random_errors: fraction of the judge's verdicts on a prompt's moves that are wrong.
      flawed: fraction of the states in which the judge prefers another move to the right move.
      outcome: if true, the judge adds 1 to the last step of a solved prompt.
    """
    generator = np.random.default_rng([seed, 13])
    questions, drawn_length = int(generator.integers(4, 25)), int(generator.integers(2, 9))
    moves, drawn_known = int(generator.integers(3, 7)), generator.uniform(np.log(HARD), np.log(EASY))
    mislabelled, length = generator.uniform(0.0, 0.3), steps or drawn_length
    chance = (known or np.exp(drawn_known)) ** (1.0 / length)
    odds = np.log(chance / (1.0 - chance)) + 0.5 * generator.normal(size=(questions, length))
    logits = 0.5 * generator.normal(size=(questions, length, moves))
    logits[..., RIGHT] = odds + np.log(np.exp(logits[..., 1:]).sum(-1))
    own = np.repeat(np.arange(questions), COPIES)
    is_wrong = (generator.random(len(own)) < mislabelled)[:, None]
    labels = np.where(is_wrong, generator.integers(moves, size=(len(own), length)), RIGHT)
    verdicts = (np.arange(moves) == labels[..., None]).astype(np.float64)
    verdicts = np.where(generator.random(verdicts.shape) < random_errors, 1.0 - verdicts, verdicts)
    pleased = (generator.random((questions, length)) < flawed)[own]
    verdicts[..., PLEASING] = np.where(pleased, PLEASURE, verdicts[..., PLEASING])
    states = np.arange(questions * length)
    following = np.where(states % length == length - 1, END, states + 1)
    task = Task(
        name="steps_to_go",
        vocabulary=tuple("abcdef"[:moves]),
        transitions=np.repeat(following[:, None], moves, axis=1),
        prompts=tuple(f"{question}:" for question in own),
        starts=own * length,
        prompt_probs=np.full(len(own), 1.0 / len(own)),
        max_length=length,
        ref_logits=logits.reshape(-1, moves),
        verify=partial(_solved, labels),
        verify_steps=partial(_judged, labels, verdicts, float(outcome)),
        criteria=("solved",),
        weights=np.ones(1),
    )
    return StepsToGo(task, labels)


def _solved(labels: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    solved: Floats = (tokens == labels[prompts][..., None, :]).all(-1)[..., None].astype(np.float64)
    return solved


def _judged(
    labels: Integers, verdicts: Floats, outcome: float, prompts: Integers, tokens: Integers, mask: Bools
) -> tuple[Floats, Bools]:
    """Return the judge's reward of each token, and true for tokens that are a step, (..., P, G, T) each."""
    rewards = verdicts[prompts[..., None, None], np.arange(tokens.shape[-1]), tokens]
    rewards[..., -1] += outcome * _solved(labels, prompts, tokens, mask)[..., 0]
    return rewards, mask
