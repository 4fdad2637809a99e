"""Where does a completion end?"""

from typing import Any

import numpy as np

from grpo_ref.course.grading.problem import Case, Drawn, Function, Mutant, Problem, Unchanged, changing_inputs


def _reference(tokens: Any, eos: int) -> Any:
    ended = np.cumsum(np.asarray(tokens) == eos, axis=-1)
    before = np.concatenate([np.zeros((len(ended), 1), dtype=int), ended[:, :-1]], axis=-1)
    return (before == 0).astype(float)


def _draw(rng: "np.random.Generator", size: int) -> tuple[Any, ...]:
    return rng.integers(0, 4, (size, size + 1)), int(rng.integers(0, 4))


def _of(formula: Any) -> Function:
    return lambda tokens, eos: formula(np.asarray(tokens) == eos, np.asarray(tokens))


PROBLEM = Problem(
    id="aggregation/completion_mask",
    title="Where does a completion end?",
    function="completion_mask",
    reference=_reference,
    background=(
        "Completions of a batch are padded to one length. The mask says which tokens the policy chose: up to the first"
        " end-of-sequence token, and that one too, since ending is a choice that has to be learned."
    ),
    task="Write `completion_mask(tokens, eos)`: 1 up to and including the first `eos` of each row, 0 after it.",
    inputs="tokens: (N, T) whole numbers.\neos: the end-of-sequence token.",
    output="(N, T) of numbers 0 and 1; a row without `eos` was cut off and is 1 everywhere.",
    source="TRL `GRPOTrainer._generate_and_score_completions`.",
    hints=(
        "How many ends have been seen strictly before this token?",
        "np.cumsum(tokens == eos, axis=-1) counts the ends up to and including each token.",
        "is_eos = tokens == eos; (np.cumsum(is_eos, -1) - is_eos == 0)",
    ),
    checks=(
        Case(
            "An end, and a row cut off",
            ([[5, 0, 3], [5, 4, 3]], 0),
            np.array([[1.0, 1, 0], [1, 1, 1]]),
            why="the end counts",
            shown=True,
        ),
        Case("Several ends", ([[0, 5, 0, 0]], 0), np.array([[1.0, 0, 0, 0]]), why="the first one ends it"),
        Case(
            "Another end token",
            ([[0, 7, 0]], 7),
            np.array([[1.0, 1, 0]]),
            why="0 is a token like any other here",
        ),
        Unchanged((np.array([[5, 0, 3]]), 0)),
        Drawn("Random rows agree", _draw, why="every token may be the end"),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "end left out",
            _of(lambda e, t: (np.cumsum(e, -1) == 0) * 1.0),
            "The end-of-sequence token is left out; ending is a choice too.",
        ),
        Mutant("every token but ends", _of(lambda e, t: ~e * 1.0), "What comes after the end counts here."),
        Mutant(
            "padding is zero",
            _of(lambda e, t: (t != 0) * 1.0),
            "This masks token 0, whatever the end token is.",
        ),
        Mutant(
            "up to the last end",
            _of(
                lambda e, t: (
                    np.where(e.any(-1, keepdims=True), np.cumsum(e[:, ::-1], -1)[:, ::-1] > 0, True) * 1.0
                )
            ),
            "The first end closes the completion, not the last.",
        ),
        Mutant(
            "rows cut off are dropped",
            _of(lambda e, t: ((np.cumsum(e, -1) - e == 0) & e.any(-1, keepdims=True)) * 1.0),
            "A row without an end keeps all its tokens here; dropping such rows is another choice, overlong filtering.",
        ),
        Mutant("inverted", lambda t, eos: 1.0 - _reference(t, eos), "This marks the padding."),
        Mutant(
            "one token too many",
            _of(
                lambda e, t: (
                    (np.cumsum(e, -1) - e - np.roll(e, 1, -1) * (np.arange(e.shape[-1]) > 0) <= 0) * 1.0
                )
            ),
            "One token after the end counts here.",
        ),
        Mutant(
            "one length for all",
            _of(lambda e, t: np.broadcast_to((np.cumsum(e[:1], -1) - e[:1] == 0) * 1.0, t.shape)),
            "Each row has its own end.",
        ),
    ),
    others={
        "loops": lambda tokens, eos: [
            [1 if eos not in row[:k] else 0 for k in range(len(row))] for row in np.asarray(tokens).tolist()
        ]
    },
)
