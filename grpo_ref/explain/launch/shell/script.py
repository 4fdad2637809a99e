"""What reading a shell script gives."""

from dataclasses import dataclass, field

from grpo_ref.explain.launch.text import Text


class CannotRead(ValueError):
    """A script that cannot be read, with the line where the reading stopped."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"cannot read: line {line} {why}")
        self.line = line


@dataclass(frozen=True)
class Command:
    """A command as it would run.

    Args:
      words: the program and its arguments. An unquoted word with a hole may be several words, or none.
      variables: what stands before it, as A in `A=1 python train.py`.
      line: where it begins.
      maybe: whether it stands in a branch whose condition is not known.
    """

    words: tuple[Text, ...]
    variables: dict[str, Text]
    line: int
    maybe: bool = False


@dataclass(frozen=True, order=True)
class Note:
    """A whole sentence about a line that a reader should know."""

    line: int
    text: str


@dataclass(frozen=True)
class Script:
    """The commands in the order in which they would run, the files that here-documents write, and notes.

    Args:
      commands: one after the other.
      files: by their paths.
      notes: on what a reader has to know.
      python: programs that Python is given in the script, as in `python - <<EOF`.
    """

    commands: list[Command] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    python: list[str] = field(default_factory=list)
