"""Where the files of the course lie."""

from pathlib import Path

from grpo_ref.grading.problem import Problem
from grpo_ref.problems import CHAPTERS, PROBLEMS


def file_of(problem: Problem) -> Path:
    """Path of an exercise's file in `exercises/` and `solutions/`, as in 06_objective/grpo_objective.py."""
    chapter, name = problem.id.split("/")
    return Path(f"{list(CHAPTERS).index(chapter) + 1:02}_{chapter}") / f"{name}.py"


def problem_of(path: Path) -> Problem | None:
    """The exercise that a file is the answer to, by its folder and name; None for any other file."""
    found = [problem for problem in PROBLEMS.values() if path.parts[-2:] == file_of(problem).parts]
    return found[0] if found else None
