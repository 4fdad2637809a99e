"""Wrap prose to a width, also Chinese prose, which has no spaces between its words."""

import re
import textwrap

WIDE = "\u3000-\u303f\u4e00-\u9fff\uff00-\uffef"
"""Chinese characters and punctuation: each is as wide as two letters, and a line may break between two."""
CLOSING = "、。，：；？！）”》」"
"""Punctuation that does not begin a line."""
UNIT = re.compile(rf"(?:[{WIDE}“]|[^{WIDE}“\s]+)[{CLOSING}]*\s?")
"""A part of a Chinese text that is not broken: a character, or a word in another script."""


def filled(text: str, width: int, indent: str = "") -> str:
    """Wrap one paragraph.

    Args:
      text: the paragraph, on one line or several.
      width: length of a line, in columns of a terminal.
      indent: beginning of every line but the first.

    >>> print(filled("1. one two three", 9, indent="   "))
    1. one
       two
       three
    >>> print(filled("每个 token 的优势，为 1。", 12))
    每个 token
    的优势，为
    1。
    """
    text = " ".join(text.split())
    if not re.search(f"[{WIDE}]", text):
        return textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False)
    lines = [""]
    for unit in UNIT.findall(text):
        if lines[-1] and _columns(lines[-1]) + _columns(unit.rstrip()) > width:
            lines.append(indent)
        lines[-1] += unit
    return "\n".join(line.rstrip() for line in lines)


def _columns(text: str) -> int:
    return len(text) + len(re.findall(f"[{WIDE}]", text))
