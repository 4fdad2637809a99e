"""Find the mistakes that explain all results of a loss function."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial, reduce

import numpy as np

from grpo_ref.check.batches import ALIKE, GARBAGE, HOLE, NAN, NOTHING, RESIDUE, SINGLE, TOKENLESS, Trial
from grpo_ref.check.changes import (
    MISSING_DETACH,
    Change,
    changes,
    multiplied_by,
    of_recipe,
    unchanged,
    unfloored_means,
)
from grpo_ref.check.combinations import Combination, Search
from grpo_ref.check.fitting import (
    fitted_penalties,
    fitted_settings,
    fitted_temperatures,
    usual_settings,
    weight_condition,
)
from grpo_ref.check.frameworks import Answer
from grpo_ref.check.mistakes.recipes import two_in_one_part
from grpo_ref.check.reference import ROUNDINGS, difference, reference, undetached
from grpo_ref.recipes import Recipe

ON_BATCHES = {
    GARBAGE: "the loss reads the padding",
    NAN: "NaN in the padding reaches the loss",
    NOTHING: "the loss is wrong if a completion is empty",
    TOKENLESS: "the loss is wrong on a batch without any token",
    RESIDUE: "the advantages are divided by a standard deviation that is only a rounding error",
    SINGLE: "the loss is wrong if a group has one completion",
    ALIKE: "the loss is wrong if the rewards of a group are all equal",
}
"""Feature of a batch -> the mistake that shows on such batches."""
NOTHING_WRONG = Change("", unchanged, frozenset())
FIRST_BATCHES = 3
"""Number of batches on which a combination of changes must agree before the other batches are tried."""
PLAIN_BATCHES = 12
"""Number of batches from which these are chosen."""


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
        return difference(self.answer(recipe, trial, change), answer, self.rtol + trial.rounding)

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
        gradient = None if answer.gradient is None else answer.gradient * change.factor * change.slope
        return answer._replace(loss=answer.loss * change.factor, gradient=gradient)

    def without_gradients(self) -> "Evidence":
        """Keep the losses only."""
        return replace(self, answers=[answer._replace(gradient=None) for answer in self.answers])

    def without(self, flaws: frozenset[str]) -> "Evidence":
        """Leave out the batches with one of these features."""
        return self.where(not trial.flaws & flaws for trial in self.trials)

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
    """Return the mistakes that explain the results, worded to follow "likely mistake:".

    The most likely mistake comes first. If nothing explains all batches, some batches are excluded, and the
    result names their features as mistakes: features that make the loss NaN, numbers in the padding, empty
    completions, and no token at all.
    """
    evidence = evidence.failing_first(recipe)
    known = list(changes(recipe, rewards=evidence.rewards))
    flaws = _nan_flaws(evidence)
    if flaws and (matches := _single(recipe, evidence, known)):
        return tuple(change.condition for change in matches)  # one mistake also explains the NaN
    # The search is made when the first step needs it, and kept for the parts that follow.
    search = cache(partial(_search, recipe, evidence, known))
    for excluded in _choices(evidence, flaws):
        part = evidence.without(excluded)
        if not part.trials:
            continue
        matches = [NOTHING_WRONG] if part.agrees(recipe) else _explanations(recipe, part, known, search)
        if matches:
            return tuple(_condition(recipe, evidence, change, excluded) for change in matches)
    return ()


def _condition(recipe: Recipe, evidence: Evidence, change: Change, excluded: frozenset[str]) -> str:
    """Return the condition of a change that explains the batches without these features.

    Batches without tokens may be excluded because the loss divides 0 by 0 there. Then this is a mistake too.
    """
    if excluded & {NOTHING, TOKENLESS}:
        more = evidence.without(excluded - {NOTHING, TOKENLESS})
        for floor in unfloored_means():
            if more.agrees(recipe, change.and_then(floor)):
                change = replace(change, condition=_joined(change.condition, floor.condition))
                excluded -= {NOTHING, TOKENLESS}
                break
    present = {flaw for trial in evidence.trials for flaw in trial.flaws}
    named = excluded & present
    # A batch without tokens has only empty completions, and zeros in the padding exclude NaN.
    named -= {TOKENLESS} if NOTHING in named else set()
    named -= {NAN} if GARBAGE in named else set()
    return _joined(change.condition, *(text for feature, text in ON_BATCHES.items() if feature in named))


def _joined(*texts: str) -> str:
    """Return the conditions that are not empty, joined by "and"."""
    return " and ".join(filter(None, texts))


def _search(recipe: Recipe, evidence: Evidence, known: list[Change]) -> Search | None:
    """Return the search for several mistakes at once, or None if too few batches tell them apart."""
    ours = [reference(recipe, trial, evidence.max_length) for trial in evidence.trials]
    # Batches without special features, the failing ones first. A large batch tells more combinations apart,
    # and a loss near 0 tells none.
    plain = [
        index
        for index, (trial, answer) in enumerate(_pairs(evidence))
        if trial.clean
        and not trial.flaws & {NOTHING, SINGLE, HOLE, TOKENLESS, RESIDUE}
        and abs(answer.loss) > 1e-6
    ][:PLAIN_BATCHES]
    if len(plain) < 2 or not _is_homogeneous(recipe, evidence.trials[plain[0]], evidence.max_length):
        return None
    plain.sort(key=lambda index: -evidence.trials[index].mask.sum())
    chosen = evidence._select(plain[:FIRST_BATCHES])
    losses = [answer.loss for answer in chosen.answers]
    scales = [
        max(evidence.rtol, ROUNDINGS * answer.precision) * max(abs(answer.loss), ours[index].scale) + 1e-12
        for index, answer in zip(plain, chosen.answers, strict=False)
    ]
    more = [of_recipe(*each) for each in (*usual_settings(recipe), *two_in_one_part(recipe))]
    return Search(recipe, known, more, chosen.trials, losses, scales, evidence.max_length)


def _is_homogeneous(recipe: Recipe, trial: Trial, max_length: int | None) -> bool:
    """Return whether the surrogate of twice the advantages is twice the surrogate, as the search assumes."""
    free = replace(recipe, kl_coef=0.0)
    double = replace(trial, advantages=2.0 * trial.advantages)
    once, twice = (reference(free, each, max_length).loss for each in (trial, double))
    return bool(np.isclose(2.0 * once, twice))


def unless(recipe: Recipe, evidence: Evidence) -> str:
    """Return the features without which a batch never differs, or "".

    They are worded to follow "right, except for batches".
    """
    wrong = [bool(evidence._difference(recipe, None, *pair)) for pair in _pairs(evidence)]
    for size in (1, 2):
        for flaws in itertools.combinations((NAN, RESIDUE, TOKENLESS, NOTHING, SINGLE, GARBAGE, HOLE), size):
            flawed = [bool(trial.flaws & set(flaws)) for trial in evidence.trials]
            if not all(flawed) and all(flaw for flaw, bad in zip(flawed, wrong, strict=True) if bad):
                return " or ".join(flaws)
    return ""


def _pairs(evidence: Evidence) -> Iterator[tuple[Trial, Answer]]:
    return zip(evidence.trials, evidence.answers, strict=True)


def _nan_flaws(evidence: Evidence) -> frozenset[str]:
    """Return the features with which more than half of the results are NaN."""
    nan = {
        flaw: [_is_nan(a) for t, a in _pairs(evidence) if flaw in t.flaws]
        for flaw in ON_BATCHES
        if flaw != GARBAGE
    }
    return frozenset(flaw for flaw, answers in nan.items() if sum(answers) > len(answers) / 2)


def _is_nan(answer: Answer) -> bool:
    """Return whether the loss or the gradient holds NaN; central differences hold NaN at every kink."""
    known = answer.gradient is not None and not answer.numerical
    return bool(np.isnan(answer.loss)) or (known and bool(np.isnan(np.asarray(answer.gradient)).any()))


def _choices(evidence: Evidence, flaws: frozenset[str]) -> Iterator[frozenset[str]]:
    """Yield the features whose batches are excluded: those that make the loss NaN, then more and more."""
    padding = [frozenset[str](), *([frozenset({NAN, GARBAGE})] if evidence.reads_padding else [])]
    seen = set()
    for empty in (frozenset[str](), frozenset({NOTHING, TOKENLESS})):
        for more, rounded in itertools.product(padding, (frozenset[str](), frozenset({RESIDUE}))):
            excluded = flaws | more | empty | rounded
            size = len(evidence.without(excluded).trials)
            if size not in seen:
                seen.add(size)
                yield excluded


def _explanations(
    recipe: Recipe, evidence: Evidence, known: list[Change], search: Callable[[], Search | None]
) -> list[Change]:
    """Return the simplest explanations: those of the first of the following steps that finds any."""
    # 1. One known mistake, or a constant factor.
    if matches := [*_single(recipe, evidence, known), *_factored(recipe, evidence)]:
        return sorted(matches, key=_unlikely)
    if evidence.without_gradients().agrees(recipe):
        return _gradient_factor(recipe, evidence)
    # 2. Another number in place of a setting.
    given = (evidence.trials, evidence.answers, evidence.max_length)
    fitted = [of_recipe(*each) for each in fitted_penalties(recipe, *given)]
    fitted += [of_recipe(*each) for each in fitted_settings(recipe, *given)]
    fitted += fitted_temperatures(recipe, *given)
    if matches := _single(recipe, evidence, fitted):
        return matches
    # 3. Usual numbers, two mistakes, then three. A constant factor and a weight of the penalty count as one.
    if made := search():
        for number in (1, 2, 3):
            combined = [_combined(recipe, each) for each in made.combinations(number)]
            if matches := _single(recipe, evidence, combined):
                return sorted(matches, key=_unlikely)
    return []


def _unlikely(change: Change) -> bool:
    """Return whether the change is a temperature, which may look like a factor on the loss."""
    return change.slope != 1.0


def _single(recipe: Recipe, evidence: Evidence, known: Iterable[Change]) -> list[Change]:
    """Return the changes with which all batches agree."""
    known = list(known)
    if matches := [change for change in known if evidence.agrees(recipe, change)]:
        return matches
    # The loss may be that of a change while the gradient flows through what the change holds constant.
    losses = evidence.without_gradients()
    for change in known:
        if not change.differentiated and losses.agrees(recipe, change):
            attached = change.and_then(MISSING_DETACH)
            if evidence.agrees(recipe, attached):
                return [attached]
    return []


def _combined(recipe: Recipe, combination: Combination) -> Change:
    """Return the changes of a combination as one change."""
    whole = [*combination.changes]
    if combination.kl_coef is not None:
        weight = {"kl_coef": combination.kl_coef}
        whole.insert(0, of_recipe(weight_condition(recipe, combination.kl_coef), weight))
    if combination.factor != 1.0:
        whole.insert(0, multiplied_by(combination.factor))
    return reduce(Change.and_then, whole)


def _factored(recipe: Recipe, evidence: Evidence) -> list[Change]:
    """Return the change by a constant factor, if one factor relates all results to the recipe's."""
    ratios: list[float] = []
    for trial, answer in _pairs(evidence):
        ours = evidence.answer(recipe, trial, None).loss
        if not np.isfinite(ours):
            return []
        if abs(ours) > 1e-6:
            ratios.append(answer.loss / ours)
        if ratios and not np.isclose(ratios[-1], ratios[0], rtol=max(evidence.rtol, 64 * answer.precision)):
            return []
    if not ratios or np.isclose(ratios[0], 1.0) or np.isclose(ratios[0], 0.0):
        return []
    return _single(recipe, evidence, [multiplied_by(ratios[0])])


def _gradient_factor(recipe: Recipe, evidence: Evidence) -> list[Change]:
    """Return the change by a constant factor on the gradient alone, if there is one."""
    for trial, answer in _pairs(evidence):
        ours = evidence.answer(recipe, trial, None).gradient
        if answer.gradient is None or answer.numerical or ours is None or not np.any(ours):
            continue
        slope = float((answer.gradient * ours).sum() / (ours**2).sum())
        if not np.isfinite(slope) or np.isclose(slope, 0.0):
            return []
        text = f"its gradient is multiplied by {1.0 / slope:.6g}"
        change = Change(text, unchanged, frozenset({"gradient"}), slope=slope)
        return _single(recipe, evidence, [change])
    return []
