"""A student's progress: one small text file in the folder of the exercises.

    advantages/ranks points 2
    advantages/ranks hints 1
    advantages/ranks starter 9f86d081884c7d65...
    course language zh

The file has one fact per line, sorted. Lines may be repeated, and the larger number counts, so two such files
are merged by appending one to the other. A `starter` line stores the digest of a starter that was written, so
that unchanged files can be recognized. The `language` line is there if the statements are not in English.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Self

from grpo_ref.course.statement_file import LANGUAGES
from grpo_ref.files import free_name, replace_text

NAME = "progress.txt"
HEADER = (
    "# What you have reached, one fact a line. Lines may be merged and repeated; the larger number counts."
)


@dataclass
class Progress:
    """A student's progress by exercise.

    Attributes:
      points: the most points reached.
      hints: number of hints read.
      starters: digests of the starters that were written.
      language: language of the statements, as "en" or "zh".
    """

    points: dict[str, float] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)
    starters: dict[str, set[str]] = field(default_factory=dict)
    language: str = "en"

    def reached(self, problem: str, points: float) -> None:
        """Record that an exercise got this many points."""
        self.points[problem] = max(points, self.points.get(problem, 0.0))

    def hinted(self, problem: str, hints: int) -> None:
        """Record that this many hints of an exercise were read."""
        self.hints[problem] = max(hints, self.hints.get(problem, 0))

    def wrote(self, problem: str, starter: bytes) -> None:
        """Record that this was written as the starter of an exercise."""
        self.starters.setdefault(problem, set()).add(_digest(starter))

    def is_untouched(self, problem: str, content: bytes) -> bool:
        """Return whether a file's content is one of the starters that were written."""
        return _digest(content) in self.starters.get(problem, set())

    def read(self, text: str) -> list[str]:
        """Add the facts of a file. Return the lines that could not be parsed."""
        strange = []
        for line in text.splitlines():
            if line.strip() and not line.startswith("#") and not self._read_line(line):
                strange.append(line)
        return strange

    def _read_line(self, line: str) -> bool:
        match line.split():
            case [problem, "points", value] if value.replace(".", "", 1).isdecimal():
                self.reached(problem, float(value))
            case [problem, "hints", value] if value.isdecimal():
                self.hinted(problem, int(value))
            case [problem, "starter", digest]:
                self.starters.setdefault(problem, set()).add(digest)
            case ["course", "language", language] if language in LANGUAGES:
                self.language = max(language, self.language)  # files merge in any order
            case _:
                return False
        return True

    def __str__(self) -> str:
        facts = [f"{problem} points {points:g}" for problem, points in self.points.items() if points]
        facts += [f"{problem} hints {hints}" for problem, hints in self.hints.items()]
        facts += [
            f"{problem} starter {digest}" for problem in self.starters for digest in self.starters[problem]
        ]
        facts += [f"course language {self.language}"] * (self.language != "en")
        return "\n".join([HEADER, *sorted(facts)]) + "\n"

    @classmethod
    def load(cls, folder: Path, tell: Callable[[str], object]) -> Self:
        """Read the progress of a folder. A damaged file is copied aside, and its readable lines are kept.

        Args:
          folder: folder of the exercises.
          tell: called with a sentence if the file was damaged.
        """
        progress, path = cls(), folder / NAME
        if not path.exists():
            return progress
        content = path.read_bytes()
        strange = progress.read(content.decode(errors="replace"))
        if strange:
            aside = free_name(path.with_suffix(".damaged"))
            aside.write_bytes(content)
            progress.save(folder)
            removed = f"{len(strange)} unreadable line{'s' * (len(strange) != 1)}"
            tell(f"{path}: removed {removed}; a copy of the file is in {aside}")
        return progress

    def save(self, folder: Path) -> None:
        """Write the file in one step."""
        replace_text(folder / NAME, str(self))


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
