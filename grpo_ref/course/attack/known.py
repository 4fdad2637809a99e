"""Record the values of known wrong answers on the hidden cases, so that a student's mistake can be named."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from grpo_ref.course.attack.mutants import GENERAL_NAMES, WRITTEN, WrongAnswer
from grpo_ref.course.attack.trials import Bench
from grpo_ref.course.grading.diagnosis import CHANGED, RAISED, RIGHT, UNKNOWN, Mistake, symbol
from grpo_ref.course.grading.found_cases import Input
from grpo_ref.course.grading.problem import Function, Problem, copied

Show = Callable[[str, int, int], None]
"""Called with the stage, the number of finished steps and the number of all steps."""


def signatures(
    made: Sequence[WrongAnswer], inputs: Sequence[Input], bench: Bench, show: Show
) -> dict[str, tuple[str, ...]]:
    """Return, for the text of each wrong answer, a symbol for its value on each input."""
    bench.learn(inputs)
    signs = {}
    for done, wrong in enumerate(made, start=1):
        signs[wrong.text] = tuple(bench.symbols(wrong.text))
        show("signs", done, len(made))
    return signs


def is_right(symbols: Sequence[str]) -> bool:
    """Return whether no case catches a wrong answer with these symbols."""
    return all(each == RIGHT for each in symbols)


def known_mistakes(
    problem: Problem,
    made: Sequence[WrongAnswer],
    signs: Mapping[str, Sequence[str]],
    inputs: Sequence[Input],
) -> list[Mistake]:
    """Return each different behavior on the cases once, with the most specific sentence.

    The author's sentences come first, then those of the answers written by hand, then those of the field's
    operators and of the wrappers, then the general ones. Behaviors that no value shows to be wrong are
    omitted. If the right values are words or whole numbers, many mistakes return the same ones, so only
    sentences written by hand are used. Answers that remember earlier calls have no sentence, because their
    values depend on the order of the cases.

    Args:
      problem: the exercise.
      made: all wrong answers.
      signs: text of a wrong answer -> its symbols.
      inputs: inputs of the cases, in the order of the symbols.
    """
    kept: dict[tuple[str, ...], str] = {}
    for sentence, symbols in _all(problem, made, signs, inputs):
        if any(each not in (RIGHT, RAISED, CHANGED, UNKNOWN) for each in symbols):
            kept.setdefault(symbols, sentence)
    return [Mistake(sentence, symbols) for symbols, sentence in kept.items()]


def _all(
    problem: Problem,
    made: Sequence[WrongAnswer],
    signs: Mapping[str, Sequence[str]],
    inputs: Sequence[Input],
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for mutant in problem.mutants:
        yield mutant.tell, tuple(_symbol(mutant.function, each, problem.rtol) for each in inputs)
    is_coarse = all(_is_coarse(each.expected) for each in inputs)
    written = [each for each in made if each.operator == WRITTEN and each.kind != "state"]
    others = [each for each in made if each.operator != WRITTEN and each.sentence and not is_coarse]
    for wrong in (*written, *sorted(others, key=lambda each: each.operator in GENERAL_NAMES)):
        yield wrong.sentence, tuple(signs[wrong.text])


def _is_coarse(expected: Any) -> bool:
    """Return whether a right value consists of words, truth values or whole numbers.

    >>> _is_coarse(np.array([1.0, 0.0])), _is_coarse((2, [0.5, 1.0])), _is_coarse("both")
    (True, False, True)
    """
    if isinstance(expected, Mapping | tuple):
        return all(map(_is_coarse, expected.values() if isinstance(expected, Mapping) else expected))
    array = np.asarray(expected)
    return array.dtype.kind not in "fc" or bool((array == np.floor(array)).all())


def _symbol(function: Function, given: Input, rtol: float) -> str:
    """Return the symbol of a wrong answer that an author wrote as a function."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = function(*copied(given.arguments), **copied(given.keywords))
    except Exception as error:
        return RIGHT if given.raises in [kind.__name__ for kind in type(error).__mro__] else RAISED
    return symbol(value, given, rtol)
