"""The first page of each chapter: its idea, a picture, its notebook, what to read, its exercises."""

from collections.abc import Iterable
from pathlib import Path

from grpo_ref.course.contents import CHAPTERS, NOTEBOOKS, OURS, exercises_in, source_of
from grpo_ref.course.exercises import PROBLEMS, translated
from grpo_ref.course.layout import file_of, folder_of, page_of
from grpo_ref.course.rendering.phrases import PHRASES, Phrases
from grpo_ref.course.rendering.statement import worth

PICTURE = "picture.png"


def pages(chapters: Iterable[str] = CHAPTERS, language: str = "en") -> dict[str, bytes]:
    """Return the content of every page, and of its picture if there is one, by path."""
    texts = {page_of(chapter).as_posix(): page(chapter, language).encode() for chapter in chapters}
    pictures = {folder_of(chapter) / PICTURE: _chapter_file(chapter, PICTURE) for chapter in chapters}
    return texts | {place.as_posix(): path.read_bytes() for place, path in pictures.items() if path.is_file()}


def page(chapter: str, language: str = "en") -> str:
    """Return a chapter's text, with its number and title above it and its notebook and exercises below.

    A package's chapter has no number, and may lack a notebook. A chapter without a translation is in English.
    """
    number = f"{list(OURS.chapters).index(chapter) + 1}. " if chapter in OURS.chapters else ""
    title, text = CHAPTERS[chapter], _chapter_file(chapter, "chapter.md").read_text(encoding="utf-8").strip()
    if (translation := translated_chapter(chapter, language)) is None:
        language = "en"
    else:
        title, text = translation
    phrases = PHRASES[language]
    return (
        f"# {number}{title}\n\n{text}\n\n{_notebook(chapter, phrases)}"
        f"## {phrases.exercises}\n\n{_exercises(chapter, language)}\n\n"
        f"{phrases.grade_all.format(name=chapter)}\n"
    )


def translated_chapter(chapter: str, language: str) -> tuple[str, str] | None:
    """Return title and text of a chapter in another language; None if it is not translated."""
    path = _chapter_file(chapter, f"chapter.{language}.md")
    if not path.is_file():
        return None
    title, _, text = path.read_text(encoding="utf-8").partition("\n# ")[2].partition("\n")
    return title, text.strip()


def _chapter_file(chapter: str, name: str) -> Path:
    """Return the path of a chapter's text or picture. `docs/chapter_pictures.py` draws grpo_ref's own
    pictures.
    """
    return source_of(chapter).folder / "exercises" / chapter / name


def _notebook(chapter: str, phrases: Phrases) -> str:
    """Return the section on the notebook, or "" if there is none."""
    if chapter not in NOTEBOOKS:
        return ""
    return f"## {phrases.the_notebook}\n\n{phrases.idea.format(name=NOTEBOOKS[chapter])}\n\n"


def _exercises(chapter: str, language: str) -> str:
    """Return a numbered list with file, title, difficulty and points."""
    lines = []
    for number, exercise in enumerate(exercises_in(chapter), start=1):
        file, problem = file_of(exercise.id).name, translated(PROBLEMS[exercise.id], language)
        about = worth(problem)
        lines.append(f"{number}. [{exercise.name}]({file}): {problem.title} ({about[0].lower()}{about[1:]})")
    return "\n".join(lines)
