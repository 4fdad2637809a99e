"""Find the exercises and experiments that use a kernel or a recipe, from their source."""

import ast
from functools import cache
from pathlib import Path

from grpo_ref.course.contents import OURS
from website.parts import definitions, own_kernels
from website.tree import ROOT


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return every name that a module uses."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
    return frozenset(names)


def exercises_about(names: set[str]) -> list[str]:
    """Return the exercises that have one of these names, or whose model answer or checks use one."""
    folder = ROOT / "grpo_ref/course/exercises"
    return [each for each in OURS.ids if names & {Path(each).name, *names_in(folder / each / "tests.py")}]


def experiments_about(names: set[str]) -> list[str]:
    """Return the experiments that use one of these names."""
    claims = sorted((ROOT / "grpo_ref/lab/claims").glob("[a-z]*.py"))
    return [path.stem for path in claims if names & names_in(path)]


def chapter_of(exercise: str) -> str:
    """Return the folder of an exercise's chapter.

    >>> chapter_of("kl/k3")
    '04_kl'
    """
    return next((ROOT / "exercises").glob(f"*_{exercise.partition('/')[0]}")).name


def see_also(page: str) -> str:
    """Return the lists of related pages for the end of a page.

    Args:
      page: name of a recipe's page, such as "recipe/dapo".
    """
    name = page.removeprefix("recipe/")
    names = own_kernels(name)
    about = {*names, name.upper()} if definitions()[name].parent else {name.upper()}
    exercises = ", ".join(f"[{each}](../chapters/{chapter_of(each)}.md)" for each in exercises_about(names))
    experiments = ", ".join(f"[{each}](../experiments/{each}.md)" for each in experiments_about(about))
    lines = [f"* **Exercises:** {exercises}"] * bool(exercises)
    return "\n".join([*lines, *[f"* **Experiments:** {experiments}"] * bool(experiments)])
