"""DAPO's ramp before the end of the budget."""

from typing import Any

import numpy as np

from grpo_ref.arrays import Integers
from grpo_ref.course.grading.domain.arguments import Context, Made, Whole
from grpo_ref.course.grading.domain.domain import Domain, Rule
from grpo_ref.course.grading.found_cases import found_cases
from grpo_ref.course.grading.problem import Case, Function, Mutant, Problem, Unchanged, changing_inputs
from grpo_ref.course.grading.sampled_check import FromDomain


def _lengths(context: Context) -> Integers:
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


def _reference(lengths: Any, max_length: int, buffer: int) -> Any:
    lengths = np.asarray(lengths, dtype=float)
    ramp = (max_length - buffer - lengths) / buffer
    return np.where(lengths <= max_length - buffer, 0.0, np.where(lengths <= max_length, ramp, -1.0))


def _of(formula: Any) -> Function:
    return lambda lengths, max_length, buffer: formula(np.asarray(lengths, dtype=float), max_length, buffer)


PROBLEM = Problem(
    id="aggregation/soft_overlong",
    title="A ramp instead of a cliff",
    function="overlong_punishment",
    reference=_reference,
    background=(
        "A model may write at most so many tokens, its budget. An answer that is not finished by then is cut"
        " off and"
        " judged wrong, however good it was so far. For the model this is a cliff: one token more, and the"
        " whole reward is"
        " gone, without any warning on the tokens before. DAPO puts a ramp in front of the cliff: over the"
        " last stretch of"
        " the budget a punishment, added to the reward, grows evenly from 0 to -1, so that the model learns"
        " to come to an"
        " end in time."
    ),
    task=(
        "Write `overlong_punishment(lengths, max_length, buffer)`, the punishment of each answer by its"
        " length in"
        " tokens:\n\n"
        "    0                                          if length <= max_length - buffer\n"
        "    (max_length - buffer - length) / buffer    if max_length - buffer < length <= max_length\n"
        "    -1                                         if length > max_length\n\n"
        "max_length is the budget; buffer is the width of the ramp, both in tokens. Up to the start of the"
        " ramp nothing is"
        " punished and nothing is rewarded, and beyond the budget it does not get worse."
    ),
    inputs=DOMAIN.inputs,
    domain=DOMAIN,
    output="(N,) numbers from -1 to 0.",
    notes=(
        "DAPO used a budget of 20480 tokens with a ramp of 4096. Some texts write L_cache for the length at"
        " which the"
        " ramp begins; in the paper and in TRL it is the width. verl's ramp goes on falling beyond the"
        " budget. The function of this package takes the width as a share of the budget. DAPO rewards a right answer"
        " with +1 and a wrong one with -1. Where they earn 1 and 0, the penalty counts double, and a right answer"
        " that uses the whole budget earns nothing; half of it has the effect that the paper means."
    ),
    kernel="grpo_ref.soft_overlong_punishment",
    source="DAPO, eq. 13 (arXiv:2503.14476); TRL `get_soft_overlong_punishment`.",
    hints=(
        "What is the middle line at the two ends of the ramp?",
        "It is 0 at one end and -1 at the other, so the three lines are one line with two bounds.",
        "np.clip((max_length - buffer - lengths) / buffer, -1, 0)",
    ),
    checks=(
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
        FromDomain(),
        *found_cases(__file__),
    ),
    mutants=(
        changing_inputs(_reference),
        Mutant(
            "does not saturate",
            _of(lambda n, L, B: np.minimum((L - B - n) / B, 0)),
            "Beyond the budget the punishment stays at -1.",
        ),
        Mutant(
            "rewards short answers",
            _of(lambda n, L, B: np.maximum((L - B - n) / B, -1)),
            "Below the threshold it is 0; short answers are not rewarded.",
        ),
        Mutant("positive", lambda n, L, B: -_reference(n, L, B), "A punishment is negative."),
        Mutant(
            "buffer as threshold",
            _of(lambda n, L, B: np.clip((B - n) / max(L - B, 1), -1, 0)),
            "buffer is the width of the ramp, not where it begins.",
        ),
        Mutant("a cliff", _of(lambda n, L, B: np.where(n > L, -1.0, 0.0)), "There is no ramp."),
        Mutant(
            "an early cliff",
            _of(lambda n, L, B: np.where(n > L - B, -1.0, 0.0)),
            "There is no ramp between threshold and budget.",
        ),
        Mutant(
            "divided by the budget",
            _of(lambda n, L, B: np.clip((L - B - n) / L, -1, 0)),
            "It is divided by the width of the ramp.",
        ),
        Mutant(
            "ramp after the budget",
            _of(lambda n, L, B: np.clip((L - n) / B, -1, 0)),
            "The ramp ends at the budget; here it begins there.",
        ),
        Mutant(
            "one less", _of(lambda n, L, B: np.clip((L - B - n - 1) / B, -1, 0)), "It is off by one token."
        ),
    ),
    others={"np.interp": lambda n, L, B: np.interp(n, [L - B, L], [0.0, -1.0])},
)
