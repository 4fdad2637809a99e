"""Wrong answers to `aggregation/soft_overlong`, each with the sentence that a student who wrote it reads."""

import numpy as np

from grpo_ref.course.author import Mutant
from grpo_ref.course.exercises.aggregation.soft_overlong.tests import reference


def answer(formula):
    """Return an answer. The formula gets the lengths as floats, the budget and the buffer."""
    return lambda lengths, max_length, buffer: formula(np.asarray(lengths, float), max_length, buffer)


def answer_in_three_parts(middle):
    """Return an answer that has another middle line of the formula."""
    return answer(
        lambda n, budget, buffer: np.where(
            n <= budget - buffer, 0.0, np.where(n <= budget, middle(n, budget, buffer), -1.0)
        )
    )


BY_BUDGET = "Divides by `max_length` in the middle line; the divisor is `buffer`."
NOTHING_BETWEEN = (
    "Returns only 0 and -1. Either the middle line is missing, or its fractions are lost: `//` and integer arrays"
    " have none."
)

WRONG = (
    Mutant(
        "no lower bound",
        answer(lambda n, budget, buffer: np.minimum((budget - buffer - n) / buffer, 0)),
        "Falls below -1 for completions longer than `max_length`; the penalty stays at -1.",
    ),
    Mutant(
        "no upper bound",
        answer(lambda n, budget, buffer: np.maximum((budget - buffer - n) / buffer, -1)),
        "Returns positive numbers for completions shorter than max_length - buffer; their penalty is 0.",
    ),
    Mutant(
        "max for min",
        answer(lambda n, budget, buffer: np.maximum((budget - buffer - n) / buffer, 0)),
        "Takes the larger of 0 and the middle line; the penalty is never positive.",
    ),
    Mutant(
        "positive",
        lambda lengths, max_length, buffer: -reference(lengths, max_length, buffer),
        "Has the opposite sign; the penalty goes from 0 down to -1.",
    ),
    Mutant(
        "buffer as the start",
        answer(lambda n, budget, buffer: np.clip((buffer - n) / max(budget - buffer, 1), -1, 0)),
        "Starts the penalty at `buffer` tokens; it grows over the last `buffer` tokens of the budget.",
    ),
    Mutant(
        "-1 above the budget",
        answer(lambda n, budget, buffer: np.where(n > budget, -1.0, 0.0)),
        NOTHING_BETWEEN,
    ),
    Mutant(
        "-1 from the budget on",
        answer(lambda n, budget, buffer: np.trunc(np.clip((budget - buffer - n) / buffer, -1, 0))),
        NOTHING_BETWEEN,
    ),
    Mutant(
        "-1 after the start",
        answer(lambda n, budget, buffer: np.where(n > budget - buffer, -1.0, 0.0)),
        NOTHING_BETWEEN,
    ),
    Mutant(
        "divided by the budget, clipped",
        answer(lambda n, budget, buffer: np.clip((budget - buffer - n) / budget, -1, 0)),
        BY_BUDGET,
    ),
    Mutant(
        "divided by the budget",
        answer_in_three_parts(lambda n, budget, buffer: (budget - buffer - n) / budget),
        BY_BUDGET,
    ),
    Mutant(
        "starts at the budget",
        answer(lambda n, budget, buffer: np.clip((budget - n) / buffer, -1, 0)),
        "Starts the penalty at `max_length`; it is already -1 there.",
    ),
    Mutant(
        "buffer not subtracted",
        answer_in_three_parts(lambda n, budget, buffer: (budget - n) / buffer),
        "Computes (max_length - length) / buffer in the middle line, which is 1 too much.",
    ),
    Mutant(
        "one token more",
        answer(lambda n, budget, buffer: np.clip((budget - buffer - n - 1) / buffer, -1, 0)),
        "Returns the penalty of a completion with one token more.",
    ),
    Mutant(
        "one token less",
        answer(lambda n, budget, buffer: np.clip((budget - buffer - n + 1) / buffer, -1, 0)),
        "Returns the penalty of a completion with one token less.",
    ),
    Mutant(
        "the budget itself omitted",
        answer(
            lambda n, budget, buffer: np.where(
                n == budget, 0.0, np.clip((budget - buffer - n) / buffer, -1, 0)
            )
        ),
        "Returns 0 for a completion of exactly `max_length` tokens; its penalty is -1.",
    ),
)
