"""The tests of `aggregation/completion_mask`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Unchanged, Whole

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


def reference(tokens, eos):
    ends = np.asarray(tokens) == eos
    return (np.cumsum(ends, axis=-1) - ends == 0).astype(float)


CHECKS = (
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
)
