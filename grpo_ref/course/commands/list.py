"""`grpo-ref list`: list the exercises of the course and your points."""

from collections.abc import Iterator
from pathlib import Path

import click

from grpo_ref.course.commands.exercise import exercises_argument, folder_option, open_workbook
from grpo_ref.course.contents import CHAPTERS, EXERCISES
from grpo_ref.course.layout import file_of, page_of
from grpo_ref.course.progress import Progress
from grpo_ref.course.rendering.course_text import overview
from grpo_ref.course.source import Exercise
from grpo_ref.course.statement_file import HINTS
from grpo_ref.render.output import columns, plain_option
from grpo_ref.render.sentences import points_text

WIDE = 108
"""Width of the table with ids and files, in columns. A narrower table has only the names."""


@click.command("list", epilog="Example:  grpo-ref list ratios")
@exercises_argument
@plain_option
@folder_option
def command(exercises: tuple[str, ...], plain: bool, folder: Path) -> None:
    """List EXERCISES or chapters, by default all: points reached, difficulty, hints read, file.

    A star marks each exercise that you have solved at least once. The points are the highest that you have
    reached, as stored in progress.txt. Nothing is graded again, so the list is your own record and not a
    proof. Begin with README.md in the folder of a chapter.
    """
    workbook = open_workbook(folder)
    listed = [EXERCISES[name] for name in exercises or EXERCISES]
    for chapter in dict.fromkeys(exercise.chapter for exercise in listed):
        of_chapter = [exercise for exercise in listed if exercise.chapter == chapter]
        lines = _sentences if plain else _table
        click.echo("\n".join(lines(chapter, of_chapter, workbook.progress)))
    click.echo("\n" + overview(workbook, plain=plain))


def _table(chapter: str, exercises: list[Exercise], progress: Progress) -> Iterator[str]:
    """Yield the title of a chapter and a line for each exercise."""
    title, wide = click.style(CHAPTERS[chapter], bold=True), columns() >= WIDE
    yield f"{title}{' ' * (73 - len(CHAPTERS[chapter]))}{page_of(chapter)}" if wide else title
    for exercise in exercises:
        reached, hints = progress.points.get(exercise.id, 0.0), progress.hints.get(exercise.id, 0)
        name = f"{exercise.id:32}" if wide else f"{exercise.name:18}"
        points, used = f"{reached:g} of {exercise.points} pt", f"{hints} of {HINTS} hints" if hints else ""
        mark = "*" if reached >= exercise.points else " "
        row = f"{mark} {name} {points:13} {exercise.difficulty:7} {used:13}"
        yield f"{row} {file_of(exercise.id)}" if wide else row.rstrip()


def _sentences(chapter: str, exercises: list[Exercise], progress: Progress) -> Iterator[str]:
    """Yield a sentence for each exercise, without columns."""
    yield f"Chapter {CHAPTERS[chapter]}. Begin with {page_of(chapter)}."
    for exercise in exercises:
        reached, hints = progress.points.get(exercise.id, 0.0), progress.hints.get(exercise.id, 0)
        solved = "solved" if reached >= exercise.points else "not solved"
        yield (
            f"{exercise.id}: {solved}, {points_text(reached, exercise.points)}, {exercise.difficulty},"
            f" {hints} of {HINTS} hints read, file {file_of(exercise.id)}."
        )
