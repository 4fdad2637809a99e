"""Audit every launch file below a folder."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grpo_ref.explain.command_line import files_beside
from grpo_ref.explain.dialects import DIALECTS
from grpo_ref.explain.errata.audit import CERTAIN, Audit, audit
from grpo_ref.explain.launch import Launch, NoLaunch, launches

ENDINGS = (".yaml", ".yml", ".toml", ".json", ".py", ".sh", ".bash", ".slurm", ".sbatch", ".zsh", ".ipynb")
"""Endings of the files that are read."""
LARGEST, LARGEST_NOTEBOOK = 1_000_000, 10_000_000
"""Largest size of a file, in bytes."""
MOST_FILES = 20_000
"""Largest number of files that are read."""
MOST_LAUNCHES = 8
"""Largest number of launches of one file that are audited."""
SKIPPED = {"__pycache__", "node_modules", "site-packages"}
"""Names of folders that are not searched. Neither are those that begin with a dot."""


@dataclass(frozen=True)
class Audited:
    """A file and the result of its audit.

    Attributes:
      path: the file, from the folder on.
      audits: the audit of each launch of the file, the one with the most keys first.
      problem: the reason for which the file could not be audited, or "".
      is_launch: false if the file can be read and launches no trainer that is known here.
    """

    path: str
    audits: tuple[Audit, ...] = ()
    problem: str = ""
    is_launch: bool = True

    @property
    def status(self) -> str:
        """One of "certain", "possible", "undecided", "untouched", "unread" and "no launch"."""
        if not self.is_launch:
            return "no launch"
        if self.problem:
            return "unread"
        touches = [touch.status for each in self.audits for touch in each.touches]
        if touches:
            return CERTAIN if CERTAIN in touches else "possible"
        return "undecided" if any(each.undecided for each in self.audits) else "untouched"


@dataclass(frozen=True)
class Request:
    """The questions of a user.

    Attributes:
      trainer: the only trainer of interest, which is also taken where none can be detected; "" for all.
      releases: for each trainer, the release that was run.
    """

    trainer: str = ""
    releases: Mapping[str, str] = field(default_factory=dict)


def launch_files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder that may launch something, in the order of their names.

    Symbolic links are not followed.

    Args:
      folder: the folder, or one file.
    """
    if folder.is_file():
        yield folder
        return
    for place, inside, names in os.walk(folder, followlinks=False):
        inside[:] = sorted(each for each in inside if not each.startswith(".") and each not in SKIPPED)
        for name in sorted(names):
            path = Path(place, name)
            if name.endswith(ENDINGS) and not path.is_symlink() and path.is_file():
                yield path


def audit_folder(
    folder: Path, request: Request, progress: Callable[[int], None] = lambda count: None
) -> tuple[list[Audited], int]:
    """Return the result for every file below a folder, and the number of files that are too many to be read.

    Args:
      folder: the folder, or one file.
      request: the trainer and the releases of interest.
      progress: is called with the number of files that are done.
    """
    paths = [*launch_files(folder)]
    audited = []
    for count, path in enumerate(paths[:MOST_FILES], 1):
        name = path.name if path == folder else str(path.relative_to(folder))
        audited.append(audit_file(path, name, request))
        progress(count)
    return audited, max(0, len(paths) - MOST_FILES)


def audit_file(path: Path, name: str, request: Request) -> Audited:
    """Return the result for one file. An error is a part of the result.

    Args:
      path: the file.
      name: its name for display.
      request: the trainer and the releases of interest.
    """
    limit = LARGEST_NOTEBOOK if path.suffix == ".ipynb" else LARGEST
    try:
        if path.stat().st_size > limit:
            return Audited(name, problem=f"it is larger than {limit:,} bytes")
        text = path.read_text(encoding="utf-8", errors="replace")
        runs = _launches(text, path, request.trainer)
        if not runs:
            return Audited(name, problem="it launches no run of this trainer", is_launch=False)
        audits = [audit(each, text, request.releases.get(each.trainer, "")) for each in runs]
    except NoLaunch as error:
        return Audited(name, problem=str(error), is_launch=False)
    except (ValueError, RecursionError, MemoryError) as error:
        return Audited(name, problem=" ".join(str(error).split()) or type(error).__name__)
    except OSError as error:
        return Audited(name, problem=error.strerror or str(error))
    return Audited(name, tuple(audits))


def _launches(text: str, path: Path, trainer: str) -> list[Launch]:
    """Return the launches of a file, without repetitions; of one trainer only, if it is named."""
    try:
        runs = launches(text, str(path), files_beside(path.parent))
    except NoLaunch:
        if not trainer:
            raise
        runs = launches(text, str(path), files_beside(path.parent), trainer)
        runs = [each for each in runs if any(DIALECTS[trainer].key(key) for key in each.keys)]
    kept = [each for each in runs if not trainer or each.trainer == trainer]
    different = [each for place, each in enumerate(kept) if not _is_repeated(each, kept[:place])]
    return different[:MOST_LAUNCHES]


def _is_repeated(launch: Launch, before: list[Launch]) -> bool:
    return any(
        (each.trainer, each.keys, each.version) == (launch.trainer, launch.keys, launch.version)
        for each in before
    )
