"""Grade the files of a student's folder."""

from grpo_ref import course
from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.course.grading.report import DEFAULT_SEED, Report
from grpo_ref.course.grading.sandbox import Sandbox
from grpo_ref.course.workbook import Workbook


def mark(workbook: Workbook, name: str, *, seed: int = DEFAULT_SEED) -> Report:
    """Grade one file. A file that is missing or unchanged counts as not started.

    A file that cannot be read counts as one that cannot be loaded. A file that makes the grader itself fail
    has failed, and the report says so.

    The file's process is started first: it imports NumPy while this process imports NumPy and the problem.

    Args:
      workbook: the student's folder.
      name: id of the exercise.
      seed: seed of the random inputs.
    """
    path = workbook.path(name)
    if not path.is_file():
        return course.not_started(PROBLEMS[name], seed)
    try:
        text = path.read_bytes()
    except OSError as error:
        return course.unreadable(PROBLEMS[name], error, seed)
    try:
        with Sandbox(path) as sandbox:
            if not workbook.progress.is_untouched(name, text):
                sandbox.start()
            if course.is_untouched(workbook, name):
                return course.not_started(PROBLEMS[name], seed)
            return course.grade(PROBLEMS[name], sandbox, seed=seed)
    except Exception as error:  # the reports on the other files must not be lost
        return course.grader_failed(PROBLEMS[name], error, seed)
