"""Split the expanded parts of a word into words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from grpo_ref.explain.launch.text import Hole, Text

WHITE = " \t\n"


@dataclass(frozen=True)
class Piece:
    """The expansion of one part of a word.

    Args:
      texts: one text; as many texts as there are elements for "$@" and "${A[@]}".
      quoted: true if none of its characters acts as a pattern.
      splits: true if blanks in it separate words.
    """

    texts: Sequence[Text]
    quoted: bool
    splits: bool = False


@dataclass
class Fields:
    """Collects pieces and splits them into words."""

    separators: re.Pattern[str]
    done: list[Text] = field(default_factory=list)
    current: Text | None = None
    vanishes: bool = False

    def add(self, piece: Piece) -> None:
        """Add the expansion of one part of a word."""
        self.vanishes |= piece.quoted and not piece.texts
        for i, text in enumerate(piece.texts):
            if i:
                self.close(hard=not piece.splits)
            for part in text.parts if piece.splits else ():
                self.split(part)
            if not piece.splits and (piece.quoted or text):
                self.current = (self.current or Text()) + text

    def split(self, part: str | Hole) -> None:
        """Add text whose blanks separate words."""
        if isinstance(part, Hole):
            if part.alternatives and all(text[:1] in ("", *WHITE) for text in part.alternatives):
                self.close(hard=False)
            self.current = (self.current or Text()) + replace(part, splits=True)
            return
        place = 0
        for match in self.separators.finditer(part):
            self.extend(part[place : match.start()])
            self.close(hard=bool(match[0].strip(WHITE)))
            place = match.end()
        self.extend(part[place:])

    def extend(self, string: str) -> None:
        """Add characters to the last word."""
        if string:
            self.current = (self.current or Text()) + string

    def end(self) -> None:
        """End the word. "$@$x" without arguments and with an empty x makes no word."""
        if self.vanishes and not self.current:
            self.current = None
        self.close(hard=False)

    def close(self, hard: bool) -> None:
        """End the last word. A hard end makes an empty word if there is none."""
        if self.current is not None or hard:
            self.done.append(self.current or Text())
        self.current = None
