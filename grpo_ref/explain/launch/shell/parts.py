"""Tokens, and the parts of words."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Literal:
    """Characters that stand for themselves; quoted ones are no pattern, brace or blank."""

    text: str
    quoted: bool = False


@dataclass(frozen=True)
class Expansion:
    """What a `$` brings.

    Args:
      kind: "parameter" for $x and ${x}, "output" for $(x), "arithmetic" for $((x)), "file" for <(x).
      source: what stands between the braces or brackets.
      quoted: whether it stands between double quotes.
      bare: whether it is a name without braces, as $x.
    """

    kind: str
    source: str
    quoted: bool
    bare: bool = False


@dataclass(frozen=True)
class Blank:
    """A place that the author left to fill in, as <your_model>."""

    name: str


@dataclass(frozen=True)
class Elements:
    """The words between the brackets of NAME=(...)."""

    words: "tuple[Word, ...]"


Part = Literal | Expansion | Blank | Elements
Word = tuple[Part, ...]


@dataclass(frozen=True)
class Token:
    """A token from start to end.

    Args:
      kind: "word", "reserved", "operator", "redirect", "newline", "comment", "test" for [[ ]] and
        "arithmetic" for (( )).
      start, end: its place in the text.
      word: the parts of a word, or of the target of a redirect.
      operator: of a redirect, as in >>.
    """

    kind: str
    start: int
    end: int
    word: Word = ()
    operator: str = ""


@dataclass(frozen=True)
class Document:
    """The lines of a here-document; quoted ones are taken as they are."""

    text: str
    quoted: bool
