"""A feedback page for each student: the points of every answer, and an explanation of every failed test."""

from markdown_it import MarkdownIt

from grpo_ref.course.classroom.class_record import Row
from grpo_ref.course.grading.report import FAILED, NOT_STARTED, PASSED
from grpo_ref.render.html_page import web_page
from grpo_ref.render.sentences import (
    in_fence,
    in_markdown,
    on_loading,
    points_text,
    rows_of,
    shortened,
    visible,
)

FAILURES = 3
"""Number of failed tests of an exercise that are explained in full."""
NOTES = 50
"""Largest number of notes on the page."""
SIGNS = {PASSED: "✓", FAILED: "✗", NOT_STARTED: "–"}
NO_BREAK = "\xa0"
"""A space at which a line is not broken."""
VALUES = ("called", "returned", "raised", "printed", "warned")
"""Rows that are shown verbatim, in a block of their own."""
OFFICIAL = "The verdicts are official: every answer ran in the sandbox for strangers."
UNOFFICIAL = "**The verdicts are not official:** the answers did not run in the sandbox for strangers."


def feedback_html(result: Row) -> str:
    """Return one student's result as a page of HTML.

    Args:
      result: a record with its marks, as `class_record.marked` returns it.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    return web_page(f"Feedback for {_name(result)}", markdown.render(feedback_markdown(result)))


def feedback_markdown(result: Row) -> str:
    """Return one student's result as a page of Markdown.

    Names and outputs are strangers' text, so their characters are escaped.

    Args:
      result: a record with its marks, as `class_record.marked` returns it.
    """
    exercises = result["exercises"]
    solved = sum(exercise["status"] == PASSED for exercise in exercises)
    points = f"**{points_text(result['points'], result['of'])}**"
    seed = f"The random inputs came from the seed {result['seed']}."
    parts = [
        f"# Feedback for {in_markdown(_name(result))}",
        f"{points}, {solved} of {len(exercises)} exercises solved.",
        f"{OFFICIAL if result['official'] else UNOFFICIAL} {seed}",
        *_notes(result["notes"]),
        *_assignments(result["assignments"]),
        _table(exercises),
        *(_section(exercise) for exercise in exercises if _is_worth_telling(exercise)),
    ]
    return "\n\n".join(parts) + "\n"


def exercise_markdown(exercise: Row) -> str:
    """Return the text on an exercise, without a heading: the mistake, then the failed tests."""
    marking = [f"Marking: {in_markdown(exercise['marking'])}"] if exercise["marking"] else []
    if exercise["status"] == NOT_STARTED:
        return "\n\n".join(["Not started.", *marking])
    failed = [test for test in exercise["tests"] if not test["passed"]]
    number = len(exercise["tests"])
    parts = [*marking, *[f"{number - len(failed)} of {number} tests pass."] * bool(number)]
    likely = {"It looks like this mistake": exercise["diagnosis"], "What goes wrong": exercise["symptom"]}
    parts += [f"{name}: {in_markdown(text)}" for name, text in likely.items() if text]
    loading = {"Printed when it was loaded": shortened(on_loading(exercise)), "Warnings": _warned(exercise)}
    parts += [f"{name}:\n\n{in_fence(text)}" for name, text in loading.items() if text]
    parts += map(_failure, failed[:FAILURES])
    if others := [
        f"* {in_markdown(test['name'])}: {in_markdown(test['wrong'])}" for test in failed[FAILURES:]
    ]:
        parts += ["These tests fail too:", "\n".join(others)]
    return "\n\n".join(parts)


def _warned(exercise: Row) -> str:
    """Return the warnings that are not already shown with a failed test."""
    failed = [test for test in exercise["tests"] if not test["passed"]][:FAILURES]
    shown = {warning for test in failed for warning in test["warnings"]}
    return "\n".join(warning for warning in exercise["warnings"] if warning not in shown)


def _failure(test: Row) -> str:
    """Describe one failed test in full."""
    rows = rows_of(test)
    parts = [f"**Failed test: {in_markdown(test['name'])}.** {in_markdown(rows.pop('wrong', ''))}"]
    values = [f"{name:8} {text}" for name, text in rows.items() if name in VALUES]
    parts += [in_fence("\n".join(map(visible, values)))] if values else []
    parts += [
        f"{name.capitalize()}: {in_markdown(text)}" for name, text in rows.items() if name not in VALUES
    ]
    return "\n\n".join(parts)


def _notes(notes: list[str]) -> list[str]:
    """List the files that could not be used, if there are any."""
    if not notes:
        return []
    more = [f"* and {len(notes) - NOTES} more"] * (len(notes) > NOTES)
    return ["## Notes", "\n".join([*(f"* {in_markdown(note)}" for note in notes[:NOTES]), *more])]


def _assignments(parts: list[Row]) -> list[str]:
    """List the points of each assignment, if there are several."""
    if len(parts) < 2:
        return []
    rows = ["| assignment | points | weight |", "|---|---|---|"]
    for each in parts:
        points = f"{each['points']:g} of {each['of']:g}".replace(" ", NO_BREAK)
        rows.append(f"| {in_markdown(each['name'])} | {points} | {each['weight']:g} |")
    return ["\n".join(["## Assignments\n", *rows])]


def _table(exercises: list[Row]) -> str:
    """List status and points of every exercise."""
    rows = ["| exercise | status | points | title |", "|---|---|---|---|"]
    for each in exercises:
        status = f"{SIGNS[each['status']]} {each['status']}".replace(" ", NO_BREAK)
        points = f"{each['points']:g} of {each['of']:g}".replace(" ", NO_BREAK)
        rows.append(f"| {in_markdown(each['id'])} | {status} | {points} | {in_markdown(each['title'])} |")
    return "\n".join(["## Exercises\n", *rows])


def _section(exercise: Row) -> str:
    points = points_text(exercise["points"], exercise["of"])
    heading = f"### {in_markdown(exercise['id'])}: {in_markdown(exercise['title'])}"
    return f"{heading}\n\n*{exercise['status'].capitalize()}, {points}.* {exercise_markdown(exercise)}"


def _is_worth_telling(exercise: Row) -> bool:
    """Return whether there is more to say of an exercise than its points."""
    more = on_loading(exercise).strip() or exercise["warnings"] or exercise["marking"]
    return exercise["status"] == FAILED or bool(more)


def _name(result: Row) -> str:
    return " ".join(visible(result["student"]).split()) or "somebody without a name"
