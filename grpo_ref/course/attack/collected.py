"""Wrong answers that were written by hand, from the statement alone.

Those of an exercise lie in one file, tests/course/wrong_answers/CHAPTER/NAME.txt. Each begins with a line
"# WRONG: " that says in a sentence what is wrong; the program follows, to the next such line.
"""

import re
from pathlib import Path
from typing import NamedTuple

from grpo_ref.course.layout import CHECKOUT

FOLDER = Path("tests") / "course" / "wrong_answers"
BEGIN = "# WRONG: "


class Collected(NamedTuple):
    """One wrong answer.

    Attributes:
      sentence: what is wrong, for a student whose answer behaves like this.
      text: the program.
    """

    sentence: str
    text: str

    @property
    def kind(self) -> str:
        """The key in `operators.KINDS`: of what remembers, its sentence speaks of calls."""
        return "state" if re.search(r"\b(calls?|remember\w*)\b", self.sentence) else "formula"


def collected(name: str, root: Path = CHECKOUT) -> list[Collected]:
    """The wrong answers to an exercise, in the order of their file; none if there is no file."""
    path = root / FOLDER / f"{name}.txt"
    return parsed(path.read_text(encoding="utf-8")) if path.is_file() else []


def parsed(text: str) -> list[Collected]:
    r"""The answers of a file's text.

    >>> parsed("# WRONG: The sign is lost.\ndef size(x): return abs(x)\n")
    [Collected(sentence='The sign is lost.', text='def size(x): return abs(x)\n')]
    """
    answers = re.split(f"^{BEGIN}", text, flags=re.MULTILINE)[1:]
    return [Collected(*answer.split("\n", 1)) for answer in answers]
