"""The rows that describe a test, and the escaping of strangers' text, for every page and format."""

import re
from collections.abc import Mapping
from typing import Any

PRINTED = 20
"""Number of lines of a test's output that are shown."""
LONGEST = 2000
"""Number of characters of a text that are shown on a page."""
UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
"""Control characters, characters that reverse the direction of text, and characters that cannot be written to
a file.
"""
MARKS = re.compile(
    r"[\\`*_\[\]<>&|~$]|(?<=\w):(?=//)|(?<=\w)@(?=\w)|(?<=[wW]{3})\."
    r"|^[-+#=](?=[-+#=\s]|$)|(?:(?<=^\d)|(?<=^\d\d))[.)](?=\s|$)"
)
"""Characters with a meaning in a line of Markdown, or that turn a text into a link."""


def rows_of(test: Mapping[str, Any], *, diagnosis: str = "", symptom: str = "") -> dict[str, str]:
    """Describe one failed test in rows: the call, its result, the difference from the right value, the test's
    purpose.

    Args:
      test: the test, as in a report in JSON.
      diagnosis, symptom: those of the exercise, if they are to be shown with the test.

    Returns:
      Name -> text; empty texts are omitted.
    """
    rows = {
        "called": test["called"],
        "raised" if test.get("raised") else "returned": test["returned"],
        "wrong": test["wrong"],
        "about": test["why"],
        "likely": diagnosis or test["likely"],
        "pattern": symptom,
        "printed": shortened(test["printed"]),
        "warned": "\n".join(test["warnings"]),
    }
    return {name: text for name, text in rows.items() if text}


def points_text(reached: float, of: float) -> str:
    """Format the points reached and the points that are possible.

    >>> points_text(1, 1), points_text(0.5, 2)
    ('1 of 1 point', '0.5 of 2 points')
    """
    return f"{reached:g} of {of:g} point{'s' * (of != 1)}"


def on_loading(exercise: Mapping[str, Any]) -> str:
    """Return what an answer printed when it was loaded, before the first test."""
    printed: str = exercise["printed"]
    return printed[: len(printed) - sum(len(test["printed"]) for test in exercise["tests"])]


def shortened(printed: str) -> str:
    """Return the first lines of a test's output, and the number of further lines."""
    lines = printed.strip().splitlines()
    more = len(lines) - PRINTED
    return "\n".join([*lines[:PRINTED], *[f"... ({more} more lines)"] * (more > 0)])


def visible(text: str) -> str:
    r"""Replace the characters that cannot be shown, and cut a text that is too long.

    >>> visible("a\x00b") == "a\ufffdb"
    True
    """
    more = len(text) - LONGEST
    cut = f" ... ({more} more characters)" if more > 0 else ""
    return UNSEEN.sub("\ufffd", text[:LONGEST]) + cut


def in_markdown(text: str) -> str:
    r"""Return the text as one line of Markdown, with all special characters escaped.

    >>> print(in_markdown("# <b>1*2</b>"))
    \# \<b\>1\*2\</b\>
    """
    return MARKS.sub(r"\\\g<0>", " ".join(visible(text).split()))


def in_fence(text: str) -> str:
    """Return the text as a block of Markdown that shows it verbatim. Its fence is longer than any in the
    text.
    """
    shown = visible(text)
    fence = "`" * (1 + max(map(len, ["``", *re.findall("`+", shown)])))
    return f"{fence}text\n{shown}\n{fence}"
