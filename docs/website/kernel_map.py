"""The map of kernels: the exercises, notebooks, experiments and recipes that use each kernel."""

import inspect
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from package_map import KERNELS, REFERENCE

from grpo_ref.course.exercises import PROBLEMS
from grpo_ref.lab import EXPERIMENTS
from grpo_ref.recipes import RECIPES, Recipe
from website.mentions import chapter_of, exercises_about, experiments_about, names_in
from website.parts import own_kernels, parts_of
from website.places import documented, to_kernel
from website.recipe_pages import link_to
from website.reference import page_of, title_of
from website.tree import NOTEBOOKS, ROOT, write

PAGE = "map"
MAPPED = [f"grpo_ref.{package}" for package in (*KERNELS, "loss", "objective")]
"""The modules of the kernels, and the two modules that combine kernels."""


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

Each row lists the exercises, notebooks, experiments and recipes that use a kernel. In the exercises in bold
you write the kernel yourself. A notebook is listed if it calls the kernel. An experiment is listed if it
calls the kernel, or if only some of the settings that it compares use the kernel. A recipe is listed if it
uses the kernel and its parent recipe does not. The table is generated from the code. Click a column header to
sort."""


def kernels() -> list[tuple[str, str]]:
    """Return the documented kernels in the order of the pipeline, each with its module."""
    return [
        (path, name) for path in MAPPED for name in REFERENCE[path] if inspect.isfunction(documented(name))
    ]


def _row(path: str, name: str) -> str:
    cells = (
        to_kernel(documented(name), name, page=PAGE),
        f"[{title_of(path)}]({page_of(path)}.rst)",
        ", ".join(_exercise(each, written=is_written(each, name)) for each in exercises_about({name})),
        ", ".join(f"[{stem[:2]}](notebooks/{stem}.ipynb)" for stem in notebooks_about(name)),
        _linked(tested_by(name), "experiments"),
        ", ".join(link_to(recipe, "recipe") for recipe in RECIPES if name in own_kernels(recipe)),
    )
    return f"| {' | '.join(cells)} |"


def _exercise(exercise: str, *, written: bool) -> str:
    mark = "**" * written
    return f"{mark}[{exercise}](chapters/{chapter_of(exercise)}.md){mark}"


def _linked(names: Iterable[str], folder: str) -> str:
    return ", ".join(f"[{name}]({folder}/{name}.md)" for name in names)


def is_written(exercise: str, name: str) -> bool:
    """Return True if the model answer of an exercise is a kernel or calls it.

    >>> is_written("kl/k3", "k3"), is_written("kl/k3", "clipped")
    (True, False)
    """
    reference = PROBLEMS[exercise].reference
    code = getattr(reference, "__code__", None)
    return reference is documented(name) or (code is not None and name in code.co_names)


def notebooks_about(name: str) -> list[str]:
    """Return the notebooks that call a kernel.

    >>> notebooks_about("grpo_objective")
    ['01_the_objective']
    """
    scripts = {Path(path).stem: (ROOT / path).with_suffix(".py") for path in NOTEBOOKS}
    return [stem for stem, script in scripts.items() if name in names_in(script)]


def tested_by(name: str) -> list[str]:
    """Return the experiments that compare settings with and without a kernel, or that call it.

    >>> tested_by("ranked")
    ['ordinal']
    """
    named, kernel = experiments_about({name}), documented(name)
    return [each for each in EXPERIMENTS if each in named or kernel in varied(each)]


@cache
def varied(experiment: str) -> frozenset[object]:
    """Return the kernels that only some of the compared settings of an experiment use."""
    arms = EXPERIMENTS[experiment].arms.values()
    recipes = [value for each in arms for value in each.settings.values() if isinstance(value, Recipe)]
    parts = [kernels_of(recipe) for recipe in recipes]
    return frozenset().union(*parts).difference(frozenset.intersection(*parts)) if parts else frozenset()


def kernels_of(recipe: Recipe) -> frozenset[object]:
    """Return the kernels of a recipe."""
    return frozenset(part.kernel for part in parts_of(recipe))
