"""A distribution of tasks in which only some tokens of an answer matter."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Bools, Floats, Integers
from grpo_ref.learning.policies.table import log_softmax
from grpo_ref.learning.task import END, Task

COPIES = 10
"""Number of prompts of each question. The policy sees the question and not the prompt."""
FAMILY = (
    f"4 to 16 questions of {COPIES} prompts each, which look the same to the policy. An answer has 1"
    " to 4 places whose token matters and 1 to 8 fillers, where any of the 4 to 8 tokens will do and the"
    " reference gives 50 to 99 % to one (logits with a standard deviation of 0.5). At first 2 to 50 % of the"
    " answers are right (log-uniform). Up to 30 % of the labels are wrong."
)


class Phrases(NamedTuple):
    """A sampled task.

    Attributes:
      task: task with the criterion "right".
      answers: (Q, T) right token at each position; -1 if every token is right.
    """

    task: Task
    answers: Integers

    @property
    def matters(self) -> Bools:
        """(questions, T) true where a token matters."""
        return self.answers[::COPIES] >= 0

    def chances(self, logits: Floats) -> Floats:
        """Return (..., Q) the probability that each prompt is answered as its label asks."""
        states = self.task.starts[:, None] + np.arange(self.task.max_length)
        log_probs = log_softmax(logits)[..., states, np.maximum(self.answers, 0)]
        chances: Floats = np.exp((log_probs * (self.answers >= 0)).sum(-1))
        return chances


def drawn_phrases(seed: int, **fixed: Any) -> Phrases:
    """Sample a task, with some arguments of `phrases` given."""
    generator = np.random.default_rng([seed, 19])
    settings = {
        "questions": int(generator.integers(4, 17)),
        "informative": int(generator.integers(1, 5)),
        "fillers": int(generator.integers(1, 9)),
        "vocabulary": int(generator.integers(4, 9)),
        "known": float(np.exp(generator.uniform(np.log(0.02), np.log(0.5)))),
        "common": float(generator.uniform(0.5, 0.99)),
        "mislabelled": float(generator.uniform(0.0, 0.3)),
    }
    return phrases(generator, **{**settings, **fixed})


def phrases(
    generator: np.random.Generator,
    *,
    questions: int,
    informative: int,
    fillers: int,
    vocabulary: int,
    known: float,
    common: float,
    mislabelled: float,
) -> Phrases:
    """Return a task whose answers have some tokens that matter, among fillers that do not.

    Args:
      generator: random generator of positions, answers, labels and logits.
      questions: number of questions that the policy distinguishes.
      informative, fillers: number of positions of both kinds in every answer.
      vocabulary: size of the vocabulary.
      known: initial probability of a right answer to a question of median difficulty.
      common: probability of the most common token at a filler's position under the reference.
      mislabelled: fraction of the prompts that have another question's label.
    """
    length = informative + fillers
    places = generator.random((questions, length)).argsort(-1) < informative
    tokens = generator.integers(vocabulary, size=(questions, length))
    likely = np.where(places, known ** (1.0 / informative), common)
    odds = np.log(likely / (1.0 - likely)) + 0.5 * generator.normal(size=likely.shape)
    logits = generator.normal(size=(questions, length, vocabulary))
    chosen = np.arange(vocabulary) == tokens[..., None]
    others = np.log(np.where(chosen, 0.0, np.exp(logits)).sum(-1))
    logits = np.where(chosen, (odds + others)[..., None], logits)
    own = np.repeat(np.arange(questions), COPIES)
    foreign = generator.integers(vocabulary, size=(len(own), length))
    is_wrong = (generator.random(len(own)) < mislabelled)[:, None]
    answers = np.where(places[own], np.where(is_wrong, foreign, tokens[own]), -1)
    states = np.arange(questions * length)
    following = np.where(states % length == length - 1, END, states + 1)
    task = Task(
        name="phrases",
        vocabulary=tuple("abcdefgh"[:vocabulary]),
        transitions=np.repeat(following[:, None], vocabulary, axis=1),
        prompts=tuple(f"{question}:" for question in own),
        starts=own * length,
        prompt_probs=np.full(len(own), 1.0 / len(own)),
        max_length=length,
        ref_logits=logits.reshape(-1, vocabulary),
        verify=partial(_right, answers),
        criteria=("right",),
        weights=np.ones(1),
    )
    return Phrases(task, answers)


def _right(answers: Integers, prompts: Integers, tokens: Integers, mask: Bools) -> Floats:
    asked = answers[prompts][..., None, :]
    right: Floats = ((tokens == asked) | (asked < 0)).all(-1)[..., None].astype(np.float64)
    return right
