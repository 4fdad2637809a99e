"""The files that students start from: fill a folder with the exercises, recognize unchanged files, restore
one.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from grpo_ref.course.contents import CHAPTERS, OURS, source_at
from grpo_ref.course.exercises import PROBLEMS, translated
from grpo_ref.course.grading.model_answers import readable
from grpo_ref.course.layout import SOLUTIONS, exercise_folder, file_of, model_answer, support_files
from grpo_ref.course.pages import pages
from grpo_ref.course.rendering.statement import starter
from grpo_ref.course.workbook import Workbook
from grpo_ref.files import committed_files, free_name, replace_file


class Filled(NamedTuple):
    """The result of `fill`.

    Attributes:
      written: number of new files.
      upgraded: number of unchanged files that got a newer text.
      kept: number of files that a student has changed.
    """

    written: int
    upgraded: int
    kept: int


def starter_of(name: str, language: str = "en") -> str:
    """Return the text of the file that a student starts from, in English if it is not translated."""
    return starter(translated(PROBLEMS[name], language), model_answer(name))


def fill(workbook: Workbook, language: str | None = None) -> Filled:
    """Write all exercises, their pages and the files for pytest; keep files that a student has changed.

    A file whose exercise has a new number is renamed first, unless the new name is taken.

    Args:
      workbook: the student's folder.
      language: language of the statements, as "en" or "zh"; by default the folder's language so far.
    """
    for name in PROBLEMS:
        path = workbook.path(name)
        for other in sorted(path.parent.glob(f"[0-9][0-9]_{name.split('/')[1]}.py")):
            if not path.exists():
                other.replace(path)
    progress, written, upgraded, kept = workbook.progress, 0, 0, 0
    progress.language = language or progress.language
    for name, (path, content) in _texts(workbook, progress.language).items():
        present = path.read_bytes() if path.exists() else None
        if present is None or progress.is_untouched(name, present):
            written += present is None
            upgraded += present not in (None, content)
            _write(path, content)
        elif present != content:
            kept += 1
        progress.wrote(name, content)
    progress.save(workbook.folder)
    return Filled(written, upgraded, kept)


def _texts(workbook: Workbook, language: str) -> dict[str, tuple[Path, bytes]]:
    """Return all files of a folder: their names in the progress file -> path and content."""
    texts = {name: (workbook.path(name), starter_of(name, language).encode()) for name in PROBLEMS}
    for name in PROBLEMS:
        texts |= _picture(workbook, name)
    others = {name: text.encode() for name, text in support_files(language).items()}
    texts |= {f"folder/{name}": (workbook.folder / name, content) for name, content in others.items()}
    return texts | _pages(workbook, CHAPTERS, language)


def _picture(workbook: Workbook, name: str) -> dict[str, tuple[Path, bytes]]:
    """Return the picture of an exercise, if it has one."""
    path = exercise_folder(name) / "picture.svg"
    place = workbook.path(name).with_suffix(".svg")
    return {f"picture/{name}": (place, path.read_bytes())} if path.is_file() else {}


def _pages(workbook: Workbook, chapters: Iterable[str], language: str) -> dict[str, tuple[Path, bytes]]:
    contents = pages(chapters, language)
    return {f"page/{name}": (workbook.folder / name, content) for name, content in contents.items()}


class Built(NamedTuple):
    """The result of `build`.

    Attributes:
      written: files that are new or have a new text.
      backups: copies of changed files that were replaced.
    """

    written: list[Path]
    backups: list[Path]


def build(root: Path, tell: Callable[[str], object]) -> Built:
    """Write `exercises/` and `solutions/` of a checkout again from the package. No changed file is lost.

    A file is overwritten if this function or `fill` wrote it, or if it equals the version in the checkout's
    last commit. Any other file is moved to a backup beside it.

    Args:
      root: the checkout.
      tell: called with a sentence if the progress file is damaged.
    """
    workbook, built = Workbook(root / "exercises", tell), Built([], [])
    progress, committed = workbook.progress, committed_files(workbook.folder)
    for name, (path, content) in _texts_of_checkout(workbook, root).items():
        present = path.read_bytes() if path.exists() else None
        if present != content:
            kept = present is None or path.resolve() in committed or progress.is_untouched(name, present)
            built.backups.extend([] if kept else [_set_aside(path)])
            _write(path, content)
            built.written.append(path)
        progress.wrote(name, content)
    progress.save(workbook.folder)
    return built


def _texts_of_checkout(workbook: Workbook, root: Path) -> dict[str, tuple[Path, bytes]]:
    """Return the starters, the readable model answers and the pages of the checkout's own source."""
    source = source_at(root)
    files = {name: (workbook.path(name), starter_of(name).encode()) for name in source.ids}
    for name in source.ids:
        files |= _picture(workbook, name)
        answer = readable(model_answer(name)).encode()
        files[f"solution/{name}"] = (root / SOLUTIONS / file_of(name), answer)
    if source is OURS:
        files |= {
            f"folder/{name}": (workbook.folder / name, text.encode())
            for name, text in support_files().items()
        }
    return files | _pages(workbook, source.chapters, "en")


def is_untouched(workbook: Workbook, name: str) -> bool:
    """Return whether the file is still a starter, of this version or of an earlier one."""
    content, progress = workbook.path(name).read_bytes(), workbook.progress
    return progress.is_untouched(name, content) or content == starter_of(name, progress.language).encode()


def reset(workbook: Workbook, name: str) -> Path | None:
    """Restore the starter. Work so far is moved to a backup beside it, whose path is returned."""
    path, backup = workbook.path(name), None
    if path.exists() and not is_untouched(workbook, name):
        backup = _set_aside(path)
    _write(path, starter_of(name, workbook.progress.language).encode())
    return backup


def _set_aside(path: Path) -> Path:
    """Move a file to a backup beside it, and return the backup's path."""
    backup = free_name(path.with_suffix(".backup"))
    path.replace(backup)
    return backup


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, lambda file: file.write(content))
