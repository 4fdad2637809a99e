"""LaTeX of pages and notebooks to MathML, when the site is built: no script, no font, nothing to fetch."""

from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert


def setup(app: Any) -> dict[str, bool]:
    """Offer the renderer under the name `mathml`."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer: Any, node: Any) -> None:
    writer.body.append(convert(node.astext()))
    raise SkipNode


def _block(writer: Any, node: Any) -> None:
    formula = convert(node.astext(), display="block")
    writer.body.append(f'<div class="formula" tabindex="0" role="group" aria-label="formula">{formula}</div>')
    raise SkipNode
