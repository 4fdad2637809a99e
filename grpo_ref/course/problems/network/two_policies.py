"""One prompt, two policies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.advantages import group_centered, raw_rewards
from grpo_ref.arrays import Floats
from grpo_ref.check.mistakes.toy_loop import draw_tokens
from grpo_ref.course.grading.domain.arguments import Real, Scalar, Whole
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import LEVELS, MIXED
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import (
    Case,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    as_given,
    changing_inputs,
)
from grpo_ref.course.grading.sampled_check import FromDomain
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


def _read(embedding: Floats, prompts: Any) -> Floats:
    """Return the hidden rows (P, D) of the prompts."""
    return np.asarray(np.tanh(embedding[prompts].sum(1)))


def _each_visit(slope: Floats, prompts: Any, like: Floats) -> Floats:
    """Add the slope of each prompt's sum (P, D) to the rows of its tokens (V, D)."""
    visits = layers.one_hot(prompts, len(like), like).sum(1)
    return np.asarray(layers.swapped(visits) @ slope)


def _once_a_prompt(slope: Floats, prompts: Any, like: Floats) -> Floats:
    """Add the slopes by index assignment, which counts a token once even if a prompt has it twice."""
    gradient = np.zeros_like(like)
    for row, prompt in zip(slope, prompts, strict=True):
        gradient[prompt] += row
    return gradient


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
        _read(past[-1].embedding, prompts),
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
        embedding: Any,
        head: Any,
        prompts: Any,
        answers: Any,
        uniforms: Any,
        learning_rate: float = 5.0,
    ) -> Any:
        """Return embedding and head after all updates, and the log-probability of each sampled token."""
        past = [Weights(np.array(embedding, dtype=float), np.array(head, dtype=float))]
        prompts, answers, log = np.asarray(prompts), np.asarray(answers), []
        for numbers in np.asarray(uniforms, dtype=float):
            slopes, chosen = self.slopes(past, prompts, answers, numbers)
            log.append(np.log(chosen))
            steps = (learning_rate * rate * slope for rate, slope in zip(self.rates, slopes, strict=True))
            past.append(Weights(*(old + step for old, step in zip(past[-1], steps, strict=True))))
        return *past[-1], np.array(log)

    def slopes(
        self, past: Sequence[Weights], prompts: Any, answers: Any, numbers: Floats
    ) -> tuple[Weights, Floats]:
        """Make one update: sample with the sampler's rows, and take the slope with the trainer's."""
        now, (seen, head) = past[-1], self.sampler(past, prompts)
        drawing = table.policy_of(seen @ head).probs
        tokens = draw_tokens(drawing[:, None], numbers)
        hidden = self.trained(_read(now.embedding, prompts), seen)
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


def _keeping(number: Callable[[int], int]) -> Run:
    """Return a program whose hidden rows are those of another update; `number` maps the updates so far to its
    index.
    """

    def sampler(past: Sequence[Weights], prompts: Any) -> tuple[Floats, Floats]:
        return _read(past[number(len(past) - 1)].embedding, prompts), past[-1].head

    return replace(RIGHT, sampler=sampler)


STALE = _keeping(lambda now: 0)


def _one_for_all(past: Sequence[Weights], prompts: Any) -> tuple[Floats, Floats]:
    """Use the hidden row of the first prompt for all prompts."""
    seen = _read(past[-1].embedding, prompts)
    return np.broadcast_to(seen[:1], seen.shape), past[-1].head


def _learns(f: Function) -> str | None:
    generator = np.random.default_rng(0)
    prompts = np.indices((4, 4)).reshape(2, -1).T
    answers, uniforms = prompts.max(1), generator.random((30, 16, 8))
    embedding, head = generator.normal(size=(4, 8)), 0.3 * generator.normal(size=(8, 4))
    after = [np.asarray(each, float) for each in f(embedding, head, prompts, answers, uniforms)]
    probs = table.policy_of(_read(after[0], prompts) @ after[1]).probs
    right = float(probs[np.arange(len(prompts)), answers].mean())
    return None if right > 0.9 else f"after 30 updates 0.9 of its answers should be right, {right:.2f} are"


LOG3 = float(np.log(3.0))
ONE: tuple[Any, ...] = ([[0.0], [0.0]], [[1.0, -1.0]], [[0]], [0])

PROBLEM = Problem(
    id="network/two_policies",
    title="One prompt, two policies",
    function="train",
    reference=RIGHT,
    background=(
        "This is a patient, as in chapter 8: a program with one fault. Its policy is a small network. An embedding"
        " turns each token of the prompt into a row of numbers, these are added up, and from the tanh of their sum"
        " the head makes the logits of the answer. To read a prompt is work, and all members of a group have the"
        " same prompt. So the sampler keeps what the network has made of a prompt, and takes it from there when the"
        " same prompt comes again. Samplers of large models do this with the keys and values of attention, and call"
        " it a prefix cache.\n\n"
        "The owner trains the network to answer with the larger of two digits from 0 to 4. There are 25 prompts, and"
        " all of them come in each of the 100 updates, with groups of 8. By the log, 0.82 of the answers are right"
        " in the last update. But of the answers that the saved weights give, 0.77 are right, and in a healthy run"
        " it is 0.99 for both. The program also returns the log-probability that the sampler had of each token"
        " drawn, and the owner compares it with what the trainer computes. In the first update they are equal. In"
        " the second the mean distance is 0.03, in the eleventh 0.79, and in the last 13 (all are means of 16 runs)."
        " In a healthy run it is 0 in every update, but for rounding."
    ),
    task=(
        "Find the fault in `train(embedding, head, prompts, answers, uniforms, learning_rate=5.0)` below and mend"
        " it: one line is wrong or in the wrong place, the rest is right. The program shall do the following. With E"
        " the embedding and W the head, the policy answers a prompt of the tokens s₁ to s_L by\n\n"
        "    h = tanh(E[s₁] + ... + E[s_L]),    z = h W,    π(v | prompt) = exp(z[v]) / Σ_u exp(z[u])\n\n"
        "In each of the U updates\n\n"
        "1. every member g of the group of prompt p draws a token: the first one whose cumulative probability"
        " π(0) + ... + π(token), with the weights of this update, is larger than its number in `uniforms`;"
        " log π(token) is written down\n"
        "2. its reward is 1 if the token is the right answer, `answers[p]`, and otherwise 0; its advantage A is this"
        " reward minus the mean reward of its group\n"
        "3. E and W take one step uphill, with both slopes taken before anything is changed and A held constant:\n\n"
        "    E += learning_rate · ∂J/∂E,    W += learning_rate · ∂J/∂W,    J = 1/(P G) Σ A log π(token | prompt)\n\n"
        "The gradient of log π(token | prompt) with respect to z is the one-hot vector of the token minus π. What is"
        " kept of a prompt must not change the result, only save work."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output=(
        "A tuple of three arrays: E, (V, D), and W, (D, V), after U updates, and the log-probabilities with which the"
        " tokens were drawn, (U, P, G)."
    ),
    constraints=(
        "A prompt may have a token twice, and two prompts may be the same.\n"
        "After 30 updates on the larger of two digits, more than 0.9 of the answers must be right."
    ),
    notes=(
        "An issue of vLLM (#9744, October 2024) reports this fault: after new weights were loaded, the new model ran"
        " with the old prefix cache. Since version 0.7.0 a trainer can have the cache reset. A small distance"
        " between the log-probabilities of sampler and trainer is left in practice, since they round differently;"
        " trainers correct for it with a ratio. A distance that grows from update to update is a fault, and a ratio"
        " is no cure for it."
    ),
    source="Williams 1992, REINFORCE, with the mean of the group for a baseline.",
    hints=(
        "In which update is the sampler's π first another one than the trainer's? What has changed since the one before?",
        "Print `kept[key] - hidden`. What is kept was made with an embedding: with which one?",
        "Move `kept = {}` into the loop over the updates, so that each update begins with nothing kept.",
    ),
    checks=(
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
        Unchanged(
            (np.ones((2, 2)), np.ones((2, 2)), np.eye(2, dtype=int), np.arange(2), np.ones((2, 2, 2)) / 3)
        ),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(RIGHT),
        as_given(
            STALE,
            "What is kept of a prompt is still that of the first update: the embedding has changed since.",
        ),
        Mutant(
            "another log",
            replace(STALE, logged=lambda sampler, trainer: trainer),
            "The log has the trainer's numbers now, so that nothing seems to be wrong; but the draws are still those"
            " of the old embedding.",
        ),
        Mutant(
            "trained as it was drawn",
            replace(STALE, trained=lambda trainer, sampler: sampler),
            "Sampler and trainer agree now, but on what an old embedding made of the prompt: the slope is that of"
            " a policy which is neither the old nor the new one.",
        ),
        Mutant(
            "corrected with a ratio",
            replace(STALE, correction=lambda sampler, trainer: trainer / sampler),
            "The draws are still those of the old embedding; a ratio corrects for them in the mean alone. Draw"
            " with the weights of this update.",
        ),
        Mutant(
            "one update behind",
            _keeping(lambda now: max(now - 1, 0)),
            "What is kept is one update old: throw it away after the step, not before.",
        ),
        Mutant(
            "thrown away once",
            _keeping(lambda now: min(now, 1)),
            "What is kept is thrown away after the first update and then never again.",
        ),
        Mutant(
            "thrown away in every other update",
            _keeping(lambda now: now - now % 2),
            "What is kept serves two updates; the second one has other weights.",
        ),
        Mutant(
            "the whole sampler stays",
            replace(STALE, sampler=lambda past, prompts: (_read(past[0].embedding, prompts), past[0].head)),
            "Now the whole sampler is that of the start: the probabilities are kept.",
        ),
        Mutant(
            "one prompt for all",
            replace(RIGHT, sampler=_one_for_all),
            "All prompts are answered as the first one: what is kept belongs to one prompt.",
        ),
        Mutant(
            "embedding frozen",
            replace(RIGHT, rates=(0.0, 1.0)),
            "The embedding is no longer trained; then what is kept stays right, but the network hardly learns.",
        ),
        Mutant(
            "visits lost",
            replace(RIGHT, visits=_once_a_prompt),
            "np.add.at was right: a token that a prompt has twice counts once now.",
        ),
        Mutant(
            "bend left out",
            replace(RIGHT, bend=np.ones_like),
            "The derivative of tanh, 1 - h², was right; it is gone now.",
        ),
        Mutant(
            "no baseline",
            replace(RIGHT, advantage=raw_rewards),
            "The baseline was right; it is gone now.",
        ),
        Mutant(
            "sum for mean",
            replace(RIGHT, share=lambda draws: 1.0),
            "The mean over prompts and members was right; it is a sum now.",
        ),
        Mutant("downhill", replace(RIGHT, rates=(-1.0, -1.0)), "The sign was right; it is turned over now."),
    ),
    others={"a list": lambda *inputs, **named: tuple(each.tolist() for each in RIGHT(*inputs, **named))},
    rtol=1e-8,
)
