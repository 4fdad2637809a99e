"""The parts of a recipe with their formulas, and the recipe that it is derived from."""

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from grpo_ref.recipes import RECIPES, Recipe, Slot, catalog, textbook
from grpo_ref.render.maths import UnknownMaths, mathml
from website.docstrings import formulas

NUMBERS = ("kl_coef", "source", "log_ratio_limits")
"""Fields of a recipe that are not kernels."""
LAST = ("admit", "corrections", "penalty_aggregate", "distill")
"""Parts that do nothing unless they are set."""


class Part(NamedTuple):
    """A part of a recipe: its name, its kernel, and the kernel with its settings as text."""

    name: str
    kernel: Callable[..., Any]
    text: str

    @property
    def sentence(self) -> str:
        """First paragraph of the kernel's docstring."""
        return " ".join((inspect.getdoc(self.kernel) or "").partition("\n\n")[0].split())

    @property
    def formula(self) -> str:
        """Formulas of the kernel's docstring, as HTML."""
        return "\n".join(_shown(block) for block in formulas(inspect.getdoc(self.kernel) or ""))


def _shown(block: str) -> str:
    try:
        return mathml(block)
    except UnknownMaths:
        return f"<pre>{block}</pre>"


def parts_of(recipe: Recipe) -> list[Part]:
    """Return the parts in the order of the pipeline."""
    return [part for name in _names(recipe) for part in _parts(name, getattr(recipe, name))]


def _names(recipe: Recipe) -> Iterator[str]:
    names = [field.name for field in fields(recipe) if field.name not in NUMBERS]
    shown = recipe.parts()
    for name in names:
        silent = name in LAST and name not in shown
        if not silent and not (name == "penalty" and recipe.kl_coef == 0.0):
            yield name


def _parts(name: str, value: Any) -> list[Part]:
    values = value if isinstance(value, tuple) else (value,)
    slots = (each if isinstance(each, Slot) else Slot(each) for each in values)
    return [Part(name, each.kernel, str(each)) for each in slots]


class Definition(NamedTuple):
    """The definition of a recipe: the name of its parent or "", its imports, its code, and file and line."""

    parent: str
    imports: str
    text: str
    file: Path
    line: int


@cache
def definitions() -> dict[str, Definition]:
    """Return the definition of each recipe, by name."""
    all_definitions = {}
    for module in (catalog, textbook):
        file = Path(str(module.__file__))
        source = file.read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id.lower()
                text = ast.get_source_segment(source, node) or ""
                imports = _imports(node.value, module)
                all_definitions[name] = Definition(_parent(node.value), imports, text, file, node.lineno)
    return {name: all_definitions[name] for name in RECIPES}


def _imports(value: ast.expr, module: ModuleType) -> str:
    """Return the lines that import the names of an expression in the source of a module."""
    used = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    plain: list[str] = []
    names: dict[str, set[str]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) not in used:
                    continue
                if isinstance(node, ast.Import):
                    plain.append(f"import {ast.unparse(alias)}")
                else:
                    names.setdefault(str(node.module), set()).add(ast.unparse(alias))
        if isinstance(node, ast.Assign):
            here = {target.id for target in node.targets if isinstance(target, ast.Name)} & used
            if here:
                names.setdefault(module.__name__, set()).update(here)
    lines = (f"from {place} import {', '.join(sorted(each))}" for place, each in names.items())
    return "\n".join([*plain, *lines])


def _parent(value: ast.expr) -> str:
    """Return the name of the recipe that `replace` is called with, or "".

    >>> _parent(ast.parse("replace(catalog.SAPO, kl_coef=0.0)", mode="eval").body)
    'sapo'
    """
    if not isinstance(value, ast.Call) or getattr(value.func, "id", "") != "replace":
        return ""
    return ast.unparse(value.args[0]).rpartition(".")[2].lower()


def own_parts(name: str) -> list[Part]:
    """Return the parts that differ from those of the parent; all parts if there is no parent.

    >>> [part.text for part in own_parts("two_grpo")]
    ['group_normalized(ddof=0, eps=0.0001)']
    """
    parent = definitions()[name].parent
    inherited = {part.text for part in parts_of(RECIPES[parent])} if parent else set()
    return [part for part in parts_of(RECIPES[name]) if part.text not in inherited]
