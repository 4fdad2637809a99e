"""What the results of a class say about exercises and tests: how hard each is, and whom it tells apart."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from grpo_ref.arrays import Floats
from grpo_ref.course.grading.report import NOT_STARTED, PASSED

FEWEST = 3
"""Students of whom a correlation is told."""
ROUNDING = 1e-9
"""What varies less is constant."""
TOO_LATE = ("no answer after ", "loading the file took more than ", "not tried: the time ")
"""How the grader begins to say that the time was up."""
Record = Mapping[str, Any]
"""One student's result, or an exercise or a test of it, as it is stored."""


class Scores(NamedTuple):
    """The points of a class.

    Attributes:
      points: of each student.
      of: what could be reached.
      mean, median: of the points.
      lower, upper: a quarter of the students have at most, and at least, so many.
      spread: the standard deviation, with S - 1.
    """

    points: list[float]
    of: float
    mean: float
    median: float
    lower: float
    upper: float
    spread: float


class ExerciseItem(NamedTuple):
    """One exercise in a class.

    Attributes:
      name: its id.
      students: how many have a result.
      handed_in: how many handed in an answer that is not the untouched starter.
      run: how many of these could be loaded, so that tests were run on them.
      solved: how many have all points.
      partial: how many have a part of the points.
      share: mean share of the points among those who handed in; None if nobody did.
      facility: mean share of the points among all students.
      discrimination: correlation of its points with the sum over the other exercises; None if undefined.
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
    """One test in a class.

    Attributes:
      exercise: id of its exercise.
      name: its own.
      run: on how many answers it was run.
      facility: the share of these that pass it; None if there are none.
      discrimination: correlation, over these, of passing it with the points in the other exercises; None if
        undefined.
    """

    exercise: str
    name: str
    run: int
    facility: float | None
    discrimination: float | None


class Misconception(NamedTuple):
    """What several answers look like.

    Attributes:
      exercise: id.
      sentence: the diagnosis, the symptom, or what explains single tests.
      students: how many.
    """

    exercise: str
    sentence: str
    students: int


def correlation(left: Floats, right: Floats) -> float | None:
    """Pearson's correlation of two measurements of the same students.

        r = Σ (x - x̄)(y - ȳ) / √(Σ (x - x̄)² Σ (y - ȳ)²)

    Where one of them is 0 or 1 it is the point-biserial correlation.

    Args:
      left, right: (S,).

    Returns:
      r from -1 to 1; None for fewer than three students, or where one of the two is the same for all.

    >>> correlation(np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    1.0
    """
    if len(left) < FEWEST:
        return None
    x, y = left - left.mean(), right - right.mean()
    spread = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return None if min(np.ptp(left), np.ptp(right)) < ROUNDING else round(float((x * y).sum()) / spread, 12)


def scores(records: Sequence[Record]) -> Scores | None:
    """The points of those that have a result; None if nobody has."""
    graded = [record for record in records if record["exercises"]]
    if not graded:
        return None
    points = [float(record["points"]) for record in graded]
    lower, median, upper = map(float, np.percentile(points, [25, 50, 75]))
    spread = float(np.std(points, ddof=1)) if len(points) > 1 else 0.0
    of = max(float(record["of"]) for record in graded)
    return Scores(points, of, float(np.mean(points)), median, lower, upper, spread)


def exercise_items(records: Sequence[Record]) -> list[ExerciseItem]:
    """Every exercise that counts, in the order of the course.

    Args:
      records: one for each student; a student whose grading broke off has no exercises, and is left out.
    """
    graded, totals = _by_exercise(records), _totals(records)
    return [_exercise_item(name, found, totals) for name, found in graded.items()]


def check_items(records: Sequence[Record], tests: Mapping[str, Sequence[str]]) -> list[CheckItem]:
    """Every test of the exercises that count.

    Args:
      records: one for each student.
      tests: id of an exercise -> names of its tests. What else stands among a record's tests says why none of
        these could be run.
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
    """What the wrong answers look like, the most common first.

    A student counts once for each sentence: that of the diagnosis, or of the symptom, or those that explain
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
    """Id of an exercise -> the students whose answer to it did not end in time."""
    late: dict[str, list[str]] = defaultdict(list)
    for record in records:
        for exercise in record["exercises"]:
            if any(is_late(test) for test in exercise["tests"]):
                late[exercise["id"]].append(record["student"])
    return dict(late)


def is_late(test: Record) -> bool:
    """Whether a test failed because the time was up."""
    return str(test["wrong"]).removeprefix("it could not be loaded: ").startswith(TOO_LATE)


def _exercises(records: Sequence[Record]) -> list[Record]:
    return [exercise for record in records for exercise in record["exercises"]]


def _by_exercise(records: Sequence[Record]) -> dict[str, dict[int, Record]]:
    """Id of an exercise -> number of a student -> the student's result in it."""
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
    """Whether tests were run; what called nothing says why there are none."""
    return any(test["passed"] or test["called"] for test in exercise["tests"])


def _check_item(exercise: str, name: str, passed: Mapping[int, bool], rest: Mapping[int, float]) -> CheckItem:
    right = np.array([float(passed[student]) for student in passed])
    others = np.array([rest[student] for student in passed])
    facility = float(right.mean()) if len(right) else None
    return CheckItem(exercise, name, len(right), facility, correlation(right, others))
