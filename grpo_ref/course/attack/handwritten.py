"""Wrong answers written by hand from the statement alone.

The wrong answers to an exercise are in the file `collected.txt` of its folder. Each one begins
with a line that describes the mistake in a sentence. The line starts with "# WRONG: ", or with "# REMEMBERS:
" if the answer is wrong because of earlier calls. The program follows, up to the next such line.
"""

import re
from typing import NamedTuple

from grpo_ref.course.layout import exercise_folder

FILE = "collected.txt"
KINDS = {"WRONG": "formula", "REMEMBERS": "state"}
"""First word of an answer -> key of its mistake in `operators.KINDS`."""


class Collected(NamedTuple):
    """One wrong answer.

    Attributes:
      kind: key of its mistake in `operators.KINDS`.
      sentence: the mistake, for a student whose answer returns the same values.
      text: the program.
    """

    kind: str
    sentence: str
    text: str


def collected(name: str) -> list[Collected]:
    """Return the wrong answers to an exercise, in the order of their file; none if the file is missing.

    An installed package does not have the file.

    Args:
      name: id of the exercise.
    """
    path = exercise_folder(name) / FILE
    return parsed(path.read_text(encoding="utf-8")) if path.is_file() else []


def parsed(text: str) -> list[Collected]:
    r"""Parse the text of a file into its wrong answers.

    >>> parsed("# WRONG: The sign is lost.\ndef size(x): return abs(x)\n")
    [Collected(kind='formula', sentence='The sign is lost.', text='def size(x): return abs(x)\n')]
    """
    parts = re.split(rf"^# ({'|'.join(KINDS)}): (.*)\n", text, flags=re.MULTILINE)[1:]
    return [
        Collected(KINDS[word], sentence, program)
        for word, sentence, program in zip(*(parts[start::3] for start in range(3)), strict=True)
    ]
