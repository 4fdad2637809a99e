"""The tests of `aggregation/soft_overlong`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Made, Rule, Unchanged, Whole


def sampled_lengths(context):
    """Sample numbers of tokens: anywhere, in the buffer, or next to one of its two ends."""
    budget, buffer = context.values["max_length"], context.values["buffer"]
    ranges = {
        "from 0 to twice the budget": (0, 2 * budget),
        "in the buffer": (budget - buffer, budget),
        "near its start": (budget - buffer - 1, budget - buffer + 1),
        "near its end": (budget - 1, budget + 1),
    }
    low, high = context.source.pick("lengths: numbers", ranges)
    lengths = np.floor(context.source.reals(low, high + 1 - 1e-9, context.shape("N")))
    return np.maximum(lengths, 0).astype(np.int64)


DOMAIN = Domain(
    {
        "lengths": Made(
            sampled_lengths,
            "integers, 0 to 2 max_length",
            axes="N",
            needs=frozenset(("max_length", "buffer")),
            meaning="number of tokens of each completion",
        ),
        "max_length": Whole((1, 20480), at=(1, 2, 10, 20480), meaning="the budget in tokens"),
        "buffer": Whole((1, 20480), at=(1, 2, 5, 4096), meaning="tokens over which the penalty grows"),
    },
    sizes={"N": (1, 5)},
    large={"N": 200},
    rules=(
        Rule("`buffer` is at most `max_length`.", lambda values: values["buffer"] <= values["max_length"]),
    ),
)


def reference(lengths, max_length, buffer):
    lengths = np.asarray(lengths, dtype=float)
    middle = (max_length - buffer - lengths) / buffer
    return np.where(lengths <= max_length - buffer, 0.0, np.where(lengths <= max_length, middle, -1.0))


CHECKS = (
    Case(
        "All parts of the formula",
        ([3, 8, 9, 10, 12], 10, 2),
        np.array([0.0, 0.0, -0.5, -1.0, -1.0]),
        why="The penalty is 0 up to 8 tokens, (10 - 2 - 9) / 2 = -0.5 for 9, and -1 from 10 on.",
        shown=True,
    ),
    Case(
        "The penalty grows over the whole budget",
        ([0, 5, 10], 10, 10),
        np.array([0.0, -0.5, -1.0]),
        why="(10 - 10 - 5) / 10 = -0.5. A `buffer` equal to `max_length` is allowed.",
        shown=True,
    ),
    Case(
        "The numbers of DAPO",
        ([16384, 17408, 20480], 20480, 4096),
        np.array([0.0, -0.25, -1.0]),
        why="(20480 - 4096 - 17408) / 4096 = -0.25.",
        shown=True,
    ),
    Unchanged((np.array([9, 12]), 10, 2)),
)
