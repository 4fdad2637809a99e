"""The page that a chapter begins with: its idea, a picture, its notebook, what to read, its exercises."""

from grpo_ref.course.contents import CHAPTERS, NOTEBOOKS, exercises_in
from grpo_ref.course.layout import HERE, file_of, folder_of, page_of
from grpo_ref.course.problems import PROBLEMS

TEXTS = HERE / "chapters"
"""A text and a picture for each chapter; `docs/chapter_pictures.py` draws the pictures."""
PICTURE = "picture.png"


def pages() -> dict[str, bytes]:
    """Path in a folder of exercises -> content, of every page and its picture."""
    texts = {page_of(chapter).as_posix(): page(chapter).encode() for chapter in CHAPTERS}
    pictures = {
        (folder_of(chapter) / PICTURE).as_posix(): (TEXTS / f"{chapter}.png").read_bytes()
        for chapter in CHAPTERS
    }
    return texts | pictures


def page(chapter: str) -> str:
    """A chapter's text with its number and title above it, its notebook and its exercises below."""
    number, notebook = list(CHAPTERS).index(chapter) + 1, NOTEBOOKS[chapter]
    text = (TEXTS / f"{chapter}.md").read_text(encoding="utf-8").strip()
    return (
        f"# {number}. {CHAPTERS[chapter]}\n\n{text}\n\n"
        f"## The notebook\n\n`{notebook}.ipynb` shows the idea at work; `grpo-ref notebooks` opens it.\n\n"
        f"## The exercises\n\n{_exercises(chapter)}\n\n"
        f"Grade them all: `grpo-ref grade {chapter}`. A hint for the next one: `grpo-ref hint {chapter}`.\n"
    )


def _exercises(chapter: str) -> str:
    """A numbered list: file, title, difficulty and points."""
    lines = []
    for number, exercise in enumerate(exercises_in(chapter), start=1):
        file, points = file_of(exercise.id).name, f"{exercise.points} point{'s' * (exercise.points > 1)}"
        title = PROBLEMS[exercise.id].title
        lines.append(f"{number}. [{exercise.name}]({file}): {title} ({exercise.difficulty}, {points})")
    return "\n".join(lines)
