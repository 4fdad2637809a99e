"""The course as files: the path of each exercise, and the exercise of each path."""

from pathlib import Path

from grpo_ref.course.contents import CHAPTERS, EXERCISES, OURS, exercises_in, source_of

SOLUTIONS = Path("solutions")
"""Folder of a checkout with the readable model answers, which `grpo-ref dev build` writes."""
RULES = "GRADING.md"
"""Name of the page on how answers are graded, in every folder of exercises."""


def file_of(name: str) -> Path:
    """Return the path of an exercise's file in `exercises/` and `solutions/`, numbered in the order of the
    course.

    An exercise that is not in the table of contents yet counts as the last of its chapter.

    >>> file_of("objective/grpo_objective").as_posix()
    '06_objective/01_grpo_objective.py'
    """
    chapter, last = name.split("/")
    names = [exercise.id for exercise in exercises_in(chapter)]
    number = 1 + (names.index(name) if name in names else len(names))
    return folder_of(chapter) / f"{number:02}_{last}.py"


def folder_of(chapter: str) -> Path:
    """Return the folder of a chapter. A package's chapter has no number, because the next package would
    change it.

    >>> folder_of("kl").as_posix()
    '04_kl'
    """
    ours = list(OURS.chapters)
    return Path(f"{ours.index(chapter) + 1:02}_{chapter}" if chapter in ours else chapter)


def page_of(chapter: str) -> Path:
    """Return the path of a chapter's first page.

    >>> page_of("kl").as_posix()
    '04_kl/README.md'
    """
    return folder_of(chapter) / "README.md"


def exercise_at(path: Path) -> str | None:
    """Return the id of the exercise that a file answers, by its folder and name; None for any other file."""
    return next((name for name in EXERCISES if path.parts[-2:] == file_of(name).parts), None)


def chapter_at(path: Path) -> str | None:
    """Return the chapter of a folder, by the folder's name; None for any other folder.

    >>> chapter_at(Path("exercises/04_kl"))
    'kl'
    """
    return next((chapter for chapter in CHAPTERS if path.name == folder_of(chapter).name), None)


def exercise_folder(name: str, root: Path | None = None) -> Path:
    """Return the folder of an exercise in its package.

    Args:
      name: id of the exercise.
      root: a checkout of the package; by default, the package that is imported.
    """
    source = source_of(name)
    return (source.folder if root is None else root / source.path) / "exercises" / name


def model_answer(name: str) -> str:
    """Return the text of the model answer, with the marks from which the starter is made."""
    return (exercise_folder(name) / "answer.py").read_text(encoding="utf-8")


def support_files(language: str = "en") -> dict[str, str]:
    """Return name and text of the files beside the exercises: two for `pytest`, and the page on grading."""
    folders = [folder for folder in (OURS.folder / "folder", OURS.checkout / "exercises") if folder.is_dir()]
    texts = {name: (folders[0] / name).read_text(encoding="utf-8") for name in ("conftest.py", "pytest.ini")}
    return texts | {RULES: grading_page(language)}


def grading_page(language: str = "en") -> str:
    """Return the page on how answers are graded, in English if it is not translated."""
    page = OURS.folder / "exercises" / RULES
    translation = page.with_suffix(f".{language}.md")
    if not translation.is_file():
        return page.read_text(encoding="utf-8")
    return translation.read_text(encoding="utf-8").partition("\n\n")[2]  # below the line with the checksum
