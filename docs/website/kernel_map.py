"""The map of kernels: for each of them the exercises, notebooks, experiments and recipes that use it."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import grpo_ref
from grpo_ref.course.problems import PROBLEMS
from grpo_ref.lab import EXPERIMENTS
from grpo_ref.recipes import RECIPES, Recipe
from website.mentions import exercises_about, experiments_about, names_in
from website.parts import own_kernels, parts_of
from website.places import to_kernel
from website.recipe_pages import chapter_of
from website.reference import STAGES, page_of, title_of
from website.tree import NOTEBOOKS, ROOT, write

PAGE = "map"
MAPPED = ("grpo_ref.kernels", "grpo_ref.loss", "grpo_ref.objective")
"""The stages of the pipeline whose functions are kernels, and the two that put them together."""


def write_map() -> None:
    """Write the page."""
    rows = (_row(path, name) for path, name in kernels())
    head = ["| kernel | stage | exercises | notebooks | experiments | recipes |", "|---|---|---|---|---|---|"]
    table = "\n".join([*head, *rows])
    write(f"{PAGE}.md", f"{HEAD}\n\n:::{{div}} sortable compared\n{table}\n:::\n")


HEAD = """---
html_theme.sidebar_secondary.remove: true
---

# Where each kernel is used

Where you meet each function: the exercises about it, with those in bold in which you write it; the notebooks
that call it; the experiments that test it, because their arms differ in it or their measure needs it; and the
recipes that have it while the recipe that they change has not. All of this is read from the code. A click on
the head of a column sorts by it."""


def kernels() -> list[tuple[str, str]]:
    """The public kernels in the order of the pipeline, second names left out, with the module of each."""
    return [
        (path, name)
        for path, names in STAGES.items()
        for name in names
        if path.startswith(MAPPED) and getattr(getattr(grpo_ref, name), "__name__", "") == name.lower()
    ]


def _row(path: str, name: str) -> str:
    kernel = getattr(grpo_ref, name)
    cells = (
        to_kernel(kernel, name, page=PAGE),
        f"[{title_of(path)}]({page_of(path)}.rst)",
        ", ".join(_exercise(each, written=is_written(each, name)) for each in exercises_about({name})),
        ", ".join(f"[{stem[:2]}](notebooks/{stem}.ipynb)" for stem in notebooks_about(name)),
        _linked(tested_by(name), "laboratory"),
        _linked((recipe for recipe in RECIPES if name in own_kernels(recipe)), "recipe"),
    )
    return f"| {' | '.join(cells)} |"


def _exercise(exercise: str, *, written: bool) -> str:
    mark = "**" * written
    return f"{mark}[{exercise}](chapters/{chapter_of(exercise)}.md){mark}"


def _linked(names: Iterable[str], folder: str) -> str:
    return ", ".join(f"[{name}]({folder}/{name}.md)" for name in names)


def is_written(exercise: str, name: str) -> bool:
    """Whether the right answer of an exercise is a kernel, or calls it.

    >>> is_written("kl/k3", "k3"), is_written("kl/k3", "clipped")
    (True, False)
    """
    reference = PROBLEMS[exercise].reference
    code = getattr(reference, "__code__", None)
    return reference is getattr(grpo_ref, name) or (code is not None and name in code.co_names)


def notebooks_about(name: str) -> list[str]:
    """The notebooks that call a kernel.

    >>> notebooks_about("grpo_objective")
    ['01_the_objective']
    """
    scripts = {Path(path).stem: (ROOT / path).with_suffix(".py") for path in NOTEBOOKS}
    return [stem for stem, script in scripts.items() if name in names_in(script)]


def tested_by(name: str) -> list[str]:
    """The experiments whose arms differ in a kernel, or that call it themselves.

    >>> tested_by("ranked")
    ['ordinal']
    """
    named, kernel = experiments_about({name}), getattr(grpo_ref, name)
    return [each for each in EXPERIMENTS if each in named or kernel in varied(each)]


@cache
def varied(experiment: str) -> frozenset[object]:
    """The kernels that some arms of an experiment have and others have not."""
    arms = EXPERIMENTS[experiment].arms.values()
    recipes = [value for each in arms for value in each.settings.values() if isinstance(value, Recipe)]
    parts = [kernels_of(recipe) for recipe in recipes]
    return frozenset().union(*parts).difference(frozenset.intersection(*parts)) if parts else frozenset()


def kernels_of(recipe: Recipe) -> frozenset[object]:
    """The kernels of a recipe."""
    return frozenset(part.kernel for part in parts_of(recipe))
