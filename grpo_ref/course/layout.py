"""The course as files: where an exercise lies, and which exercise a file belongs to."""

from pathlib import Path

from grpo_ref.course.contents import CHAPTERS, EXERCISES

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]


def file_of(name: str) -> Path:
    """Path of an exercise's file in `exercises/` and `solutions/`.

    >>> file_of("objective/grpo_objective").as_posix()
    '06_objective/grpo_objective.py'
    """
    chapter, last = name.split("/")
    return Path(f"{list(CHAPTERS).index(chapter) + 1:02}_{chapter}") / f"{last}.py"


def exercise_at(path: Path) -> str | None:
    """Id of the exercise that a file is the answer to, by its folder and name; None for any other file."""
    return next((name for name in EXERCISES if path.parts[-2:] == file_of(name).parts), None)


def model_answer(name: str) -> str:
    """The text of the model answer, from the installed package or from the checkout.

    Raises:
      FileNotFoundError: if it is in neither.
    """
    for folder in (HERE / "solutions", CHECKOUT / "solutions"):
        if (folder / file_of(name)).is_file():
            return (folder / file_of(name)).read_text(encoding="utf-8")
    raise FileNotFoundError(f"the model answer of {name} is neither in the package nor in a checkout")


def support_files() -> dict[str, str]:
    """Name and text of the files that make `pytest` grade a folder of exercises."""
    folders = [folder for folder in (HERE / "folder", CHECKOUT / "exercises") if folder.is_dir()]
    names = ("conftest.py", "pytest.ini")
    return {name: (folders[0] / name).read_text(encoding="utf-8") for name in names}
