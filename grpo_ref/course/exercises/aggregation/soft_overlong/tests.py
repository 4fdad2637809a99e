"""The tests of `aggregation/soft_overlong`: the inputs that its statement allows, the right answer, the checks."""

import numpy as np

from grpo_ref.course.author import Case, Domain, Made, Rule, Unchanged, Whole


def _lengths(context):
    """Sample numbers of tokens: anywhere, on the ramp, or next to one of its two ends."""
    budget, buffer = context.values["max_length"], context.values["buffer"]
    ranges = {
        "from 0 to twice the budget": (0, 2 * budget),
        "on the ramp": (budget - buffer, budget),
        "near its start": (budget - buffer - 1, budget - buffer + 1),
        "near its end": (budget - 1, budget + 1),
    }
    low, high = context.source.pick("lengths: numbers", ranges)
    drawn = np.floor(context.source.reals(low, high + 1 - 1e-9, context.shape("N")))
    return np.maximum(drawn, 0).astype(np.int64)


DOMAIN = Domain(
    {
        "lengths": Made(
            _lengths,
            "whole, from 0 to 2 max_length",
            axes="N",
            needs=frozenset(("max_length", "buffer")),
            meaning="tokens of each completion",
        ),
        "max_length": Whole((1, 20480), at=(1, 2, 10, 20480), meaning="the budget in tokens"),
        "buffer": Whole((1, 20480), at=(1, 2, 5, 4096), meaning="width of the ramp in tokens"),
    },
    sizes={"N": (1, 5)},
    large={"N": 200},
    rules=(Rule("buffer is at most max_length.", lambda values: values["buffer"] <= values["max_length"]),),
)


def reference(lengths, max_length, buffer):
    lengths = np.asarray(lengths, dtype=float)
    ramp = (max_length - buffer - lengths) / buffer
    return np.where(lengths <= max_length - buffer, 0.0, np.where(lengths <= max_length, ramp, -1.0))


CHECKS = (
    Case(
        "Half way down the ramp",
        ([7, 9, 12], 10, 2),
        np.array([0.0, -0.5, -1.0]),
        why="The ramp goes from 8 to 10 tokens: 7 lie before it, (10 - 2 - 9) / 2 = -0.5, and 12 lie beyond the budget.",
        shown=True,
    ),
    Case(
        "Short, at the threshold, at the budget, beyond",
        ([3, 8, 10, 12], 10, 2),
        np.array([0.0, 0.0, -1.0, -1.0]),
        why="0, 0, and -1 from the budget on",
    ),
    Case("A wide ramp", ([5], 10, 10), np.array([-0.5]), why="(10 - 10 - 5) / 10"),
    Unchanged((np.array([9, 12]), 10, 2)),
)
