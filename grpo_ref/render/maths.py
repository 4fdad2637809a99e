"""Convert formulas in Unicode, from a docstring or a statement, to MathML with a small and strict grammar.

The text stays the only source, readable in `help()` and in an editor. Anything that the grammar does not know
is an error, never a guess: the caller then shows the text unchanged.

    formula   row of items, split at gaps of two spaces
    item      atom with its subscript and superscript; or an operator
    atom      number, name, text, (row), [row], |row|, √ atom
    fraction  item / item, where neither side could be meant to reach further
"""

import re
from html import escape
from typing import NamedTuple
from unicodedata import normalize

from grpo_ref.render.rows import Item, fractions, joined

BELOW = dict(zip("₀₁₂ₐᵢⱼₖₘₙₛₜ", "012aijkmnst", strict=True))
ABOVE = dict(zip("⁰¹²³⁺⁻ᵏᵛ'", "0123+−kv′", strict=True))
ACCENTS = {"\u0302": "^", "\u0303": "~", "\u0304": "¯"}
OPERATORS = {
    **{sign: sign for sign in "=≠<>+·←∈∝∇‖,;:"},
    **{"<=": "≤", ">=": "≥", "-": "−", "*": "·", "->": "→", "...": "…"},
}
FUNCTIONS = {"log", "exp", "min", "max", "clip", "mean", "std", "var", "sg"}
GREEK = "αβγδελμπρστφθ"
PIECES = {
    "gap": r"\s+",
    "number": r"\d+(?:\.\d+)?(?:e-?\d+)?",
    "policy": r"π(?:θ|old|ref|rollout)",
    "name": rf"[A-Za-z][A-Za-z0-9]*(?:'s|(?:_[A-Za-z0-9]+)*)|[{GREEK}]|[一-鿿]+",
    "accent": f"[{''.join(ACCENTS)}]",
    "below": f"[{''.join(BELOW)}]+|_(?=[{{A-Za-z]+)",
    "above": f"[{''.join(ABOVE)}]+|\\^",
    "operator": "|".join(re.escape(sign) for sign in sorted(OPERATORS, key=len, reverse=True)),
    "large": "[ΣΠ]",
    "partial": "∂",
    "root": "√",
    "slash": "/",
    "given": r"(?<=\s)\|(?=\s)",
    "open": r"[(\[{]",
    "close": r"[)\]}]",
    "bar": r"\|",
}
TOKEN = re.compile("|".join(f"(?P<{kind}>{piece})" for kind, piece in PIECES.items()))


class UnknownMaths(ValueError):
    """A text that is not a formula of the grammar."""


class Token(NamedTuple):
    """A piece of a formula. `apart` is true if a space comes before it."""

    kind: str
    text: str
    apart: bool


def mathml(formula: str) -> str:
    """Convert a formula of one or more lines to HTML with MathML. A line may break at a gap of two spaces.

    Raises:
      UnknownMaths: if the grammar does not know a part of it.

    >>> "<mrow><msub><mi>r</mi><mi>i</mi></msub></mrow>" in mathml("rᵢ")
    True
    """
    lines = "".join(f"<p>{' '.join(map(_math, _split(line)))}</p>" for line in formula.splitlines())
    return f'<div class="formula" tabindex="0" role="group" aria-label="formula">{lines}</div>'


def _split(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def _math(text: str) -> str:
    return f'<math displaystyle="true">{_Parser(tokens(text)).whole()}</math>'


def tokens(text: str) -> list[Token]:
    """Split a formula into its pieces.

    >>> [token.text for token in tokens("rₜ <= 1")]
    ['r', 'ₜ', '<=', '1']
    """
    text, found, place, apart = _with_marks(text), [], 0, False
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise UnknownMaths(f"{text!r}: what is {text[place]!r}?")
        if match.lastgroup != "gap":
            found.append(Token(str(match.lastgroup), match[0], apart))
        apart, place = match.lastgroup == "gap", match.end()
    return found


def _with_marks(text: str) -> str:
    """Replace each accented letter by the letter and a separate accent after it."""
    return "".join(normalize("NFD", letter) if letter in "ĀÂ" else letter for letter in text)


class _Parser:
    """One pass over the tokens of one formula."""

    def __init__(self, found: list[Token]):
        self.tokens, self.place = found, 0

    def whole(self) -> str:
        row = self.row(until=())
        if self.place < len(self.tokens):
            raise UnknownMaths(f"{self.tokens[self.place].text!r} closes nothing")
        return row

    @property
    def next(self) -> Token | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self) -> Token:
        token = self.next
        if token is None:
            raise UnknownMaths("something is missing at the end")
        self.place += 1
        return token

    def row(self, until: tuple[str, ...]) -> str:
        items: list[Item] = []
        while (token := self.next) is not None and token.kind != "close" and token.text not in until:
            items.append(self.item())
        return "<mrow>" + "".join(item.xml for item in fractions(joined(items))) + "</mrow>"

    def item(self) -> Item:
        token = self.take()
        if token.kind in ("operator", "slash", "given"):
            sign = OPERATORS.get(token.text, token.text)
            kind = token.kind.replace("given", "operator")
            return Item(kind, f"<mo>{escape(sign)}</mo>", "", token.apart)
        return self.scripted(self.atom(token))

    def atom(self, token: Token) -> Item:
        kinds = {"open": self.bracket, "bar": self.bars, "root": self.root, "number": _number}
        kinds |= {"policy": _policy, "name": _name, "large": _large, "partial": self.partial}
        if token.kind not in kinds:
            raise UnknownMaths(f"{token.text!r} has no base before it")
        return kinds[token.kind](token)._replace(apart=token.apart)

    def bracket(self, token: Token) -> Item:
        inside = self.row(until=())
        close = self.take().text
        if token.text + close not in ("()", "[]", "{}"):
            raise UnknownMaths(f"{token.text} is closed by {close}")
        return Item("group", f"<mrow>{_fence(token.text)}{inside}{_fence(close)}</mrow>", inside)

    def bars(self, token: Token) -> Item:
        inside = self.row(until=("|",))
        self.take()
        xml = f"<mrow>{_fence('|')}{inside}{_fence('|')}</mrow>"
        return Item("atom", xml, xml)

    def root(self, token: Token) -> Item:
        under = self.scripted(self.atom(self.take())).inside
        return Item("atom", f"<msqrt>{under}</msqrt>", f"<msqrt>{under}</msqrt>")

    def partial(self, token: Token) -> Item:
        xml = f"<mrow><mo>∂</mo>{self.item().xml}</mrow>"
        return Item("atom", xml, xml)

    def scripted(self, base: Item) -> Item:
        """Return the atom with its accent, subscript and superscript."""
        if self.next and self.next.kind == "accent":
            base = _wrapped("mover", base, f"<mo>{ACCENTS[self.take().text]}</mo>")
        for kind, tag, signs in (("below", "msub", BELOW), ("above", "msup", ABOVE)):
            if self.next and self.next.kind == kind and not self.next.apart:
                base = _wrapped(tag, base, self.script(self.take().text, signs))
        return base

    def script(self, text: str, signs: dict[str, str]) -> str:
        if text in "_^":
            return self.atom(self.take()).inside
        return _letters("".join(signs[sign] for sign in text))


def _wrapped(tag: str, base: Item, script: str) -> Item:
    xml = f"<{tag}>{base.xml}{script}</{tag}>"
    return base._replace(kind="atom" if base.kind == "group" else base.kind, xml=xml, inside=xml)


def _fence(sign: str) -> str:
    return f'<mo fence="true" stretchy="true">{sign}</mo>'


def _letters(text: str) -> str:
    parts = "".join(map(_letter, text))
    return parts if len(text) == 1 else f"<mrow>{parts}</mrow>"


def _letter(sign: str) -> str:
    tag = "mn" if sign.isdigit() else "mi" if sign.isalpha() else "mo"
    return f"<{tag}>{sign}</{tag}>"


def _number(token: Token) -> Item:
    digits, _, power = token.text.partition("e")
    xml = f"<mn>{digits}</mn>"
    if power:
        ten = f"<msup><mn>10</mn><mn>{power.replace('-', '−')}</mn></msup>"
        xml = ten if digits == "1" else f"<mrow>{xml}<mo>·</mo>{ten}</mrow>"
    return Item("atom", xml, xml)


def _policy(token: Token) -> Item:
    below = token.text[1:]
    xml = f"<msub><mi>π</mi>{'<mi>θ</mi>' if below == 'θ' else f'<mtext>{below}</mtext>'}</msub>"
    return Item("atom", xml, xml)


def _large(token: Token) -> Item:
    xml = f'<mo largeop="true" movablelimits="false">{"∑" if token.text == "Σ" else "∏"}</mo>'
    return Item("large", xml, xml)


def _name(token: Token) -> Item:
    """Convert a variable, a function, a setting in the font of code, a letter with an index, or a word."""
    base, _, index = token.text.partition("_")
    if len(base) == 1 and index:
        xml, kind = f"<msub><mi>{base}</mi><mtext>{index}</mtext></msub>", "atom"
    elif index:
        xml, kind = f'<mtext class="code">{token.text}</mtext>', "atom"
    elif len(base) == 1 and base < "一":
        xml, kind = f"<mi>{base}</mi>", "atom"
    elif base in FUNCTIONS:
        xml, kind = f"<mi>{base}</mi>", "function"
    else:
        xml, kind = f"<mtext>{base}</mtext>", "word"
    return Item(kind, xml, xml)
