"""The shortest rule that sets wrong samples apart from right ones: one condition, or two together."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grpo_ref.arrays import Bools, Floats

PRECISE = 0.9
"""A rule with this share of wrong samples among those that it covers needs no further condition."""
HALF = 0.5
"""Further samples refute a rule if less than this part is wrong of those that it lets expect."""
VAGUE, RARE = 0.85, 0.05
"""A rule says too little if less than the first share of what it covers is wrong, and more than the second
share of all that is right is covered.
"""
NEARLY_ALL = 0.8
"""A rule says too little if it covers a larger share of the samples."""
CHANCE = 1e-3
"""The most that the chance may be with which one of the rules tried fits by luck."""
MOST_PAIRED = 60
"""Of the conditions, so many of the best are tried together."""
DIGITS = 15


@dataclass(frozen=True)
class Condition:
    """Something that holds for all wrong samples and not for all right ones.

    Attributes:
      noun: of a number; or a clause, if `sign` is 0.
      column: the number for each sample, or NaN, of which nothing is said; or whether the clause holds.
      sign: 1 for "is above", -1 for "is below".
      limit: the number of the wrong sample that is nearest to the right ones.
    """

    noun: str
    column: Floats | Bools
    sign: int = 0
    limit: float = 0.0

    @property
    def holds(self) -> Bools:
        """For each sample."""
        return self.column > 0 if self.sign == 0 else ~(self.sign * self.column < self.sign * self.limit)

    def clause(self, right: Bools) -> "Clause":
        """The same with a round number that lies between the wrong samples and these right ones."""
        if self.sign == 0:
            return Clause(self.noun)
        nearest = np.where(right & ~self.holds, self.sign * self.column, -np.inf).max()
        return Clause(self.noun, self.sign, self.sign * between(float(nearest), self.sign * self.limit) + 0.0)


@dataclass(frozen=True)
class Clause:
    """A condition as it is told.

    Attributes:
      noun: of a number; or the whole clause, if `sign` is 0.
      sign: 1 for "is above", -1 for "is below".
      bound: of the number.
    """

    noun: str
    sign: int = 0
    bound: float = 0.0

    def __str__(self) -> str:
        if self.sign == 0:
            return self.noun
        return f"{self.noun} is {'above' if self.sign > 0 else 'below'} {self.bound:.12g}"

    def holds(self, columns: Mapping[str, Floats | Bools]) -> Bools:
        """For each sample; where nothing is known of a number, nothing holds."""
        column = columns.get(self.noun)
        if column is None:
            return np.zeros(len(next(iter(columns.values()))), dtype=bool)
        return np.asarray(column > 0 if self.sign == 0 else self.sign * column > self.sign * self.bound)


@dataclass(frozen=True)
class Rule:
    """Conditions that hold together for every wrong sample, and for few right ones.

    Attributes:
      clauses: the conditions.
      wrong: how many samples are wrong.
      covered: for how many the conditions hold.
      others: for how many they do not hold; these are all right.
    """

    clauses: tuple[Clause, ...]
    wrong: int
    covered: int
    others: int

    @property
    def text(self) -> str:
        """The conditions."""
        return " and ".join(map(str, self.clauses))

    @property
    def precision(self) -> float:
        """Which share of the samples is wrong for which they hold."""
        return self.wrong / self.covered

    @property
    def is_exact(self) -> bool:
        """Whether they hold for no right sample."""
        return self.covered == self.wrong

    def holds(self, columns: Mapping[str, Floats | Bools]) -> Bools:
        """For each sample, whether all conditions hold."""
        return np.asarray(np.logical_and.reduce([each.holds(columns) for each in self.clauses]))

    def tested(self, columns: Mapping[str, Floats | Bools], wrong: Bools) -> "Rule | None":
        """The rule counted over further samples too; None if these refute it.

        They do if one is wrong that it does not cover, or if far fewer are wrong than it lets expect.
        """
        holds = self.holds(columns)
        refuted = (wrong & ~holds).any() or (holds & wrong).sum() < HALF * self.precision * holds.sum()
        if refuted:
            return None
        counts = (self.wrong + wrong.sum(), self.covered + holds.sum(), self.others + (~holds).sum())
        return Rule(self.clauses, *map(int, counts))


def rule_for(columns: Mapping[str, Floats | Bools], wrong: Bools, independent: int) -> Rule | None:
    """The rule that leaves the fewest right samples; None if it says too little, or luck could have made it.

    A further condition is only taken where the rule without it is not precise.

    Args:
      columns: noun of a number, or a clause -> its value for each sample, a number or a truth value.
      wrong: for each sample, whether it is wrong.
      independent: how many of the wrong ones are independent of one another.
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
    """Every condition that holds for all wrong samples and not for all right ones."""
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
    """For each sample, whether all conditions hold."""
    return np.asarray(np.logical_and.reduce([each.holds for each in rule]))


def luck(holds: Bools, wrong: Bools, independent: int, tried: int) -> float:
    """A bound on the chance that one of so many rules holds for all wrong samples by luck.

    A rule that has nothing to do with the mistake holds for a wrong sample as often as for a right one.
    """
    right = ~wrong
    share = (float((holds & right).sum()) + 1.0) / (float(right.sum()) + 2.0)
    return tried * math.pow(share, independent)


def _clauses(rule: Sequence[Condition], wrong: Bools) -> tuple[Clause, ...]:
    """Each bound lies between the wrong samples and the right ones that the other conditions leave."""
    clauses = []
    for each in rule:
        others = [other for other in rule if other is not each]
        left = ~wrong & together(others) if others else ~wrong
        if (left & ~each.holds).any():
            clauses.append(each.clause(left))
    return tuple(clauses)


def between(low: float, high: float) -> float:
    """A number with few digits from `low` on and below `high`.

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
