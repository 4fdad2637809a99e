"""The tokens of a script, and the parts of words."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Literal:
    """Characters that stand for themselves. If quoted, they are never a pattern, a brace or a blank."""

    text: str
    quoted: bool = False


@dataclass(frozen=True)
class Expansion:
    """An expression that begins with `$`, or with `<(`.

    Args:
      kind: "parameter" for $x and ${x}, "output" for $(x), "arithmetic" for $((x)), "file" for <(x).
      source: the text between the braces or brackets.
      quoted: true if it is between double quotes.
      bare: true for a name without braces, such as $x.
    """

    kind: str
    source: str
    quoted: bool
    bare: bool = False


@dataclass(frozen=True)
class Blank:
    """A placeholder that the user must fill in, such as <your_model>."""

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
      start, end: place of the token in the text.
      word: the parts of a word, or of the target of a redirection.
      operator: the operator of a redirection, such as >>.
    """

    kind: str
    start: int
    end: int
    word: Word = ()
    operator: str = ""


@dataclass(frozen=True)
class Document:
    """The lines of a here-document. If quoted, they are not expanded."""

    text: str
    quoted: bool
