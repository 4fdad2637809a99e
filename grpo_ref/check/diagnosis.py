"""What a loss function computes instead: the changes of the recipe with which all answers would agree."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grpo_ref.check.batches import ALIKE, GARBAGE, HOLE, NAN, NOTHING, Trial
from grpo_ref.check.changes import Change, changes, of_recipe, unchanged
from grpo_ref.check.fitting import fitted_penalties, fitted_settings
from grpo_ref.check.frameworks import Answer
from grpo_ref.check.mistakes.slips import slips
from grpo_ref.check.reference import difference, reference, undetached
from grpo_ref.recipes import Recipe

READS_PADDING = "the padding holds zeros: it reads the padding"
WITHOUT = {
    NAN: "the padding holds no NaN",
    NOTHING: "no completion is empty",
    ALIKE: "no group's rewards are all equal",
}
"""A flaw of a batch -> what would have to hold instead."""
LOOKED_AT = 3
"""A pair of changes is tried on so many batches before the others."""


@dataclass(frozen=True)
class Evidence:
    """What a function answered.

    Attributes:
      trials: the batches.
      answers: the function's answer on each.
      rtol: tolerance, as in `compare`.
      max_length: the generation budget, or None.
      rewards: whether the function makes the advantages itself.
      reads_padding: whether its answer may depend on the numbers in the padding.
    """

    trials: Sequence[Trial]
    answers: Sequence[Answer]
    rtol: float
    max_length: int | None
    rewards: bool = False
    reads_padding: bool = True

    def agrees(self, recipe: Recipe, change: Change | None = None) -> bool:
        """Whether every answer is that of the recipe, or of the recipe with a change."""
        return not any(
            self._difference(recipe, change, trial, answer)
            for trial, answer in zip(self.trials, self.answers, strict=True)
        )

    def _difference(self, recipe: Recipe, change: Change | None, trial: Trial, answer: Answer) -> str:
        return difference(self.answer(recipe, trial, change), answer, self.rtol)

    def answer(self, recipe: Recipe, trial: Trial, change: Change | None) -> Answer:
        """What the recipe answers on a batch, or with a change; NaN where that cannot be asked."""
        if change is None:
            return reference(recipe, trial, self.max_length)
        try:
            ask = undetached if change.differentiated else reference
            with np.errstate(all="ignore"):
                found = ask(*change.apply(recipe, trial), self.max_length)
        except ValueError:
            return Answer(np.inf, None)
        gradient = None if found.gradient is None else found.gradient * change.factor
        return found._replace(loss=found.loss * change.factor, gradient=gradient)

    def where(self, wanted: Iterable[bool]) -> "Evidence":
        """Part of it."""
        kept = [place for place, keep in enumerate(wanted) if keep]
        trials, answers = [self.trials[place] for place in kept], [self.answers[place] for place in kept]
        return replace(self, trials=trials, answers=answers)

    def failing_first(self, recipe: Recipe) -> "Evidence":
        """The same, those batches first where the recipe's own answer is another one."""
        wrong = [
            bool(self._difference(recipe, None, trial, answer))
            for trial, answer in zip(self.trials, self.answers, strict=True)
        ]
        order = sorted(range(len(wrong)), key=lambda place: not wrong[place])
        return replace(
            self,
            trials=[self.trials[place] for place in order],
            answers=[self.answers[place] for place in order],
        )


def diagnosis(recipe: Recipe, evidence: Evidence) -> tuple[str, ...]:
    """What would have to hold for the answers to agree, as in "your loss matches if ..."; nearest first."""
    evidence = evidence.failing_first(recipe)
    flaws = _nan_flaws(evidence)
    if flaws and (found := _single(recipe, evidence, list(changes(recipe, rewards=evidence.rewards)))):
        return found
    for part, conditions in _parts(evidence, flaws):
        if not part.trials:
            continue
        if part.agrees(recipe):
            return (" and ".join(conditions),)
        if found := _conditions(recipe, part):
            return tuple(", and ".join([text, *conditions]) for text in found)
    return ()


def unless(recipe: Recipe, evidence: Evidence) -> str:
    """The flaws of the batches that alone make the function differ, as in "right unless ..."; or ""."""
    wrong = [bool(evidence._difference(recipe, None, *pair)) for pair in _pairs(evidence)]
    for size in (1, 2):
        for flaws in itertools.combinations((NAN, NOTHING, GARBAGE, HOLE), size):
            flawed = [bool(trial.flaws & set(flaws)) for trial in evidence.trials]
            if not all(flawed) and all(flaw for flaw, bad in zip(flawed, wrong, strict=True) if bad):
                return " or ".join(flaws)
    return ""


def _pairs(evidence: Evidence) -> Iterator[tuple[Trial, Answer]]:
    return zip(evidence.trials, evidence.answers, strict=True)


def _nan_flaws(evidence: Evidence) -> frozenset[str]:
    """The flaws of a batch that make the answer NaN, more often than not."""
    nan = {flaw: [_is_nan(a) for t, a in _pairs(evidence) if flaw in t.flaws] for flaw in WITHOUT}
    return frozenset(flaw for flaw, answers in nan.items() if sum(answers) > len(answers) / 2)


def _is_nan(answer: Answer) -> bool:
    """Whether the loss is NaN, or a gradient that is not by differences has one."""
    known = answer.gradient is not None and not answer.numerical
    return bool(np.isnan(answer.loss)) or (known and bool(np.isnan(np.asarray(answer.gradient)).any()))


def _parts(evidence: Evidence, flaws: frozenset[str]) -> Iterator[tuple[Evidence, tuple[str, ...]]]:
    """What is left without the batches with these flaws; then of that, what has clean padding."""
    evidence = evidence.where(not trial.flaws & flaws for trial in evidence.trials)
    yield evidence, tuple(text for flaw, text in WITHOUT.items() if flaw in flaws)
    clean = evidence.where(trial.clean for trial in evidence.trials)
    if evidence.reads_padding and len(clean.trials) < len(evidence.trials):
        others = (text for flaw, text in WITHOUT.items() if flaw in flaws and flaw != NAN)
        yield clean, (*others, READS_PADDING)


def _conditions(recipe: Recipe, evidence: Evidence) -> tuple[str, ...]:
    """A factor, or else single changes, or fitted numbers, or changes with a factor, or pairs of changes."""
    known = list(changes(recipe, rewards=evidence.rewards))
    factor = _factored(recipe, evidence, Change("", unchanged, frozenset()))
    if found := (*_single(recipe, evidence, known), *filter(None, [factor])):
        return found
    fitted = [of_recipe(*each) for each in _fitted(recipe, evidence)]
    if single := _single(recipe, evidence, fitted):
        return single
    fitted_too = (of_recipe(*each) for each in _fitted_beside(recipe, evidence))
    if single := _single(recipe, evidence, fitted_too):
        return single
    if factored := [text for change in known if (text := _factored(recipe, evidence, change))]:
        return tuple(factored)
    return tuple(_pairs_that_agree(recipe, evidence, [*known, *fitted]))


def _single(recipe: Recipe, evidence: Evidence, known: Iterable[Change]) -> tuple[str, ...]:
    """Changes with which everything agrees."""
    return tuple(change.condition for change in known if evidence.agrees(recipe, change))


def _fitted(recipe: Recipe, evidence: Evidence) -> Iterator[tuple[str, dict[str, object]]]:
    given = (evidence.trials, evidence.answers, evidence.max_length)
    yield from fitted_penalties(recipe, *given)
    yield from fitted_settings(recipe, *given)


def _fitted_beside(recipe: Recipe, evidence: Evidence) -> Iterator[tuple[str, dict[str, object]]]:
    """Weights of the penalty beside one slip of the recipe."""
    for slip in slips(recipe) if recipe.kl_coef else ():
        if not slip.parts.keys() & {"kl_coef", "penalty"}:
            other = replace(recipe, **slip.parts)
            given = (evidence.trials, evidence.answers, evidence.max_length)
            for text, parts in fitted_penalties(other, *given, estimates={}):
                yield f"{slip.condition} and {text}", {**slip.parts, **parts}


def _pairs_that_agree(recipe: Recipe, evidence: Evidence, known: list[Change]) -> Iterator[str]:
    """Pairs of changes with which everything agrees."""
    few = evidence.where(place < LOOKED_AT for place in range(len(evidence.trials)))
    for first, second in itertools.combinations(known, 2):
        if first.touches & second.touches or first.differentiated or second.differentiated:
            continue
        both = first.and_then(second)
        if few.agrees(recipe, both) and evidence.agrees(recipe, both):
            yield both.condition


def _factored(recipe: Recipe, evidence: Evidence, change: Change) -> str:
    """The change and a factor by which the loss is too large, if it is the same one everywhere."""
    ratios: list[float] = []
    for trial, answer in _pairs(evidence):
        ours = evidence.answer(recipe, trial, change).loss
        if not np.isfinite(ours):
            return ""
        if abs(ours) > 1e-6:
            ratios.append(answer.loss / ours)
        if ratios and not np.isclose(ratios[-1], ratios[0], rtol=max(evidence.rtol, 64 * answer.precision)):
            return ""
    if not ratios or np.isclose(ratios[0], 1.0) or np.isclose(ratios[0], 0.0):
        return ""
    factor = f"it is multiplied by {1.0 / ratios[0]:.6g}"
    if not evidence.agrees(recipe, replace(change, factor=ratios[0])):
        return ""
    return f"{factor} and {change.condition}" if change.condition else factor
