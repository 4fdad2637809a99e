"""It goes on talking after the end."""

from dataclasses import replace
from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import (
    Case,
    Drawn,
    Function,
    Holds,
    Mutant,
    Problem,
    Unchanged,
    as_given,
    changing_inputs,
)
from grpo_ref.kernels.advantages import raw_rewards
from grpo_ref.kernels.aggregation import token_sum
from grpo_ref.learning.policies.table import policy_of
from grpo_ref.mistakes import stages
from grpo_ref.mistakes.kernels import padded_mean
from grpo_ref.mistakes.toy_loop import RIGHT, ToyLoop, countdown

SPEAKER = replace(RIGHT, walk=countdown)


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


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return rng.random((size, 4 * size, 4)), 2, rng.uniform(2.0, 8.0)


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
        "The patient: a training loop for completions that may end early. Token 0 ends a completion; what is drawn after it is"
        " padding. The logits of positions that no completion ever reached have moved all the same."
    ),
    task=(
        "Find the fault in `train(uniforms, vocabulary, learning_rate=8.0)` below and mend it. The policy has one row of logits per position. A completion is right, and"
        " gets reward 1, if it ends as its third token; else it gets 0. The loop shall do gradient ascent on\n\n"
        "    Σ m A log π / Σ m,    A the reward minus the mean of the batch\n\n"
        "over the G completions of a batch, with m = 1 up to and including the end, and 0 on padding."
    ),
    inputs="uniforms: (U, G, T) numbers in [0, 1).\nvocabulary: V.\nlearning_rate: a number.",
    output="(T, V) the logits after U updates, from zeros.",
    constraints="The fault is in one line; the rest is right.",
    source="TRL #6654 is a fault of this kind in a released trainer.",
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
            why="completions 1 1 0 and 0: rewards 1 and 0, A = ±1/2, four tokens of weight 1/4; the fourth position is padding in both",
            shown=True,
        ),
        Holds("Padding is not trained", _silence, why="both completions have ended by then"),
        Holds("It learns when to stop", _learns, why="200 updates of 16 completions"),
        Unchanged((np.full((2, 2, 4), 0.3), 2)),
        Drawn("Random runs agree", _draw, why="ends everywhere"),
    ),
    mutants=(
        changing_inputs(_reference),
        as_given(_of(replace(SPEAKER, weight=stages.everywhere)), "The padding is still trained."),
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
    others={"a list": lambda *inputs: _reference(*inputs).tolist()},
    rtol=1e-8,
)
