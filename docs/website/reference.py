"""The reference: a page for each documented module, in the order of the pipeline."""

import importlib
import inspect
from types import ModuleType

from package_map import REFERENCE, TOP_LEVEL
from public_names import first_line, summary

from grpo_ref.recipes import CATALOG, RECIPES, TEXTBOOK_FORMS, Recipe
from website.link_map import Node
from website.links import seen_from
from website.places import line_of, page_of
from website.proofs import MANY, proofs_of
from website.see_also import address_of, groups_of
from website.tree import write


def write_reference() -> None:
    """Write the pages."""
    for path, names in REFERENCE.items():
        write(f"{page_of(path)}.rst", _page(path, names))
    write("api/index.md", _index())


TITLES = {
    "types": "Data records",
    "tasks": "Tasks",
    "learning.task": "Task",
    "learning.policies.transformer": "Transformer",
    "learning.policies.mlp": "MLP",
    "learning.policies.neural": "Network policies",
    "learning.policies.kinds": "Networks by name",
    "learning.held_out": "Held-out prompts",
    "loss": "Loss",
    "fast.logits": "Loss from logits",
    "objective": "GRPO in one function",
    "check.compare": "Checking a loss",
    "check.slopes": "Checking a slope",
    "learning.config": "Training configuration",
    "learning.state": "Training state",
    "learning.runs": "Run folders",
    "training": "Training",
    "fast.many_seeds": "Training many seeds",
    "explain.report": "Explaining a configuration",
}
"""Titles of the pages whose modules do not begin with a title and a colon."""


def title_of(path: str) -> str:
    """Return the title of a module's page.

    >>> title_of("grpo_ref.penalties"), title_of("grpo_ref.types")
    ('Penalties', 'Data records')
    """
    opening = first_line(importlib.import_module(path).__doc__).partition(":")[0].strip(".`")
    return TITLES.get(path.removeprefix("grpo_ref."), opening)


def _lead(path: str) -> str:
    """Return the first line of a module's docstring as a sentence, without the title in front."""
    line = first_line(importlib.import_module(path).__doc__).rstrip(".")
    title, colon, rest = line.partition(": ")
    sentence = rest if colon and title_of(path) == title else line
    return sentence[:1].upper() + sentence[1:] + "." * (not sentence.endswith("?"))


def _index() -> str:
    parts = [
        "# Reference\n",
        "The documented functions and classes, in the order of the pipeline. `help(grpo_ref)` lists the"
        " names that"
        " you can import from `grpo_ref` itself. [The map](../map.md) shows where each kernel is used.\n",
    ]
    for path, names in REFERENCE.items():
        module = importlib.import_module(path)
        rows = (f"| {{py:obj}}`~{path}.{name}` | {_summary(module, name)} |" for name in names)
        heading = f"## [{title_of(path)}]({page_of(path).partition('/')[2]}.rst)"
        head = [heading, "", f"`{path}`", "", "| name | description |", "|---|---|"]
        parts.append("\n".join([*head, *rows, ""]))
    pages = "\n".join(page_of(path).partition("/")[2] for path in REFERENCE)
    return "\n".join([*parts, f"```{{toctree}}\n:hidden:\n\n{pages}\n```", ""])


def _summary(module: ModuleType, name: str) -> str:
    return summary(module, name).replace("|", r"\|")


def _page(path: str, names: list[str]) -> str:
    module = importlib.import_module(path)
    heading = f"{title_of(path)}\n{'=' * len(title_of(path))}"
    entries = (_entry(module, name) for name in names)
    return "\n\n".join([heading, f".. currentmodule:: {path}", _lead(path), _imports(path), *entries]) + "\n"


def _imports(path: str) -> str:
    """Return a sentence on the modules that the names of a page are imported from."""
    short = [f"``{name}``" for name in REFERENCE[path] if TOP_LEVEL.get(name) == path]
    listed = " and ".join(filter(None, [", ".join(short[:-1]), *short[-1:]]))
    also = f" You can also import {listed} from ``grpo_ref``." if short else ""
    return f"Module: ``{path}``.{also}"


def _entry(module: ModuleType, name: str) -> str:
    path = module.__name__
    value = getattr(module, name)
    full = f"{path}.{name}"
    if inspect.isclass(value):
        return f".. autoclass:: {full}\n   :members:\n"
    if callable(value) and not isinstance(value, Recipe):
        return f".. autofunction:: {full}\n\n{_proofs(name, page_of(path))}{_see_also(name, page_of(path))}"
    return f".. py:data:: {name}\n\n   {_about(module, name, value)}\n"


def _proofs(name: str, page: str) -> str:
    """Return a line with links to the tests that use a function, or nothing."""
    links = [
        f"`{proof.title} <{line_of(proof.file, proof.line, page=page)}>`__"
        for proof in proofs_of({name})[:MANY]
    ]
    return f"   **Tests:** {', '.join(links)}\n" if links else ""


def _see_also(name: str, page: str) -> str:
    """Return a line with the neighbours of a kernel in the map of links, or nothing."""
    parts = [
        f"{title}: {', '.join(f'`{each.title} <{seen_from(page, address_of(each))}>`__' for each in nodes)}"
        for title, nodes in groups_of(Node("kernel", name)).items()
    ]
    return f"\n   **See also:** {'. '.join(parts)}.\n" if parts else ""


def _about(module: ModuleType, name: str, value: object) -> str:
    text = _summary(module, name)
    recipe = next((key for key, each in RECIPES.items() if each is value), "")
    page = f":doc:`Page of this recipe </recipe/{recipe}>`" if recipe in CATALOG else ""
    section = f":ref:`Section on this form <{recipe}>`" if recipe in TEXTBOOK_FORMS else ""
    return f"{text} {page or section}." if recipe else text
