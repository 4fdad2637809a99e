"""A statement as a page shows it: its Markdown as HTML, and its formulas typeset."""

import re
from html import escape

from markdown_it import MarkdownIt

from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.grading.statement import statement
from grpo_ref.render.maths import UnknownMaths, mathml

RULES = ("heading", "list", "backticks")
"""What a statement is made of beside plain text and what is indented; nothing else in it has a meaning."""
INDENTED = re.compile(r"(?<=\n\n)((?: {4}.*\n)+)")
"""A formula, or code; in a list as well, where Markdown would take it for prose."""
CHECK = "\nCheck me:"
"""Before the last line, which names the command that grades a file."""
RETURNS = "\n-> "
"""Stands before what an example's call returns."""


def statement_html(problem: Problem) -> str:
    """The statement of an exercise without its title and without the command that grades it."""
    text = statement(problem).split("\n", 1)[1].rpartition(CHECK)[0]
    reader = MarkdownIt("zero").enable(list(RULES))
    parts = INDENTED.split(text)
    return "".join(
        _indented(re.sub("^ {4}", "", part, flags=re.MULTILINE).rstrip()) if at % 2 else reader.render(part)
        for at, part in enumerate(parts)
    )


def _indented(text: str) -> str:
    """A formula, or code where it is none."""
    code = f'<pre tabindex="0">{escape(text)}</pre>'
    try:
        return f"{code if RETURNS in text else mathml(text)}\n"
    except UnknownMaths:
        return f"{code}\n"
