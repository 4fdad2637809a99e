"""A value as far as it is known: a text whose holes stand for pieces that only a run would show."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Self

UNSET = "is not set in this file"


@dataclass(frozen=True)
class Hole:
    """An unknown piece of a value, which is never guessed.

    Args:
      name: the piece as written in the file, such as $MODEL.
      why: the end of a sentence that begins with the name, such as "is not set in this file".
      alternatives: the possible values, if they are known; "" stands for no value.
      splits: true if the piece is at a place where it may be several words, or none.
    """

    name: str
    why: str
    alternatives: tuple[str, ...] = ()
    splits: bool = False

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Text:
    """An immutable row of known strings and holes.

    Two strings are never neighbours and no string is empty, so that equal texts have equal parts.

    >>> path = Text.of(Hole("$HOME", UNSET), "/models/", "Qwen3")
    >>> str(path), path.known
    ('$HOME/models/Qwen3', False)
    """

    parts: tuple[str | Hole, ...] = ()

    @classmethod
    def of(cls, *pieces: "str | Hole | Text") -> Self:
        """Join pieces into one text."""
        parts: list[str | Hole] = []
        for piece in _flat(pieces):
            if isinstance(piece, str) and parts and isinstance(parts[-1], str):
                parts[-1] += piece
            elif piece != "":
                parts.append(piece)
        return cls(tuple(parts))

    @property
    def known(self) -> bool:
        """True if there is no hole.

        >>> Text.of("8").known
        True
        """
        return not self.holes

    @property
    def holes(self) -> tuple[Hole, ...]:
        """The holes from left to right.

        >>> [hole.name for hole in Text.of("lr=", Hole("$LR", UNSET)).holes]
        ['$LR']
        """
        return tuple(part for part in self.parts if isinstance(part, Hole))

    @property
    def open(self) -> bool:
        """True if the text stands for an unknown number of words."""
        return any(hole.splits for hole in self.holes)

    def splitting(self, splits: bool) -> "Text":
        """Return the text with holes that may (or may not) be several words.

        >>> Text.of(Hole("$ARGS", UNSET)).splitting(True).holes[0].splits
        True
        """
        if self.known:
            return self
        return Text(tuple(replace(p, splits=splits) if isinstance(p, Hole) else p for p in self.parts))

    def __add__(self, other: "str | Hole | Text") -> "Text":
        return Text.of(self, other)

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    def __bool__(self) -> bool:
        return bool(self.parts)


def joined(texts: Iterable[Text], separator: str = " ") -> Text:
    """Join texts with a separator between them.

    >>> str(joined([Text.of("--lr"), Text.of("1e-6")]))
    '--lr 1e-6'
    """
    pieces: list[str | Text] = []
    for text in texts:
        pieces += [separator, text]
    return Text.of(*pieces[1:])


def _flat(pieces: Iterable[str | Hole | Text]) -> Iterator[str | Hole]:
    for piece in pieces:
        if isinstance(piece, Text):
            yield from piece.parts
        else:
            yield piece
