"""Convert LaTeX to MathML when the site is built, so that formulas need no script and no font."""

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

KNOWN = {"{aligned}": "{align*}", r"\lvert": r"\left|", r"\rvert": r"\right|"}
"""Unknown LaTeX -> LaTeX that the converter knows. It needs to know which bar is the left one."""
GAP = re.compile(r"\s*\\qquad\s*")
PAIRS = (("{", "}"), (r"\left", r"\right"), (r"\begin", r"\end"))
MATHML = "http://www.w3.org/1998/Math/MathML"
LIMITS = {f"{{{MATHML}}}msub": f"{{{MATHML}}}munder", f"{{{MATHML}}}msubsup": f"{{{MATHML}}}munderover"}
"""Element that writes bounds beside a sign -> element that writes them below and above it."""
FUNCTION = re.compile(r"<m[io]>(log|exp|arcsin|min|max)</m[io]>(?=(<mo[^>]*>(?:\(|&#x00028;))?)")


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name `mathml`."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer: Any, node: Any) -> None:
    writer.body.append(_typeset(node.astext(), "inline"))
    raise SkipNode


def _block(writer: Any, node: Any) -> None:
    formulas = [_typeset(each, "block") for each in separate(node.astext())]
    inside = f'<p class="centred">{"".join(formulas)}</p>' if len(formulas) > 1 else formulas[0]
    writer.body.append(f'<div class="formula" tabindex="0" role="group" aria-label="formula">{inside}</div>')
    raise SkipNode


def separate(formula: str) -> list[str]:
    r"""Split a formula at its wide gaps, so that the parts wrap on a narrow page.

    A gap inside brackets, braces or an environment does not split it.

    >>> separate(r"a = b, \qquad c = d"), separate(r"\left[ a \qquad b \right]")
    (['a = b,', 'c = d'], ['\\left[ a \\qquad b \\right]'])
    """
    parts = GAP.split(formula.strip())
    whole = all(part.count(first) == part.count(last) for part in parts for first, last in PAIRS)
    return parts if whole else [formula]


def _typeset(formula: str, display: str) -> str:
    """Return the formula as MathML, with TeX's thin space around functions, but not before a bracket."""
    for name, known in KNOWN.items():
        formula = formula.replace(name, known)

    def spaced(match: re.Match[str]) -> str:
        after = "0em" if match[2] else "0.167em"
        return f'<mo lspace="0.167em" rspace="{after}">{match[1]}</mo>'

    mathml = FUNCTION.sub(spaced, convert(formula, display=display))
    return with_limits(mathml) if display == "block" else mathml


def with_limits(mathml: str) -> str:
    """Write the bounds of sums and products below and above them, also inside of brackets."""
    ElementTree.register_namespace("", MATHML)
    root = ElementTree.fromstring(mathml)
    for element in root.iter():
        if element.tag in LIMITS and element[0].text in ("∑", "∏"):
            element.tag = LIMITS[element.tag]
    return ElementTree.tostring(root, encoding="unicode")
