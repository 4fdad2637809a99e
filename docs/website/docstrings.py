"""Convert this project's docstrings to reStructuredText.

An indented block becomes a formula, or a literal block if it is not one. A Markdown table becomes a list
table. A bar in prose stays a bar. A documented name becomes a link to its entry.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from textwrap import dedent, indent
from typing import Any

from package_map import PUBLIC

from grpo_ref.render.maths import UnknownMaths, mathml
from website.places import anchor_of

PAPER = re.compile(r"arXiv:(\d{4}\.\d{5})")
LITERAL = re.compile(r"(`[^`]*`)")


def setup(app: Any) -> dict[str, bool]:
    """Register the conversion with autodoc. It runs before napoleon, whose priority is 500."""
    app.connect("autodoc-process-docstring", _process, priority=100)
    return {"parallel_read_safe": True}


def _process(app: Any, what: str, name: str, thing: object, options: Any, lines: list[str]) -> None:
    lines[:] = restructured("\n".join(lines)).splitlines()


def restructured(text: str) -> str:
    """Return a docstring as reStructuredText."""
    return "\n\n".join(_block(block) for block in blocks(text))


def blocks(text: str) -> list[str]:
    """Split a text at blank lines. Consecutive indented parts stay together."""
    parts = [part.strip("\n") for part in re.split(r"\n[ ]*\n", text) if part.strip()]
    groups = groupby(parts, key=lambda part: _is_indented(part))
    return [block for inside, group in groups for block in (["\n\n".join(group)] if inside else group)]


def formulas(text: str) -> Iterator[str]:
    """Yield the indented blocks of a docstring, without their indentation."""
    yield from (dedent(block) for block in blocks(text) if _is_indented(block))


def _is_indented(block: str) -> bool:
    return all(line.startswith("    ") for line in block.splitlines() if line.strip())


def _block(block: str) -> str:
    if _is_indented(block):
        return shown(dedent(block))
    if block.startswith(">>>"):
        return block
    if all(line.startswith("|") for line in block.splitlines()):
        return _list_table(block)
    return "\n".join(_prose(line) for line in block.splitlines())


def shown(block: str) -> str:
    """Return a block as a formula, or as literal text if it is not a formula."""
    try:
        return ".. raw:: html\n\n" + indent(mathml(block), "   ")
    except UnknownMaths:
        return ".. code-block:: text\n\n" + indent(block, "   ")


def _prose(line: str) -> str:
    parts = LITERAL.split(line)
    parts[::2] = (_with_papers(part.replace("|", r"\|").replace("*", r"\*")) for part in parts[::2])
    parts[1::2] = map(_with_entry, parts[1::2])
    return "".join(parts)


def _with_entry(literal: str) -> str:
    """Link a documented name to its entry; another name is resolved by Sphinx in the current module."""
    name = literal.strip("`")
    return f":py:obj:`~{anchor_of(name)}`" if name in PUBLIC else literal


def _with_papers(text: str) -> str:
    """Link the papers that a text cites."""
    return PAPER.sub(r"`arXiv:\1 <https://arxiv.org/abs/\1>`__", text)


def cited(source: str) -> str:
    """Return a source with links to its papers, in Markdown.

    >>> cited("Yu et al. 2025, DAPO (arXiv:2503.14476)")
    'Yu et al. 2025, DAPO ([arXiv:2503.14476](https://arxiv.org/abs/2503.14476))'
    """
    return PAPER.sub(r"[arXiv:\1](https://arxiv.org/abs/\1)", source)


def _list_table(block: str) -> str:
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines()]
    filled: list[list[str]] = []
    for row in (row for row in rows if not set("".join(row)) <= set("-: ")):
        if row[0] or not filled:
            filled.append(row)
        else:
            filled[-1] = [" ".join(pair).strip() for pair in zip(filled[-1], row, strict=True)]
    lines = [
        "   " + (" " if number else "*") + f" - {cell}" for row in filled for number, cell in enumerate(row)
    ]
    return "\n".join([".. list-table::", "   :header-rows: 1", "", *lines])
