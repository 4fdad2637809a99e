"""The weights of tokens in one optimizer step of a trainer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grpo_ref import micro_batches as by_recipe
from grpo_ref.arrays import Array, Floats
from grpo_ref.explain.dialect import DIVISOR

if TYPE_CHECKING:
    from grpo_ref.explain.explanation import Report


def effective_weights(
    report: "Report", mask: Array, *, micro_batches: int | Sequence[Sequence[int]] = 1
) -> Floats:
    """Return the weight of every token in the gradient of one optimizer step of a trainer.

    The weights are those of `grpo_ref.micro_batches.effective_weights`, for the trainer's recipe and its way to
    average. Corrections and filters count as if they kept every token.

    Args:
      report: the report on a configuration, from `grpo_ref.explain`.
      mask: (P, G, T) 1 on completion tokens of the step, on all ranks together.
      micro_batches: the division of the completions over all ranks and accumulation steps, as in
        `grpo_ref.micro_batches.effective_weights`. It has no effect if the trainer counts the tokens of the
        whole step first.

    Returns:
      (P, G, T) weights, 0 on padding. A constant denominator is the trainer's own, if the configuration has it,
      and T otherwise.

    Raises:
      ValueError: if the weights of a step depend on more than its mask and micro-batches, or if
        `micro_batches` does not fit the mask.

    TRL's "bnpo" divides each micro-batch by its own tokens. Its "dapo" counts the tokens of all micro-batches:

    >>> import numpy as np
    >>> from grpo_ref import explain
    >>> mask = np.array([[[1, 0, 0], [1, 1, 1]]])
    >>> effective_weights(explain("loss_type=bnpo", trainer="trl"), mask, micro_batches=2).round(2)
    array([[[0.5 , 0.  , 0.  ],
            [0.17, 0.17, 0.17]]])
    >>> effective_weights(explain("loss_type=dapo", trainer="trl"), mask, micro_batches=2)
    array([[[0.25, 0.  , 0.  ],
            [0.25, 0.25, 0.25]]])
    """
    averages = report.explanation.averages
    if averages.over == "other":
        raise ValueError(
            f"{report.dialect.version}: the mask and the micro-batches of a step do not determine the weights"
            + (f", as averages are taken over {averages.text}" if averages.text else "")
        )
    divisor = report.dialect.concept(DIVISOR, report.found.config)
    return by_recipe.effective_weights(
        report.recipe,
        mask,
        micro_batches=micro_batches if averages.over == "micro-batch" else 1,
        across=averages.across,
        max_length=divisor if isinstance(divisor, int) else None,
    )
