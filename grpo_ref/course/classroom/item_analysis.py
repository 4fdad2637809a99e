"""Statistics of a class's results: how hard each exercise and test is, and how well it separates the
students.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.course.grading.report import NOT_STARTED, PASSED

FEWEST = 3
"""Smallest number of students for which a correlation is computed."""
ROUNDING = 1e-9
"""Values whose range is smaller than this count as constant."""
TOO_LATE = ("no answer after ", "loading the file took more than ", "not tried: the time ")
"""Beginnings of the grader's messages that say that the time was up."""
Record = Mapping[str, Any]
"""One student's result, or an exercise or a test of it, as it is stored."""


class Scores(NamedTuple):
    """The points of a class.

    Attributes:
      points: points of each student.
      of: largest possible number of points.
      mean, median: mean and median of the points.
      lower, upper: first and third quartile of the points.
      spread: standard deviation, with S - 1.
    """

    points: list[float]
    of: float
    mean: float
    median: float
    lower: float
    upper: float
    spread: float


class ExerciseItem(NamedTuple):
    """Statistics of one exercise.

    Attributes:
      name: id of the exercise.
      students: number of students with a result.
      handed_in: number of answers that differ from the starter.
      run: number of these that could be loaded, so that tests were run on them.
      solved: number of students with all points.
      partial: number of students with a part of the points.
      share: mean fraction of the points among those who submitted an answer; None if there are none.
      facility: mean fraction of the points among all students.
      discrimination: correlation of the points with the sum over the other exercises; None if undefined.
    """

    name: str
    students: int
    handed_in: int
    run: int
    solved: int
    partial: int
    share: float | None
    facility: float
    discrimination: float | None


class CheckItem(NamedTuple):
    """Statistics of one test.

    Attributes:
      exercise: id of the exercise.
      name: name of the test.
      run: number of answers on which the test was run.
      facility: fraction of these answers that pass the test; None if there are none.
      discrimination: correlation, over these answers, of passing the test with the points in the other
        exercises; None if undefined.
    """

    exercise: str
    name: str
    run: int
    facility: float | None
    discrimination: float | None


class Misconception(NamedTuple):
    """A mistake that explains several answers.

    Attributes:
      exercise: id of the exercise.
      sentence: the diagnosis, the symptom, or the explanation of single tests.
      students: number of students.
    """

    exercise: str
    sentence: str
    students: int


def correlation(left: Floats, right: Floats) -> float | None:
    """Return Pearson's correlation of two measurements of the same students.

        r = Σ (x - x̄)(y - ȳ) / √(Σ (x - x̄)² Σ (y - ȳ)²)

    If one measurement is 0 or 1, this is the point-biserial correlation.

    Args:
      left, right: (S,).

    Returns:
      r from -1 to 1; None for fewer than three students, or if one of the measurements is constant.

    >>> correlation(np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    1.0
    """
    if len(left) < FEWEST:
        return None
    x, y = left - left.mean(), right - right.mean()
    spread = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return None if min(np.ptp(left), np.ptp(right)) < ROUNDING else round(float((x * y).sum()) / spread, 12)


def scores(records: Sequence[Record]) -> Scores | None:
    """Return statistics of the points of all students with a result; None if there are none."""
    graded = [record for record in records if record["exercises"]]
    if not graded:
        return None
    points = [float(record["points"]) for record in graded]
    lower, median, upper = map(float, np.percentile(points, [25, 50, 75]))
    spread = float(np.std(points, ddof=1)) if len(points) > 1 else 0.0
    of = max(float(record["of"]) for record in graded)
    return Scores(points, of, float(np.mean(points)), median, lower, upper, spread)


def exercise_items(records: Sequence[Record]) -> list[ExerciseItem]:
    """Return statistics of every exercise that counts, in the order of the course.

    Args:
      records: one for each student. A student whose grading failed has no exercises and is skipped.
    """
    graded, totals = _by_exercise(records), _totals(records)
    return [_exercise_item(name, found, totals) for name, found in graded.items()]


def check_items(records: Sequence[Record], tests: Mapping[str, Sequence[str]]) -> list[CheckItem]:
    """Return statistics of every test of the exercises that count.

    Args:
      records: one for each student.
      tests: id of an exercise -> names of its tests. Other entries among a record's tests say why no test
        could be run.
    """
    totals, found = _totals(records), []
    for name, graded in _by_exercise(records).items():
        passed: dict[str, dict[int, bool]] = defaultdict(dict)
        for student, exercise in graded.items():
            for test in exercise["tests"]:
                passed[test["name"]][student] = test["passed"]
        rest = {student: totals[student] - exercise["points"] for student, exercise in graded.items()}
        found += [_check_item(name, test, passed[test], rest) for test in tests.get(name, ())]
    return found


def misconceptions(records: Sequence[Record]) -> list[Misconception]:
    """Return the mistakes that explain the wrong answers, the most common first.

    A student counts once for each sentence: the diagnosis, or else the symptom, or else the explanations of
    single tests.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for exercise in _exercises(records):
        whole = exercise["diagnosis"] or exercise["symptom"]
        parts = {test["likely"] for test in exercise["tests"]}
        seen.update((exercise["id"], text) for text in ({whole} if whole else parts) if text)
    found = [Misconception(name, sentence, count) for (name, sentence), count in seen.items()]
    return sorted(found, key=lambda each: (-each.students, each.exercise, each.sentence))


def timed_out(records: Sequence[Record]) -> dict[str, list[str]]:
    """Return, for each exercise, the students whose answers took too long."""
    late: dict[str, list[str]] = defaultdict(list)
    for record in records:
        for exercise in record["exercises"]:
            if any(is_late(test) for test in exercise["tests"]):
                late[exercise["id"]].append(record["student"])
    return dict(late)


def is_late(test: Record) -> bool:
    """Return whether a test failed because the time was up."""
    return str(test["wrong"]).removeprefix("it could not be loaded: ").startswith(TOO_LATE)


def _exercises(records: Sequence[Record]) -> list[Record]:
    return [exercise for record in records for exercise in record["exercises"]]


def _by_exercise(records: Sequence[Record]) -> dict[str, dict[int, Record]]:
    """Return, for each exercise, the index of each student -> the student's result."""
    found: dict[str, dict[int, Record]] = defaultdict(dict)
    for student, record in enumerate(records):
        for exercise in record["exercises"]:
            found[exercise["id"]][student] = exercise
    return dict(found)


def _totals(records: Sequence[Record]) -> list[float]:
    return [sum(exercise["points"] for exercise in record["exercises"]) for record in records]


def _exercise_item(name: str, graded: Mapping[int, Record], totals: Sequence[float]) -> ExerciseItem:
    points = np.array([exercise["points"] for exercise in graded.values()], dtype=float)
    shares = points / np.array([exercise["of"] for exercise in graded.values()])
    begun = np.array([exercise["status"] != NOT_STARTED for exercise in graded.values()])
    solved = sum(exercise["status"] == PASSED for exercise in graded.values())
    return ExerciseItem(
        name=name,
        students=len(points),
        handed_in=int(begun.sum()),
        run=sum(_was_run(exercise) for exercise in graded.values()),
        solved=solved,
        partial=int((points > 0).sum()) - solved,
        share=float(shares[begun].mean()) if begun.any() else None,
        facility=float(shares.mean()),
        discrimination=correlation(points, np.array([totals[student] for student in graded]) - points),
    )


def _was_run(exercise: Record) -> bool:
    """Return whether tests were run. An entry without a call says why there are none."""
    return any(test["passed"] or test["called"] for test in exercise["tests"])


def _check_item(exercise: str, name: str, passed: Mapping[int, bool], rest: Mapping[int, float]) -> CheckItem:
    right = np.array([float(passed[student]) for student in passed])
    others = np.array([rest[student] for student in passed])
    facility = float(right.mean()) if len(right) else None
    return CheckItem(exercise, name, len(right), facility, correlation(right, others))
