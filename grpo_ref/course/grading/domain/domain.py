"""`Domain`: the arguments of an exercise together, and the draws that it gives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from grpo_ref.course.grading.domain.arguments import REQUIRED, Argument, Context, Real
from grpo_ref.course.grading.domain.source import Dealer, Source

EVERY_LARGE, EVERY_REFUSED = 12, 20
"""One draw in so many has a large axis; one in so many must be refused."""
MOST_TRIES = 200
LEFT_OUT, BY_NAME, IN_PLACE = "left out", "by name", "in place"
WAYS = {each: each for each in (LEFT_OUT, BY_NAME, IN_PLACE)}
"""How an argument with a default may be given."""


@dataclass(frozen=True)
class Draw:
    """One input.

    Attributes:
      values: by name, those that are given, in the order of the signature.
      positional: how many of them are given without their name.
      tags: name of each choice -> what was chosen.
      refused: name of the exception that must come, or "".
    """

    values: Mapping[str, Any]
    positional: int
    tags: Mapping[str, str] = field(default_factory=dict)
    refused: str = ""

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The positional arguments."""
        return tuple(self.values.values())[: self.positional]

    @property
    def keywords(self) -> dict[str, Any]:
        """The others."""
        return dict(list(self.values.items())[self.positional :])


@dataclass(frozen=True)
class Rule:
    """A condition on several arguments together.

    Attributes:
      text: as a line of the statement's constraints.
      holds: (plain values by name) -> whether they are allowed.
    """

    text: str
    holds: Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Refusal:
    """Input that must be refused, where it takes more than one argument's value to see it.

    Attributes:
      text: what is refused, in a few words, for the statement's constraints.
      spoil: (allowed values by name) -> values to refuse.
      error: name of the exception.
    """

    text: str
    spoil: Callable[[dict[str, Any]], Mapping[str, Any]]
    error: str = "ValueError"


@dataclass(frozen=True)
class Domain:
    """Which inputs the statement of an exercise allows.

    Attributes:
      arguments: by name, in the order of the signature.
      sizes: symbol of each axis -> its smallest and largest usual length; 0 is an empty axis.
      large: symbol -> a length that is tried now and then.
      rules: conditions on several arguments together; draws that break one are made anew.
      refusals: what must be refused beside the refused values of single arguments.

    Raises:
      ValueError: if there are no arguments, or they have different numbers of alternative shapes, or need one
        another in a circle.
    """

    arguments: Mapping[str, Argument]
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    large: Mapping[str, int] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    def __post_init__(self) -> None:
        if len({each.axes.count("|") for each in self.arguments.values() if "|" in each.axes}) > 1:
            raise ValueError("arguments with alternative shapes need equally many of them")
        if not self._order:
            raise ValueError("there are no arguments")

    def draws(self, seed: int, count: int) -> list[Draw]:
        """So many inputs, small ones first; equal seeds give equal inputs."""
        dealer = Dealer(seed)
        return [self.draw(dealer, (trial + 1) / count, trial) for trial in range(count)]

    def draw(self, source: Source, growth: float, trial: int) -> Draw:
        """One input.

        Args:
          source: of randomness.
          growth: how much of the usual sizes is used, from 0 to 1.
          trial: its number; every twelfth has one large axis, every twentieth must be refused.

        Raises:
          RuntimeError: if the rules leave next to nothing.
        """
        for _ in range(MOST_TRIES):
            source.picked.clear()
            context = Context(source, self._lengths(source, growth, trial), self._alternative(source))
            ways = {name: self._way(source, name) for name in self.arguments}
            for name in self._order:
                each = self.arguments[name]
                left_out = ways[name] == LEFT_OUT
                context.values[name] = each.default if left_out else each.plain(name, context)
            if all(rule.holds(context.values) for rule in self.rules):
                draw = self._given(context, ways)
                return self._spoiled(draw, source) if trial % EVERY_REFUSED == EVERY_REFUSED - 1 else draw
        raise RuntimeError(f"the rules refuse {MOST_TRIES} draws in a row")

    def plain(self, draw: Draw) -> dict[str, Any]:
        """Every argument's value, the default where it was left out."""
        return {name: draw.values.get(name, each.default) for name, each in self.arguments.items()}

    @cached_property
    def _order(self) -> list[str]:
        """The arguments, each after those that it needs."""
        order: list[str] = []
        while len(order) < len(self.arguments):
            ready = [
                name
                for name, each in self.arguments.items()
                if name not in order and each.needs <= set(order)
            ]
            if not ready:
                raise ValueError(f"some arguments need one another, or a name that is none: {self.arguments}")
            order += ready
        return order

    def _alternative(self, source: Source) -> int:
        counts = [each.axes.count("|") for each in self.arguments.values()]
        return source.pick("shape", {str(number): number for number in range(max(counts, default=0) + 1)})

    def _lengths(self, source: Source, growth: float, trial: int) -> dict[str, int]:
        lengths = {
            name: source.integer(low, low + round((high - low) * min(1.0, 0.25 + growth)))
            for name, (low, high) in self.sizes.items()
        }
        if self.large and trial % EVERY_LARGE == EVERY_LARGE - 1:
            name = source.pick("large axis", {each: each for each in self.large})
            lengths[name] = self.large[name]
        return lengths

    def _way(self, source: Source, name: str) -> str:
        """How an argument is given; those without a default always in their place."""
        required = self.arguments[name].default is REQUIRED
        return IN_PLACE if required else source.pick(f"{name}: given", WAYS)

    def _given(self, context: Context, ways: Mapping[str, str]) -> Draw:
        """The values as the function gets them: in their forms, some left out, some by name."""
        values, positional, in_place = {}, 0, True
        for name, each in self.arguments.items():
            in_place = in_place and ways[name] == IN_PLACE
            positional += in_place
            if ways[name] != LEFT_OUT:
                values[name] = each.dressed(name, context.values[name], context)
        return Draw(values, positional, dict(context.source.picked))

    def _spoiled(self, draw: Draw, source: Source) -> Draw:
        """A draw that must be refused, if there is anything to refuse; what has a default goes by name."""
        refusals = self._refusals()
        if not refusals:
            return draw
        refusal = source.pick("refused", refusals)
        values = {**draw.values, **refusal.spoil(dict(draw.values))}
        ordered = {name: values[name] for name in self.arguments if name in values}
        required = sum(self.arguments[name].default is REQUIRED for name in ordered)
        return Draw(ordered, required, dict(source.picked), refusal.error)

    def _refusals(self) -> dict[str, Refusal]:
        single = {
            f"{name}={value!r}": Refusal("", _replacing(name, value))
            for name, each in self.arguments.items()
            for value in each.refused
        }
        return single | {each.text: each for each in self.refusals}

    @property
    def inputs(self) -> str:
        """The Input section of the statement, a line for each argument."""
        return "\n".join(
            f"{name}: {'; '.join(filter(None, (each.meaning, _shapes(each.axes), each.describe())))}."
            for name, each in self.arguments.items()
        )

    @property
    def constraints(self) -> str:
        """What the Constraints section has to say of the inputs, a line for each rule."""
        alike = [name for name, each in self.arguments.items() if "|" in each.axes]
        lines = [f"{_and(alike)} have the same shape."] * (len(alike) > 1)
        for least in sorted({low for low, _ in self.sizes.values()}):
            names = [name for name, (low, _) in self.sizes.items() if low == least]
            held = f"{'is' if len(names) == 1 else 'are'} at least {least}"
            lines.append(f"{_and(names)} {held if least else 'may be 0'}.")
        lines += self._sizes_of_numbers()
        lines += [rule.text for rule in self.rules]
        for error in dict.fromkeys(each.error for each in self.refusals):
            refused = "; ".join(each.text for each in self.refusals if each.error == error)
            lines.append(f"What must be refused with a {error}: {refused}.")
        return "\n".join(lines)

    def _sizes_of_numbers(self) -> list[str]:
        """A line for each size below which there is no number but 0."""
        names: dict[float, list[str]] = {}
        for name, each in self.arguments.items():
            if isinstance(each, Real) and each.within[0] <= 0 <= each.within[1]:
                names.setdefault(each.least, []).append(name)
        return [
            f"Every number in {_and(its)} is 0 or at least {size:g} in size." for size, its in names.items()
        ]


def _and(names: Sequence[str]) -> str:
    """The names as a list with "and" before the last.

    >>> _and(["N"]), _and(["B", "N", "T"])
    ('N', 'B, N and T')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _replacing(name: str, value: Any) -> Callable[[dict[str, Any]], Mapping[str, Any]]:
    return lambda values: {name: value}


def _shapes(axes: str) -> str:
    """The shapes in words.

    >>> _shapes("|T|N T"), _shapes("P G"), _shapes("")
    ('a number or shape (T,) or (N, T)', 'shape (P, G)', '')
    """
    if not axes:
        return ""
    options = [option.split() for option in axes.split("|")]
    shapes = [f"({', '.join(names)}{',' if len(names) == 1 else ''})" for names in options if names]
    number = "a number or " if [] in options else ""
    return f"{number}shape {' or '.join(shapes)}"
