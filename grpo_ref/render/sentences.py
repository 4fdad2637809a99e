"""What is told of a test and how text of strangers is shown, on every page and in every format."""

import re
from collections.abc import Mapping
from typing import Any

PRINTED = 20
"""Lines of a test's output that are shown."""
LONGEST = 2000
"""Characters of a text that are shown on a page."""
UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
"""Characters that control, turn the direction of the text around, or cannot be written to a file."""
MARKS = re.compile(
    r"[\\`*_\[\]<>&|~$]|(?<=\w):(?=//)|(?<=\w)@(?=\w)|(?<=[wW]{3})\."
    r"|^[-+#=](?=[-+#=\s]|$)|(?:(?<=^\d)|(?<=^\d\d))[.)](?=\s|$)"
)
"""What means something within a line of Markdown, or makes a link of a text."""


def rows_of(test: Mapping[str, Any], *, diagnosis: str = "", symptom: str = "") -> dict[str, str]:
    """What a student reads about one failed test: the call, its result, what is wrong, what it is about.

    Args:
      test: as a report in JSON has it.
      diagnosis, symptom: of the exercise, where they are to stand with the test.

    Returns:
      Name -> text; what is empty is out.
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


def on_loading(exercise: Mapping[str, Any]) -> str:
    """What an answer printed before the first test, when it was loaded."""
    printed: str = exercise["printed"]
    return printed[: len(printed) - sum(len(test["printed"]) for test in exercise["tests"])]


def shortened(printed: str) -> str:
    """The first lines of what a test printed, and how many there are more."""
    lines = printed.strip().splitlines()
    more = len(lines) - PRINTED
    return "\n".join([*lines[:PRINTED], *[f"... ({more} more lines)"] * (more > 0)])


def visible(text: str) -> str:
    r"""Text that can be shown: characters that have no form are replaced, and far too much of it is cut.

    >>> visible("a\x00b") == "a\ufffdb"
    True
    """
    more = len(text) - LONGEST
    cut = f" ... ({more} more characters)" if more > 0 else ""
    return UNSEEN.sub("\ufffd", text[:LONGEST]) + cut


def in_markdown(text: str) -> str:
    r"""Text as one line of Markdown in which nothing is a mark.

    >>> print(in_markdown("# <b>1*2</b>"))
    \# \<b\>1\*2\</b\>
    """
    return MARKS.sub(r"\\\g<0>", " ".join(visible(text).split()))


def in_fence(text: str) -> str:
    """Text as a block of Markdown that shows it as it is; its fence is longer than any in the text."""
    shown = visible(text)
    fence = "`" * (1 + max(map(len, ["``", *re.findall("`+", shown)])))
    return f"{fence}text\n{shown}\n{fence}"
