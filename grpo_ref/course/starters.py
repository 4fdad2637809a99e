"""What students start from: fill a folder with the exercises, tell untouched files, start one again."""

from pathlib import Path
from typing import NamedTuple

from grpo_ref.course.grading.statement import starter
from grpo_ref.course.layout import former_files_of, model_answer, support_files
from grpo_ref.course.problems import PROBLEMS
from grpo_ref.course.workbook import Workbook
from grpo_ref.files import free_name, replace_text


class Filled(NamedTuple):
    """What `fill` did.

    Attributes:
      written: how many files are new.
      upgraded: how many untouched ones were given a newer text.
      kept: how many hold somebody's work.
    """

    written: int
    upgraded: int
    kept: int


def starter_of(name: str) -> str:
    """The text of the file that a student starts from."""
    return starter(PROBLEMS[name], model_answer(name))


def fill(workbook: Workbook) -> Filled:
    """Write all exercises, and what lets pytest grade them; what a student has touched stays as it is.

    A file that lies where an earlier version put it is moved to its present place first.
    """
    _move_former(workbook)
    texts = {name: (workbook.path(name), starter_of(name)) for name in PROBLEMS}
    texts |= {f"folder/{name}": (workbook.folder / name, text) for name, text in support_files().items()}
    progress, written, upgraded, kept = workbook.progress, 0, 0, 0
    for name, (path, text) in texts.items():
        present = path.read_bytes() if path.exists() else None
        if present is None or progress.is_untouched(name, present):
            written += present is None
            upgraded += present not in (None, text.encode())
            _write(path, text)
        elif present != text.encode():
            kept += 1
        progress.wrote(name, text)
    progress.save(workbook.folder)
    return Filled(written, upgraded, kept)


def _move_former(workbook: Workbook) -> None:
    """Give files of earlier versions their present names, unless there is one of that name."""
    for name in PROBLEMS:
        for former in (workbook.folder / each for each in former_files_of(name)):
            if former.is_file() and not workbook.path(name).exists():
                former.replace(workbook.path(name))


def is_untouched(workbook: Workbook, name: str) -> bool:
    """Whether the file is still what the student started from, now or in an earlier version."""
    content = workbook.path(name).read_bytes()
    return workbook.progress.is_untouched(name, content) or content == starter_of(name).encode()


def reset(workbook: Workbook, name: str) -> Path | None:
    """Put the starter back; the work so far is moved to a backup beside it, whose path is returned."""
    path, backup = workbook.path(name), None
    if path.exists() and not is_untouched(workbook, name):
        backup = free_name(path.with_suffix(".backup"))
        path.replace(backup)
    _write(path, starter_of(name))
    return backup


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, text)
