"""Find the mistakes that explain all results of a loss function."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grpo_ref.check.batches import ALIKE, GARBAGE, HOLE, NAN, NOTHING, Trial
from grpo_ref.check.changes import Change, changes, of_recipe, unchanged
from grpo_ref.check.fitting import fitted_penalties, fitted_settings
from grpo_ref.check.frameworks import Answer
from grpo_ref.check.mistakes.recipes import mistakes
from grpo_ref.check.reference import difference, reference, undetached
from grpo_ref.recipes import Recipe

READS_PADDING = "the padding holds only zeros (your loss reads the padding)"
WITHOUT = {
    NAN: "the padding holds no NaN",
    NOTHING: "no completion is empty",
    ALIKE: "no group's rewards are all equal",
}
"""Feature of a batch -> the condition that excludes such batches."""
FIRST_BATCHES = 3
"""Number of batches on which a pair of changes must agree before the other batches are tried."""


@dataclass(frozen=True)
class Evidence:
    """Results of a function on a sequence of batches.

    Attributes:
      trials: the batches.
      answers: the function's loss and gradient on each batch.
      rtol: tolerance, as in `compare`.
      max_length: the generation budget in tokens, or None.
      rewards: true if the function computes the advantages from rewards.
      reads_padding: true if the function's result may depend on the numbers in the padding.
    """

    trials: Sequence[Trial]
    answers: Sequence[Answer]
    rtol: float
    max_length: int | None
    rewards: bool = False
    reads_padding: bool = True

    def agrees(self, recipe: Recipe, change: Change | None = None) -> bool:
        """Return whether all results are those of the recipe, or of the recipe with a change."""
        return not any(
            self._difference(recipe, change, trial, answer)
            for trial, answer in zip(self.trials, self.answers, strict=True)
        )

    def _difference(self, recipe: Recipe, change: Change | None, trial: Trial, answer: Answer) -> str:
        return difference(self.answer(recipe, trial, change), answer, self.rtol)

    def answer(self, recipe: Recipe, trial: Trial, change: Change | None) -> Answer:
        """Return the recipe's result on a batch; infinite if the changed recipe refuses the batch."""
        if change is None:
            return reference(recipe, trial, self.max_length)
        try:
            evaluate = undetached if change.differentiated else reference
            with np.errstate(all="ignore"):
                answer = evaluate(*change.apply(recipe, trial), self.max_length)
        except ValueError:
            return Answer(np.inf, None)
        gradient = None if answer.gradient is None else answer.gradient * change.factor
        return answer._replace(loss=answer.loss * change.factor, gradient=gradient)

    def where(self, keep: Iterable[bool]) -> "Evidence":
        """Keep some of the batches."""
        return self._select([index for index, kept in enumerate(keep) if kept])

    def failing_first(self, recipe: Recipe) -> "Evidence":
        """Put the batches on which the function differs from the recipe first.

        `agrees` stops at the first batch that differs, so most changes are then ruled out by one batch.
        """
        wrong = [
            bool(self._difference(recipe, None, trial, answer))
            for trial, answer in zip(self.trials, self.answers, strict=True)
        ]
        return self._select(sorted(range(len(wrong)), key=lambda index: not wrong[index]))

    def _select(self, indices: list[int]) -> "Evidence":
        trials, answers = [self.trials[i] for i in indices], [self.answers[i] for i in indices]
        return replace(self, trials=trials, answers=answers)


def diagnosis(recipe: Recipe, evidence: Evidence) -> tuple[str, ...]:
    """Return the conditions under which the results agree, worded to follow "your loss matches if".

    The most likely condition comes first. Batches whose features make the loss NaN hide every other mistake,
    so they are left aside, and then the batches with numbers in the padding; the conditions say so.
    """
    evidence = evidence.failing_first(recipe)
    flaws = _nan_flaws(evidence)
    if flaws and (matches := _single(recipe, evidence, list(changes(recipe, rewards=evidence.rewards)))):
        return matches  # one mistake also explains the NaN
    for part, conditions in _parts(evidence, flaws):
        if not part.trials:
            continue
        if part.agrees(recipe):
            return (" and ".join(conditions),)
        if matches := _conditions(recipe, part):
            return tuple(", and ".join([text, *conditions]) for text in matches)
    return ()


def unless(recipe: Recipe, evidence: Evidence) -> str:
    """Return the features without which a batch never differs, worded to follow "right unless", or ""."""
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
    """Return the features with which more than half of the results are NaN."""
    nan = {flaw: [_is_nan(a) for t, a in _pairs(evidence) if flaw in t.flaws] for flaw in WITHOUT}
    return frozenset(flaw for flaw, answers in nan.items() if sum(answers) > len(answers) / 2)


def _is_nan(answer: Answer) -> bool:
    """Return whether the loss or the gradient holds NaN; central differences hold NaN at every kink."""
    known = answer.gradient is not None and not answer.numerical
    return bool(np.isnan(answer.loss)) or (known and bool(np.isnan(np.asarray(answer.gradient)).any()))


def _parts(evidence: Evidence, flaws: frozenset[str]) -> Iterator[tuple[Evidence, tuple[str, ...]]]:
    """Yield the batches without these features, then those of them with zeros in the padding.

    Each comes with the conditions that describe the choice.
    """
    evidence = evidence.where(not trial.flaws & flaws for trial in evidence.trials)
    yield evidence, tuple(text for flaw, text in WITHOUT.items() if flaw in flaws)
    clean = evidence.where(trial.clean for trial in evidence.trials)
    if evidence.reads_padding and len(clean.trials) < len(evidence.trials):
        others = (text for flaw, text in WITHOUT.items() if flaw in flaws and flaw != NAN)
        yield clean, (*others, READS_PADDING)


def _conditions(recipe: Recipe, evidence: Evidence) -> tuple[str, ...]:
    """Return the simplest explanations: the first of the following steps that finds any."""
    known = list(changes(recipe, rewards=evidence.rewards))
    # 1. One known mistake, or a constant factor.
    factor = _factored(recipe, evidence, Change("", unchanged, frozenset()))
    if matches := (*_single(recipe, evidence, known), *filter(None, [factor])):
        return matches
    # 2. Another number in place of a setting.
    given = (evidence.trials, evidence.answers, evidence.max_length)
    fitted = [of_recipe(*each) for each in fitted_penalties(recipe, *given)]
    fitted += [of_recipe(*each) for each in fitted_settings(recipe, *given)]
    if single := _single(recipe, evidence, fitted):
        return single
    # 3. Another weight of the KL penalty and one mistake.
    penalty_and_mistake = (of_recipe(*each) for each in _fitted_beside(recipe, evidence))
    if single := _single(recipe, evidence, penalty_and_mistake):
        return single
    # 4. A known mistake and a constant factor.
    if factored := [text for change in known if (text := _factored(recipe, evidence, change))]:
        return tuple(factored)
    # 5. Two mistakes.
    return tuple(_pairs_that_agree(recipe, evidence, [*known, *fitted]))


def _single(recipe: Recipe, evidence: Evidence, known: Iterable[Change]) -> tuple[str, ...]:
    """Return the conditions of the changes with which all batches agree."""
    return tuple(change.condition for change in known if evidence.agrees(recipe, change))


def _fitted_beside(recipe: Recipe, evidence: Evidence) -> Iterator[tuple[str, dict[str, object]]]:
    """Generate weights of the KL penalty, each combined with one mistake in another part of the recipe."""
    given = (evidence.trials, evidence.answers, evidence.max_length)
    for mistake in mistakes(recipe) if recipe.kl_coef else ():
        if not mistake.parts.keys() & {"kl_coef", "penalty"}:
            other = replace(recipe, **mistake.parts)
            for text, parts in fitted_penalties(other, *given, estimates={}):
                yield f"{mistake.condition} and {text}", {**mistake.parts, **parts}


def _pairs_that_agree(recipe: Recipe, evidence: Evidence, known: list[Change]) -> Iterator[str]:
    """Generate the conditions of the pairs of changes with which all batches agree."""
    few = evidence.where(index < FIRST_BATCHES for index in range(len(evidence.trials)))
    for first, second in itertools.combinations(known, 2):
        if first.touches & second.touches or first.differentiated or second.differentiated:
            continue
        both = first.and_then(second)
        if few.agrees(recipe, both) and evidence.agrees(recipe, both):
            yield both.condition


def _factored(recipe: Recipe, evidence: Evidence, change: Change) -> str:
    """Return the condition with a constant factor, if one factor relates all losses; otherwise ""."""
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
