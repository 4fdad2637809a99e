"""The result of reading a shell script."""

from dataclasses import dataclass, field

from grpo_ref.explain.launch.text import Text


class CannotRead(ValueError):
    """Raised for a script that cannot be read, with the line where the reading stopped."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"cannot read: line {line} {why}")
        self.line, self.why = line, why


@dataclass(frozen=True)
class Command:
    """A command as it would run.

    Args:
      words: the program and its arguments. An unquoted word with a hole may be several words, or none.
      variables: the variables set before the program, such as A in `A=1 python train.py`.
      line: line number where the command begins.
      maybe: true if the command is in a branch whose condition is unknown.
      lines: for each word, the line number where the word is written.
    """

    words: tuple[Text, ...]
    variables: dict[str, Text]
    line: int
    maybe: bool = False
    lines: tuple[int, ...] = ()


CUT_OFF, NOT_FOUND = "arguments cut off", "script not found"
"""Kinds of notes on which the explanation depends."""


@dataclass(frozen=True, order=True)
class Note:
    """A remark for the reader about a line.

    Args:
      line: line number.
      text: the remark, as a whole sentence.
      kind: `CUT_OFF` if a command loses arguments, `NOT_FOUND` if it runs a script that is missing, otherwise "".
    """

    line: int
    text: str
    kind: str = ""


@dataclass(frozen=True)
class Script:
    """The commands of a script, the files that its here-documents write, and notes.

    Args:
      commands: the commands in the order in which they would run.
      files: texts of the files, by path.
      notes: remarks for the reader.
      python: Python programs that are written in the script, as in `python - <<EOF`.
    """

    commands: list[Command] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    python: list[str] = field(default_factory=list)
