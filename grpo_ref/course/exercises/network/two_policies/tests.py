"""The tests of `network/two_policies`: the inputs that its statement allows, the right answer, the checks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.advantages import group_centered
from grpo_ref.arrays import Floats
from grpo_ref.check.mistakes.toy_loop import draw_tokens
from grpo_ref.course.author import (
    LEVELS,
    MIXED,
    Case,
    Domain,
    Holds,
    Real,
    Scalar,
    Unchanged,
    Whole,
)
from grpo_ref.learning.policies import layers, table

DOMAIN = Domain(
    {
        "embedding": Real(
            "V D", (-3, 3), usual=((-1, 1), (-3, 3)), rows=(MIXED, LEVELS), meaning="E, a row for each token"
        ),
        "head": Real(
            "D V",
            (-3, 3),
            usual=((-1, 1), (-3, 3)),
            rows=(MIXED, LEVELS),
            meaning="W, which makes the logits",
        ),
        "prompts": Whole((0, "V - 1"), axes="P L", meaning="P prompts of L tokens each, in every update"),
        "answers": Whole((0, "V - 1"), axes="P", meaning="the right answer to each prompt"),
        "uniforms": Real(
            "U P G",
            (0, 0.999),
            at=(0, 0.25, 0.5, 0.75),
            whole=False,
            meaning="random numbers, one for each draw",
        ),
        "learning_rate": Scalar(
            5.0, (0.01, 50), usual=((1, 50), (5, 20)), at=(1, 50), meaning="length of a step"
        ),
    },
    sizes={"V": (2, 4), "D": (1, 4), "P": (1, 3), "L": (1, 3), "U": (1, 5), "G": (1, 8)},
    large={"V": 12, "D": 12, "P": 12, "L": 12, "U": 10, "G": 40},
)


class Weights(NamedTuple):
    """The embedding (V, D) and the head (D, V)."""

    embedding: Floats
    head: Floats


def read(embedding, prompts):
    """Return the hidden rows (P, D) of the prompts."""
    return np.asarray(np.tanh(embedding[prompts].sum(1)))


def _each_visit(slope, prompts, like):
    """Add the slope of each prompt's sum (P, D) to the rows of its tokens (V, D)."""
    visits = layers.one_hot(prompts, len(like), like).sum(1)
    return np.asarray(layers.swapped(visits) @ slope)


@dataclass(frozen=True)
class Run:
    """The training program, with exchangeable stages.

    Attributes:
      sampler: (weights after each update so far, prompts) -> hidden rows and head used for sampling.
      trained: (hidden rows of the trainer, hidden rows of the sampler) -> the rows at which the slope is
        taken.
      correction: (π of the sampler, π of the trainer), both (P, G) -> factor of the advantages.
      logged: (π of the sampler, π of the trainer), both (P, G) -> the one whose logarithm is returned.
      advantage: rewards -> advantages.
      visits: (slope of the sums, prompts, embedding) -> slope of the embedding.
      bend: tanh -> its derivative.
      share: uniform numbers -> the weight of each sampled token.
      rates: factors of the learning rates of embedding and head; -1 descends.
    """

    sampler: Callable[[Sequence[Weights], Any], tuple[Floats, Floats]] = lambda past, prompts: (
        read(past[-1].embedding, prompts),
        past[-1].head,
    )
    trained: Callable[[Floats, Floats], Floats] = lambda trainer, sampler: trainer
    correction: Callable[[Floats, Floats], Floats] = lambda sampler, trainer: np.ones_like(trainer)
    logged: Callable[[Floats, Floats], Floats] = lambda sampler, trainer: sampler
    advantage: Callable[[Any], Any] = group_centered
    visits: Callable[[Floats, Any, Floats], Floats] = _each_visit
    bend: Callable[[Floats], Floats] = lambda hidden: 1.0 - hidden**2
    share: Callable[[Floats], float] = lambda draws: 1.0 / draws.size
    rates: tuple[float, float] = (1.0, 1.0)

    def __call__(
        self,
        embedding,
        head,
        prompts,
        answers,
        uniforms,
        learning_rate=5.0,
    ):
        """Return embedding and head after all updates, and the log-probability of each sampled token."""
        past = [Weights(np.array(embedding, dtype=float), np.array(head, dtype=float))]
        prompts, answers, log = np.asarray(prompts), np.asarray(answers), []
        for numbers in np.asarray(uniforms, dtype=float):
            slopes, chosen = self.slopes(past, prompts, answers, numbers)
            log.append(np.log(chosen))
            steps = (learning_rate * rate * slope for rate, slope in zip(self.rates, slopes, strict=True))
            past.append(Weights(*(old + step for old, step in zip(past[-1], steps, strict=True))))
        return *past[-1], np.array(log)

    def slopes(self, past, prompts, answers, numbers):
        """Make one update: sample with the sampler's rows, and take the slope with the trainer's."""
        now, (seen, head) = past[-1], self.sampler(past, prompts)
        drawing = table.policy_of(seen @ head).probs
        tokens = draw_tokens(drawing[:, None], numbers)
        hidden = self.trained(read(now.embedding, prompts), seen)
        probs = table.policy_of(layers.linear(hidden, now.head)).probs
        theirs, ours = (np.take_along_axis(each, tokens, -1) for each in (drawing, probs))
        advantages = self.advantage((tokens == answers[:, None]).astype(float))
        pull = self.share(numbers) * self.correction(theirs, ours) * advantages
        places = np.broadcast_to(np.arange(len(prompts))[:, None], tokens.shape)
        slope = table.pull_back(pull[..., None], places[..., None], tokens[..., None], probs)
        to_hidden, of_head = layers.linear_back(slope, hidden, now.head)
        of_embedding = self.visits(to_hidden * self.bend(hidden), prompts, now.embedding)
        return Weights(of_embedding, of_head), self.logged(theirs, ours)


RIGHT = Run()


def _learns(f):
    generator = np.random.default_rng(0)
    prompts = np.indices((4, 4)).reshape(2, -1).T
    answers, uniforms = prompts.max(1), generator.random((30, 16, 8))
    embedding, head = generator.normal(size=(4, 8)), 0.3 * generator.normal(size=(8, 4))
    after = [np.asarray(each, float) for each in f(embedding, head, prompts, answers, uniforms)]
    probs = table.policy_of(read(after[0], prompts) @ after[1]).probs
    right = float(probs[np.arange(len(prompts)), answers].mean())
    return None if right > 0.9 else f"after 30 updates 0.9 of its answers should be right, {right:.2f} are"


LOG3 = float(np.log(3.0))

ONE: tuple[Any, ...] = ([[0.0], [0.0]], [[1.0, -1.0]], [[0]], [0])

reference = RIGHT
RTOL = 1e-8
CHECKS = (
    Case(
        "Two updates by hand",
        (*ONE, [[[0.25, 0.75]], [[0.6, 0.9]]], LOG3),
        (
            np.array([[7.0 / 8.0 * LOG3], [0.0]]),
            np.array([[1.0 + LOG3 / 8.0, -1.0 - LOG3 / 8.0]]),
            -np.log([[[2.0, 2.0]], [[1.0 + np.exp(-1.0), 1.0 + np.exp(1.0)]]]),
        ),
        why="At first h = 0 and both tokens have probability 1/2, so that tokens 0 and 1 are drawn. The first is"
        " right, A = 1/2 and -1/2, and the slope of the logits is [1/4, -1/4]. The head stays, since h = 0;"
        " E[0] gets log 3 · (1/4 + 1/4) = 1/2 · log 3. Now h = tanh(1/2 · log 3) = 1/2, the logits are 1/2 and"
        " -1/2, and π is 0.731 and 0.269. So 0.6 draws token 0 and 0.9 token 1; with the h of the first update"
        " both would have drawn token 1, and nothing would move. The slope of the logits is [1/4, -1/4] again;"
        " the head gets log 3 · 1/2 of it, and E[0] gets log 3 · (1/4 + 1/4) · (1 - h²) = 3/8 · log 3.",
        shown=True,
    ),
    Case(
        "A prompt that has a token twice",
        ([[LOG3 / 4.0], [1.0]], [[1.0, -1.0]], [[0, 0]], [0], [[[0.25, 0.75]]], 1.0),
        (
            np.array([[LOG3 / 4.0 + 0.75], [1.0]]),
            np.array([[1.125, -1.125]]),
            -np.log([[[1.0 + np.exp(-1.0), 1.0 + np.exp(1.0)]]]),
        ),
        why="h = tanh(1/2 · log 3) = 1/2; the slope of the sum is 1/2 · 3/4, and E[0] is in it twice",
    ),
    Case(
        "Prompts that are nearly the same",
        (
            [[0.0], [LOG3 / 2.0], [-LOG3 / 2.0]],
            [[2.0 * LOG3, 0.0, 0.0]],
            [[0, 0, 1], [0, 1, 1], [0, 0, 2]],
            [0, 0, 0],
            [[[0.05, 0.1]] * 3],
        ),
        (
            np.array([[0.0], [LOG3 / 2.0], [-LOG3 / 2.0]]),
            np.array([[2.0 * LOG3, 0.0, 0.0]]),
            np.log([[[3 / 5, 3 / 5], [3**1.6 / (3**1.6 + 2), 3**1.6 / (3**1.6 + 2)], [1 / 7, 1 / 7]]]),
        ),
        why="The sums are 1/2 · log 3, log 3 and -1/2 · log 3, so h is 1/2, 0.8 and -1/2, and the first logit"
        " log 3, 1.6 · log 3 and -log 3. All draw token 0, which is right: A = 0 and nothing moves.",
    ),
    Case(
        "A number on the edge",
        (*ONE, [[[0.25, 0.5]]], 1.0),
        (np.array([[0.5], [0.0]]), np.array([[1.0, -1.0]]), np.log([[[0.5, 0.5]]])),
        why="token 0 has a cumulative probability of 1/2, which is not larger than 1/2: token 1 is drawn",
    ),
    Holds("It learns which is larger", _learns, why="16 prompts, 30 updates"),
    Unchanged((np.ones((2, 2)), np.ones((2, 2)), np.eye(2, dtype=int), np.arange(2), np.ones((2, 2, 2)) / 3)),
)
