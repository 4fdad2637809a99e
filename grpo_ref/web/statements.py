"""Convert a statement for a page: its Markdown to HTML, and its formulas to MathML."""

import re
from base64 import b64encode
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.layout import RULES, exercise_folder
from grpo_ref.course.rendering.statement import statement
from grpo_ref.render.maths import UnknownMaths, mathml

SYNTAX = ("heading", "list", "backticks", "table", "emphasis")
"""Markdown that a statement uses, beside plain and indented text. All other marks have no meaning."""
INDENTED = re.compile(r"(?<=\n\n)((?: {4}.*\n)+)")
"""A formula, or code; also in a list, where Markdown would read it as prose."""
CHECK = "\nCheck me:"
"""Beginning of the last line, which names the command that grades a file."""
CALL = ">>> "
"""Beginning of an example."""
PICTURE = re.compile(r"<p>The picture is in \w+\.svg\.</p>")
"""The line that a picture replaces."""
GRADING = Path(__file__).parents[1] / "course" / "exercises" / RULES


def statement_html(problem: Problem) -> str:
    """Return an exercise's statement as HTML, without its title and the command that grades it."""
    text = statement(problem).split("\n\n", 2)[2].rpartition(CHECK)[0]
    return PICTURE.sub(lambda _: _picture(problem), _html(text))


def _picture(problem: Problem) -> str:
    """Return the picture of an exercise, inside the page, so that it works without a network."""
    content = b64encode((exercise_folder(problem.id) / "picture.svg").read_bytes()).decode()
    return f'<img alt="{escape(problem.picture)}" src="data:image/svg+xml;base64,{content}" />'


def grading_html() -> str:
    """Return the page on how answers are graded as HTML, without its title."""
    return _html(GRADING.read_text(encoding="utf-8").split("\n", 1)[1])


def _html(text: str) -> str:
    reader = MarkdownIt("zero").enable(list(SYNTAX))
    parts = INDENTED.split(f"{text}\n")
    html = "".join(
        _indented(re.sub("^ {4}", "", part, flags=re.MULTILINE).rstrip()) if at % 2 else reader.render(part)
        for at, part in enumerate(parts)
    )
    return html.replace("<table>", '<table tabindex="0">')  # a wide one scrolls, with the keys too


def _indented(text: str) -> str:
    """Return a formula, or code if the text is not a formula."""
    code = f'<pre tabindex="0">{escape(text)}</pre>'
    try:
        return f"{code if text.startswith(CALL) else mathml(text)}\n"
    except UnknownMaths:
        return f"{code}\n"
