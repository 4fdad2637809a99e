"""The course as files: where exercises lie, and what a student starts from."""

from pathlib import Path

from grpo_ref.course.grading.problem import Problem
from grpo_ref.course.grading.statement import starter
from grpo_ref.course.problems import CHAPTERS, PROBLEMS

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]


def file_of(problem: Problem) -> Path:
    """Path of an exercise's file in `exercises/` and `solutions/`, as in 06_objective/grpo_objective.py."""
    chapter, name = problem.id.split("/")
    return Path(f"{list(CHAPTERS).index(chapter) + 1:02}_{chapter}") / f"{name}.py"


def problem_of(path: Path) -> Problem | None:
    """The exercise that a file is the answer to, by its folder and name; None for any other file."""
    found = [problem for problem in PROBLEMS.values() if path.parts[-2:] == file_of(problem).parts]
    return found[0] if found else None


def problems_in(chapter: str) -> list[Problem]:
    """The exercises of a chapter, in order."""
    return [problem for problem in PROBLEMS.values() if problem.id.startswith(f"{chapter}/")]


def model_answer(problem: Problem) -> str:
    """The text of the model answer, from the installed package or from the checkout.

    Raises:
      FileNotFoundError: if it is in neither.
    """
    for folder in (HERE / "solutions", CHECKOUT / "solutions"):
        if (folder / file_of(problem)).is_file():
            return (folder / file_of(problem)).read_text(encoding="utf-8")
    raise FileNotFoundError(f"the model answer of {problem.id} is neither in the package nor in a checkout")


def starter_of(problem: Problem) -> str:
    """The text of the file that a student starts from."""
    return starter(problem, model_answer(problem))


def support_files() -> dict[str, str]:
    """Name and text of the files that make `pytest` grade a folder of exercises."""
    folders = [folder for folder in (HERE / "folder", CHECKOUT / "exercises") if folder.is_dir()]
    names = ("conftest.py", "pytest.ini")
    return {name: (folders[0] / name).read_text(encoding="utf-8") for name in names}
