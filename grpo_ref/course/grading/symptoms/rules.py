"""Find the shortest rule that separates wrong samples from right ones: one condition, or two together."""

import decimal
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grpo_ref.arrays import Bools, Floats

PRECISE = 0.9
"""A rule needs no further condition if at least this fraction of the samples that it covers is wrong."""
HALF = 0.5
"""Further samples refute a rule if fewer wrong samples occur among them than this fraction of the expected
number.
"""
VAGUE, RARE = 0.85, 0.05
"""A rule is too vague if less than the first fraction of the samples that it covers is wrong and it covers
more than the second fraction of all right samples.
"""
NEARLY_ALL = 0.8
"""A rule is too vague if it covers more than this fraction of the samples."""
CHANCE = 1e-3
"""Largest allowed probability that one of the tried rules fits by chance."""
MOST_PAIRED = 60
"""Number of the best conditions that are tried in pairs."""
NEAR = 0.1
"""A bound is known if a wrong and a right sample were tried whose numbers differ by at most this fraction."""
TINY = 1e-9
"""A bound is also known if the two numbers differ by at most this fraction of the typical number."""
FIXED = 1e-3
"""A bound is printed without "about" if the two numbers differ by at most this fraction."""
UNSURE = 0.05
"""Largest probability that all right samples beyond a bound are right for another reason."""
NEARLY_ZERO = 0.01
"""A number is nearly 0 if its absolute value is at most this fraction of the typical one."""
DIGITS = 15
ABSOLUTE = "absolute value"
"""Part of the names of numbers that are never negative."""


@dataclass(frozen=True)
class Condition:
    """A condition that is true of all wrong samples but not of all right ones.

    Attributes:
      noun: name of a number, or a clause if `sign` is 0.
      column: the number for each sample (NaN if unknown), or whether the clause is true.
      sign: 1 for "is above", -1 for "is below".
      limit: the number of the wrong sample that is nearest to the right ones.
    """

    noun: str
    column: Floats | Bools
    sign: int = 0
    limit: float = 0.0

    @property
    def holds(self) -> Bools:
        """Truth value of the condition for each sample; false if the number is unknown."""
        return self.column > 0 if self.sign == 0 else self.sign * self.column >= self.sign * self.limit

    @property
    def excludes(self) -> bool:
        """True if the condition is false of a sample whose number is known."""
        return bool((~self.holds & ~np.isnan(self.column)).any())

    def clause(self, right: Bools, precision: float = 1.0) -> "Clause":
        """Return the condition with a round bound between the wrong samples and these right ones.

        A right sample near the bound may be right for another reason, if the rule covers right samples too.
        Therefore the bound is known only from several right samples, the more the less precise the rule is.

        Args:
          right: the right samples that the other conditions cover.
          precision: fraction of wrong samples among the samples that the rule covers.
        """
        if self.sign == 0:
            return Clause(self.noun)
        known = right & ~self.holds & ~np.isnan(self.column)
        nearest = np.sort(self.sign * self.column[known])[::-1] if known.any() else np.array([-np.inf])
        needed = 1 if precision >= 1.0 else math.ceil(math.log(UNSURE) / math.log(1.0 - precision))
        bound = self.sign * between(float(nearest[0]), self.sign * self.limit) + 0.0
        sure = self.sign * float(nearest[min(needed, len(nearest)) - 1])
        ends = Ends(self.limit, sure, typical(self.column), is_whole(self.column))
        return Clause(self.noun, self.sign, bound, ends)


@dataclass(frozen=True)
class Ends:
    """The tried numbers on both sides of a bound.

    Attributes:
      wrong: number of the wrong sample that is nearest to the right ones.
      right: number of the right samples that are nearest to the wrong ones.
      typical: median absolute value of the numbers other than 0.
      are_whole: True if all tried numbers are whole.
    """

    wrong: float
    right: float
    typical: float
    are_whole: bool

    @property
    def gap(self) -> float:
        """Distance between the two numbers."""
        return abs(self.wrong - self.right)

    @property
    def enclose_zero(self) -> bool:
        """True if the bound is 0: 0 lies between the numbers, or is one of them, and both are nearly 0."""
        return self.wrong * self.right <= 0.0 and self.gap <= NEARLY_ZERO * self.typical

    @property
    def fix_bound(self) -> bool:
        """True if the numbers are so near to each other that the bound needs no "about"."""
        return self.gap <= FIXED * min(abs(self.wrong), abs(self.right))

    @property
    def are_near(self) -> bool:
        """True if the numbers are so near to each other that a bound between them is known."""
        if self.are_whole and self.gap <= 1.0:
            return True
        nearest = min(abs(self.wrong), abs(self.right))
        return self.enclose_zero or self.gap <= max(NEAR * nearest, TINY * self.typical)


@dataclass(frozen=True)
class Clause:
    """A condition as it is printed.

    Attributes:
      noun: name of a number, or the whole clause if `sign` is 0.
      sign: 1 for "is above", -1 for "is below".
      bound: bound of the number.
      ends: the tried numbers on both sides of the bound.
    """

    noun: str
    sign: int = 0
    bound: float = 0.0
    ends: Ends | None = None

    def __str__(self) -> str:
        if self.sign == 0 or self.ends is None:
            return self.noun
        if self.ends.enclose_zero and not self.ends.are_whole:
            return f"{self.noun} {self._compared_with_zero()}"
        if self.ends.are_near and not self.ends.are_whole:
            side = "above" if self.sign > 0 else "below"
            return (
                f"{self.noun} is {side} {'' if self.ends.fix_bound else 'about '}{self._round_bound():.12g}"
            )
        return f"{self.noun} is {self._rounded_ends()[0]} or {'more' if self.sign > 0 else 'less'}"

    @property
    def is_known(self) -> bool:
        """True if inputs near the bound were tried on both sides, or if there is no bound."""
        return self.ends is None or self.ends.are_near

    @property
    def unknown(self) -> str:
        """The clause of which the tried samples do not tell what it leads to; "" if the bound is known."""
        if self.ends is None or self.ends.are_near or np.isinf(self.ends.right):
            return ""
        low, high = self._rounded_ends()[:: self.sign * -1]
        return f"{self.noun} is between {low} and {high}"

    def _round_bound(self) -> float:
        """Return a round number between the ends."""
        assert self.ends is not None
        return self.sign * between(self.sign * self.ends.right, self.sign * self.ends.wrong) + 0.0

    def _compared_with_zero(self) -> str:
        assert self.ends is not None
        if self.ends.wrong != 0.0:
            return "is above 0" if self.sign > 0 else "is below 0"
        return "is 0 or more" if self.sign > 0 else "is 0" if ABSOLUTE in self.noun else "is 0 or less"

    def _rounded_ends(self) -> tuple[str, str]:
        """Round both ends towards each other, so that no tried number lies between them."""
        assert self.ends is not None
        low, high = sorted((self.ends.wrong, self.ends.right))
        for digits in range(2, DIGITS + 3):
            up, down = rounded(low, digits, 1), rounded(high, digits, -1)
            if up < down:
                texts = f"{up:.{DIGITS}g}", f"{down:.{DIGITS}g}"
                return texts if self.ends.wrong <= self.ends.right else texts[::-1]
        return repr(self.ends.wrong), repr(self.ends.right)

    def holds(self, columns: Mapping[str, Floats | Bools]) -> Bools:
        """Return for each sample whether the clause is true; false if the number is unknown."""
        column = columns.get(self.noun)
        if column is None:
            return np.zeros(len(next(iter(columns.values()))), dtype=bool)
        return np.asarray(column > 0 if self.sign == 0 else self.sign * column > self.sign * self.bound)

    def condition(self, columns: Mapping[str, Floats | Bools], wrong: Bools) -> Condition:
        """Return the condition with the limit that these samples have."""
        column = columns[self.noun]
        limit = 0.0 if self.sign == 0 else self.sign * float((self.sign * column[wrong]).min())
        return Condition(self.noun, column, self.sign, limit)


@dataclass(frozen=True)
class Rule:
    """Conditions that together are true of every wrong sample, and of few right ones.

    Attributes:
      clauses: the conditions.
      wrong: number of wrong samples.
      covered: number of samples of which the conditions are true.
      others: number of samples of which they are false; all of these are right.
    """

    clauses: tuple[Clause, ...]
    wrong: int
    covered: int
    others: int

    @property
    def text(self) -> str:
        """The conditions as text."""
        return " and ".join(map(str, self.clauses))

    @property
    def precision(self) -> float:
        """Fraction of wrong samples among the samples that the rule covers."""
        return self.wrong / self.covered

    @property
    def is_exact(self) -> bool:
        """True if the rule covers no right sample."""
        return self.covered == self.wrong

    @property
    def is_known(self) -> bool:
        """True if all bounds are known."""
        return all(each.is_known for each in self.clauses)

    def holds(self, columns: Mapping[str, Floats | Bools]) -> Bools:
        """Return for each sample whether all conditions are true."""
        return np.asarray(np.logical_and.reduce([each.holds(columns) for each in self.clauses]))

    def is_refuted(self, columns: Mapping[str, Floats | Bools], wrong: Bools) -> bool:
        """Return whether further samples refute the rule.

        They refute it if it does not cover a wrong sample, or if far fewer of the samples that it covers are
        wrong than expected.
        """
        holds = self.holds(columns)
        missed = bool((wrong & ~holds).any())
        return missed or bool((holds & wrong).sum() < HALF * self.precision * holds.sum())

    def counted(self, columns: Mapping[str, Floats | Bools], wrong: Bools) -> "Rule | None":
        """Return the rule with the bounds and the counts that these samples have.

        A condition that excludes no right sample is omitted. Return None if no condition is left.
        """
        chosen = [each.condition(columns, wrong) for each in self.clauses]
        clauses = _clauses(chosen, wrong) if together(chosen)[wrong].all() else ()
        if not clauses:
            return None
        holds = np.logical_and.reduce([each.holds(columns) for each in clauses])
        return Rule(clauses, int(wrong.sum()), int(holds.sum()), int((~holds).sum()))


def rule_for(columns: Mapping[str, Floats | Bools], wrong: Bools, independent: int) -> Rule | None:
    """Return the rule that covers the fewest right samples; None if it is too vague or could fit by chance.

    A second condition is added only if the rule without it is not precise. Of rules that cover equally many
    samples, the one with fewer unknown bounds is chosen.

    Args:
      columns: name of a number, or a clause -> its value for each sample, a number or a truth value.
      wrong: for each sample, whether it is wrong.
      independent: how many of the wrong samples are independent of one another.
    """
    if not wrong.any():
        return None
    found = sorted(conditions(columns, wrong), key=lambda each: int(each.holds.sum()))
    telling = []
    pairs = itertools.combinations(found[:MOST_PAIRED], 2)
    for rules in ([(each,) for each in found], [(a, b) for a, b in pairs if a.noun != b.noun]):
        best = _best(rules, wrong)
        if best is None or luck(together(best), wrong, independent, len(rules)) > CHANCE:
            continue
        made = _with_known_bounds(_rule(best, wrong), best, wrong)
        if made.covered > NEARLY_ALL * len(wrong):
            continue
        if made.precision >= PRECISE:
            return made
        is_rare = made.covered - made.wrong <= RARE * (~wrong).sum()
        if made.precision >= VAGUE or is_rare or (len(best) > len(made.clauses)):
            telling.append(made)
    return telling[0] if telling else None


def _best(rules: Sequence[Sequence[Condition]], wrong: Bools) -> Sequence[Condition] | None:
    """Return the first of the rules that cover the fewest samples and have the fewest unknown bounds."""
    covered = [int(together(rule).sum()) for rule in rules]
    equal = [rule for rule, count in zip(rules, covered, strict=True) if count == min(covered)]
    return min(equal, key=lambda rule: _unknown(_rule(rule, wrong)), default=None)


def _unknown(rule: Rule) -> int:
    return sum(not each.is_known for each in rule.clauses)


def _with_known_bounds(rule: Rule, chosen: Sequence[Condition], wrong: Bools) -> Rule:
    """Omit a condition with an unknown bound, if most samples that the other one covers are wrong."""
    if len(rule.clauses) > 1 and _unknown(rule):
        alone = [_rule([each], wrong) for each in chosen]
        best = max(alone, key=lambda made: (made.is_known, made.precision))
        if best.precision >= HALF and best.covered <= NEARLY_ALL * len(wrong):
            return best
    return rule


def _rule(chosen: Sequence[Condition], wrong: Bools) -> Rule:
    clauses = _clauses(chosen, wrong)
    holds = together(chosen)
    return Rule(clauses, int(wrong.sum()), int(holds.sum()), int((~holds).sum()))


def conditions(columns: Mapping[str, Floats | Bools], wrong: Bools) -> Iterator[Condition]:
    """Yield every condition that is true of all wrong samples and not of all right ones."""
    for noun, column in columns.items():
        if column.dtype == bool:
            made = [Condition(noun, column)] if column[wrong].all() else []
        elif np.isnan(column[wrong]).any():
            made = []
        else:
            ends = {1: column[wrong].min(), -1: column[wrong].max()}
            made = [Condition(noun, column, sign, float(limit)) for sign, limit in ends.items()]
        yield from (each for each in made if each.excludes)


def together(rule: Sequence[Condition]) -> Bools:
    """Return for each sample whether all conditions are true."""
    return np.asarray(np.logical_and.reduce([each.holds for each in rule]))


def luck(holds: Bools, wrong: Bools, independent: int, tried: int) -> float:
    """Return an upper bound on the probability that one of the tried rules covers all wrong samples by
    chance.

    A rule that is unrelated to the mistake covers a wrong sample as often as a right one.
    """
    right = ~wrong
    share = (float((holds & right).sum()) + 1.0) / (float(right.sum()) + 2.0)
    return tried * math.pow(share, independent)


def typical(column: Floats | Bools) -> float:
    """Return the median absolute value of the finite numbers other than 0; 0 if there are none."""
    sizes = abs(column[np.isfinite(column) & (column != 0)])
    return float(np.median(sizes)) if sizes.size else 0.0


def is_whole(column: Floats | Bools) -> bool:
    """Return whether all known numbers are whole."""
    known = column[~np.isnan(column)]
    return bool(np.isfinite(known).all() and (known == np.floor(known)).all())


def rounded(number: float, digits: int, direction: int) -> float:
    """Round up (1) or down (-1) to this many significant digits.

    >>> rounded(39.73, 2, 1), rounded(95.3, 2, -1), rounded(-0.0123, 2, -1), rounded(0.0, 2, 1)
    (40.0, 95.0, -0.013, 0.0)
    """
    if number == 0.0 or not math.isfinite(number):
        return number
    with decimal.localcontext() as context:
        context.prec = digits
        context.rounding = decimal.ROUND_CEILING if direction > 0 else decimal.ROUND_FLOOR
        return float(+decimal.Decimal(number))


def _clauses(rule: Sequence[Condition], wrong: Bools) -> tuple[Clause, ...]:
    """Give each condition a bound between the wrong samples and the right ones that the other conditions do
    not exclude. Omit conditions that exclude no right sample.
    """
    kept = list(rule)
    for each in rule[::-1]:
        others = [other for other in kept if other is not each]
        if not (_covered_right(others, wrong) & ~each.holds).any():
            kept = others
    precision = wrong.sum() / together(kept).sum() if kept else 1.0
    return tuple(
        each.clause(_covered_right([other for other in kept if other is not each], wrong), precision)
        for each in kept
    )


def _covered_right(rule: Sequence[Condition], wrong: Bools) -> Bools:
    return ~wrong & together(rule) if rule else ~wrong


def between(low: float, high: float) -> float:
    """Return a number with few digits, at least `low` and below `high`.

    >>> between(0.93, 1.2), between(-0.3, 0.2), between(1.0, 1.0000001)
    (1.0, 0.0, 1.0)
    """
    if low <= 0.0 < high:
        return 0.0
    if not math.isfinite(low):
        return low
    middle = math.copysign(math.sqrt(low * high), low)
    for digits in range(DIGITS):
        for number in (middle, low, high):
            short = float(f"{number:.{digits}e}")
            if low <= short < high:
                return short
    return low
