"""Decide whether an input is fit to judge by: only if the right value on it is beyond doubt."""

import ast
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.course.grading.domain.arguments import evaluated
from grpo_ref.course.grading.domain.domain import Domain, Draw
from grpo_ref.course.grading.found_cases import Input
from grpo_ref.course.grading.judge import agree
from grpo_ref.course.grading.problem import Function, Problem, copied

ADMISSIBLE = 0.1
"""Right answers must agree on an input within this fraction of the tolerance."""
SALTS = tuple(
    map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93))
)
"""Odd numbers with random bits. Each salt changes the numbers of an input by different steps."""
LONG_DOUBLE = np.finfo(np.longdouble).eps < np.finfo(np.float64).eps


class Candidate(NamedTuple):
    """An input of the domain with its right value.

    Attributes:
      draw: the sampled input.
      input: the call with its right value, for the judge.
      size: how many numbers the input holds.
    """

    draw: Draw
    input: Input
    size: int


def domain_of(problem: Problem) -> Domain:
    """Return the problem's domain.

    Raises:
      ValueError: if the problem declares no domain.
    """
    if problem.domain is None:
        raise ValueError(f"{problem.id} declares no domain; see CONTRIBUTING.md")
    return problem.domain


class Rights:
    """The right answers of an exercise, which decide whether an input is fit to judge by.

    An input is admissible under three conditions. All right answers agree on it within a tenth of the
    tolerance. The model answer agrees with itself in extended precision, so that the value does not consist
    of rounding error. Changing every number by an ulp or two changes the value by less than the tolerance.
    The comparison with extended precision is made in both directions, because the judge allows a small
    absolute error if it expects 0, but not if it expects 1e-16.
    """

    def __init__(self, problem: Problem, styles: Mapping[str, str]) -> None:
        self.problem = problem
        self.others = {name: function_of(text, problem.function) for name, text in styles.items()}
        first = next(iter(styles.values()), None)
        self.twin = (
            None if first is None or not LONG_DOUBLE else function_of(widened(first), problem.function)
        )

    def expected(self, draw: Draw) -> Any:
        """Return the reference's value, or the exception that the reference raises."""
        return self._value(self.problem.reference, draw)

    def candidate(self, draw: Draw) -> Candidate | str:
        """Return the input with its right value, or the reason why it is not fit to judge by."""
        if draw.refused:
            return self._refused(draw)
        expected = self.expected(draw)
        if isinstance(expected, Exception):
            return f"the reference raises {type(expected).__name__}: {expected}"
        if not _all_finite(expected):
            return "the reference is not finite"
        for name, function in self.others.items():
            if not self._agree(self._value(function, draw), expected, ADMISSIBLE):
                return f"{name} differs"
        if self.twin is not None:
            exact = self._value(self.twin, draw)
            there = self._agree(exact, expected, ADMISSIBLE)
            if not there or not self._agree(_as(expected, exact), _as(exact, expected), ADMISSIBLE):
                return "extended precision differs"
        for salt in SALTS:
            moved = self._value(self.problem.reference, nudged(draw, self.specials(draw), salt))
            if not self._agree(moved, expected, 1.0):
                return "an ulp changes the value"
        return Candidate(draw, Input(draw.arguments, draw.keywords, expected), size_of(draw))

    def is_steady(self, draw: Draw) -> bool:
        """Return whether the right value stays the same if all numbers change by an ulp or two, exact ones
        too.

        If it does not, a number lies on a boundary, and rounding on another machine may put it on the other
        side, for example if a loop computed the boundary.
        """
        expected = self.expected(draw)
        moved = (self._value(self.problem.reference, nudged(draw, frozenset(), salt)) for salt in SALTS)
        return all(self._agree(value, expected, 1.0) for value in moved)

    def specials(self, draw: Draw) -> frozenset[float]:
        """Return the numbers that are meant exactly, so that they must not be changed."""
        domain = domain_of(self.problem)
        listed = [each for kind in domain.arguments.values() for each in getattr(kind, "at", ())]
        names = domain.plain(draw)
        return frozenset(float(evaluated(each, names)) for each in listed)

    def _refused(self, draw: Draw) -> Candidate | str:
        """Return the input if all right answers refuse it with the same type of exception, else the reason
        why not.
        """
        for name, function in {"the reference": self.problem.reference, **self.others}.items():
            kinds = [kind.__name__ for kind in type(self._value(function, draw)).__mro__]
            if draw.refused not in kinds:
                return f"{name} does not refuse it with a {draw.refused}"
        return Candidate(draw, Input(draw.arguments, draw.keywords, None, draw.refused), size_of(draw))

    def _value(self, function: Function, draw: Draw) -> Any:
        """Return the function's value, or the exception that the function raised."""
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return narrowed(function(*copied(draw.arguments), **copied(draw.keywords)))
        except Exception as error:
            return error

    def _agree(self, got: Any, expected: Any, part: float) -> bool:
        """Return whether a value is right within a fraction of the tolerance. An exception is never right."""
        return not isinstance(got, Exception) and agree(got, expected, part * self.problem.rtol)


def rights_of(problem: Problem) -> Rights:
    """Return `Rights` with all right answers that the problem has."""
    return Rights(problem, problem.right_answers())


@cache
def function_of(text: str, name: str) -> Function:
    """Return the function of a program that the course's authors wrote."""
    namespace: dict[str, Any] = {"__name__": "right"}
    exec(compile(text, "<right answer>", "exec"), namespace)
    function: Function = namespace[name]
    return function


@cache
def widened(text: str) -> str:
    """Rewrite a program for extended precision: every `float` becomes `np.longdouble`.

    >>> widened("x = np.asarray(y, dtype=float)").splitlines()[1]
    'x = np.asarray(y, dtype=np.longdouble)'
    """

    class Widen(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.parse("np.longdouble", mode="eval").body if node.id == "float" else node

    return "import numpy as np\n" + ast.unparse(Widen().visit(ast.parse(text)))


def narrowed(value: Any) -> Any:
    """Round everything of extended precision in a value to double precision."""
    if isinstance(value, tuple):
        return tuple(map(narrowed, value))
    if isinstance(value, dict):
        return {name: narrowed(item) for name, item in value.items()}
    if isinstance(value, np.longdouble):
        return float(value)
    is_long = isinstance(value, np.ndarray) and value.dtype == np.longdouble
    return value.astype(np.float64) if is_long else value


def nudged(draw: Draw, specials: frozenset[float], salt: Any = SALTS[0]) -> Draw:
    """Change every number by up to three ulps. Equal numbers change equally; special and whole numbers stay.

    Args:
      draw: an input.
      specials: numbers that are meant exactly.
      salt: one of `SALTS`; each gives different steps.
    """

    def moved(value: Any) -> Any:
        if isinstance(value, list):
            return [moved(item) for item in value]
        if isinstance(value, float):
            return float(_nudged(np.asarray(value), specials, salt))
        is_real = isinstance(value, np.ndarray) and value.dtype.kind == "f"
        return _nudged(value, specials, salt) if is_real else value

    values = {name: moved(value) for name, value in draw.values.items()}
    return Draw(values, draw.positional, draw.tags, draw.refused)


def _nudged(array: Any, specials: frozenset[float], salt: Any) -> Any:
    """Change each number by a step that depends only on its bits, so that neighboring numbers move
    differently.
    """
    bits = np.abs(array).reshape(-1).view(np.uint64)
    steps = (((bits * salt) >> np.uint64(40)) % np.uint64(7) - 3.0).reshape(array.shape)
    still = ~np.isfinite(array) | (array == np.floor(array))
    for special in specials:
        still |= array == special
    return np.where(still, array, array + steps * np.spacing(np.where(still, 1.0, array)))


def _as(value: Any, like: Any) -> Any:
    """Convert lists in the value to arrays, as the judge expects."""
    if isinstance(value, list):
        return np.asarray(value)
    if isinstance(value, tuple) and isinstance(like, tuple | list):
        return tuple(map(_as, value, like))
    return value


def _all_finite(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_all_finite, value))
    if isinstance(value, dict):
        return all(map(_all_finite, value.values()))
    array = np.asarray(value)
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def size_of(draw: Draw) -> int:
    """Return how many numbers an input holds."""
    return sum(
        int(np.size(value)) if not isinstance(value, dict) else len(value) for value in draw.values.values()
    )
