"""Find the shortest rule that separates wrong samples from right ones: one condition, or two together."""

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
DIGITS = 15


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
        """Truth value of the condition for each sample."""
        return self.column > 0 if self.sign == 0 else ~(self.sign * self.column < self.sign * self.limit)

    def clause(self, right: Bools) -> "Clause":
        """Return the condition with a round bound between the wrong samples and these right ones."""
        if self.sign == 0:
            return Clause(self.noun)
        nearest = np.where(right & ~self.holds, self.sign * self.column, -np.inf).max()
        return Clause(self.noun, self.sign, self.sign * between(float(nearest), self.sign * self.limit) + 0.0)


@dataclass(frozen=True)
class Clause:
    """A condition as it is printed.

    Attributes:
      noun: name of a number, or the whole clause if `sign` is 0.
      sign: 1 for "is above", -1 for "is below".
      bound: bound of the number.
    """

    noun: str
    sign: int = 0
    bound: float = 0.0

    def __str__(self) -> str:
        if self.sign == 0:
            return self.noun
        return f"{self.noun} is {'above' if self.sign > 0 else 'below'} {self.bound:.12g}"

    def holds(self, columns: Mapping[str, Floats | Bools]) -> Bools:
        """Return for each sample whether the clause is true; false if the number is unknown."""
        column = columns.get(self.noun)
        if column is None:
            return np.zeros(len(next(iter(columns.values()))), dtype=bool)
        return np.asarray(column > 0 if self.sign == 0 else self.sign * column > self.sign * self.bound)


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

    def holds(self, columns: Mapping[str, Floats | Bools]) -> Bools:
        """Return for each sample whether all conditions are true."""
        return np.asarray(np.logical_and.reduce([each.holds(columns) for each in self.clauses]))

    def tested(self, columns: Mapping[str, Floats | Bools], wrong: Bools) -> "Rule | None":
        """Return the rule with further samples counted, or None if these refute it.

        They refute it if it does not cover a wrong sample, or if far fewer of the samples that it covers are
        wrong than expected.
        """
        holds = self.holds(columns)
        refuted = (wrong & ~holds).any() or (holds & wrong).sum() < HALF * self.precision * holds.sum()
        if refuted:
            return None
        counts = (self.wrong + wrong.sum(), self.covered + holds.sum(), self.others + (~holds).sum())
        return Rule(self.clauses, *map(int, counts))


def rule_for(columns: Mapping[str, Floats | Bools], wrong: Bools, independent: int) -> Rule | None:
    """Return the rule that covers the fewest right samples; None if it is too vague or could fit by chance.

    A second condition is added only if the rule without it is not precise.

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
        best = min(rules, key=lambda rule: int(together(rule).sum()), default=None)
        if best is None or luck(together(best), wrong, independent, len(rules)) > CHANCE:
            continue
        made = _rule(best, wrong)
        if made.covered > NEARLY_ALL * len(wrong):
            continue
        if made.precision >= PRECISE:
            return made
        if made.precision >= VAGUE or made.covered - made.wrong <= RARE * (~wrong).sum():
            telling.append(made)
    return telling[0] if telling else None


def _rule(chosen: Sequence[Condition], wrong: Bools) -> Rule:
    holds = together(chosen)
    return Rule(_clauses(chosen, wrong), int(wrong.sum()), int(holds.sum()), int((~holds).sum()))


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
        yield from (each for each in made if not each.holds.all())


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


def _clauses(rule: Sequence[Condition], wrong: Bools) -> tuple[Clause, ...]:
    """Give each condition a bound between the wrong samples and the right ones that the other condition does
    not exclude.
    """
    clauses = []
    for each in rule:
        others = [other for other in rule if other is not each]
        left = ~wrong & together(others) if others else ~wrong
        if (left & ~each.holds).any():
            clauses.append(each.clause(left))
    return tuple(clauses)


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
            rounded = float(f"{number:.{digits}e}")
            if low <= rounded < high:
                return rounded
    return low
