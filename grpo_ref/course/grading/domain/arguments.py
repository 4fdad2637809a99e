"""The kinds of arguments in a domain: numbers, arrays, masks, choices.

Each kind samples its value in two steps. The first step samples plain numbers, on which other arguments may
depend. The second step gives them the form in which the function receives them: an array or a list, integers
or floats, with something in the padding.
"""

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from types import CodeType
from typing import Any, Protocol

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.course.grading.domain.rows import MIXED, Pattern
from grpo_ref.course.grading.domain.source import Shape, Source

Range = tuple[float, float]
Ends = tuple[int | str, int | str]
WIDE = 1000.0
"""A positive range whose ends differ by more than this factor is sampled uniformly in the logarithm."""
LEAST = 1e-15
"""Smallest magnitude of a number other than 0, unless an argument specifies another one."""
HAIRS = {f"{size:g}": size for size in (1e-4, 1e-6, 1e-7, 1e-10)}
"""Relative distances from a special value, by label."""
FINITE_PADDING = ("zeros", "ordinary numbers", "huge numbers")
ANY_PADDING = (*FINITE_PADDING, "NaN", "infinities")
"""Everything that padding may hold. The statement must say what it holds."""
HUGE = {f"{size:g}": size for size in (1e4, 1e9, 1e20, 1e300)}
"""Magnitudes of the huge numbers that padding may hold, by label."""
FUNCTIONS = {"log": math.log}
"""Functions that may be called in the expression of a special value, as in "log(1 + clip_high)"."""


class Required:
    """Marks an argument without a default."""

    def __repr__(self) -> str:
        return "required"


REQUIRED = Required()


@dataclass
class Context:
    """The values that are known while one input is sampled.

    Attributes:
      source: source of randomness.
      sizes: symbol of an axis -> length of the axis in this input.
      alternative: index of the shape in "...|..." that this input has.
      values: the plain numbers sampled so far, by argument.
    """

    source: Source
    sizes: Mapping[str, int]
    alternative: int
    values: dict[str, Any] = field(default_factory=dict)

    def shape(self, axes: str) -> Shape:
        """Return the lengths of the axes, which are given as symbols or numbers.

        >>> Context(Source, {"N": 2, "T": 3}, 1).shape("T|N T 1")
        (2, 3, 1)
        """
        options = axes.split("|")
        names = options[self.alternative if len(options) > 1 else 0].split()
        return tuple(int(name) if name.isdigit() else self.sizes[name] for name in names)


class Argument(Protocol):
    """The interface of each kind of argument."""

    @property
    def needs(self) -> frozenset[str]:
        """Names of the arguments that must be sampled before this one."""

    @property
    def axes(self) -> str:
        """The axes as text; "" for a single number."""

    @property
    def meaning(self) -> str:
        """Meaning of the argument, for the statement."""

    @property
    def default(self) -> Any:
        """Default of the argument, or REQUIRED."""

    @property
    def refused(self) -> tuple[Any, ...]:
        """Values that the function must refuse with a ValueError."""

    def plain(self, name: str, context: Context) -> Any:
        """Sample the plain numbers."""

    def dressed(self, name: str, value: Any, context: Context) -> Any:
        """Return the numbers in the form in which the function receives them."""

    def describe(self) -> str:
        """Describe the allowed values in a few words, for the table of the statement."""


@dataclass(frozen=True)
class Real:
    """Real numbers: a single one or an array.

    Attributes:
      axes: symbols of the axes, as in "P G T". Alternatives are separated by "|", as in "|T|N T", where the
        first one is a single number. All arguments with alternatives take the same one.
      within: smallest and largest number that the statement allows.
      usual: ranges to sample from; by default the whole range and, if it is wide, also its middle.
      at: special values: numbers, or expressions of other arguments such as "1 + clip_high". 0 and the ends
        of the range are always among them.
      rows: patterns along the last axis.
      padding: name of the mask that marks the padding with 0.
      holds: what the padding may hold.
      near: name of an argument of the same shape; if given, the sampled numbers are added to it.
      whole: whether whole numbers may be passed as integers.
      least: smallest magnitude of a number other than 0.
      meaning: meaning of the argument, for the statement.
    """

    axes: str
    within: Range
    usual: tuple[Range, ...] = ()
    at: tuple[float | str, ...] = ()
    rows: tuple[Pattern, ...] = (MIXED,)
    padding: str = ""
    holds: tuple[str, ...] = ANY_PADDING
    near: str = ""
    whole: bool = True
    least: float = LEAST
    meaning: str = ""
    default: Any = REQUIRED
    refused: tuple[Any, ...] = ()

    @property
    def needs(self) -> frozenset[str]:
        """The mask, the argument `near`, and the arguments in expressions of special values."""
        return frozenset(filter(None, (self.padding, self.near))) | _names(self.at)

    def plain(self, name: str, context: Context) -> Floats:
        """Sample numbers of the range, some of them special, in one of the patterns."""
        shape = context.shape(self.axes)
        low, high = self.within
        values = np.asarray(context.source.pick(f"{name}: numbers", self._numbers)(context, shape))
        if self.near:
            values = values + context.values[self.near]
        if values.ndim and values.shape[-1]:
            pattern = context.source.pick(f"{name}: rows", {each.name: each for each in self.rows})
            values = pattern.make(context.source, values)
        values = np.clip(values, low, high)
        return np.where(np.abs(values) < self.least, 0.0, values)

    @cached_property
    def _numbers(self) -> dict[str, Callable[[Context, Shape], Floats]]:
        """The ways of sampling the numbers, by label."""
        ranges = self.usual or _middles(self.within)
        ways: dict[str, Callable[[Context, Shape], Floats]] = {
            f"from {first:g} to {last:g}": _ranged(first, last) for first, last in ranges
        }
        if self.whole:
            ways["small whole numbers"] = _rounded(*_small(self.within))
            ways["whole numbers"] = _rounded(*self.within)
        low, high = self.within
        for special in (*self.at, *([0] if low <= 0 <= high and 0 not in self.at else [])):
            ways[f"some are {special}"] = _near_special(special, 0.0, ranges[0])
            ways[f"some are nearly {special}"] = _near_special(special, 1.0, ranges[0])
        if low <= 0 <= high:
            offsets = min(first for first, _ in ranges), max(last for _, last in ranges)
            ways["of every size"] = _of_every_size(*(offsets if self.near else self.within))
            ways["tiny"] = _tiny
        if not self.near:
            ways["some at the ends"] = _at_the_ends(self.within, ranges[0])
            ways["as another argument in places"] = _copied(ranges[0])
        return ways

    def dressed(self, name: str, value: Floats, context: Context) -> Any:
        """Return an array or a list, of integers if all numbers are whole, with the padding filled."""
        value = np.array(value, dtype=float)
        if self.padding and context.source.integer(0, 3):
            value = _filled(name, value, context, self)
        return _formed(name, value, context, self.whole)

    def describe(self) -> str:
        """Describe the range."""
        return between(*self.within)


@dataclass(frozen=True)
class Mask:
    """A mask with ones on what counts and zeros on padding, as floats, integers or truth values.

    Attributes:
      axes: symbols of the axes, as for `Real`.
      gaps: whether zeros may be anywhere; otherwise the zeros of a row are at its end.
      empty_rows: whether a row may be all zeros.
      nothing: whether the whole mask may be zeros.
      meaning: meaning of the argument, for the statement.
    """

    axes: str
    gaps: bool = True
    empty_rows: bool = True
    nothing: bool = True
    meaning: str = "1 on tokens, 0 on padding"
    default: Any = REQUIRED
    refused: tuple[Any, ...] = ()
    needs: frozenset[str] = frozenset()

    def plain(self, name: str, context: Context) -> Floats:
        """Sample zeros and ones in one of the allowed arrangements."""
        shape = context.shape(self.axes)
        mask = context.source.pick(f"{name}: tokens", self._kinds())(context.source, shape)
        if not self.empty_rows and shape and shape[-1]:
            mask[..., 0] |= ~mask.any(-1)
        return np.asarray(mask, dtype=float)

    def _kinds(self) -> dict[str, Callable[[Source, Shape], Any]]:
        kinds: dict[str, Callable[[Source, Shape], Any]] = {
            "a prefix of each row": _prefix,
            "all": lambda source, shape: np.ones(shape, dtype=bool),
        }
        if self.gaps:
            kinds["anywhere"] = lambda source, shape: source.flags(shape)
            kinds["the end of each row"] = lambda source, shape: _prefix(source, shape)[..., ::-1].copy()
            kinds["all but one"] = _one_missing
        if self.empty_rows:
            kinds["none in the first row"] = _first_row_empty
        if self.nothing:
            kinds["none"] = lambda source, shape: np.zeros(shape, dtype=bool)
        return kinds

    def dressed(self, name: str, value: Floats, context: Context) -> Any:
        """Return the mask in one of the types that a mask may have."""
        types = {"floats": float, "integers": np.int64, "truth values": bool}
        typed = value.astype(context.source.pick(f"{name}: type", types))
        return _in_container(name, typed, context)

    def describe(self) -> str:
        """Describe the values. `Domain.notes` describes the positions of the zeros."""
        return "0 or 1"


@dataclass(frozen=True)
class Scalar:
    """A number that is a setting, such as a coefficient.

    Attributes:
      default: the function's default for this argument; REQUIRED if there is none.
      within: smallest and largest value that the statement allows.
      usual: ranges to sample from.
      at: special values.
      refused: values that the function must refuse with a ValueError.
      meaning: meaning of the argument, for the statement.
    """

    default: Any
    within: Range
    usual: tuple[Range, ...] = ()
    at: tuple[float | str, ...] = ()
    refused: tuple[Any, ...] = ()
    meaning: str = ""
    axes: str = ""

    @property
    def needs(self) -> frozenset[str]:
        """The arguments in expressions of special values."""
        return _names(self.at)

    def plain(self, name: str, context: Context) -> float:
        """Sample a number of the range, or a special value."""
        ways: dict[str, Callable[[Context, Shape], Any]] = {
            f"from {low:g} to {high:g}": _ranged(low, high)
            for low, high in self.usual or _middles(self.within)
        }
        low, high = self.within
        ways |= {str(special): _exactly(special) for special in (*self.at, low, high)}
        if np.floor(high) > np.ceil(low):
            ways["small whole numbers"] = _rounded(*_small(self.within))
        return float(np.clip(context.source.pick(f"{name}: number", ways)(context, ()), low, high))

    def dressed(self, name: str, value: float, context: Context) -> Any:
        """Return the number, as an integer if it is whole."""
        return int(value) if float(value).is_integer() else value

    def describe(self) -> str:
        """Describe the range."""
        return between(*self.within)


@dataclass(frozen=True)
class Whole:
    """A whole number, or an array of whole numbers if there are axes, such as a length or token ids.

    Attributes:
      within: smallest and largest value; either may be the symbol of an axis, as in (0, "V - 1").
      axes: symbols of the axes, as for `Real`.
      usual: ranges to sample from; by default the whole range.
      at: special values.
    """

    within: Ends
    default: Any = REQUIRED
    axes: str = ""
    usual: tuple[Ends, ...] = ()
    at: tuple[int | str, ...] = ()
    refused: tuple[Any, ...] = ()
    meaning: str = ""

    @property
    def needs(self) -> frozenset[str]:
        """No arguments: bounds and special values are numbers or lengths of axes."""
        return frozenset()

    def plain(self, name: str, context: Context) -> Any:
        """Sample whole numbers of the range, or a special value."""
        low, high = self._ends(self.within, context)
        shape = context.shape(self.axes)
        ways: dict[str, Callable[[], Any]] = {
            f"from {usual[0]} to {usual[1]}": partial(_wholes, context, *self._ends(usual, context), shape)
            for usual in self.usual or (self.within,)
        }
        if shape:
            ways["all the same"] = lambda: np.full(shape, context.source.integer(low, high))
        for each in self.at:
            ways[str(each)] = partial(np.full, shape, np.clip(evaluated(each, context.sizes), low, high))
        value = np.asarray(context.source.pick(f"{name}: number", ways)()).astype(np.int64)
        return value if shape else int(value)

    def _ends(self, ends: Ends, context: Context) -> tuple[int, int]:
        first, last = (int(evaluated(bound, context.sizes)) for bound in ends)
        return first, last

    def dressed(self, name: str, value: Any, context: Context) -> Any:
        """Return an array or a list."""
        return _in_container(name, value, context) if isinstance(value, np.ndarray) else value

    def describe(self) -> str:
        """Describe the range."""
        return f"{'integers' if self.axes else 'integer'}, {self.within[0]} to {self.within[1]}"


@dataclass(frozen=True)
class Choice:
    """One of several values, such as the name of a variant or a truth value."""

    options: tuple[Any, ...]
    default: Any = REQUIRED
    refused: tuple[Any, ...] = ()
    meaning: str = ""
    axes: str = ""
    needs: frozenset[str] = frozenset()

    def plain(self, name: str, context: Context) -> Any:
        """Return each option in turn."""
        return context.source.pick(f"{name}: choice", {repr(option): option for option in self.options})

    def dressed(self, name: str, value: Any, context: Context) -> Any:
        """Return the value unchanged."""
        return value

    def describe(self) -> str:
        """List the options."""
        return either([repr(option) for option in self.options])


@dataclass(frozen=True)
class Made:
    """Any other argument, with a sampling function of its own.

    Attributes:
      draw: function of the context that returns the value: a dict, a tuple, a curve, probabilities. The
        arguments in `needs` are in `context.values`.
      text: the allowed values, for the statement.
      needs: names of the arguments that `draw` uses.
      lists: whether an array may also be passed as nested lists.
    """

    draw: Callable[[Context], Any]
    text: str
    axes: str = ""
    needs: frozenset[str] = frozenset()
    lists: bool = True
    meaning: str = ""
    default: Any = REQUIRED
    refused: tuple[Any, ...] = ()

    def plain(self, name: str, context: Context) -> Any:
        """Call the sampling function."""
        return self.draw(context)

    def dressed(self, name: str, value: Any, context: Context) -> Any:
        """Return the value; if it is an array, sometimes as lists."""
        listed = isinstance(value, np.ndarray) and self.lists
        return _in_container(name, value, context) if listed else value

    def describe(self) -> str:
        """Return the author's words."""
        return self.text


@cache
def _names(expressions: tuple[float | str, ...]) -> frozenset[str]:
    """Return the names of arguments that occur in special values written as expressions."""
    trees = [ast.parse(each, mode="eval") for each in expressions if isinstance(each, str)]
    names = frozenset(node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name))
    return names - FUNCTIONS.keys()


def evaluated(expression: float | str, names: Mapping[str, Any]) -> Any:
    """Return a number as it is, or the value of an author's expression such as "1 + clip_high"."""
    if not isinstance(expression, str):
        return expression
    return eval(_compiled(expression), {"__builtins__": {}, **FUNCTIONS}, dict(names))


@cache
def _compiled(expression: str) -> CodeType:
    return compile(expression, "<special value>", "eval")


def _middles(within: Range) -> tuple[Range, ...]:
    """Return the range, preceded by its part around 0 or 1 if that is smaller: most inputs lie there."""
    low, high = within
    middle = (max(low, 0.1 if low > 0 else -2.0), min(high, 2.0))
    return (middle, within) if middle[0] < middle[1] and middle != within else (within,)


def _ranged(low: float, high: float) -> Callable[[Context, Shape], Floats]:
    """Sample from a range, uniformly; in the logarithm if the range is positive and wide."""
    if low > 0 and high / low > WIDE:
        return lambda context, shape: np.exp(context.source.reals(np.log(low), np.log(high), shape))
    return lambda context, shape: context.source.reals(low, high, shape)


def _small(within: Range) -> Range:
    """Return a range of at most eleven whole numbers, around 0 if possible. With so few numbers, some are
    equal.
    """
    low = max(within[0], min(-5.0, within[1] - 10.0))
    return low, min(within[1], np.ceil(low) + 10.0)


def _wholes(context: Context, low: int, high: int, shape: Shape) -> Floats:
    """Sample whole numbers uniformly from low to high, both included."""
    return np.floor(context.source.reals(low, high + 1 - 1e-9, shape))


def _rounded(low: float, high: float) -> Callable[[Context, Shape], Floats]:
    """Sample whole numbers of the range uniformly."""
    first, count = np.ceil(low), np.floor(high) - np.ceil(low) + 1.0
    return lambda context, shape: first + np.floor(context.source.reals(0.0, max(count, 1.0) - 1e-9, shape))


def _near_special(special: float | str, hairs: float, usual: Range) -> Callable[[Context, Shape], Floats]:
    """Put about half of the numbers at a special value, or very near it, and sample the others as usual."""

    def draw(context: Context, shape: Shape) -> Floats:
        value = float(evaluated(special, context.values))
        hair = context.source.pick("distance from a special value", HAIRS) if hairs else 0.0
        moved = value + hair * max(abs(value), 1.0) * context.source.reals(-1.0, 1.0, shape)
        others = _ranged(*usual)(context, shape)
        return np.where(context.source.flags(shape), moved if hairs else value, others)

    return draw


def _of_every_size(low: float, high: float) -> Callable[[Context, Shape], Floats]:
    """Sample numbers of all orders of magnitude up to the ends of a range, with each sign that the range
    allows.
    """

    def draw(context: Context, shape: Shape) -> Floats:
        sizes = 10.0 ** context.source.reals(np.log10(LEAST), np.log10(max(-low, high)), shape)
        negative = context.source.flags(shape) if low < 0.0 < high else np.full(shape, low < 0.0)
        return np.where(negative, -sizes, sizes)

    return draw


def _tiny(context: Context, shape: Shape) -> Floats:
    """Sample numbers of one small order of magnitude. The caller clips them to the range."""
    scale = 10.0 ** context.source.reals(np.log10(LEAST), -3.0, ())
    return np.asarray(scale * context.source.reals(-1.0, 1.0, shape))


def _at_the_ends(within: Range, usual: Range) -> Callable[[Context, Shape], Floats]:
    """Put about half of the numbers at one end of the range, and sample the others as usual."""

    def draw(context: Context, shape: Shape) -> Floats:
        end = within[int(context.source.flags(()))]
        return np.where(context.source.flags(shape), end, _ranged(*usual)(context, shape))

    return draw


def _copied(usual: Range) -> Callable[[Context, Shape], Floats]:
    """Copy about half of the numbers from an argument of the same shape, and sample the others as usual."""

    def draw(context: Context, shape: Shape) -> Floats:
        others = [each for each in context.values.values() if np.shape(each) == shape and shape]
        numbers = _ranged(*usual)(context, shape)
        return np.where(context.source.flags(shape), others[0], numbers) if others else numbers

    return draw


def _exactly(special: float | str) -> Callable[[Context, Shape], Any]:
    return lambda context, shape: evaluated(special, context.values)


def _prefix(source: Source, shape: Shape) -> Any:
    """Mask the first entries of each row, a different number of them in each row."""
    if not shape:
        return source.flags(shape)
    lengths = np.floor(source.reals(0.0, shape[-1] + 1 - 1e-9, (*shape[:-1], 1)))
    return np.arange(shape[-1]) < lengths


def _one_missing(source: Source, shape: Shape) -> Any:
    mask = np.ones(shape, dtype=bool)
    if mask.size:
        mask.reshape(-1)[source.integer(0, mask.size - 1)] = False
    return mask


def _first_row_empty(source: Source, shape: Shape) -> Any:
    mask = np.ones(shape, dtype=bool)
    if len(shape) > 1 and mask.size:
        mask.reshape(-1, shape[-1])[0] = False
    return mask


def _filled(name: str, value: Floats, context: Context, kind: Real) -> Floats:
    """Fill the padding of an array with something that must not matter."""
    real = np.broadcast_to(np.asarray(context.values[kind.padding]) > 0, value.shape)
    fillings: dict[str, Callable[[], Any]] = {
        "zeros": lambda: 0.0,
        "ordinary numbers": lambda: context.source.reals(-9.0, 9.0, value.shape),
        "huge numbers": lambda: _either_sign(context, value.shape),
        "NaN": lambda: np.nan,
        "infinities": lambda: np.where(context.source.flags(value.shape), np.inf, -np.inf),
    }
    filling = context.source.pick(f"{name}: padding", {each: fillings[each] for each in kind.holds})
    return np.where(real, value, filling())


def _either_sign(context: Context, shape: Shape) -> Floats:
    """Return huge numbers of one size, some of them negative."""
    size = context.source.pick("size of the padding", HUGE)
    return np.where(context.source.flags(shape), size, -size)


def _formed(name: str, value: Floats, context: Context, whole: bool) -> Any:
    """Convert to integers if all numbers are whole. In lists, sometimes convert single whole numbers."""
    may_be_integer = (np.abs(value) < 2**53) & (value == np.floor(value)) & whole
    typed = value.astype(np.int64) if value.size and may_be_integer.all() else value
    formed = _in_container(name, typed, context)
    if isinstance(formed, list) and may_be_integer.any() and context.source.integer(0, 1):
        return np.where(may_be_integer, _integers(value), value.astype(object)).tolist()
    return formed


def _integers(value: Floats) -> Any:
    """Return the numbers as Python integers, and 0 for numbers that are too large."""
    whole = np.where(np.abs(value) < 2**53, value, 0.0)
    return whole.astype(np.int64).astype(object)


def _in_container(name: str, value: Any, context: Context) -> Any:
    """Return an array, nested lists, or an array with another memory order."""
    if value.ndim == 0:
        return context.source.pick(f"{name}: form", {"a number": value.item(), "one of NumPy's": value[()]})
    forms: dict[str, Callable[[], Any]] = {
        "an array": lambda: value,
        "lists": value.tolist if value.size else lambda: value,
        "an array, again": lambda: value,
        "an array with its memory transposed": lambda: np.asfortranarray(value),
    }
    return context.source.pick(f"{name}: form", forms)()


def between(low: float, high: float) -> str:
    """Describe a range.

    >>> between(1e-8, 10000.0), between(-2.5, 0)
    ('1e-8 to 1e4', '−2.5 to 0')
    """
    return f"{_number(low)} to {_number(high)}"


def _number(value: float) -> str:
    power = math.log10(abs(value)) if value else 0.0
    text = f"1e{power:.0f}" if power.is_integer() and abs(power) > 3 else f"{abs(value):g}"
    return ("−" if value < 0 else "") + text.replace("e-0", "e-").replace("e+0", "e")


def either(options: Sequence[str]) -> str:
    """List the options, with "or" before the last."""
    return options[0] if len(options) == 1 else f"{', '.join(options[:-1])} or {options[-1]}"
