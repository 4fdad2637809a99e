"""It goes on talking after the end."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.advantages import raw_rewards
from grpo_ref.aggregation import token_sum
from grpo_ref.check.mistakes import stages
from grpo_ref.check.mistakes.kernels import padded_mean
from grpo_ref.check.mistakes.toy_loop import RIGHT, ToyLoop, countdown
from grpo_ref.course.grading.domain.arguments import Real, Scalar, Whole
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.domain.rows import MIXED, Pattern
from grpo_ref.course.grading.domain.source import Source
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
from grpo_ref.learning.policies.table import policy_of

SPEAKER = replace(RIGHT, walk=countdown)


def _third_is_the_end(source: Source, uniforms: Any) -> Any:
    """Begin some completions with two large numbers, which sample words, and a small one, which samples the
    end.
    """
    chosen = source.flags((*uniforms.shape[:-1], 1))
    position = np.arange(uniforms.shape[-1])
    forced = np.where(position < 2, 0.9 + 0.09 * uniforms, np.where(position == 2, 0.1 * uniforms, uniforms))
    return np.where(chosen, forced, uniforms)


DOMAIN = Domain(
    {
        "uniforms": Real(
            "U G T",
            (0, 0.999),
            at=(0, 0.25, 0.5, 0.75),
            rows=(MIXED, Pattern("some end as the third token", _third_is_the_end)),
            whole=False,
            meaning="random numbers, one for each token",
        ),
        "vocabulary": Whole((2, 4), meaning="V, the number of tokens"),
        "learning_rate": Scalar(8.0, (0.01, 10), usual=((0.1, 10),), at=(1,), meaning="length of a step"),
    },
    sizes={"U": (1, 4), "G": (1, 6), "T": (1, 6)},
    large={"U": 12, "G": 40, "T": 20},
)


def _two_words(tokens: Any, mask: Any) -> Any:
    ended = (mask * (tokens == 0)).sum(-1) > 0
    return ((mask.sum(-1) == 3) & ended).astype(float)


def _of(loop: ToyLoop, reward: Any = _two_words) -> Function:
    def train(uniforms: Any, vocabulary: int, learning_rate: float = 8.0) -> Any:
        numbers = np.asarray(uniforms, dtype=float)[:, None]
        start = np.zeros((numbers.shape[-1], vocabulary))
        return loop(start, lambda update, tokens, mask: reward(tokens, mask), numbers, learning_rate)

    return train


_reference = _of(SPEAKER)


def _walk_without(mask_of: Any) -> Any:
    def walk(probs: Any, uniforms: Any) -> Any:
        states, tokens, mask = countdown(probs, uniforms)
        return states, tokens, mask_of(tokens, mask)

    return walk


def _learns(f: Function) -> str | None:
    numbers = np.random.default_rng(0).random((200, 16, 5))
    probs = policy_of(np.asarray(f(numbers, 3), dtype=float)).probs
    chance = (1 - probs[0, 0]) * (1 - probs[1, 0]) * probs[2, 0]
    return (
        None
        if chance > 0.9
        else f"after 200 updates it should stop after two words with probability 0.9, it does with {chance:.2f}"
    )


def _silence(f: Function) -> str | None:
    right, wrong = [0.9, 0.9, 0.1, 0.9, 0.9], [0.1, 0.9, 0.9, 0.1, 0.1]
    logits = np.asarray(f(np.array([[right, wrong]]), 2), dtype=float)
    kept = np.abs(logits[3:]).max() == 0.0
    return None if kept else "rows that are only reached after the end should stay as they were"


PROBLEM = Problem(
    id="clinic/talking_on",
    title="It goes on talking after the end",
    function="train",
    reference=_reference,
    background=(
        "A small language: its tokens are 0 to V - 1, and token 0 ends a completion. Completions of different"
        " lengths lie in one rectangular array; what was drawn after the end is padding, which nobody said and"
        " which must not be trained. A mask has 1 on the tokens and 0 on the padding. The policy is a table with"
        " one row of logits for each position; the softmax of a row gives the probability of each token there. In"
        " the patient below the rows of late positions move although both completions of a batch have ended long"
        " before: by 0.4 in one update, where they should stay at 0. It learns what it shall all the same, which is"
        " why nobody noticed."
    ),
    task=(
        "Find the fault in `train(uniforms, vocabulary, learning_rate=8.0)` below and mend it: one line is wrong,"
        " the rest is right. The program shall do the following. The table of logits, (T, V), is zeros at first."
        " In each of the U updates\n\n"
        "1. π is the softmax of each row. At every position t of each of the G completions a token is drawn: the"
        " first one whose cumulative probability π(0 | t) + ... + π(token | t) is larger than its number in"
        " `uniforms`\n"
        "2. the mask m is 1 up to and including the first token 0, and 0 after it; without a token 0 it is 1"
        " everywhere\n"
        "3. the reward of a completion is 1 if the third token ends it, so that it says two words and stops;"
        " otherwise it is 0\n"
        "4. its advantage A is the reward minus the mean reward of the batch, all G completions\n"
        "5. the logits take one step uphill, logits += learning_rate · ∂J/∂logits, with A held constant, on\n\n"
        "    J = Σ m A log π(token | t) / Σ m\n\n"
        "Both sums run over all positions of all completions of the batch. The gradient of log π(token | t) with"
        " respect to row t is the one-hot vector of the token minus π."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(T, V) the logits after U updates.",
    constraints=(
        "If T is less than 3 every reward is 0, and nothing moves.\n"
        "After 200 updates of 16 completions with V = 3 and T = 5 the program must say two words and stop with a"
        " probability above 0.9."
    ),
    notes="An issue of TRL (#6654) reports a fault of this kind in a released trainer.",
    source="verl `token-mean`, for the mean over the tokens of the batch.",
    hints=(
        "Which tokens are in `mask`? Print it beside the tokens.",
        "The mask is computed, and then? Follow the name to the last line that reads it.",
        "weights = mask / mask.sum()",
    ),
    checks=(
        Case(
            "One update by hand",
            ([[[0.75, 0.75, 0.25, 0.25], [0.25, 0.75, 0.75, 0.75]]], 2, 1.0),
            np.array([[-0.5, 0.5], [-0.25, 0.25], [0.25, -0.25], [0.0, 0.0]]) / 4,
            why="Each token has probability 1/2. The completions are 1 1 0 and 0, so the rewards are 1 and 0,"
            " A = 1/2 and -1/2, and each of the four tokens has weight 1/4. The first position gets"
            " (1/2 · [-1/2, 1/2] - 1/2 · [1/2, -1/2]) / 4, the second 1/2 · [-1/2, 1/2] / 4, the third"
            " 1/2 · [1/2, -1/2] / 4. At the fourth both have ended.",
            shown=True,
        ),
        Case(
            "A number on the edge",
            ([[[0.75, 0.5, 0.25, 0.25], [0.25, 0.75, 0.75, 0.75]]], 2, 1.0),
            np.array([[-0.5, 0.5], [-0.25, 0.25], [0.25, -0.25], [0.0, 0.0]]) / 4,
            why="token 0 has a cumulative probability of 1/2, which is not larger than 1/2: token 1 is drawn",
        ),
        Holds("Padding is not trained", _silence, why="both completions have ended by then"),
        Holds("It learns when to stop", _learns, why="200 updates of 16 completions"),
        Unchanged((np.full((2, 2, 4), 0.3), 2)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        as_given(
            _of(replace(SPEAKER, weight=stages.everywhere)),
            "The padding is still trained: every position has the same weight.",
        ),
        Mutant(
            "padding in the denominator",
            _of(replace(SPEAKER, weight=padded_mean)),
            "The padding is out of the sum, but still in the number of tokens.",
        ),
        Mutant(
            "the end left out",
            _of(
                replace(SPEAKER, walk=_walk_without(lambda t, m: m * (t != 0))),
                lambda t, m: (m.sum(-1) == 2).astype(float),
            ),
            "The end itself is left out now; ending is a choice that has to be learned.",
        ),
        Mutant(
            "mean of means",
            _of(replace(SPEAKER, weight=lambda m: m / m.sum(-1, keepdims=True) / m.shape[-2])),
            "Every token counts the same; this divides by each completion's own length.",
        ),
        Mutant(
            "sum for mean",
            _of(replace(SPEAKER, weight=token_sum)),
            "The division by the number of tokens was right; it is gone now.",
        ),
        Mutant(
            "no baseline",
            _of(replace(SPEAKER, advantage=raw_rewards)),
            "The baseline was right; it is gone now.",
        ),
        Mutant(
            "downhill", _of(replace(SPEAKER, direction=-1.0)), "The sign was right; it is turned over now."
        ),
        Mutant(
            "visits lost",
            _of(replace(SPEAKER, back=stages.repeats_lost)),
            "np.add.at was right: a repeated entry is written once now.",
        ),
        Mutant(
            "two words, ended or not",
            _of(SPEAKER, lambda t, m: (m.sum(-1) >= 3).astype(float)),
            "Only a completion that ends as its third token is right.",
        ),
    ),
    others={"a list": lambda *inputs, **named: _reference(*inputs, **named).tolist()},
    rtol=1e-8,
)
