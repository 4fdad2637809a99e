"""Is an input fit to judge by? Only if the right value is beyond doubt there."""

import ast
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.course.grading.domain.arguments import evaluated
from grpo_ref.course.grading.domain.domain import Domain, Draw
from grpo_ref.course.grading.found import Input
from grpo_ref.course.grading.judge import agree
from grpo_ref.course.grading.problem import Function, Problem, copied

ADMISSIBLE = 0.1
"""Right answers must agree on an input within this part of the tolerance."""
SALTS = tuple(
    map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93))
)
"""Each moves the numbers of an input by other steps; odd, with random bits."""
LONG_DOUBLE = np.finfo(np.longdouble).eps < np.finfo(np.float64).eps


class Candidate(NamedTuple):
    """An input of the domain with the right value.

    Attributes:
      draw: how it was drawn.
      input: what is judged.
      size: how many numbers it holds.
    """

    draw: Draw
    input: Input
    size: int


def domain_of(problem: Problem) -> Domain:
    """The problem's domain.

    Raises:
      ValueError: if it has none.
    """
    if problem.domain is None:
        raise ValueError(f"{problem.id} declares no domain; see CONTRIBUTING.md")
    return problem.domain


class Rights:
    """The right answers of an exercise, which decide whether an input is fit to judge by.

    An input is admissible if all right answers agree on it within a tenth of the tolerance; if the model
    answer agrees with itself in extended precision, so that the value does not consist of rounding error; and
    if moving every number by an ulp or two moves the value by less than the tolerance. With extended
    precision it must agree both ways: an expected 0 has an absolute floor that an expected 1e-16 has not.
    """

    def __init__(self, problem: Problem, styles: Mapping[str, str]) -> None:
        self.problem = problem
        self.others = {name: function_of(text, problem.function) for name, text in styles.items()}
        self.others |= dict(problem.others)
        first = next(iter(styles.values()), None)
        self.twin = (
            None if first is None or not LONG_DOUBLE else function_of(widened(first), problem.function)
        )

    def expected(self, draw: Draw) -> Any:
        """What the reference gives, or the exception that it raises."""
        return self._value(self.problem.reference, draw)

    def candidate(self, draw: Draw) -> Candidate | str:
        """The draw with its right value; or why it is not fit to judge by."""
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
        """Whether the right value stays, if numbers that are meant exactly are off by an ulp or two as well.

        Where it does not, a number lies on an edge, and on another machine rounding may put it on the other
        side: in a loop, where the edge was computed before.
        """
        expected = self.expected(draw)
        moved = (self._value(self.problem.reference, nudged(draw, frozenset(), salt)) for salt in SALTS)
        return all(self._agree(value, expected, 1.0) for value in moved)

    def specials(self, draw: Draw) -> frozenset[float]:
        """Numbers that are meant exactly, so that they must not be moved."""
        domain = domain_of(self.problem)
        listed = [each for kind in domain.arguments.values() for each in getattr(kind, "at", ())]
        names = domain.plain(draw)
        return frozenset(float(evaluated(each, names)) for each in listed)

    def _refused(self, draw: Draw) -> Candidate | str:
        """Everyone must refuse it with the same kind of exception."""
        for name, function in {"the reference": self.problem.reference, **self.others}.items():
            kinds = [kind.__name__ for kind in type(self._value(function, draw)).__mro__]
            if draw.refused not in kinds:
                return f"{name} does not refuse it with a {draw.refused}"
        return Candidate(draw, Input(draw.arguments, draw.keywords, None, draw.refused), size_of(draw))

    def _value(self, function: Function, draw: Draw) -> Any:
        """The value, or the exception itself."""
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return narrowed(function(*copied(draw.arguments), **copied(draw.keywords)))
        except Exception as error:
            return error

    def _agree(self, got: Any, expected: Any, part: float) -> bool:
        """Whether a value is right within a part of the tolerance; an exception never is."""
        return not isinstance(got, Exception) and agree(got, expected, part * self.problem.rtol)


def rights_of(problem: Problem) -> Rights:
    """Judged by all right answers that the problem has."""
    return Rights(problem, problem.right_answers())


@cache
def function_of(text: str, name: str) -> Function:
    """The function of a program that we wrote ourselves."""
    namespace: dict[str, Any] = {"__name__": "right"}
    exec(compile(text, "<right answer>", "exec"), namespace)
    function: Function = namespace[name]
    return function


@cache
def widened(text: str) -> str:
    """The program in extended precision: every `float` is a `np.longdouble`.

    >>> widened("x = np.asarray(y, dtype=float)").splitlines()[1]
    'x = np.asarray(y, dtype=np.longdouble)'
    """

    class Widen(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.parse("np.longdouble", mode="eval").body if node.id == "float" else node

    return "import numpy as np\n" + ast.unparse(Widen().visit(ast.parse(text)))


def narrowed(value: Any) -> Any:
    """The value with everything of extended precision rounded to double."""
    if isinstance(value, tuple):
        return tuple(map(narrowed, value))
    if isinstance(value, dict):
        return {name: narrowed(item) for name, item in value.items()}
    if isinstance(value, np.longdouble):
        return float(value)
    is_long = isinstance(value, np.ndarray) and value.dtype == np.longdouble
    return value.astype(np.float64) if is_long else value


def nudged(draw: Draw, specials: frozenset[float], salt: Any = SALTS[0]) -> Draw:
    """Every number moved by up to three ulps, equal ones equally, special and whole ones not at all.

    Args:
      draw: an input.
      specials: numbers that are meant exactly.
      salt: another one of `SALTS` gives other steps.
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
    """Each number by a step that depends on nothing but its bits, so that neighbors move apart."""
    bits = np.abs(array).reshape(-1).view(np.uint64)
    steps = (((bits * salt) >> np.uint64(40)) % np.uint64(7) - 3.0).reshape(array.shape)
    still = ~np.isfinite(array) | (array == np.floor(array))
    for special in specials:
        still |= array == special
    return np.where(still, array, array + steps * np.spacing(np.where(still, 1.0, array)))


def _as(value: Any, like: Any) -> Any:
    """Right answers may return lists; the judge expects arrays."""
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
    """How many numbers an input holds."""
    return sum(
        int(np.size(value)) if not isinstance(value, dict) else len(value) for value in draw.values.values()
    )
