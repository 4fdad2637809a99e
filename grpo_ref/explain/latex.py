"""Write the sentence and the formulas of an explanation in LaTeX, to paste into a paper."""

from collections.abc import Callable, Mapping
from xml.etree import ElementTree

from grpo_ref.explain.explanation import SIGNS, Report, loss_formula
from grpo_ref.render.maths import UnknownMaths, mathml

SPECIAL = {sign: rf"\{sign}" for sign in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
SIGN = {
    **{
        "Σ": r"\sum",
        "∑": r"\sum",
        "∏": r"\prod",
        "Π": r"\prod",
        "≤": r"\le",
        "≥": r"\ge",
        "≠": r"\ne",
        "·": r"\cdot",
        "∈": r"\in",
    },
    **{
        "∝": r"\propto",
        "∇": r"\nabla",
        "∂": r"\partial",
        "←": r"\gets",
        "→": r"\to",
        "…": r"\dots",
        "−": "-",
    },
    **{"∞": r"\infty", "′": "'", "‖": r"\|", "{": r"\{", "}": r"\}", "\u2061": "", "|": "|"},
    **dict(
        zip(
            "αβγδελμπρστφθ",
            "alpha beta gamma delta varepsilon lambda mu pi rho sigma tau varphi theta".split(),
            strict=True,
        )
    ),
}
SIGN |= {greek: rf"\{SIGN[greek]}" for greek in "αβγδελμπρστφθ"}
ACCENTS = {"^": r"\hat", "~": r"\tilde", "¯": r"\bar"}


def document(told: Report) -> str:
    """Return a paragraph, and an equation for each part that has one.

    A text that is not a formula is set verbatim.

    Args:
      told: the report.
    """
    explanation = told.explanation
    loss = loss_formula(explanation.recipe)
    equations = [loss, *(part.equation for part in explanation.parts if part.name in SIGNS and part.equation)]
    sentence = f"{told.dialect.version}: {explanation.paragraph}"
    return "\n".join([prose(sentence), "", *map(equation, equations)])


def prose(text: str) -> str:
    r"""Escape the characters of a text that TeX treats specially.

    >>> prose("a share of 50 % (ε 1e-06)")
    'a share of 50 \\% ($\\varepsilon$ 1e-06)'
    """
    signs = {sign: f"${command}$" for sign, command in SIGN.items() if command and not sign.isascii()}
    return "".join(SPECIAL.get(sign, signs.get(sign, sign)) for sign in text)


def equation(text: str) -> str:
    """Return a docstring's formula as a displayed equation, or verbatim if it is not a formula."""
    try:
        blocks = ElementTree.fromstring(f"<all>{mathml(text)}</all>")
    except UnknownMaths:
        return "\n".join([r"\begin{verbatim}", text, r"\end{verbatim}"])
    lines = [_set(block) for block in blocks]
    return "\n".join([r"\begin{gather*}", " \\\\\n".join(f"  {line}" for line in lines), r"\end{gather*}"])


def _set(element: ElementTree.Element) -> str:
    """Convert an element of MathML with its children."""
    parts = [_set(child) for child in element]
    return WRITTEN.get(element.tag, _row)(element.text or "", parts)


def _row(_: str, parts: list[str]) -> str:
    return " ".join(parts)


def _identifier(text: str, _: list[str]) -> str:
    if text in SIGN:
        return SIGN[text]
    return text if len(text) == 1 else rf"\mathrm{{{prose(text)}}}"


def _accented(_: str, parts: list[str]) -> str:
    base, accent = parts
    return f"{ACCENTS[accent]}{{{base}}}" if accent in ACCENTS else rf"\overset{{{accent}}}{{{base}}}"


WRITTEN: Mapping[str, Callable[[str, list[str]], str]] = {
    "mi": _identifier,
    "mo": lambda text, _: SIGN.get(text, text),
    "mn": lambda text, _: text,
    "mtext": lambda text, _: rf"\text{{{prose(text)}}}",
    "mspace": lambda _, __: "\\ ",
    "p": lambda _, parts: r" \qquad ".join(parts),
    "mfrac": lambda _, parts: rf"\frac{{{parts[0]}}}{{{parts[1]}}}",
    "msqrt": lambda _, parts: rf"\sqrt{{{' '.join(parts)}}}",
    "msub": lambda _, parts: f"{{{parts[0]}}}_{{{parts[1]}}}",
    "msup": lambda _, parts: f"{{{parts[0]}}}^{{{parts[1]}}}",
    "msubsup": lambda _, parts: f"{{{parts[0]}}}_{{{parts[1]}}}^{{{parts[2]}}}",
    "munder": lambda _, parts: rf"\underset{{{parts[1]}}}{{{parts[0]}}}",
    "mover": _accented,
}
"""Elements of MathML, each with the function that writes it in TeX from its text and its children."""
