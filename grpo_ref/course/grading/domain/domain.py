"""`Domain`: all arguments of an exercise together, and the inputs sampled from them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from grpo_ref.course.grading.domain.arguments import (
    ANY_PADDING,
    LEAST,
    REQUIRED,
    Argument,
    Choice,
    Context,
    Made,
    Mask,
    Real,
    either,
)
from grpo_ref.course.grading.domain.source import Dealer, Source

EVERY_LARGE, EVERY_REFUSED = 12, 20
"""Every 12th input has one large axis; every 20th input must be refused."""
MOST_TRIES = 200
HEADER, WIDEST = ("argument", "meaning", "shape", "values"), 100
"""Head of the table of arguments, and the largest number of characters of a row."""
LEFT_OUT, BY_NAME, IN_PLACE = "left out", "by name", "in place"
WAYS = {each: each for each in (LEFT_OUT, BY_NAME, IN_PLACE)}
"""Ways of passing an argument that has a default."""


@dataclass(frozen=True)
class Draw:
    """One sampled input.

    Attributes:
      values: values of the given arguments by name, in the order of the signature.
      positional: number of arguments that are passed by position.
      tags: name of each choice -> the chosen option.
      refused: name of the exception that the function must raise, or "".
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
        """The keyword arguments."""
        return dict(list(self.values.items())[self.positional :])


@dataclass(frozen=True)
class Rule:
    """A condition on several arguments together.

    Attributes:
      text: the condition, as a sentence of the statement.
      holds: function of the plain values by name that returns whether they are allowed.
    """

    text: str
    holds: Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Refusal:
    """Input that must be refused for a reason that involves several arguments.

    Attributes:
      text: the refused input in a few words, for the statement.
      spoil: function of allowed values by name that returns values to refuse.
      error: name of the exception.
    """

    text: str
    spoil: Callable[[dict[str, Any]], Mapping[str, Any]]
    error: str = "ValueError"


@dataclass(frozen=True)
class Domain:
    """The inputs that the statement of an exercise allows.

    Attributes:
      arguments: kinds of the arguments by name, in the order of the signature.
      sizes: symbol of each axis -> its smallest and largest usual length; 0 is an empty axis.
      large: symbol -> a large length that is tried occasionally.
      rules: conditions on several arguments together. Inputs that violate one are sampled again.
      refusals: inputs that must be refused, beside the refused values of single arguments.

    Raises:
      ValueError: if there are no arguments, or they have different numbers of alternative shapes, or their
        dependencies form a cycle.
    """

    arguments: Mapping[str, Argument]
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    large: Mapping[str, int] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    def __post_init__(self) -> None:
        if len({each.axes.count("|") for each in self.arguments.values() if "|" in each.axes}) > 1:
            raise ValueError("expected equally many alternatives for all arguments with alternative shapes")
        if not self._order:
            raise ValueError("expected one or more arguments")

    def draws(self, seed: int, count: int) -> list[Draw]:
        """Sample this many inputs, small ones first. Equal seeds give equal inputs."""
        dealer = Dealer(seed)
        return [self.draw(dealer, (trial + 1) / count, trial) for trial in range(count)]

    def draw(self, source: Source, growth: float, trial: int) -> Draw:
        """Sample one input.

        Args:
          source: source of randomness.
          growth: fraction of the usual sizes that is used, from 0 to 1.
          trial: number of the input; every twelfth has one large axis, every twentieth must be refused.

        Raises:
          RuntimeError: if the rules refuse nearly all inputs.
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
        raise RuntimeError(f"the rules refused {MOST_TRIES} sampled inputs in a row; sample fitting inputs")

    def plain(self, draw: Draw) -> dict[str, Any]:
        """Return the value of every argument; the default if the argument was omitted."""
        return {name: draw.values.get(name, each.default) for name, each in self.arguments.items()}

    @cached_property
    def _order(self) -> list[str]:
        """The arguments, each after the ones that it needs."""
        order: list[str] = []
        while len(order) < len(self.arguments):
            ready = [
                name
                for name, each in self.arguments.items()
                if name not in order and each.needs <= set(order)
            ]
            if not ready:
                raise ValueError(
                    f"some arguments depend on each other, or on an unknown name: {self.arguments}"
                )
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
        """Choose how an argument is passed. Arguments without a default are always passed by position."""
        required = self.arguments[name].default is REQUIRED
        return IN_PLACE if required else source.pick(f"{name}: given", WAYS)

    def _given(self, context: Context, ways: Mapping[str, str]) -> Draw:
        """Return the input as the function receives it: values in their forms, some omitted, some passed by
        name.
        """
        values, positional, in_place = {}, 0, True
        for name, each in self.arguments.items():
            in_place = in_place and ways[name] == IN_PLACE
            positional += in_place
            if ways[name] != LEFT_OUT:
                values[name] = each.dressed(name, context.values[name], context)
        return Draw(values, positional, dict(context.source.picked))

    def _spoiled(self, draw: Draw, source: Source) -> Draw:
        """Turn the input into one that must be refused, if there is anything to refuse. Arguments with a
        default are passed by name.
        """
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
        """The inputs as a Markdown table, and below it a list of what the table cannot say.

        The table becomes a list if a line is too long.
        """
        rows = []
        for name, each in self.arguments.items():
            shape = _shapes(each.axes) or ("" if isinstance(each, Made | Choice) else "number")
            rows.append((f"`{name}`", each.meaning, shape, each.describe()))
        widths = [max(map(len, column)) for column in zip(HEADER, *rows, strict=True)]
        table = [HEADER, tuple("-" * width for width in widths), *rows]
        lines = [
            f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |"
            for row in table
        ]
        if max(map(len, lines)) > WIDEST:
            lines = [f"* {name}: {'; '.join(filter(None, cells))}." for name, *cells in rows]
        notes = [f"* {note}" for note in self.notes]
        return "\n".join([*lines, *[""] * bool(notes), *notes])

    @property
    def notes(self) -> list[str]:
        """Sentences on the padding, the masks, the sizes, and the conditions on several inputs."""
        alike = [f"`{name}`" for name, each in self.arguments.items() if "|" in each.axes]
        lines = [f"{_and(alike)} have the same shape."] * (len(alike) > 1)
        lines += [
            f"{_and([f'`{name}`' for name in names])} may hold anything where `{mask}` is 0, {holds}."
            for (mask, holds), names in self._padded().items()
        ]
        lines += [
            f"`{name}`: {'zeros may be anywhere' if each.gaps else 'the zeros of a row come after its ones'},"
            f" and {'a row may be all zeros' if each.empty_rows else 'every row has a one'}."
            for name, each in self.arguments.items()
            if isinstance(each, Mask)
        ]
        for least in sorted({low for low, _ in self.sizes.values()}):
            names = [name for name, (low, _) in self.sizes.items() if low == least]
            held = f"{'is' if len(names) == 1 else 'are'} at least {least}"
            lines.append(f"{_and(names)} {held if least else 'may be 0'}.")
        lines += self._sizes_of_numbers()
        lines += [rule.text for rule in self.rules]
        return lines + self._refused_texts()

    def _padded(self) -> dict[tuple[str, str], list[str]]:
        """Return the arguments with padding, by their mask and a text on the numbers in the padding."""
        names: dict[tuple[str, str], list[str]] = {}
        for name, each in self.arguments.items():
            if isinstance(each, Real) and each.padding:
                is_any = set(each.holds) >= set(ANY_PADDING)
                holds = "also NaN or infinity" if is_any else "but only finite numbers"
                names.setdefault((each.padding, holds), []).append(name)
        return names

    def _sizes_of_numbers(self) -> list[str]:
        """Return a line for each smallest magnitude that differs from the usual one."""
        names: dict[float, list[str]] = {}
        for name, each in self.arguments.items():
            if isinstance(each, Real) and each.least != LEAST and each.within[0] <= 0 <= each.within[1]:
                names.setdefault(each.least, []).append(f"`{name}`")
        return [
            f"Every number in {_and(its)} is 0 or at least {size:g} in absolute value."
            for size, its in names.items()
        ]

    def _refused_texts(self) -> list[str]:
        """Return a line for each type of exception, with the inputs that must raise it."""
        texts: dict[str, list[str]] = {}
        for name, each in self.arguments.items():
            if each.refused:
                values = either([repr(value) for value in each.refused])
                texts.setdefault("ValueError", []).append(f"`{name}` is {values}")
        for refusal in self.refusals:
            texts.setdefault(refusal.error, []).append(refusal.text)
        which = {
            error: "this input" if len(all) == 1 else "each of these inputs" for error, all in texts.items()
        }
        return [f"Raise a {error} for {which[error]}: {'; '.join(all)}." for error, all in texts.items()]


def _and(names: Sequence[str]) -> str:
    """List the names, with "and" before the last.

    >>> _and(["N"]), _and(["B", "N", "T"])
    ('N', 'B, N and T')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _replacing(name: str, value: Any) -> Callable[[dict[str, Any]], Mapping[str, Any]]:
    return lambda values: {name: value}


def _shapes(axes: str) -> str:
    """Describe the shapes in words.

    >>> _shapes("|T|N T"), _shapes("P G"), _shapes("")
    ('number, (T,) or (N, T)', '(P, G)', '')
    """
    if not axes:
        return ""
    options = [option.split() for option in axes.split("|")]
    shapes = [f"({', '.join(names)}{',' if len(names) == 1 else ''})" for names in options if names]
    return either(["number"] * ([] in options) + shapes)
