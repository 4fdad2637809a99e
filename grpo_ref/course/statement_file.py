"""Read the statement of an exercise from its file, `statement.md`.

The file begins with a few lines `key: value` between two lines `---`. The text follows in Markdown, with the
sections "Your task", "Examples", "When it is solved" (optional) and "Hints". Formulas and examples are
indented by four spaces. Two placeholders, each on a line of its own, are replaced when the statement is
shown: `{inputs}` becomes the table of the arguments, and `{picture}` becomes the picture `picture.svg` beside
the file.

A translation, `statement.zh.md`, has the title, the text and the hints in another language, and the inputs
written out. Everything else is in the English file. The key `english` names this file and the checksum of the
text that was translated: `docs/translations.py` lists the translations of older texts.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

LANGUAGES = ("en", "zh")
"""Languages of statements. A statement in another language than English is a translation."""
DIFFICULTIES = ("easy", "medium", "hard")
HINTS = 3
"""Number of hints of every exercise: a question, the tool that helps, nearly the solution."""
FILE = re.compile(r"---\n(?P<head>.*?)\n---\n(?P<text>.*?)\n## (?:Hints|提示)\n(?P<hints>.*)", re.DOTALL)
HINT = re.compile(r"^\d\. (.*(?:\n   .*)*)", re.MULTILINE)


class Statement(NamedTuple):
    """A statement, as it is written in its file.

    Attributes:
      title: title of the exercise, as in a table of contents.
      signature: the function to write, as in "k3(log_probs, ref_log_probs)".
      difficulty: "easy", "medium" or "hard".
      points: number of points.
      source: the paper or trainer that the formula is from.
      text: the text before the hints, in Markdown.
      hints: the hints, from a question to nearly the solution.
      library: the same function in the package, as "grpo_ref.k3", or "".
      derivation: the step of the derivation that explains the formula, as "04_clip", or "".
      recipe: name of the recipe that the formula belongs to, or "".
      claim: name of the experiment that tests whether the formula helps, or "".
      picture: description of the picture for readers who cannot see it, or "" if there is none.
    """

    title: str
    signature: str
    difficulty: str
    points: int
    source: str
    text: str
    hints: tuple[str, ...]
    library: str = ""
    derivation: str = ""
    recipe: str = ""
    claim: str = ""
    picture: str = ""

    @property
    def function(self) -> str:
        """Name of the function to write."""
        return self.signature.split("(")[0]


class Translation(NamedTuple):
    """The parts of a statement that a translation replaces.

    Attributes:
      title: title of the exercise.
      text: the text before the hints, in Markdown, with the table of the inputs.
      hints: the hints.
      picture: description of the picture, or "".
    """

    title: str
    text: str
    hints: tuple[str, ...]
    picture: str = ""


REQUIRED = ("title", "function", "difficulty", "points", "source")
OPTIONAL = ("library", "derivation", "recipe", "claim", "picture")


def read_statement(path: Path) -> Statement:
    """Read a statement.

    Raises:
      ValueError: if the file has another form. The message names the file and the fault.
    """
    head, text, hints = _parts(path, REQUIRED, OPTIONAL)
    points = int(head["points"]) if head["points"].isdecimal() else 0
    if head["difficulty"] not in DIFFICULTIES or points < 1:
        raise ValueError(
            f"{path}: expected one of {', '.join(DIFFICULTIES)} and points of at least 1,"
            f" got {head['difficulty']!r} and {head['points']!r}"
        )
    return Statement(
        head["title"],
        head["function"],
        head["difficulty"],
        points,
        head["source"],
        text,
        hints,
        **{key: head.get(key, "") for key in OPTIONAL},
    )


def read_translation(path: Path) -> Translation:
    """Read the translation of a statement.

    Raises:
      ValueError: if the file has another form. The message names the file and the fault.
    """
    head, text, hints = _parts(path, ("title", "english"), ("picture",))
    return Translation(head["title"], text, hints, head.get("picture", ""))


def _parts(
    path: Path, required: Sequence[str], optional: Sequence[str]
) -> tuple[dict[str, str], str, tuple[str, ...]]:
    """Return the keys with their values, the text, and the hints."""
    parts = FILE.fullmatch(path.read_text(encoding="utf-8"))
    if parts is None:
        raise ValueError(f"{path}: expected key: value lines between two lines ---, a text, and ## Hints")
    lines = [line.partition(": ") for line in parts["head"].splitlines()]
    head = {key: value.strip() for key, _, value in lines}
    if missing := [key for key in required if not head.get(key)]:
        raise ValueError(f"{path}: {missing[0]} is missing")
    if unknown := head.keys() - {*required, *optional}:
        raise ValueError(f"{path}: unknown key {min(unknown)!r}; known: {', '.join((*required, *optional))}")
    hints = tuple(" ".join(hint.split()) for hint in HINT.findall(parts["hints"]))
    if len(hints) != HINTS:
        raise ValueError(f"{path}: expected {HINTS} hints, got {len(hints)}")
    if ("{picture}" in parts["text"]) != bool(head.get("picture")):
        raise ValueError(f"{path}: a line {{picture}} and the key picture, its description, belong together")
    return head, parts["text"].strip("\n"), hints
