"""Convert a statement for a page: its Markdown to HTML, and its formulas to MathML."""

import re
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from markdown_it import MarkdownIt

from grpo_ref.course.contents import EXERCISES
from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.layout import exercise_folder, grading_page
from grpo_ref.course.rendering.statement import statement
from grpo_ref.render.maths import UnknownMaths, mathml

SYNTAX = ("heading", "list", "backticks", "table", "emphasis")
"""Markdown that a statement uses, beside plain and indented text. All other marks have no meaning."""
INDENTED = re.compile(r"(?<=\n\n)((?: {4}.*\n)+)")
"""A formula, or code; also in a list, where Markdown would read it as prose."""
CALL = ">>> "
"""Beginning of an example."""
PICTURE = re.compile(r"<p>(?:The picture is in |图见 )\w+\.svg[.。]</p>")
"""The line that a picture replaces."""
ID = re.compile(r"<code>(\w+/\w+)</code>")
"""The id of an exercise, in the text."""
NO_BREAK = 1_000_000
"""Width of a statement's lines. A line break between two Chinese characters would be shown as a space."""


CHINESE = {
    "Derivation": "推导",
    "Recipes": "配方",
    "Tested claims": "检验过的论断",
    "Notebooks": "notebook",
    "Symptoms": "症状",
}
"""Heading of a group of links -> its translation."""


class Link(NamedTuple):
    """A link to a page of the site: its title, and its address seen from the course."""

    title: str
    address: str

    def __str__(self) -> str:
        return f'<a href="{escape(self.address)}">{escape(self.title)}</a>'


class Group(NamedTuple):
    """Links to pages of one kind, with a heading."""

    title: str
    links: Sequence[Link]

    def __str__(self) -> str:
        return f"<li>{self.title}: {', '.join(map(str, self.links))}</li>"


def statement_html(problem: Problem, groups: Sequence[Group] = ()) -> str:
    """Return an exercise's statement as HTML, without its title and the command that grades it.

    Args:
      problem: the exercise.
      groups: links to pages about the same, for the section "See also". By default the section names the
        commands that show these pages.
    """
    text = statement(problem, NO_BREAK, points_on=not groups)
    html = _html("\n\n".join(text.split("\n\n")[2:-1]))
    html = PICTURE.sub(lambda _: _picture(problem), html)
    html = ID.sub(_to_exercise, html)
    if problem.language == "zh":
        groups = [Group(CHINESE[title], links) for title, links in groups]
    before, end, after = html.rpartition("</ul>")
    return f"{before}{''.join(map(str, groups))}{end}{after}"


def _to_exercise(code: re.Match[str]) -> str:
    """Return a link that opens an exercise, or the code as it is if it names no exercise."""
    return f'<a href="#{code[1]}">{code[0]}</a>' if code[1] in EXERCISES else code[0]


def _picture(problem: Problem) -> str:
    """Return the picture of an exercise, inside the page, so that it works without a network."""
    content = b64encode((exercise_folder(problem.id) / "picture.svg").read_bytes()).decode()
    return f'<img alt="{escape(problem.picture)}" src="data:image/svg+xml;base64,{content}" />'


def grading_html(language: str = "en") -> str:
    """Return the page on how answers are graded as HTML, without its title."""
    return _html(grading_page(language).split("\n", 1)[1])


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
