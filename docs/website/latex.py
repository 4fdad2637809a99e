"""LaTeX of pages and notebooks to MathML, when the site is built: no script, no font, nothing to fetch."""

import re
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

KNOWN = {"{aligned}": "{align*}", r"\lvert": r"\left|", r"\rvert": r"\right|"}
"""What the converter knows under another name; for bars it must be said which is the left one."""
FUNCTION = re.compile(r"<m[io]>(log|exp|arcsin|min|max)</m[io]>(?=(<mo[^>]*>(?:\(|&#x00028;))?)")


def setup(app: Any) -> dict[str, bool]:
    """Offer the renderer under the name `mathml`."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer: Any, node: Any) -> None:
    writer.body.append(_typeset(node.astext(), "inline"))
    raise SkipNode


def _block(writer: Any, node: Any) -> None:
    formula = _typeset(node.astext(), "block")
    writer.body.append(f'<div class="formula" tabindex="0" role="group" aria-label="formula">{formula}</div>')
    raise SkipNode


def _typeset(formula: str, display: str) -> str:
    """The formula, with a thin space around functions as in TeX, but none before their brackets."""
    for name, known in KNOWN.items():
        formula = formula.replace(name, known)

    def spaced(found: re.Match[str]) -> str:
        after = "0em" if found[2] else "0.167em"
        return f'<mo lspace="0.167em" rspace="{after}">{found[1]}</mo>'

    return FUNCTION.sub(spaced, convert(formula, display=display))
