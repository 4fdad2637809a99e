"""Add the metrics and questions of the page on symptoms to the search of the site.

The search of Sphinx splits `clip_ratio/region_mean` into two words and leads to a page, not to a section. An
index entry is compared with the whole query and leads to its section. The entries come from two lines below a
heading: the line in italics with the metrics of each trainer, and a comment with the words that people type:
`<!-- search: loss is zero; loss always 0 -->`.
"""

import re
from collections.abc import Iterator
from typing import Any

from docutils.nodes import Element, comment, emphasis, literal, paragraph, raw, section
from sphinx.addnodes import index
from sphinx.transforms import SphinxTransform

PAGE = "howto/symptoms"
QUESTIONS = re.compile(r"(?:<!-- )?search: (.+?)(?: -->)?\s*", re.DOTALL)
WANDB = "train/"
"""Prefix of TRL's metrics in Weights & Biases."""


class SymptomIndex(SphinxTransform):
    """Adds an index entry for each metric and question of a section. Sphinx collects the entries at 850."""

    default_priority = 840

    def apply(self, **kwargs: Any) -> None:
        """Add the entries to the page on symptoms. Other pages stay as they are."""
        if self.env.docname == PAGE:
            for part in self.document.findall(section):
                names = [*metrics(part), *questions(part)]
                entries = [("single", name, part["ids"][0], "main", None) for name in dict.fromkeys(names)]
                if entries:
                    part.insert(1, index(entries=entries))


def metrics(part: Element) -> Iterator[str]:
    """Yield the metrics in the line below a heading, and most of them also with the prefix of W&B."""
    first = next((child for child in part.children if isinstance(child, paragraph)), None)
    if first is None or not isinstance(first.children[0], emphasis):
        return
    for code in first.findall(literal):
        name = code.astext()
        yield name
        if not name.startswith((WANDB, "actor/", "critic/", "rollout")):
            yield WANDB + name


def questions(part: Element) -> Iterator[str]:
    """Yield the words in the comment of a section."""
    for child in part.children:
        match = QUESTIONS.fullmatch(child.astext().strip()) if isinstance(child, (comment, raw)) else None
        if match:
            yield from match[1].split("; ")


def setup(app: Any) -> dict[str, bool]:
    """Register the transform with Sphinx."""
    app.add_transform(SymptomIndex)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
