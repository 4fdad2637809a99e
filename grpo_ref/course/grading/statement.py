"""Write an exercise as text: its statement, and the file that a student starts from."""

import textwrap
from collections.abc import Mapping
from typing import Any

from grpo_ref.course.grading.judge import SMALLEST
from grpo_ref.course.grading.model_answers import unsolved
from grpo_ref.course.grading.problem import DIGITS, Case, Problem, format_call, format_value

WIDTH = 100


def statement(problem: Problem, width: int = WIDTH) -> str:
    """Return the statement in Markdown that also reads well as plain text.

    Its parts are background, problem, input, output, examples, constraints, notes, grading, source, further
    reading, and the command that checks an answer. Empty parts are omitted.

    Args:
      problem: the exercise.
      width: length of the lines of prose, in characters.
    """
    points = f"{problem.points} point{'s' if problem.points > 1 else ''}"
    parts = {
        "": f"{problem.title}  ({problem.difficulty}, {points})",
        "Background": problem.background,
        "Problem": problem.task,
        "Input": _bullets(problem.inputs),
        "Output": problem.output,
        "Examples": _examples(problem, width),
        "Constraints": _bullets(_constraints(problem)),
        "Notes": problem.notes,
        "Grading": _grading(problem),
        "Source": problem.source,
        "See also": _bullets(_see_also(problem)),
    }
    texts = [
        f"## {name}\n\n{_wrapped(text, width)}" if name else text for name, text in parts.items() if text
    ]
    return "\n\n".join([*texts, f"Check me: grpo-ref grade {problem.id}"])


def starter(problem: Problem, model_answer: str) -> str:
    """Return the file that a student starts from: the statement, and the model answer without its solution.

    Args:
      problem: the exercise.
      model_answer: text of the file in `solutions/`.

    Raises:
      ValueError: if the model answer has no such lines or no docstring to replace.
    """
    code = unsolved(model_answer, problem.id)
    text = statement(problem).replace("\\", "\\\\")
    return f'"""{text}\n"""\n\n{code}'


def _examples(problem: Problem, width: int) -> str:
    """Write the shown cases as calls with their values."""
    shown = [check for check in problem.checks if isinstance(check, Case) and check.shown]
    examples = [
        f"{_call(problem, case, width)}\n    -> {_result(case.expected)}\n\n{case.why}" for case in shown
    ]
    return "\n\n".join([problem.example] * bool(problem.example) + examples)


def _result(value: Any) -> str:
    """Format the value of an example. A single number has as many digits as the numbers of an array."""
    return format_value(float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value)


def _call(problem: Problem, case: Case, width: int) -> str:
    """Write the call on one line, or one argument per line if it is too long."""
    line = f"    {format_call(problem.function, case.arguments, case.keywords)}"
    if len(line) <= width:
        return line
    arguments = [format_value(value) for value in case.arguments]
    arguments += [f"{name}={format_value(value)}" for name, value in case.keywords.items()]
    return "\n".join([f"    {problem.function}(", *(f"        {each}," for each in arguments), "    )"])


def _grading(problem: Problem) -> str:
    return (
        "Inputs are given as numbers of Python or NumPy, NumPy arrays or nested lists; whole numbers may come"
        " as integers, those of NumPy with 64 bits. They have to be left as they are. The answer may be any"
        " of these, and where a number is asked for, also an array without axes."
        " Numbers in the examples may be rounded to six digits."
        f" Values may differ by {problem.rtol:g} of the largest expected magnitude{_each(problem)}, and by"
        f" {SMALLEST:g} where all expected values are 0; no test asks for a value that rounding decides,"
        " such as what is left where numbers cancel."
        " There are no points until the examples above are right; then up to half of them for the tests that"
        " pass, and all of them when every test passes."
    )


def _constraints(problem: Problem) -> str:
    """List the conditions on several arguments together, then the author's lines."""
    from_domain = problem.domain.constraints if problem.domain is not None else ""
    return "\n".join(filter(None, (from_domain, problem.constraints)))


def _each(problem: Problem) -> str:
    """Say that the largest magnitude is taken of each array, if several arrays are returned."""
    values = [check.expected for check in problem.checks if isinstance(check, Case)]
    several = any(isinstance(value, tuple | Mapping) for value in values)
    return " (of each array by itself)" if several else ""


def _see_also(problem: Problem) -> str:
    """Name the package's own function and the notebook of the chapter."""
    kernel = f"{problem.kernel}, the same in this package: look at it when you are done."
    notebook = f"notebooks/{problem.notebook}.ipynb, written by `grpo-ref notebooks`."
    return "\n".join([kernel] * bool(problem.kernel) + [notebook] * bool(problem.notebook))


def _bullets(lines: str) -> str:
    return "\n".join(f"- {line}" for line in lines.splitlines())


def _wrapped(text: str, width: int) -> str:
    """Wrap prose line by line. Formulas and examples, which are indented, stay as they are."""
    return "\n".join(line if line.startswith("    ") else _filled(line, width) for line in text.splitlines())


def _filled(line: str, width: int) -> str:
    return textwrap.fill(
        line, width, subsequent_indent="  " if line.startswith("- ") else "", break_on_hyphens=False
    )
