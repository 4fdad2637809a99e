"""The reference: a page for each stage of the pipeline, in the order of the public names."""

import importlib
import inspect
from types import ModuleType

from package_map import STUB, stages
from public_names import first_line, summary

import grpo_ref
from grpo_ref.recipes import RECIPES, Recipe
from website.places import line_of
from website.proofs import MANY, proofs_of
from website.tree import write

STAGES = dict(stages(STUB.read_text(encoding="utf-8")))
"""Each module that public names come from, in the order of the pipeline -> its public names."""


def page_of(path: str) -> str:
    """The name of the page of a module.

    >>> page_of("grpo_ref.rewards")
    'api/kernels-rewards'
    """
    return "api/" + (path.partition(".")[2].replace(".", "-") or "packages")


def write_reference() -> None:
    """Write the pages."""
    for path, names in STAGES.items():
        write(f"{page_of(path)}.rst", _page(path, names))
    write("api/index.md", _index())


def title_of(path: str) -> str:
    """What stands before the colon in the first line of a module."""
    if path == "grpo_ref":
        return "Packages"
    title = first_line(importlib.import_module(path).__doc__).partition(":")[0].rstrip(".")
    return title.strip("`")


def _index() -> str:
    parts = [
        "# Reference\n",
        "The public names by stage of the pipeline. `help(grpo_ref)` says the same,"
        " and [the map](../map.md) tells where each kernel is used.\n",
    ]
    for path, names in STAGES.items():
        module = importlib.import_module(path)
        rows = (f"| {{py:obj}}`~grpo_ref.{name}` | {_said(module, name)} |" for name in names)
        heading = f"## [{title_of(path)}]({page_of(path).partition('/')[2]}.rst)"
        parts.append("\n".join([heading, "", "| name | what it is |", "|---|---|", *rows, ""]))
    pages = "\n".join(page_of(path).partition("/")[2] for path in STAGES)
    return "\n".join([*parts, f"```{{toctree}}\n:hidden:\n\n{pages}\n```", ""])


def _said(module: ModuleType, name: str) -> str:
    return summary(module, name).replace("|", r"\|")


def _page(path: str, names: list[str]) -> str:
    module = importlib.import_module(path)
    title = title_of(path)
    lead = first_line(module.__doc__).partition(": ")[2]
    rest = "" if module is grpo_ref else f"{lead[:1].upper()}{lead[1:]} From ``{path}``.".strip()
    head = [title, "=" * len(title), "", ".. currentmodule:: grpo_ref", "", rest, ""]
    return "\n".join([*head, *(_entry(module, name) for name in names)])


def _entry(module: ModuleType, name: str) -> str:
    value = getattr(grpo_ref, name)
    if inspect.isclass(value):
        return f".. autoclass:: grpo_ref.{name}\n   :members:\n"
    if inspect.ismodule(value):
        return f".. automodule:: grpo_ref.{name}\n"
    if callable(value) and not isinstance(value, Recipe):
        return f".. autofunction:: grpo_ref.{name}\n\n{_proofs(name, page_of(module.__name__))}"
    return f".. py:data:: {name}\n\n   {_about(module, name, value)}\n"


def _proofs(name: str, page: str) -> str:
    """The tests that use a function, as a line below its documentation, or nothing."""
    links = (
        f"`{proof.says} <{line_of(proof.file, proof.line, page=page)}>`__"
        for proof in proofs_of({name})[:MANY]
    )
    told = ", ".join(links)
    return f"   **Tests:** {told}\n" if told else ""


def _about(module: ModuleType, name: str, value: object) -> str:
    said = summary(module, name).replace("|", r"\|")
    shown = next((key for key, recipe in RECIPES.items() if recipe is value), "")
    return f"{said} :doc:`Its page </recipe/{shown}>`." if shown else said
