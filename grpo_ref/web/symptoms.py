"""Convert `docs/howto/symptoms.md` to HTML, for the links of the page that diagnoses."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

HERE = Path(__file__).parent
SOURCES = (HERE / "symptoms.md", HERE.parents[1] / "docs" / "howto" / "symptoms.md")
"""The file in a wheel, and in a checkout."""


def symptoms_html() -> str:
    """Return the text of the page as HTML. Links that lead out of the page become plain text."""
    source = next(path for path in SOURCES if path.is_file())
    reader = MarkdownIt("commonmark").enable("table")
    reader.add_render_rule("fence", _code)
    tokens = reader.parse(source.read_text(encoding="utf-8"))
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor(inside.content))
        inside.children = list(_without_links(inside.children)) if inside.children else inside.children
    page = str(reader.renderer.render(tokens, reader.options, {}))
    return page.replace("<th></th>", "<td></td>")  # an empty corner does not head anything


def anchor(title: str) -> str:
    """Return the anchor of a heading, as code hosts make it.

    >>> anchor("The KL is negative, rises or explodes")
    'the-kl-is-negative-rises-or-explodes'
    """
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _without_links(tokens: Sequence[Token]) -> Iterator[Token]:
    leads_out = False
    for token in tokens:
        if token.type == "link_open":
            leads_out = not str(token.attrs["href"]).startswith("#")
        if not (leads_out and token.type in ("link_open", "link_close")):
            yield token


def _code(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    code = escape(tokens[at].content.rstrip())
    return f'<pre tabindex="0">{code}</pre>\n'  # a wide one can be scrolled by keys
