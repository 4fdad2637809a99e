"""The tests of `aggregation/completion_mask`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Unchanged, Whole

DOMAIN = Domain(
    {
        "tokens": Whole((0, "V - 1"), axes="N T", meaning="token ids, one row per completion"),
        "eos": Whole((0, "V - 1"), meaning="id of the end-of-sequence token"),
    },
    sizes={"N": (1, 4), "T": (0, 6), "V": (1, 5)},
    large={"N": 40, "T": 300, "V": 150_000},
)


def reference(tokens, eos):
    is_eos = np.asarray(tokens) == eos
    return (np.cumsum(is_eos, axis=-1) - is_eos == 0).astype(float)


CHECKS = (
    Case(
        "One completion ends, one is cut off",
        ([[5, 0, 3], [5, 4, 3]], 0),
        np.array([[1.0, 1, 0], [1, 1, 1]]),
        why="The first row ends at its second token, which still counts. The second row has no 0.",
        shown=True,
    ),
    Case(
        "Another eos token",
        ([[0, 7, 0, 7]], 7),
        np.array([[1.0, 1, 0, 0]]),
        why="The first 7 ends the completion, and token 0 is an ordinary token.",
        shown=True,
    ),
    Case(
        "The completion ends at once",
        ([[2, 2, 5], [5, 6, 2]], 2),
        np.array([[1.0, 0, 0], [1, 1, 1]]),
        why="No token comes before the first 2, so its mask is 1. No padding follows the last 2.",
        shown=True,
    ),
    Case(
        "Neighbors in a large vocabulary",
        ([[151643, 151645, 151644, 151645]], 151644),
        np.array([[1.0, 1, 1, 0]]),
        why="151643 and 151645 are not `eos`, although they are close to it.",
    ),
    Case(
        "Tokens that differ by a power of two",
        ([[65538, 258, 2, 7]], 2),
        np.array([[1.0, 1, 1, 0]]),
        why="65538 and 258 are not 2. Types of 8 or 16 bits are too small for them.",
    ),
    Case(
        "Many eos tokens",
        ([[0] * 300], 0),
        np.eye(1, 300),
        why="The first one ends the completion. A count of 300 does not fit into 8 bits.",
    ),
    Unchanged((np.array([[5, 0, 3]]), 0)),
)
