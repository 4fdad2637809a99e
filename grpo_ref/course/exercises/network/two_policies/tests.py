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
    Rule,
    Scalar,
    Unchanged,
    Whole,
)
from grpo_ref.learning.policies import layers, table

MARGIN = 1e-8


def _away_from_the_sums(given):
    """Return whether no uniform number is near a cumulative probability of its update."""
    past, _ = RIGHT.run(**given)
    prompts, uniforms = np.asarray(given["prompts"]), np.asarray(given["uniforms"], float)
    for weights, numbers in zip(past, uniforms, strict=False):
        probs = table.policy_of(hidden_rows(weights.embedding, prompts) @ weights.head).probs
        if (np.abs(probs.cumsum(-1)[:, None] - numbers[..., None]) < MARGIN).any():
            return False
    return True


DOMAIN = Domain(
    {
        "embedding": Real(
            "V D", (-3, 3), usual=((-1, 1), (-3, 3)), rows=(MIXED, LEVELS), meaning="E, one row per token"
        ),
        "head": Real(
            "D V", (-3, 3), usual=((-1, 1), (-3, 3)), rows=(MIXED, LEVELS), meaning="W, weights of the logits"
        ),
        "prompts": Whole((0, "V - 1"), axes="P T", meaning="P prompts of T tokens, in all updates"),
        "answers": Whole((0, "V - 1"), axes="P", meaning="the right answer to each prompt"),
        "uniforms": Real("U P G", (0, 0.999), whole=False, meaning="one random number per sample"),
        "learning_rate": Scalar(5.0, (0.01, 50), usual=((1, 50), (5, 20)), at=(1, 50), meaning="step size"),
    },
    sizes={"V": (2, 4), "D": (1, 4), "P": (1, 3), "T": (1, 3), "U": (1, 5), "G": (1, 8)},
    large={"V": 12, "D": 12, "P": 12, "T": 12, "U": 10, "G": 40},
    rules=(
        Rule(
            "No number in `uniforms` is within 1e-8 of a cumulative probability of its update.",
            _away_from_the_sums,
        ),
    ),
)


class Weights(NamedTuple):
    """The embedding (V, D) and the head (D, V)."""

    embedding: Floats
    head: Floats


def hidden_rows(embedding, prompts):
    """Return the hidden rows (P, D) of the prompts."""
    return np.asarray(np.tanh(embedding[prompts].sum(1)))


def _added_up(sums, prompts, embedding):
    """Add the gradient of each prompt's sum (P, D) to the rows of its tokens (V, D)."""
    counts = layers.one_hot(prompts, len(embedding), embedding).sum(1)
    return np.asarray(layers.swapped(counts) @ sums)


@dataclass(frozen=True)
class Training:
    """The training program, with exchangeable stages.

    Attributes:
      sampler: (weights after each update so far, prompts) -> hidden rows and head used for sampling.
      trained: (hidden rows of the trainer, hidden rows of the sampler) -> the rows at which the gradient is
        taken.
      correction: (π of the sampler, π of the trainer), both (P, G) -> factor of the advantages.
      logged: (π of the sampler, π of the trainer), both (P, G) -> the one whose logarithm is returned.
      advantage: rewards -> advantages.
      collect: (gradients of the sums, prompts, embedding) -> gradient of the embedding.
      derivative: tanh -> its derivative.
      share: uniform numbers -> the weight of each sampled token.
      rates: factors of the learning rates of embedding and head; -1 descends.
    """

    sampler: Callable[[Sequence[Weights], Any], tuple[Floats, Floats]] = lambda past, prompts: (
        hidden_rows(past[-1].embedding, prompts),
        past[-1].head,
    )
    trained: Callable[[Floats, Floats], Floats] = lambda trainer, sampler: trainer
    correction: Callable[[Floats, Floats], Floats] = lambda sampler, trainer: np.ones_like(trainer)
    logged: Callable[[Floats, Floats], Floats] = lambda sampler, trainer: sampler
    advantage: Callable[[Any], Any] = group_centered
    collect: Callable[[Floats, Any, Floats], Floats] = _added_up
    derivative: Callable[[Floats], Floats] = lambda hidden: 1.0 - hidden**2
    share: Callable[[Floats], float] = lambda numbers: 1.0 / numbers.size
    rates: tuple[float, float] = (1.0, 1.0)

    def __call__(self, embedding, head, prompts, answers, uniforms, learning_rate=5.0):
        """Return embedding and head after all updates, and the log-probability of each sampled token."""
        past, log_probs = self.run(embedding, head, prompts, answers, uniforms, learning_rate)
        return *past[-1], log_probs

    def run(self, embedding, head, prompts, answers, uniforms, learning_rate):
        """Return the weights before the first and after each update, and the log-probabilities (U, P, G)."""
        past = [Weights(np.array(embedding, dtype=float), np.array(head, dtype=float))]
        prompts, answers, log_probs = np.asarray(prompts), np.asarray(answers), []
        for numbers in np.asarray(uniforms, dtype=float):
            gradients, chosen = self.gradients(past, prompts, answers, numbers)
            log_probs.append(np.log(chosen))
            steps = (
                learning_rate * rate * gradient for rate, gradient in zip(self.rates, gradients, strict=True)
            )
            past.append(Weights(*(old + step for old, step in zip(past[-1], steps, strict=True))))
        return past, np.array(log_probs)

    def gradients(self, past, prompts, answers, numbers):
        """Sample with the sampler's rows, and return the gradients at the trainer's, and π of the tokens."""
        now, (stored, head) = past[-1], self.sampler(past, prompts)
        sampler_probs = table.policy_of(stored @ head).probs
        tokens = draw_tokens(sampler_probs[:, None], numbers)
        hidden = self.trained(hidden_rows(now.embedding, prompts), stored)
        probs = table.policy_of(layers.linear(hidden, now.head)).probs
        sampler, trainer = (np.take_along_axis(each, tokens, -1) for each in (sampler_probs, probs))
        advantages = self.advantage((tokens == answers[:, None]).astype(float))
        upstream = self.share(numbers) * self.correction(sampler, trainer) * advantages
        places = np.broadcast_to(np.arange(len(prompts))[:, None], tokens.shape)
        at_logits = table.pull_back(upstream[..., None], places[..., None], tokens[..., None], probs)
        to_hidden, of_head = layers.linear_back(at_logits, hidden, now.head)
        of_embedding = self.collect(to_hidden * self.derivative(hidden), prompts, now.embedding)
        return Weights(of_embedding, of_head), self.logged(sampler, trainer)


RIGHT = Training()


def task(digits, updates, seed):
    """Return E, W, prompts, answers and uniform numbers; the right answer is the larger of two digits."""
    generator = np.random.default_rng(seed)
    prompts = np.indices((digits, digits)).reshape(2, -1).T
    uniforms = generator.random((updates, len(prompts), 8))
    embedding = generator.normal(size=(digits, 8))
    return embedding, 0.3 * generator.normal(size=(8, digits)), prompts, prompts.max(1), uniforms


def _learns_the_larger_digit(f):
    embedding, head, prompts, answers, uniforms = task(4, 30, 0)
    after = [np.asarray(each, float) for each in f(embedding, head, prompts, answers, uniforms)]
    probs = table.policy_of(hidden_rows(after[0], prompts) @ after[1]).probs
    right = float(probs[np.arange(len(prompts)), answers].mean())
    return (
        None
        if right > 0.9
        else f"after 30 updates 0.9 of the answers should be right, but the fraction is {right:.2f}"
    )


LOG3 = float(np.log(3.0))

ONE: tuple[Any, ...] = ([[0.0], [0.0]], [[1.0, -1.0]], [[0]], [0])


def _log_sigmoid(z):
    return -np.log1p(np.exp(-z))


# The logits after two updates are ±Z3: h = tanh(7/8 · log 3) and W = (1 + log 3 / 8) (1, -1).
H3 = (3.0**1.75 - 1.0) / (3.0**1.75 + 1.0)
Z3 = H3 * (1.0 + LOG3 / 8.0)

# In the third update both tokens are sampled again, so the gradient at the logits is 1/4 (1, -1) once more.
E3 = 7.0 / 8.0 * LOG3 + LOG3 / 2.0 * (1.0 + LOG3 / 8.0) * (1.0 - H3**2)
W3 = 1.0 + LOG3 / 8.0 + LOG3 / 4.0 * H3

reference = RIGHT
RTOL = 1e-8
CHECKS = (
    Case(
        "Three updates",
        (*ONE, [[[0.25, 0.75]], [[0.6, 0.9]], [[0.8, 0.9]]], LOG3),
        (
            np.array([[E3], [0.0]]),
            np.array([[W3, -W3]]),
            np.array([[_log_sigmoid(np.array([z, -z]))] for z in (0.0, 1.0, 2.0 * Z3)]),
        ),
        why=(
            "The first update samples tokens 0 and 1 and gives E[0] = 1/2 · log 3. Then h = 1/2, π is 0.731 and 0.269,"
            " and 0.6 and 0.9 give tokens 0 and 1. In the third update π is 0.845 and 0.155, and 0.8 and 0.9 give tokens"
            " 0 and 1. With an old h, the second or the third update samples other tokens."
        ),
        shown=True,
    ),
    Case(
        "A token twice in one prompt",
        ([[LOG3 / 4.0], [1.0]], [[1.0, -1.0]], [[0, 0]], [0], [[[0.25, 0.75]]], 1.0),
        (
            np.array([[LOG3 / 4.0 + 0.75], [1.0]]),
            np.array([[1.125, -1.125]]),
            -np.log([[[1.0 + np.exp(-1.0), 1.0 + np.exp(1.0)]]]),
        ),
        why="h = 1/2, so the sum of the rows gets the gradient 1/2 · 3/4, and E[0] occurs twice in the sum.",
        shown=True,
    ),
    Case(
        "Prompts with the same tokens in other numbers",
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
        why=(
            "The sums are 1/2 · log 3, log 3 and -1/2 · log 3, so h is 1/2, 0.8 and -1/2. All samples are token 0, the"
            " right answer, so A = 0 and the weights do not change."
        ),
    ),
    Holds(
        "The network learns which digit is larger", _learns_the_larger_digit, why="16 prompts, 30 updates."
    ),
    Unchanged((np.ones((2, 2)), np.ones((2, 2)), np.eye(2, dtype=int), np.arange(2), np.ones((2, 2, 2)) / 3)),
)
