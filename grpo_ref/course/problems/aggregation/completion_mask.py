"""Exercise: find where each completion ends."""

from typing import Any

import numpy as np

from grpo_ref.course.grading.domain.arguments import Whole
from grpo_ref.course.grading.domain.domain import Domain
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain

DOMAIN = Domain(
    {
        "tokens": Whole(
            (0, "V - 1"),
            axes="N T",
            meaning="one row per completion, the numbers of its tokens in a vocabulary of V",
        ),
        "eos": Whole((0, "V - 1"), meaning="the number of the end-of-sequence token"),
    },
    sizes={"N": (1, 4), "T": (0, 6), "V": (1, 5)},
    large={"N": 40, "T": 300, "V": 150_000},
)


def _reference(tokens: Any, eos: int) -> Any:
    ends = np.asarray(tokens) == eos
    return (np.cumsum(ends, axis=-1) - ends == 0).astype(float)


def _of(formula: Any) -> Function:
    return lambda tokens, eos: formula(np.asarray(tokens) == eos, np.asarray(tokens))


PROBLEM = Problem(
    id="aggregation/completion_mask",
    title="Where does a completion end?",
    function="completion_mask",
    reference=_reference,
    background=(
        "A language model answers a prompt token by token until it picks a special token, the end of the"
        " sequence"
        " (eos), or until its budget of tokens is used up and the answer, the completion, is cut off. The"
        " completions"
        " of a batch have different lengths, but an array needs rows of one length; so the shorter ones are"
        " filled up"
        " with tokens that mean nothing, the padding. A mask says which tokens the model chose itself. Only"
        " those may"
        " be trained on. The end token is one of them: stopping in time is a choice, too, and has to be"
        " learned."
    ),
    task=(
        "Write `completion_mask(tokens, eos)`. In each row it gives 1 to every token up to and including the"
        " first"
        " `eos`, and 0 to all tokens after it:\n\n"
        "    mₜ = 1 if none of the tokens before t is eos, else 0\n\n"
        "A row without `eos` was cut off and is 1 everywhere. Only `eos` says where a row ends: what stands"
        " after it"
        " may be any token, `eos` itself included, and 0 is a token like any other."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(N, T) of 0 and 1, as numbers or truth values.",
    notes=(
        "TRL's `mask_truncated_completions` goes further and sets the whole row of a completion that was cut"
        " off to 0;"
        " DAPO calls this overlong filtering."
    ),
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
            why=(
                "The first row ends at its second token, which still counts; the second row has no 0, so it"
                " was cut"
                " off and counts as a whole."
            ),
            shown=True,
        ),
        Case("Several ends", ([[0, 5, 0, 0]], 0), np.array([[1.0, 0, 0, 0]]), why="the first one ends it"),
        Case(
            "Another end token",
            ([[0, 7, 0]], 7),
            np.array([[1.0, 1, 0]]),
            why="0 is a token like any other here",
        ),
        Case(
            "Neighbors in a large vocabulary",
            ([[151643, 151645, 151644, 151645]], 151644),
            np.array([[1.0, 1, 1, 0]]),
            why="151643 and 151645 are other tokens, near as they are",
        ),
        Case(
            "Tokens that differ by a power of two",
            ([[65538, 258, 2, 7]], 2),
            np.array([[1.0, 1, 1, 0]]),
            why="65538 and 258 are other tokens than 2, in whatever type they are kept",
        ),
        Case(
            "Many ends",
            ([[0] * 300], 0),
            np.eye(1, 300),
            why="the first one ends it, and 299 more change nothing, however they are counted",
        ),
        Unchanged((np.array([[5, 0, 3]]), 0)),
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "end left out",
            _of(lambda e, t: (np.cumsum(e, -1) == 0) * 1.0),
            "The end-of-sequence token is left out; ending is a choice too.",
        ),
        Mutant(
            "every token but ends",
            _of(lambda e, t: ~e * 1.0),
            "Every token but `eos` itself counts here: the first `eos` counts too, and what comes after it"
            " does not.",
        ),
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
            "A row without an end keeps all its tokens here; dropping such rows is another choice, overlong"
            " filtering.",
        ),
        Mutant(
            "argmax of a row without an end",
            _of(lambda e, t: (np.arange(t.shape[-1]) <= e.argmax(-1)[:, None]) * 1.0),
            "A row without `eos` keeps only its first token here: argmax of a row that is False everywhere is 0.",
        ),
        Mutant(
            "an end at the start overlooked",
            _of(
                lambda e, t: (
                    (np.arange(t.shape[-1]) <= np.where(e.argmax(-1), e.argmax(-1), 10**9)[:, None]) * 1.0
                )
            ),
            "An `eos` that is the very first token is overlooked: argmax gives 0 for it, and for no `eos` as well.",
        ),
        Mutant(
            "ends of the whole batch",
            _of(lambda e, t: (np.cumsum(e).reshape(e.shape) - e == 0) * 1.0),
            "The ends are counted through the whole batch; each row begins anew.",
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
