"""Convert LaTeX to MathML when the site is built, so that formulas need no script and no font."""

import re
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

KNOWN = {"{aligned}": "{align*}", r"\lvert": r"\left|", r"\rvert": r"\right|"}
"""Unknown LaTeX -> LaTeX that the converter knows. It needs to know which bar is the left one."""
FUNCTION = re.compile(r"<m[io]>(log|exp|arcsin|min|max)</m[io]>(?=(<mo[^>]*>(?:\(|&#x00028;))?)")


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name `mathml`."""
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
    """Return the formula as MathML, with TeX's thin space around functions, but not before a bracket."""
    for name, known in KNOWN.items():
        formula = formula.replace(name, known)

    def spaced(match: re.Match[str]) -> str:
        after = "0em" if match[2] else "0.167em"
        return f'<mo lspace="0.167em" rspace="{after}">{match[1]}</mo>'

    return FUNCTION.sub(spaced, convert(formula, display=display))
