"""Match the shell's patterns *, ? and [a-z], in time proportional to the text.

A pattern is a row of items. After each character, the items that may come next are the bits of a number, so
that no pattern takes exponential time.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

SET = re.compile(r"\[([!^]?)(\]?(?:\[:[a-z]+:\]|[^\]])*)\]", re.DOTALL)
CLASSES = {
    "digit": "0-9",
    "alpha": "a-zA-Z",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "punct": r"!-/:-@\[-`{-~",
}


@dataclass(frozen=True)
class Pattern:
    """A pattern.

    Args:
      items: each item is a character, None for "*", or a regular expression for one character.
    """

    items: tuple[str | re.Pattern[str] | None, ...]

    @classmethod
    def of(cls, pieces: Iterator[tuple[str, bool]]) -> "Pattern":
        """Make a pattern of pieces of text. Quoted pieces stand for themselves.

        >>> list(Pattern.of(iter([("*", False), (".x", True)])).ends("a.x"))
        [3]
        """
        items: list[str | re.Pattern[str] | None] = []
        for text, quoted in pieces:
            items += text if quoted else _items(text)
        return cls(tuple(items))

    def reversed(self) -> "Pattern":
        """Return the pattern that matches the reversed texts."""
        return Pattern(self.items[::-1])

    def matches(self, text: str) -> bool:
        """Return true if the whole text matches."""
        return len(text) in self.ends(text)

    def ends(self, text: str, begin: int = 0) -> Iterator[int]:
        """Yield, in order, the places where a match from a place on may end."""
        states = self._after_stars(1)
        for place in range(begin, len(text) + 1):
            if states & self._final:
                yield place
            if not states or place == len(text):
                return
            states = self._next(states, text[place])

    def _next(self, states: int, character: str) -> int:
        return self._after_stars((states & self._fits(character)) << 1 | states & self._stars)

    def _after_stars(self, states: int) -> int:
        """Return the states, with those after each * added, because a * may match nothing."""
        while (more := states | (states & self._stars) << 1) != states:
            states = more
        return states

    @cached_property
    def _final(self) -> int:
        return 1 << len(self.items)

    @cached_property
    def _stars(self) -> int:
        return sum(1 << i for i, item in enumerate(self.items) if item is None)

    @cached_property
    def _known(self) -> dict[str, int]:
        return {}

    def _fits(self, character: str) -> int:
        """Return the items that one character matches, as bits."""
        if character not in self._known:
            self._known[character] = sum(1 << i for i, item in enumerate(self.items) if _fit(item, character))
        return self._known[character]


def removed(text: str, pattern: Pattern, operator: str) -> str:
    """Return the text without the match at its beginning (#, ##) or end (%, %%).

    >>> removed("a/b/c", Pattern.of(iter([("*/", False)])), "##")
    'c'
    """
    if operator.startswith("%"):
        return removed(text[::-1], pattern.reversed(), "#" * len(operator))[::-1]
    ends = list(pattern.ends(text))
    if not ends:
        return text
    return text[ends[-1] if operator == "##" else ends[0] :]


def replaced(text: str, pattern: Pattern, by: str, operator: str) -> str:
    """Return the text with its longest match replaced.

    The operator selects the first match (/), every match (//), the match at the beginning (/#) or at the end
    (/%).

    >>> replaced("a-b-c", Pattern.of(iter([("-", False)])), "_", "//")
    'a_b_c'
    """
    if operator == "/%":
        return replaced(text[::-1], pattern.reversed(), by[::-1], "/#")[::-1]
    pieces, place = [], 0
    while place <= len(text):
        end = max(pattern.ends(text, place), default=place)
        if end > place:
            pieces.append(by)
        elif place < len(text):
            pieces.append(text[place])
        if operator == "/#" or (operator == "/" and end > place):
            return "".join(pieces) + text[max(end, place + (end == place)) :]
        place = max(end, place + 1)
    return "".join(pieces)


def _items(text: str) -> Iterator[str | re.Pattern[str] | None]:
    place = 0
    while place < len(text):
        match = SET.match(text, place)
        compiled = _one_of(match) if match else None
        if match and compiled:
            yield compiled
            place = match.end()
            continue
        yield {"*": None, "?": re.compile(".", re.DOTALL)}.get(text[place], text[place])
        place += 1


def _one_of(match: re.Match[str]) -> re.Pattern[str] | None:
    """Return the regular expression of a set such as [abc]; None if it is not a valid set."""
    inside = re.sub(r"\[:([a-z]+):\]", lambda name: CLASSES.get(name[1], ""), match[2])
    escaped = re.sub(r"[\\\[\]&~|^]", lambda found: "\\" + found[0], match[2])
    try:
        return re.compile(f"[{'^' if match[1] else ''}{inside if '[:' in match[2] else escaped}]")
    except re.error:
        return None


def _fit(item: str | re.Pattern[str] | None, character: str) -> bool:
    if isinstance(item, re.Pattern):
        return bool(item.fullmatch(character))
    return item == character
