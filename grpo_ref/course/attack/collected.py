"""Wrong answers that were written by hand, from the statement alone.

Those of an exercise lie in one file, tests/course/wrong_answers/CHAPTER/NAME.txt. Each begins with a line
"# WRONG: " that says in a sentence what is wrong, or "# REMEMBERS: " if it is wrong because of earlier calls;
the program follows, to the next such line.
"""

import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path("tests") / "course" / "wrong_answers"
KINDS = {"WRONG": "formula", "REMEMBERS": "state"}
"""First word of an answer -> the key in `operators.KINDS` of its mistake."""


class Collected(NamedTuple):
    """One wrong answer.

    Attributes:
      kind: the key in `operators.KINDS` of its mistake.
      sentence: what is wrong, for a student whose answer behaves like this.
      text: the program.
    """

    kind: str
    sentence: str
    text: str


def collected(name: str, root: Path) -> list[Collected]:
    """The wrong answers to an exercise, in the order of their file; none if there is no file.

    Args:
      name: id of the exercise.
      root: the checkout.
    """
    path = root / FOLDER / f"{name}.txt"
    return parsed(path.read_text(encoding="utf-8")) if path.is_file() else []


def parsed(text: str) -> list[Collected]:
    r"""The answers of a file's text.

    >>> parsed("# WRONG: The sign is lost.\ndef size(x): return abs(x)\n")
    [Collected(kind='formula', sentence='The sign is lost.', text='def size(x): return abs(x)\n')]
    """
    parts = re.split(rf"^# ({'|'.join(KINDS)}): (.*)\n", text, flags=re.MULTILINE)[1:]
    return [
        Collected(KINDS[word], sentence, program)
        for word, sentence, program in zip(*(parts[start::3] for start in range(3)), strict=True)
    ]
