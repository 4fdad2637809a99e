"""The report of `grpo-ref explain` piece by piece, for the terminal and for a page."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from grpo_ref.trainers import Explanation


class Piece(NamedTuple):
    """A piece of the report.

    Attributes:
      kind: "heading", "part", "sentence" or "equation" (both of the part before), "key", "trap", "about" or
        "source" (both of the trap before).
      text: what it says.
      name: of a part, or "".
    """

    kind: str
    text: str
    name: str = ""


def pieces(version: str, explanation: Explanation) -> Iterator[Piece]:
    """The parts, the keys and the warnings.

    Args:
      version: of the trainer, as its dialect names it.
      explanation: what is told.
    """
    yield Piece("heading", f"{version} computes")
    for part in explanation.parts:
        yield Piece("part", part.value, part.name)
        yield Piece("sentence", part.sentence)
        if part.equation:
            yield Piece("equation", part.equation)
    yield from _numbers(explanation)
    if explanation.keys:
        yield Piece("heading", "the keys")
    for key, value, about in explanation.keys:
        yield Piece("key", f"{key} = {value!r}: {about}")
    yield Piece("heading", f"{len(explanation.traps)} warning{'s' * (len(explanation.traps) != 1)}")
    for trap in explanation.traps:
        yield Piece("trap", f"! {trap.name}")
        yield Piece("about", trap.text)
        yield Piece("source", f"[{trap.source}]")


def _numbers(explanation: Explanation) -> Iterator[Piece]:
    recipe = explanation.recipe
    yield Piece(
        "part", f"{recipe.kl_coef:g}{'' if recipe.kl_coef else ', so the loss has no penalty'}", "kl_coef"
    )
    if explanation.entropy_coef:
        yield Piece("part", f"{explanation.entropy_coef:g} times the entropy of the policy is added", "bonus")
    low, high = recipe.log_ratio_limits
    if (low, high) != (-math.inf, math.inf):
        limits = f"the log-ratio is limited to [{low:g}, {high:g}], with no slope outside"
        yield Piece("part", limits, "limits")
