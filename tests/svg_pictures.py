"""Compare pictures in SVG, whose numbers may differ by rounding on another machine."""

import re
from pathlib import Path

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
IDENTIFIER = re.compile(r"\b[a-z][0-9a-f]{10}\b")
OFF = 0.5
"""By how many points a coordinate may be off; a picture is some 600 points wide."""


def same_picture(drawn: Path, kept: Path) -> bool:
    """Return True if two files have the same elements and texts, and nearly the same numbers.

    Identifiers that are made from the numbers may differ.
    """
    one, other = (IDENTIFIER.sub("", path.read_text(encoding="utf-8")) for path in (drawn, kept))
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(abs(float(left) - float(right)) <= OFF for left, right in pairs)
