"""Grade the files of a student's folder."""

from grpo_ref.course.grading.grade import grade, not_started
from grpo_ref.course.grading.report import DEFAULT_SEED, Report
from grpo_ref.course.problems import PROBLEMS
from grpo_ref.course.starters import is_untouched
from grpo_ref.course.workbook import Workbook


def mark(workbook: Workbook, name: str, *, seed: int = DEFAULT_SEED) -> Report:
    """Grade one file; a file that the student has not touched is not started, whatever it does.

    Args:
      workbook: the student's folder.
      name: id of the exercise.
      seed: of the random inputs.
    """
    problem = PROBLEMS[name]
    if is_untouched(workbook, name):
        return not_started(problem, seed)
    return grade(problem, workbook.path(name), seed=seed)
