"""What a loss function computes instead: the changes of the recipe with which all answers would agree."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from grpo_ref.check.batches import Trial
from grpo_ref.check.frameworks import Answer
from grpo_ref.check.reference import difference, reference
from grpo_ref.mistakes.slips import slips
from grpo_ref.recipes import Recipe

READS_PADDING = "the padding holds zeros: it reads the padding"


@dataclass(frozen=True)
class Evidence:
    """What a function answered.

    Attributes:
      trials: the batches.
      answers: the function's answer on each.
      rtol: tolerance, as in `compare`.
      max_length: the generation budget, or None.
    """

    trials: Sequence[Trial]
    answers: Sequence[Answer]
    rtol: float
    max_length: int | None

    def agrees(self, recipe: Recipe) -> bool:
        """Whether every answer is that of the recipe."""
        return not any(
            difference(reference(recipe, trial, self.max_length), answer, self.rtol)
            for trial, answer in zip(self.trials, self.answers, strict=True)
        )

    def with_clean_padding(self) -> "Evidence":
        """The part of it where the padding does no harm."""
        kept = [place for place, trial in enumerate(self.trials) if trial.clean]
        trials, answers = [self.trials[place] for place in kept], [self.answers[place] for place in kept]
        return replace(self, trials=trials, answers=answers)


def diagnosis(recipe: Recipe, evidence: Evidence) -> tuple[str, ...]:
    """What would have to hold for the answers to agree, as in "your loss matches if ..."; nearest first."""
    clean = evidence.with_clean_padding()
    if clean.trials and clean.agrees(recipe):
        return (READS_PADDING,)
    if found := _conditions(recipe, evidence):
        return found
    if not clean.trials or len(clean.trials) == len(evidence.trials):
        return ()
    return tuple(f"{text}, and {READS_PADDING}" for text in _conditions(recipe, clean))


def _conditions(recipe: Recipe, evidence: Evidence) -> tuple[str, ...]:
    """A factor, or else single slips, or else pairs of them, with which everything agrees."""
    factor = _factor(recipe, evidence)
    if factor is not None:
        return (f"it is multiplied by {1.0 / factor:.6g}",)
    for size in (1, 2):
        if found := _slips_that_agree(recipe, evidence, size):
            return found
    return ()


def _slips_that_agree(recipe: Recipe, evidence: Evidence, size: int) -> tuple[str, ...]:
    """Sets of so many slips with which everything agrees."""
    found = []
    for chosen in itertools.combinations(slips(recipe), size):
        parts = {field: part for slip in chosen for field, part in slip.parts.items()}
        if evidence.agrees(replace(recipe, **parts)):
            found.append(" and ".join(slip.condition for slip in chosen))
    return tuple(found)


def _factor(recipe: Recipe, evidence: Evidence) -> float | None:
    """By what number the loss is too large, if it is the same one everywhere."""
    pairs = [
        (answer.loss, reference(recipe, trial, evidence.max_length).loss)
        for trial, answer in zip(evidence.trials, evidence.answers, strict=True)
    ]
    ratios = [yours / ours for yours, ours in pairs if abs(ours) > 1e-6]
    if not ratios or not np.isfinite(ratios).all() or not np.allclose(ratios, ratios[0], rtol=1e-6):
        return None
    return None if np.isclose(ratios[0], 1.0) or np.isclose(ratios[0], 0.0) else float(ratios[0])
