"""Show an exercise as text: its statement, and the file that a student starts from."""

import re

from grpo_ref.course.grading.model_answers import unsolved
from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.layout import RULES, file_of
from grpo_ref.course.rendering.phrases import PHRASES, Phrases
from grpo_ref.render.wrapping import filled

WIDTH = 100
ITEM = re.compile(r"(?:[*-]|\d+\.) ")


def statement(problem: Problem, width: int = WIDTH, *, points_on: bool = True) -> str:
    """Return the statement in Markdown that also reads well as plain text, in the exercise's language.

    Args:
      problem: the exercise.
      width: length of the lines of prose, in characters; a Chinese character counts twice.
      points_on: whether to name the derivation, recipe, claim and notebook. A page links to them instead.
    """
    phrases = PHRASES[problem.language]
    task, examples = f"## {phrases.task}\n", f"## {phrases.examples}\n"
    text = problem.text.replace(task, f"{task}\n{phrases.write.format(signature=problem.signature)}\n", 1)
    text = text.replace(f"\n{examples}", f"\n{_tolerance(problem, phrases)}{examples}", 1)
    text = text.replace("{inputs}", problem.domain.inputs if problem.domain is not None else "")
    picture = file_of(problem.id).with_suffix(".svg").name
    text = text.replace("{picture}", phrases.picture.format(file=picture))
    parts = [
        problem.title,
        f"{worth(problem)}{phrases.graded.format(rules=RULES)}",
        wrapped(text, width),
        f"## {phrases.see_also}\n\n{wrapped(_see_also(problem, phrases, points_on=points_on), width)}",
        phrases.check.format(name=problem.id),
    ]
    return "\n\n".join(parts)


def worth(problem: Problem) -> str:
    """Return difficulty and points of an exercise, in its language.

    >>> from grpo_ref.course.exercises import PROBLEMS, translated
    >>> print(worth(PROBLEMS["ratios/sapo"]), worth(translated(PROBLEMS["ratios/sapo"], "zh")))
    Medium, 2 points 中等，2 分
    """
    phrases, plural = PHRASES[problem.language], "s" * (problem.points > 1)
    difficulty = phrases.difficulty[problem.difficulty]
    return phrases.worth.format(difficulty=difficulty, points=problem.points, s=plural)


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


def _tolerance(problem: Problem, phrases: Phrases) -> str:
    """Name the tolerance if it is not the usual one."""
    if problem.rtol == Problem.rtol:
        return ""
    return phrases.tolerance.format(tolerance=f"{problem.rtol:g}".replace("e-0", "e-")) + "\n\n"


def _see_also(problem: Problem, phrases: Phrases, *, points_on: bool) -> str:
    """List the source, the package's own function, the derivation, the recipe, the claim and the notebook."""
    lines = [phrases.source.format(source=problem.source.rstrip("."))]
    if problem.kernel:
        lines.append(phrases.library.format(name=problem.kernel))
    if not points_on:
        return "\n".join(f"* {line}" for line in lines)
    if problem.derivation:
        number, _, name = problem.derivation.partition("_")
        lines.append(phrases.derivation.format(number=int(number), step=name.replace("_", " ")))
    if problem.recipe:
        lines.append(phrases.recipe.format(name=problem.recipe))
    if problem.claim:
        lines.append(phrases.claim.format(name=problem.claim))
    if problem.notebook:
        lines.append(phrases.notebook.format(name=problem.notebook))
    return "\n".join(f"* {line}" for line in lines)


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
    return filled(text, width, indent=" " * len(marker[0]) if marker else "")
