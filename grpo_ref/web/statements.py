"""Convert a statement for a page: its Markdown to HTML, and its formulas to MathML."""

import re
from html import escape

from markdown_it import MarkdownIt

from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.grading.statement import statement
from grpo_ref.render.maths import UnknownMaths, mathml

RULES = ("heading", "list", "backticks")
"""Markdown rules that a statement uses, beside plain and indented text. All other marks have no meaning."""
INDENTED = re.compile(r"(?<=\n\n)((?: {4}.*\n)+)")
"""A formula, or code; also in a list, where Markdown would read it as prose."""
CHECK = "\nCheck me:"
"""Beginning of the last line, which names the command that grades a file."""
RETURNS = "\n-> "
"""Mark before the value of an example's call."""


def statement_html(problem: Problem) -> str:
    """Return an exercise's statement as HTML, without its title and the command that grades it."""
    text = statement(problem).split("\n", 1)[1].rpartition(CHECK)[0]
    reader = MarkdownIt("zero").enable(list(RULES))
    parts = INDENTED.split(text)
    return "".join(
        _indented(re.sub("^ {4}", "", part, flags=re.MULTILINE).rstrip()) if at % 2 else reader.render(part)
        for at, part in enumerate(parts)
    )


def _indented(text: str) -> str:
    """Return a formula, or code if the text is not a formula."""
    code = f'<pre tabindex="0">{escape(text)}</pre>'
    try:
        return f"{code if RETURNS in text else mathml(text)}\n"
    except UnknownMaths:
        return f"{code}\n"
