"""Show an exercise as text: its statement, and the file that a student starts from."""

import re
import textwrap

from grpo_ref.course.grading.model_answers import unsolved
from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.layout import RULES, file_of

WIDTH = 100
TASK, EXAMPLES = "## Your task\n", "## Examples\n"
"""Headings of a statement where something is added."""
ITEM = re.compile(r"(?:[*-]|\d+\.) ")


def statement(problem: Problem, width: int = WIDTH) -> str:
    """Return the statement in Markdown that also reads well as plain text.

    Args:
      problem: the exercise.
      width: length of the lines of prose, in characters.
    """
    points = f"{problem.points} point{'s' if problem.points > 1 else ''}"
    text = problem.text.replace(TASK, f"{TASK}\nWrite `{problem.signature}`.\n", 1)
    text = text.replace(f"\n{EXAMPLES}", f"\n{_tolerance(problem)}{EXAMPLES}", 1)
    text = text.replace("{inputs}", problem.domain.inputs if problem.domain is not None else "")
    text = text.replace("{picture}", f"The picture is in {file_of(problem.id).with_suffix('.svg').name}.")
    parts = [
        problem.title,
        f"{problem.difficulty.capitalize()}, {points}. {RULES} says how answers are graded.",
        wrapped(text, width),
        f"## See also\n\n{wrapped(_see_also(problem), width)}",
        f"Check me: grpo-ref grade {problem.id}",
    ]
    return "\n\n".join(parts)


def starter(problem: Problem, model_answer: str) -> str:
    """Return the file that a student starts from: the statement, and the model answer without its solution.

    Args:
      problem: the exercise.
      model_answer: text of the model answer.

    Raises:
      ValueError: if the model answer lacks the lines `# solution` and `# end`, or its docstring.
    """
    code = unsolved(model_answer, problem.id)
    text = statement(problem).replace("\\", "\\\\")
    return f'"""{text}\n"""\n\n{code}'


def _tolerance(problem: Problem) -> str:
    """Name the tolerance if it is not the usual one."""
    if problem.rtol == Problem.rtol:
        return ""
    return f"The tolerance of this exercise is {problem.rtol:g}.\n\n".replace("e-0", "e-")


def _see_also(problem: Problem) -> str:
    """List the source, the package's own function, the derivation, the recipe, the claim and the notebook."""
    lines = [f"* Source: {problem.source.rstrip('.')}."]
    if problem.kernel:
        lines.append(f"* `{problem.kernel}` computes the same in this package. Look at it when you are done.")
    if problem.derivation:
        number, _, name = problem.derivation.partition("_")
        lines.append(
            f"* Step {int(number)} of the derivation, {name.replace('_', ' ')}, explains the formula."
        )
    if problem.recipe:
        lines.append(f"* `grpo-ref recipes {problem.recipe}` shows the whole algorithm.")
    if problem.claim:
        lines.append(
            f"* Does it help? `grpo-ref experiment run {problem.claim} --quick` tests a claim about it."
        )
    if problem.notebook:
        lines.append(f"* The notebook {problem.notebook}.ipynb; `grpo-ref notebooks` opens it.")
    return "\n".join(lines)


def wrapped(text: str, width: int) -> str:
    r"""Wrap the prose of a Markdown text. Headings, tables, formulas and examples stay as they are.

    >>> print(wrapped("one two\nthree\n\n    a  b\n\n1. first\n2. second\n   item", 9))
    one two
    three
    <BLANKLINE>
        a  b
    <BLANKLINE>
    1. first
    2. second
       item
    """
    return "\n\n".join(_wrapped_block(block, width) for block in re.split(r"\n{2,}", text.strip("\n")))


def _wrapped_block(block: str, width: int) -> str:
    if block.startswith(("#", "|", "    ")):
        return block
    items = re.split(rf"\n(?={ITEM.pattern})", block)
    return "\n".join(_filled(item, width) for item in items)


def _filled(text: str, width: int) -> str:
    marker = ITEM.match(text)
    indent = " " * len(marker[0]) if marker else ""
    return textwrap.fill(" ".join(text.split()), width, subsequent_indent=indent, break_on_hyphens=False)
