"""What known wrong answers return on the hidden cases, so that a student's mistake can be named."""

import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from grpo_ref.course.attack.bench import Bench
from grpo_ref.course.attack.mutants import GENERAL_NAMES, WrongAnswer
from grpo_ref.course.grading.diagnosis import RAISED, RIGHT, UNKNOWN, Mistake, symbol
from grpo_ref.course.grading.found import Input
from grpo_ref.course.grading.problem import Function, Problem, copied

Show = Callable[[str, int, int], None]
"""Is told the stage, how many are done and how many there are."""


def known_mistakes(
    problem: Problem, made: Sequence[WrongAnswer], inputs: Sequence[Input], bench: Bench, show: Show
) -> list[Mistake]:
    """Each behavior on the inputs once, with the sentence that tells most.

    The author's sentences come first, then those of the field's operators and of the wrappers, then the
    general ones. Behaviors that no value shows to be wrong are left out.

    Args:
      problem: the exercise.
      made: all wrong answers.
      inputs: of the hidden cases, in the order of their file.
      bench: to try them on.
      show: is told how far it is.
    """
    bench.learn(inputs)
    telling = sorted(
        (each for each in made if each.sentence), key=lambda each: each.operator in GENERAL_NAMES
    )
    kept: dict[tuple[str, ...], str] = {}
    for done, (sentence, symbols) in enumerate(_all(problem, telling, inputs, bench), start=1):
        if any(each not in (RIGHT, RAISED, UNKNOWN) for each in symbols):
            kept.setdefault(symbols, sentence)
        show("signs", done, len(problem.mutants) + len(telling))
    return [Mistake(sentence, symbols) for symbols, sentence in kept.items()]


def _all(
    problem: Problem, telling: Sequence[WrongAnswer], inputs: Sequence[Input], bench: Bench
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for mutant in problem.mutants:
        yield mutant.tell, tuple(_symbol(mutant.function, each, problem.rtol) for each in inputs)
    for wrong in telling:
        yield wrong.sentence, tuple(bench.symbols(wrong.text))


def _symbol(function: Function, given: Input, rtol: float) -> str:
    """The symbol of a wrong answer that an author wrote as a function."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = function(*copied(given.arguments), **copied(given.keywords))
    except Exception as error:
        return RIGHT if given.raises in [kind.__name__ for kind in type(error).__mro__] else RAISED
    return symbol(value, given, rtol)
