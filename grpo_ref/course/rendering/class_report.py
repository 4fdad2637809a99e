"""The web page on a class: points, exercises and tests, common mistakes, and answers that are alike."""

from collections.abc import Sequence

from grpo_ref.course import classroom
from grpo_ref.course.classroom import Alike, CheckItem, ExerciseItem, Scores
from grpo_ref.course.classroom.class_record import Row
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.render.html_page import Cell, folded, long_table, picture, table, text, web_page

MOST = 500
"""Largest number of pairs of students that are listed."""
NAMES = 30
"""Largest number of students that are named in one cell."""
UNOFFICIAL = "Not every verdict is official: answers ran outside the sandbox for strangers."
OUTCOMES = (
    "Solved: all points. Partly solved: a part of the points. Nothing handed in: also an unchanged starter."
)
STATISTICS = (
    "Handed in: students whose answer differs from the starter.",
    "Run: the number of these answers that could be loaded, so that the tests were run on them.",
    "Solved: students with all points.",
    "Mean share: the points divided by the exercise's points, averaged over the students who handed in.",
    "Facility: the points divided by the exercise's points, averaged over all students; a student who handed"
    " in nothing has 0. The higher the facility, the easier the exercise.",
    "Discrimination: Pearson's correlation, over all students, of the points in this exercise with the sum of"
    " the points in all others. If it is near 0 or negative, the exercise does not separate strong from weak"
    " students; look at it. It is – if undefined: for fewer than three students, or if all are equal.",
)
TESTS = (
    "Run: the number of answers on which the test was run.",
    "Facility: the share of these answers that pass the test.",
    "Discrimination: the correlation, over these answers, of passing the test (1 or 0) with the points in the"
    " other exercises. It is – if undefined, as for a test that all answers pass.",
)
LIKELY = (
    "What it looks like: the known mistake that returns the same values as the answer, or a property that all"
    " its failures share, or the mistakes that explain single tests.",
    "Students: the number of students with the mistake; each counts once per sentence.",
)
ALIKE = (
    "This is evidence to look at, not a verdict: read both answers before you ask anybody. In a trial with 72"
    " sets of answers that were written independently, 3 of 100 pairs were listed, nearly all with one"
    " exercise. In a class of few students, chance matters more.",
    "The comparison uses all runs of six nodes in the statements of the syntax trees. Names of variables,"
    " comments, formatting, type hints and the order of statements are ignored. Runs that are in the starter"
    " or the model answer, or in the answers of more than twenty students, are ignored too. Of the rest, runs"
    " that are rare in the class and in the course's own right answers count most.",
    "Similarity: the shared runs, divided by the runs of the answer that has more of them, from 0 to 1.",
    "Size: the number of shared runs, weighted by their rarity. Short answers are alike by chance and are not"
    " listed.",
    "The pairs with the most evidence come first: the sum of similarity times size over their exercises.",
)


def class_report(results: Sequence[Row], pairs: Sequence[Alike] | None = None) -> str:
    """Return the results of a class as one page of HTML that includes its figures.

    Args:
      results: the record of every student, as `ClassResults.read` returns it, with the exercises as tested.
      pairs: the result of `classroom.alike_pairs`, if the answers were compared.
    """
    items, found = classroom.exercise_items(results), classroom.scores(results)
    title = f"Class report: {len(results)} student{'s' * (len(results) != 1)}"
    sections = [
        _scores(results, found) if found is not None else "<p>There is no result yet.</p>\n",
        _exercises(items) if items else "",
        _tests(results) if items else "",
        _misconceptions(results),
        _timed_out(results),
        _notes(results),
        _alike(pairs) if pairs is not None else "",
    ]
    return web_page(title, f"<h1>{text(title)}</h1>\n{''.join(sections)}")


def _section(heading: str, *parts: str) -> str:
    return f"<h2>{text(heading)}</h2>\n{''.join(parts)}"


def _explained(sentences: Sequence[str]) -> str:
    """List the explanations of the numbers below, one sentence each."""
    items = "".join(f"<li>{text(sentence)}</li>" for sentence in sentences)
    return f'<ul class="how">{items}</ul>\n' if sentences else ""


def _scores(results: Sequence[Row], found: Scores) -> str:
    unofficial = [] if all(result["official"] for result in results) else [UNOFFICIAL]
    broken = sum(not result["exercises"] for result in results)
    broken_off = [f"{broken} without a result, since the grading broke off: see the notes."] * (broken > 0)
    numbers = {
        "mean": found.mean,
        "median": found.median,
        "lower quartile": found.lower,
        "upper quartile": found.upper,
        "standard deviation": found.spread,
    }
    statistics = ", ".join(f"{name} {value:.1f}" for name, value in numbers.items())
    caption = f"Points of {len(found.points)} students, of {found.of:g}: {statistics}."
    from grpo_ref.course.classroom.figures import scores_figure
    from grpo_ref.plots import as_svg

    figure = as_svg(scores_figure(found.points, found.of))
    shown = picture(figure, "A bar for each range of points", caption)
    return _section("Scores", _explained(unofficial + broken_off), shown)


def _exercises(items: Sequence[ExerciseItem]) -> str:
    outcomes = {
        item.name: {
            "solved": item.solved,
            "partly solved": item.partial,
            "no points": item.handed_in - item.solved - item.partial,
            "nothing handed in": item.students - item.handed_in,
        }
        for item in items
    }
    from grpo_ref.course.classroom.figures import outcomes_figure
    from grpo_ref.plots import as_svg

    figure = as_svg(outcomes_figure(outcomes))
    headings = ["exercise", "handed in", "run", "solved", "mean share", "facility", "discrimination"]
    rows = [
        [item.name, item.handed_in, item.run, item.solved, item.share, item.facility, item.discrimination]
        for item in items
    ]
    shown = picture(figure, "A bar for each exercise; the table below has its numbers", OUTCOMES)
    return _section("Exercises", shown, _explained(STATISTICS), table(headings, rows))


def _tests(results: Sequence[Row]) -> str:
    """Return a folded table for each exercise."""
    names = {name: [check.name for check in problem.checks] for name, problem in PROBLEMS.items()}
    tables: dict[str, list[CheckItem]] = {}
    for item in classroom.check_items(results, names):
        tables.setdefault(item.exercise, []).append(item)
    headings = ["test", "run", "facility", "discrimination"]
    parts = [folded(name, table(headings, [item[1:] for item in items])) for name, items in tables.items()]
    number = sum(map(len, tables.values()))
    return _section("Tests", _explained(TESTS), folded(f"{number} tests, by exercise", "".join(parts)))


def _misconceptions(results: Sequence[Row]) -> str:
    rows: list[list[Cell]] = [
        [each.sentence, each.exercise, each.students] for each in classroom.misconceptions(results)
    ]
    body = long_table(["what it looks like", "exercise", "students"], rows) if rows else "<p>None.</p>\n"
    return _section("Common mistakes", _explained(LIKELY), body)


def _timed_out(results: Sequence[Row]) -> str:
    late = sorted(classroom.timed_out(results).items(), key=lambda each: -len(each[1]))
    rows: list[list[Cell]] = [[name, len(students), _named(students)] for name, students in late]
    body = long_table(["exercise", "answers", "students"], rows) if rows else "<p>None.</p>\n"
    return _section("Answers that did not end in time", body)


def _named(students: Sequence[str]) -> str:
    more = len(students) - NAMES
    return ", ".join(students[:NAMES]) + (f" and {more} more" if more > 0 else "")


def _notes(results: Sequence[Row]) -> str:
    rows = [[result["student"], "; ".join(result["notes"])] for result in results if result["notes"]]
    body = long_table(["student", "notes"], rows) if rows else "<p>None.</p>\n"
    return _section("Students with notes, such as what could not be used", body)


def _alike(pairs: Sequence[Alike]) -> str:
    rows: list[list[Cell]] = [[*pair.students, len(pair.matches), _matches(pair)] for pair in pairs[:MOST]]
    headings = ["student", "and student", "exercises", "which (similarity, size)"]
    body = long_table(headings, rows) if rows else "<p>None.</p>\n"
    more = len(pairs) - MOST
    rest = f"<p>{more} pairs with less evidence are not listed.</p>\n" if more > 0 else ""
    return _section("Answers that are alike: evidence, not a verdict", _explained(ALIKE), body, rest)


def _matches(pair: Alike) -> str:
    return ", ".join(f"{match.exercise} ({match.similarity:.2f}, {match.size:.0f})" for match in pair.matches)
