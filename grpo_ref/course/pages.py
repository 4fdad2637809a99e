"""The first page of each chapter: its idea, a picture, its notebook, what to read, its exercises."""

from collections.abc import Iterable
from pathlib import Path

from grpo_ref.course.contents import CHAPTERS, NOTEBOOKS, OURS, exercises_in, source_of
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.layout import file_of, folder_of, page_of

PICTURE = "picture.png"


def pages(chapters: Iterable[str] = CHAPTERS) -> dict[str, bytes]:
    """Return the content of every page, and of its picture if there is one, by path."""
    texts = {page_of(chapter).as_posix(): page(chapter).encode() for chapter in chapters}
    pictures = {folder_of(chapter) / PICTURE: _chapter_file(chapter, PICTURE) for chapter in chapters}
    return texts | {place.as_posix(): path.read_bytes() for place, path in pictures.items() if path.is_file()}


def page(chapter: str) -> str:
    """Return a chapter's text, with its number and title above it and its notebook and exercises below.

    A package's chapter has no number, and may lack a notebook.
    """
    number = f"{list(OURS.chapters).index(chapter) + 1}. " if chapter in OURS.chapters else ""
    text = _chapter_file(chapter, "chapter.md").read_text(encoding="utf-8").strip()
    return (
        f"# {number}{CHAPTERS[chapter]}\n\n{text}\n\n{_notebook(chapter)}"
        f"## The exercises\n\n{_exercises(chapter)}\n\n"
        f"Grade them all: `grpo-ref grade {chapter}`. A hint for the next one: `grpo-ref hint {chapter}`.\n"
    )


def _chapter_file(chapter: str, name: str) -> Path:
    """Return the path of a chapter's text or picture. `docs/chapter_pictures.py` draws grpo_ref's own
    pictures.
    """
    return source_of(chapter).folder / "exercises" / chapter / name


def _notebook(chapter: str) -> str:
    """Return the section on the notebook, or "" if there is none."""
    if chapter not in NOTEBOOKS:
        return ""
    shown = f"`{NOTEBOOKS[chapter]}.ipynb` shows the idea at work; `grpo-ref notebooks` opens it."
    return f"## The notebook\n\n{shown}\n\n"


def _exercises(chapter: str) -> str:
    """Return a numbered list with file, title, difficulty and points."""
    lines = []
    for number, exercise in enumerate(exercises_in(chapter), start=1):
        file, points = file_of(exercise.id).name, f"{exercise.points} point{'s' * (exercise.points > 1)}"
        title = PROBLEMS[exercise.id].title
        lines.append(f"{number}. [{exercise.name}]({file}): {title} ({exercise.difficulty}, {points})")
    return "\n".join(lines)
